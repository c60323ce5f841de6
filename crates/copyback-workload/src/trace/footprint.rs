//! Footprint of a trace: the extents that hold what it reads and writes, found by reading it once before it is
//! replayed.
//!
//! Extents that follow one another are one run, so memory grows with the number of runs and not with
//! the trace.

use std::collections::BTreeMap;

use super::fault::Fault;
use super::space::{Owner, Space};
use crate::Operation;

/// An address beyond this, 1 PiB, is of no drive: a damaged row would move all others.
const FARTHEST: u64 = 1 << 50;

/// The footprint of a trace, as far as it has been read.
#[derive(Debug)]
pub struct Footprint {
    space: Space,
    extent: u64,
    /// The number behind the last extent of each run, by region and number of its first.
    runs: BTreeMap<(u64, u64), u64>,
    /// Extents touched, until they are more than the device holds.
    touched: u64,
    reach: u64,
}

/// Bytes that follow one another in the trace, by whole extents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The region, as [`Space::region`] numbers it.
    pub region: u64,
    /// First byte in the trace.
    pub start: u64,
    /// The byte behind the last.
    pub end: u64,
}

impl Footprint {
    /// Of nothing yet, in extents of `extent` bytes.
    pub fn new(space: Space, extent: u64) -> Self {
        Self { space, extent, runs: BTreeMap::new(), touched: 0, reach: 0 }
    }

    /// Takes a request in.
    ///
    /// # Errors
    /// If it is of no drive that there is, or there is no room for its device, or for a request of
    /// this length wherever it lies.
    pub fn take(
        &mut self,
        owner: Owner,
        operation: Operation,
        offset: u64,
        length: u64,
    ) -> Result<(), Fault> {
        let region = self.space.region(owner)?;
        let end = offset.checked_add(length).filter(|end| *end <= FARTHEST);
        let end = end.ok_or_else(|| too_far(offset, length))?;
        self.reach = self.reach.max(end);
        if operation == Operation::Trim {
            return Ok(());
        }
        if length > self.space.bytes() {
            return Err(Fault::other(format!(
                "size: found {length} bytes; expected at most the device's {}",
                self.space.bytes()
            )));
        }
        if !self.is_too_large() {
            self.touch(region, offset / self.extent, (end - 1) / self.extent + 1);
        }
        Ok(())
    }

    /// Bytes of an extent.
    pub const fn extent(&self) -> u64 {
        self.extent
    }

    /// Layout of the regions of the trace.
    pub const fn space(&self) -> Space {
        self.space
    }

    /// The byte behind the highest of any region, trims included.
    pub const fn reach(&self) -> u64 {
        self.reach
    }

    /// Extents touched; of more than the device holds, at least one more than that.
    pub const fn touched(&self) -> u64 {
        self.touched
    }

    /// Whether it is more than the device holds.
    pub fn is_too_large(&self) -> bool {
        self.touched > self.space.capacity() / self.extent
    }

    /// Iterates over the touched runs, by region and address.
    pub fn runs(&self) -> impl Iterator<Item = Run> {
        self.runs.iter().map(|(&(region, first), &end)| Run {
            region,
            start: first * self.extent,
            end: end * self.extent,
        })
    }

    /// Joins the extents `first..end` of `region` with the runs that they meet.
    fn touch(&mut self, region: u64, mut first: u64, mut end: u64) {
        let before = self.runs.range((region, 0)..=(region, first)).next_back();
        if let Some((&(_, start), &before_end)) = before
            && first <= before_end
        {
            if end <= before_end {
                return;
            }
            first = start;
        }
        while let Some((&key, &other_end)) = self.runs.range((region, first)..=(region, end)).next()
        {
            self.runs.remove(&key);
            self.touched -= other_end - key.1;
            end = end.max(other_end);
        }
        self.touched += end - first;
        self.runs.insert((region, first), end);
    }
}

#[cold]
fn too_far(offset: u64, length: u64) -> Fault {
    let end = u128::from(offset) + u128::from(length);
    Fault::other(format!(
        "offset: found bytes {offset} to {end}; expected them within 1 PiB, as on any drive"
    ))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn shared(capacity: u64) -> Footprint {
        Footprint::new(Space::Shared { capacity }, 10)
    }

    fn write(footprint: &mut Footprint, offset: u64, length: u64) -> Result<(), Fault> {
        footprint.take(Owner { device: 0, place: 0 }, Operation::Write, offset, length)
    }

    #[test]
    fn runs_that_meet_are_one() {
        let mut footprint = shared(1000);
        for (offset, length) in [(20, 10), (505, 3), (0, 10), (10, 1), (29, 2)] {
            write(&mut footprint, offset, length).unwrap();
        }
        let runs: Vec<_> = footprint.runs().map(|run| (run.start, run.end)).collect();
        assert_eq!(runs, [(0, 40), (500, 510)]);
        assert_eq!((footprint.touched(), footprint.reach()), (5, 508));
    }

    #[test]
    fn trims_reach_and_do_not_touch() {
        let mut footprint = shared(100);
        let owner = Owner { device: 0, place: 0 };
        footprint.take(owner, Operation::Trim, 0, 5000).unwrap();
        assert_eq!((footprint.touched(), footprint.reach()), (0, 5000));
    }

    #[test]
    fn what_no_device_could_hold_is_refused() {
        let mut footprint = shared(100);
        assert_eq!(
            write(&mut footprint, 0, 101).unwrap_err().to_string(),
            "size: found 101 bytes; expected at most the device's 100"
        );
        assert_eq!(
            write(&mut footprint, FARTHEST, 8).unwrap_err().to_string(),
            "offset: found bytes 1125899906842624 to 1125899906842632; expected them within 1 PiB, \
             as on any drive"
        );
        assert!(write(&mut footprint, u64::MAX, 2).is_err());
    }

    #[test]
    fn more_than_the_device_holds_takes_no_more_memory() {
        let mut footprint = shared(39);
        for i in 0..100 {
            write(&mut footprint, i * 1000, 1).unwrap();
        }
        assert!(footprint.is_too_large());
        assert_eq!((footprint.runs.len(), footprint.reach()), (4, 99_001));
    }

    proptest! {
        #[test]
        fn agrees_with_a_set_of_extents(
            ranges in prop::collection::vec((0_u64..2, 0_u64..300, 1_u64..80), 1..60),
        ) {
            let mut footprint = Footprint::new(Space::Apart { capacity: 1 << 40 }, 10);
            let mut touched = BTreeSet::new();
            for (device, offset, length) in ranges {
                let owner = Owner { device, place: 0 };
                footprint.take(owner, Operation::Read, offset, length).unwrap();
                touched.extend((offset..offset + length).map(|byte| (device, byte / 10)));
            }
            prop_assert_eq!(footprint.touched(), touched.len() as u64);
            let runs: Vec<_> = footprint.runs().collect();
            for pair in runs.windows(2) {
                prop_assert!(pair[0].region < pair[1].region || pair[0].end < pair[1].start);
            }
            let inside = |region, byte| {
                runs.iter().any(|run| run.region == region && (run.start..run.end).contains(&byte))
            };
            for extent in 0..40 {
                for region in 0..2 {
                    prop_assert_eq!(inside(region, extent * 10), touched.contains(&(region, extent)));
                }
            }
        }
    }
}
