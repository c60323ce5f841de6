//! The longest pauses of a trace: where a few hold most of its time, rates over all of it mean little.

use copyback_config::units::Duration;

/// Pauses that are kept.
const FEW: usize = 8;
/// Requests below which a few pauses are all there are.
const MANY: u64 = 100;
/// Default shortest pause that `workload.clock_jumps = "close"` leaves out: an hour, in nanoseconds.
const LONG_NS: u64 = 3600 * 1_000_000_000;

/// The longest pauses so far.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pauses {
    /// The longest first.
    longest: [Pause; FEW],
}

#[derive(Debug, Clone, Copy, Default)]
struct Pause {
    ns: u64,
    /// The line behind it.
    line: u64,
}

/// A few pauses that most of a trace's time lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gaps {
    /// Number of gaps.
    pub count: usize,
    /// Sum of the gaps.
    pub together: Duration,
    /// Duration of the trace.
    pub whole: Duration,
    /// Duration of the longest gap.
    pub longest: Duration,
    /// The line behind that.
    pub line: u64,
}

impl Pauses {
    /// Takes a pause before `line` in.
    #[inline]
    pub fn note(&mut self, ns: u64, line: u64) {
        if ns > self.longest[FEW - 1].ns {
            self.insert(Pause { ns, line });
        }
    }

    #[cold]
    fn insert(&mut self, pause: Pause) {
        self.longest[FEW - 1] = pause;
        self.longest.sort_by_key(|pause| std::cmp::Reverse(pause.ns));
    }

    /// The fewest pauses that hold more than three quarters of `elapsed_ns`, if these few do.
    pub fn gaps(&self, elapsed_ns: u64, requests: u64) -> Option<Gaps> {
        let [Pause { ns: longest_ns, line }, ..] = self.longest;
        if requests < MANY || longest_ns < LONG_NS {
            return None;
        }
        let mut together_ns = 0;
        let most_ns = elapsed_ns - elapsed_ns / 4;
        for (index, pause) in self.longest.iter().enumerate() {
            together_ns += pause.ns;
            if together_ns > most_ns {
                return Some(Gaps {
                    count: index + 1,
                    together: Duration::from_ns(together_ns),
                    whole: Duration::from_ns(elapsed_ns),
                    longest: Duration::from_ns(longest_ns),
                    line,
                });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pauses: &[u64]) -> Option<Gaps> {
        let mut longest = Pauses::default();
        for (index, pause) in pauses.iter().enumerate() {
            longest.note(*pause, index as u64 + 2);
        }
        longest.gaps(pauses.iter().sum(), pauses.len() as u64)
    }

    #[test]
    fn a_few_pauses_that_hold_most_of_the_time_are_found() {
        let mut pauses = vec![1_000_000_000; 500];
        assert_eq!(of(&pauses), None);
        (pauses[7], pauses[400]) = (LONG_NS, 5 * LONG_NS);
        let gaps = of(&pauses).unwrap();
        assert_eq!((gaps.count, gaps.line), (1, 402));
        assert_eq!((gaps.together, gaps.longest), (gaps.longest, Duration::from_ns(5 * LONG_NS)));
        (pauses[9], pauses[11]) = (LONG_NS, LONG_NS);
        assert_eq!(of(&pauses).unwrap().count, 3, "five eighths are one pause");
        assert_eq!(of(&pauses[400..460]), None, "too few requests to say");
        assert_eq!(of(&[LONG_NS; 100]), None, "all are alike");
    }
}
