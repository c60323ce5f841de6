//! Whether measurements, one a round, have become steady: the rule of SNIA's Solid State Storage
//! Performance Test Specification (PTS). Over a window of the last rounds, the values themselves and
//! their best-fit line may stray from the mean only so far.

use crate::checkpoint::Checkpointed;

use std::collections::VecDeque;

/// Rule for a steady state, over the last rounds. Every limit that there is must hold.
#[derive(Debug, Clone, Copy, PartialEq, Checkpointed)]
pub struct SteadyRule {
    /// Number of rounds that are looked at together; two or more.
    pub window: usize,
    /// Most that the greatest and the least value may lie apart, as a share of the mean.
    pub excursion: Option<f64>,
    /// Most that the best-fit line may rise or fall over the window, as a share of the mean.
    pub slope: Option<f64>,
    /// Most that any value may lie from the mean, as a share of it.
    pub deviation: Option<f64>,
}

/// Spread of the values of a window. All but the mean are shares of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowSpread {
    /// Of the values.
    pub mean: f64,
    /// From the least value to the greatest.
    pub excursion: f64,
    /// Rise of the best-fit line from the first round to the last; negative if it falls.
    pub slope: f64,
    /// From the mean to the value that lies farthest from it.
    pub deviation: f64,
}

impl WindowSpread {
    /// Of two values or more; `None` if their mean is not above zero.
    pub fn of(values: impl ExactSizeIterator<Item = f64> + Clone) -> Option<Self> {
        let count = values.len() as f64;
        let mean = values.clone().sum::<f64>() / count;
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut products, mut squares) = (0.0, 0.0);
        for (place, value) in values.enumerate() {
            least = least.min(value);
            most = most.max(value);
            let x = place as f64 - (count - 1.0) / 2.0;
            products += x * (value - mean);
            squares += x * x;
        }
        let rise = products / squares * (count - 1.0);
        (mean > 0.0).then(|| Self {
            mean,
            excursion: (most - least) / mean,
            slope: rise / mean,
            deviation: (most - mean).max(mean - least) / mean,
        })
    }
}

/// Watches rounds go by.
#[derive(Debug, Clone, Checkpointed)]
pub struct Detector {
    rule: SteadyRule,
    /// The last rounds; `None` is one that told nothing.
    window: VecDeque<Option<f64>>,
}

impl Detector {
    /// No round yet.
    pub const fn new(rule: SteadyRule) -> Self {
        Self { rule, window: VecDeque::new() }
    }

    /// A round has ended with this value. Returns whether the last rounds are steady.
    pub fn push(&mut self, value: Option<f64>) -> bool {
        if self.window.len() == self.rule.window {
            self.window.pop_front();
        }
        self.window.push_back(value);
        self.spread().is_some_and(|spread| self.rule.holds(&spread))
    }

    /// Spread of the last rounds; `None` before there are enough, or if one of them has no value.
    pub fn spread(&self) -> Option<WindowSpread> {
        let known: Option<Vec<f64>> = self.window.iter().copied().collect();
        let values = known.filter(|values| values.len() == self.rule.window)?;
        WindowSpread::of(values.into_iter())
    }
}

impl SteadyRule {
    fn holds(&self, spread: &WindowSpread) -> bool {
        let within = |found: f64, most: Option<f64>| most.is_none_or(|most| found.abs() <= most);
        within(spread.excursion, self.excursion)
            && within(spread.slope, self.slope)
            && within(spread.deviation, self.deviation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTS: SteadyRule =
        SteadyRule { window: 5, excursion: Some(0.2), slope: Some(0.1), deviation: None };

    fn spread(values: &[f64]) -> WindowSpread {
        WindowSpread::of(values.iter().copied()).expect("the mean is above zero")
    }

    /// The first round, counted from one, at which `rule` calls the values steady.
    fn steady_at(rule: SteadyRule, values: &[f64]) -> Option<usize> {
        let mut detector = Detector::new(rule);
        values.iter().position(|value| detector.push(Some(*value))).map(|place| place + 1)
    }

    #[test]
    fn a_straight_line_rises_by_its_excursion() {
        let found = spread(&[80.0, 90.0, 100.0, 110.0, 120.0]);
        assert_eq!(found, WindowSpread { mean: 100.0, excursion: 0.4, slope: 0.4, deviation: 0.2 });
        assert_eq!(spread(&[120.0, 110.0, 100.0, 90.0, 80.0]).slope, -0.4);
    }

    #[test]
    fn the_best_fit_line_is_that_of_least_squares() {
        // y = 1, 3, 2, 5, 4: sum of (x - 2)(y - 3) = 8, of squares 10; 0.8 a round, 3.2 over four.
        let found = spread(&[1.0, 3.0, 2.0, 5.0, 4.0]);
        assert_eq!((found.mean, found.excursion), (3.0, 4.0 / 3.0));
        assert!((found.slope - 3.2 / 3.0).abs() < 1e-15, "{found:?}");
        assert!((found.deviation - 2.0 / 3.0).abs() < 1e-15, "{found:?}");
    }

    #[test]
    fn values_to_and_fro_have_excursion_and_no_slope() {
        let found = spread(&[90.0, 110.0, 100.0, 110.0, 90.0]);
        assert_eq!((found.excursion, found.slope, found.deviation), (0.2, 0.0, 0.1));
        assert_eq!(steady_at(PTS, &[90.0, 110.0, 100.0, 110.0, 90.0]), Some(5));
    }

    #[test]
    fn each_limit_counts_and_is_allowed_itself() {
        // Slope 0.2 with an excursion of 0.2: the excursion may be, the slope may not.
        let rising = [90.0, 95.0, 100.0, 105.0, 110.0];
        assert_eq!(steady_at(PTS, &rising), None);
        assert_eq!(steady_at(SteadyRule { slope: None, ..PTS }, &rising), Some(5));
        assert_eq!(steady_at(SteadyRule { slope: Some(0.2), ..PTS }, &rising), Some(5));
        assert_eq!(
            steady_at(SteadyRule { excursion: Some(0.19), slope: None, ..PTS }, &rising),
            None
        );
        let deviation =
            |most| SteadyRule { excursion: None, slope: None, deviation: Some(most), ..PTS };
        assert_eq!(steady_at(deviation(0.1), &rising), Some(5));
        assert_eq!(steady_at(deviation(0.09), &rising), None);
    }

    #[test]
    fn a_decay_is_steady_once_the_window_has_left_the_steep_part() {
        // 100 x (1 + 2^-n): the windows' excursions halve with every round.
        let values: Vec<f64> = (0..20).map(|n| 100.0 * (1.0 + 0.5f64.powi(n))).collect();
        let slopes = values.windows(5).map(spread);
        let first = slopes.take_while(|found| found.excursion > 0.2 || found.slope.abs() > 0.1);
        let expected = first.count() + 5;
        assert_eq!(steady_at(PTS, &values), Some(expected));
        assert_eq!(expected, 9);
    }

    #[test]
    fn a_round_that_told_nothing_is_never_steady() {
        let mut detector = Detector::new(PTS);
        let rounds = [Some(1.0), None, Some(1.0), Some(1.0), Some(1.0), Some(1.0), Some(1.0)];
        let steady: Vec<bool> = rounds.into_iter().map(|value| detector.push(value)).collect();
        assert_eq!(steady, [false, false, false, false, false, false, true]);
        assert_eq!(steady_at(PTS, &[0.0; 9]), None);
    }
}
