//! Whether levels, one for each part of a run, drift upwards.

/// Number of parts that a run is cut into; each has its own critical value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parts {
    /// If each is long enough for what happens in it to have nothing to do with the one before.
    Twenty,
    /// If only longer ones are.
    Ten,
}

impl Parts {
    /// All choices, the most parts first.
    pub(super) const ALL: [Self; 2] = [Self::Twenty, Self::Ten];

    /// Number of parts.
    pub(super) const fn count(self) -> usize {
        match self {
            Self::Twenty => 20,
            Self::Ten => 10,
        }
    }

    /// Critical value that [`drift`] exceeds by chance in one run of a hundred: the 99th percentile of
    /// Student's t, with two degrees of freedom less than there are parts.
    pub(super) const fn critical(self) -> f64 {
        match self {
            Self::Twenty => 2.552,
            Self::Ten => 2.896,
        }
    }

    /// Value that it exceeds by chance in one run of five.
    pub(super) const fn suspicious(self) -> f64 {
        match self {
            Self::Twenty => 0.862,
            Self::Ten => 0.889,
        }
    }
}

/// The mean of the steps from one level to the next, in standard errors: Student's t of a random walk's drift.
///
/// A line fitted to the levels would find a trend in every random walk, and a queue near its capacity is one.
/// The steps of a walk without drift are as often down as up; those of a queue that falls back after each
/// excursion cancel.
pub(super) fn drift(levels: &[f64]) -> f64 {
    let steps: Vec<f64> = levels.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let count = steps.len() as f64;
    let mean = steps.iter().sum::<f64>() / count;
    let squares: f64 = steps.iter().map(|step| (step - mean).powi(2)).sum();
    let error = (squares / (count - 1.0) / count).sqrt();
    if mean == 0.0 { 0.0 } else { mean / error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drift_is_the_mean_step_in_standard_errors() {
        // Steps 1, 3, 1, 3: mean 2, sample variance 4/3, standard error sqrt(1/3).
        let found = drift(&[0.0, 1.0, 4.0, 5.0, 8.0]);
        assert!((found - 2.0 * 3.0_f64.sqrt()).abs() < 1e-12, "{found}");
    }

    #[test]
    fn what_comes_back_does_not_drift() {
        assert_eq!(drift(&[5.0, 900.0, 3.0, 7.0, 400.0, 5.0]), 0.0);
        assert_eq!(drift(&[4.0; 20]), 0.0);
        let one_step = drift(&[0.0, 0.0, 0.0, 0.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0]);
        assert!((one_step - 1.0).abs() < 1e-12, "a step is no drift: {one_step}");
    }

    #[test]
    fn a_straight_rise_drifts_without_doubt() {
        let levels: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(drift(&levels), f64::INFINITY);
    }
}
