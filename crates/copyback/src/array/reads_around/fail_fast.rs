//! Reads that fail fast: a drive that collects where a read goes fails it at once (PL_IO of IODA, Li et al., SOSP 2021), and the
//! array reconstructs it from the others.
//!
//! ```text
//!  read ──► drive 0 ── fails ──► reads ──► drives 1, 2, 3 ──► reconstructed
//!           └── round trip ───┘            └─ one fails: a second round trip, then the choice
//! ```
//!
//! If several drives of the stripe collect, one is gone around and the others are waited for. Which one, is
//! [`SeveralBusy`]: with the times for which they are still busy (PL_BRT) it is the one that is longest, so that the read waits for
//! the shorter of both ways. A read that goes around none waits for its own drive.

use rand::RngExt;

use super::{Around, BusyDrives, Decision, Read};
use crate::checkpoint::Checkpointed;
use crate::config::SeveralBusy;
use crate::ids::SsdId;
use crate::layout::Plan;
use crate::rng::{self, Stream};
use crate::units::Duration;

/// The policy.
#[derive(Debug, Checkpointed)]
pub struct FailFast {
    round_trip: Duration,
    several: Choice,
}

/// Choice of the drive that a read goes around if several collect.
#[derive(Debug, Checkpointed)]
enum Choice {
    None,
    Random(Box<Stream>),
    LongestBusy,
}

impl FailFast {
    pub(super) fn new(round_trip: Duration, several: SeveralBusy, seed: u64) -> Self {
        let several = match several {
            SeveralBusy::None => Choice::None,
            SeveralBusy::Random => {
                Choice::Random(Box::new(rng::stream(seed, "array/reads_around_gc")))
            }
            SeveralBusy::LongestBusy => Choice::LongestBusy,
        };
        Self { round_trip, several }
    }

    /// Plans a read whose own drives `own` collect, and others that its reconstruction needs.
    fn decide_among(
        &mut self,
        read: &Read<'_>,
        (own, mut busy): (&BusyDrives, BusyDrives),
        plan: &mut Plan,
        other: &mut Plan,
    ) -> Decision {
        let delay = self.round_trip * 2;
        self.several.order(&mut busy);
        // As many as parity makes up for.
        for most in (1..=busy.len()).rev() {
            let avoid: Vec<SsdId> = busy[..most].iter().map(|(drive, _)| *drive).collect();
            let helps = own.iter().any(|(drive, _)| avoid.contains(drive));
            if helps && read.plan_around(&avoid, other) {
                std::mem::swap(plan, other);
                return Decision { goes_around: true, delay };
            }
        }
        Decision { goes_around: false, delay }
    }
}

impl Around for FailFast {
    fn decide(&mut self, read: &Read<'_>, plan: &mut Plan, other: &mut Plan) -> Decision {
        let own = read.busy_drives(plan);
        if own.is_empty() {
            return Decision::PLAIN;
        }
        let avoid: Vec<SsdId> = own.iter().map(|(drive, _)| *drive).collect();
        let mut busy = own.clone();
        if read.plan_around(&avoid, other) {
            busy.extend(read.busy_drives(other));
            if busy.len() == own.len() {
                std::mem::swap(plan, other);
                return Decision { goes_around: true, delay: self.round_trip };
            }
        }
        self.decide_among(read, (&own, busy), plan, other)
    }
}

impl Choice {
    /// Puts the drive first that is gone around; keeps none that is not.
    fn order(&mut self, busy: &mut BusyDrives) {
        match self {
            Self::None => busy.clear(),
            Self::Random(stream) => {
                for place in 1..busy.len() {
                    busy.swap(place, stream.random_range(0..=place));
                }
            }
            // Stable: of equals the one whose read came first.
            Self::LongestBusy => busy.sort_by_key(|(_, time)| std::cmp::Reverse(*time)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(times: &[u64]) -> BusyDrives {
        let each = times.iter().enumerate();
        each.map(|(drive, us)| (SsdId::from_index(drive), Duration::from_us(*us))).collect()
    }

    fn ordered(choice: &mut Choice, times: &[u64]) -> Vec<usize> {
        let mut busy = busy(times);
        choice.order(&mut busy);
        busy.iter().map(|(drive, _)| drive.index()).collect()
    }

    #[test]
    fn the_longest_busy_comes_first_and_the_first_of_equals() {
        assert_eq!(ordered(&mut Choice::LongestBusy, &[2, 9, 5]), [1, 2, 0]);
        assert_eq!(ordered(&mut Choice::LongestBusy, &[4, 4, 1]), [0, 1, 2]);
    }

    #[test]
    fn none_is_gone_around_without_a_choice() {
        assert_eq!(ordered(&mut Choice::None, &[2, 9]), [0; 0]);
    }

    #[test]
    fn at_random_each_comes_first_equally_often() {
        let mut choice = Choice::Random(Box::new(rng::stream(0, "test")));
        let mut first = [0; 3];
        for _ in 0..3000 {
            first[ordered(&mut choice, &[1, 2, 3])[0]] += 1;
        }
        assert!(first.iter().all(|count| (900..1100).contains(count)), "{first:?}");
    }
}
