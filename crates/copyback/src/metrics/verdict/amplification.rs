//! Write amplification over the run: whether it has come to rest.

use serde_json::{Value, json};

use crate::steady::Spread;

/// Parts of a run, with as many pages written for the host in each.
const PARTS: usize = 10;
/// Most that the last half may rise or fall, or differ from the whole, as a share: what SNIA's Performance Test
/// Specification allows the best-fit line of a steady state.
const MOST: f64 = 0.1;

/// Pages written so far, at some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Written {
    /// For the host.
    pub host: u64,
    /// In all.
    pub all: u64,
}

/// The write amplification of a run's parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Amplification {
    /// Of each part; `None` where the run was not looked at often enough to tell.
    by_part: Vec<Option<f64>>,
    /// Of the last half.
    last_half: f64,
    /// Whether that can be told of the whole: `None` where it cannot.
    pub has_settled: Option<bool>,
}

impl Amplification {
    /// From what had been written at the end of each row of a time series; `None` if nothing was for the host.
    pub fn of(rows: &[Written]) -> Option<Self> {
        let end = *rows.last().filter(|end| end.host > 0)?;
        let at = |part: usize| {
            let wanted = end.host as f64 * part as f64 / PARTS as f64;
            let row = rows.partition_point(|row| (row.host as f64) < wanted);
            if part == 0 { Written::default() } else { rows[row.min(rows.len() - 1)] }
        };
        let between = |from: Written, to: Written| {
            let host = to.host - from.host;
            (host > 0).then(|| (to.all - from.all) as f64 / host as f64)
        };
        let by_part: Vec<_> = (0..PARTS).map(|part| between(at(part), at(part + 1))).collect();
        let last_half = between(at(PARTS / 2), end)?;
        let whole = end.all as f64 / end.host as f64;
        let late: Option<Vec<f64>> = by_part[PARTS / 2..].iter().copied().collect();
        let spread = late.and_then(|late| Spread::of(late.into_iter()));
        let has_settled = spread
            .map(|spread| spread.slope.abs() <= MOST && (last_half / whole - 1.0).abs() <= MOST);
        Some(Self { by_part, last_half, has_settled })
    }

    /// Its keys in `summary.json`.
    pub fn summary(&self) -> Value {
        json!({
            "by_part": self.by_part,
            "last_half": self.last_half,
            "settled": self.has_settled,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of a hundred pages of the host each, with so many written in all.
    fn rows(all: impl Iterator<Item = u64>) -> Vec<Written> {
        let so_far = all.scan(Written::default(), |sum, all| {
            *sum = Written { host: sum.host + 100, all: sum.all + all };
            Some(*sum)
        });
        so_far.collect()
    }

    #[test]
    fn the_same_all_along_has_settled() {
        let found = Amplification::of(&rows((0..100).map(|row| 290 + 20 * (row % 2))));
        let found = found.expect("pages were written");
        assert_eq!(found.by_part, [Some(3.0); PARTS]);
        assert_eq!((found.last_half, found.has_settled), (3.0, Some(true)));
    }

    #[test]
    fn what_begins_to_collect_on_the_way_has_not() {
        // Nothing collected for half of the run, then the same all along: the mean of the whole is neither.
        let found = Amplification::of(&rows((0..100).map(|row| if row < 50 { 100 } else { 500 })));
        let found = found.expect("pages were written");
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
    fn too_few_rows_tell_nothing() {
        let found = Amplification::of(&rows([300, 300, 300].into_iter())).expect("some");
        assert_eq!(found.has_settled, None);
        assert_eq!(Amplification::of(&rows([].into_iter())), None);
        assert_eq!(Amplification::of(&[Written { host: 0, all: 7 }]), None);
    }
}
