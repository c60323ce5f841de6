//! Write amplification over the run: whether it has come to rest.

use schemars::JsonSchema;
use serde::Serialize;

use crate::less::Less;
use crate::metrics::Written;

/// Parts of a run, with as many bytes written by the host in each.
const PARTS: usize = 10;
/// Student's t for a 95% confidence interval of the mean of so many parts.
const STUDENT: f64 = 2.262;
/// Most that the mean may be uncertain by, or that its halves may differ by, as a share.
const MOST: f64 = 0.1;

/// Write amplification over the run: whether it has come to rest.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SettlingSummary {
    /// Write amplification of each tenth of the host's writes; null where the run was not looked at often
    /// enough to tell.
    pub by_part: Vec<Option<f64>>,
    /// Write amplification of the last half.
    pub last_half: f64,
    /// Half of the width of a 95% confidence interval of that of the whole, as a share of it; null if unknown.
    pub uncertainty: Option<f64>,
    /// Whether a longer run would give the same as the whole; null where that cannot be told.
    pub settled: Option<bool>,
}

/// The write amplification of a run's parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Amplification {
    /// Of each part; `None` where the run was not looked at often enough to tell.
    by_part: Vec<Option<f64>>,
    /// Of the last half.
    last_half: f64,
    /// Half of the width of a 95% confidence interval of that of the whole, by batch means, as a share of it.
    uncertainty: Option<f64>,
    /// Whether a longer run would give the same as the whole: `None` where that cannot be told.
    pub has_settled: Option<bool>,
}

impl Amplification {
    /// From what had been written at the end of each row of a time series; `None` if the host wrote nothing, or a buffer
    /// holds it all.
    pub fn of(rows: &[Written]) -> Option<Self> {
        let end = *rows.last().filter(|end| end.host > 0 && end.media > 0)?;
        let at = |part: usize| {
            let wanted = end.host as f64 * part as f64 / PARTS as f64;
            let row = rows.partition_point(|row| (row.host as f64) < wanted);
            if part == 0 { Written::default() } else { rows[row.min(rows.len() - 1)] }
        };
        let between = |from: Written, to: Written| to.less(from).amplification();
        let by_part: Vec<_> = (0..PARTS).map(|part| between(at(part), at(part + 1))).collect();
        let middle = at(PARTS / 2);
        let last_half = between(middle, end)?;
        let known: Option<Vec<f64>> = by_part.iter().copied().collect();
        let uncertainty = known.map(|parts| uncertainty(&parts));
        let halves = between(Written::default(), middle).map(|first_half| last_half / first_half);
        let has_settled = uncertainty
            .zip(halves)
            .map(|(uncertainty, halves)| uncertainty <= MOST && (halves - 1.0).abs() <= MOST);
        Some(Self { by_part, last_half, uncertainty, has_settled })
    }

    /// Summary of the amplification for `summary.json`.
    pub fn summary(&self) -> SettlingSummary {
        SettlingSummary {
            by_part: self.by_part.clone(),
            last_half: self.last_half,
            uncertainty: self.uncertainty,
            settled: self.has_settled,
        }
    }
}

/// Half of the width of a 95% confidence interval of the parts' mean, as a share of it.
fn uncertainty(parts: &[f64]) -> f64 {
    let count = parts.len() as f64;
    let mean = parts.iter().sum::<f64>() / count;
    let squares: f64 = parts.iter().map(|part| (part - mean).powi(2)).sum();
    STUDENT * (squares / (count - 1.0) / count).sqrt() / mean
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of a hundred bytes of the host each, with so many programmed.
    fn rows(media: impl Iterator<Item = u64>) -> Vec<Written> {
        let so_far = media.scan(Written::default(), |sum, media| {
            *sum = *sum + Written { host: 100, media };
            Some(*sum)
        });
        so_far.collect()
    }

    #[test]
    fn the_same_all_along_has_settled() {
        let found = Amplification::of(&rows((0..100).map(|row| 290 + 20 * (row % 2))));
        let found = found.expect("the host wrote");
        assert_eq!(found.by_part, [Some(3.0); PARTS]);
        assert_eq!((found.last_half, found.has_settled), (3.0, Some(true)));
    }

    #[test]
    fn what_begins_to_collect_on_the_way_has_not() {
        // Nothing collected for half of the run, then the same all along: the mean of the whole is neither.
        let found = Amplification::of(&rows((0..100).map(|row| if row < 50 { 100 } else { 500 })));
        let found = found.expect("the host wrote");
        assert_eq!((found.last_half, found.has_settled), (5.0, Some(false)));
        assert_eq!(found.by_part[4..6], [Some(1.0), Some(5.0)]);
    }

    #[test]
    fn what_still_rises_has_not() {
        // From 2 to 3 in a straight line.
        let found = Amplification::of(&rows((0..100).map(|row| 200 + row)));
        assert_eq!(found.and_then(|found| found.has_settled), Some(false));
        let slowly = Amplification::of(&rows((0..100).map(|row| 400 + row / 4)));
        assert_eq!(slowly.and_then(|found| found.has_settled), Some(true));
    }

    #[test]
    fn a_single_wave_of_collections_tells_little_and_many_tell_enough() {
        // Everything is collected in a tenth of each half.
        let wave = |row: u64| if row % 50 < 5 { 1_000 } else { 100 };
        let found = Amplification::of(&rows((0..100).map(wave))).expect("the host wrote");
        assert!(
            (found.last_half - 1.9).abs() < 1e-12 && found.uncertainty > Some(0.3),
            "{found:?}"
        );
        assert_eq!(found.has_settled, Some(false));
        // As many pages in a wave every five rows.
        let waves = |row: u64| if row.is_multiple_of(5) { 550 } else { 100 };
        let found = Amplification::of(&rows((0..100).map(waves))).expect("the host wrote");
        assert_eq!((found.last_half, found.has_settled), (1.9, Some(true)));
    }

    #[test]
    fn the_uncertainty_is_that_of_batch_means() {
        // Ten parts, in turn 2 and 4: mean 3, sample variance 10/9, standard error 1/3.
        let parts: Vec<f64> = (0..10).map(|part| 2.0 + 2.0 * f64::from(part % 2)).collect();
        assert!((uncertainty(&parts) - 2.262 / 9.0).abs() < 1e-12);
    }

    #[test]
    fn too_few_rows_tell_nothing() {
        let found = Amplification::of(&rows([300, 300, 300].into_iter())).expect("some");
        assert_eq!(found.has_settled, None);
        assert_eq!(Amplification::of(&rows([].into_iter())), None);
        assert_eq!(Amplification::of(&[Written { host: 0, media: 7 }]), None);
    }
}
