//! A dense footprint: the extents that a trace touches, laid one after the other in order of address.
//!
//! All that a request reads or writes is touched, so what is one range in the trace is one range on
//! the device: nothing that lies between has room there.

use super::fault::Fault;
use super::footprint::{Footprint, Run};
use super::space::Space;

/// Places of the extents of a trace on the device.
#[derive(Debug)]
pub struct Compact {
    /// In order of region and address.
    runs: Vec<Laid>,
    /// The run that was looked up last: most requests follow one in the same.
    last: usize,
    space: Space,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Laid {
    run: Run,
    /// First byte on the device.
    at: u64,
}

impl Laid {
    fn holds(&self, region: u64, start: u64, end: u64) -> bool {
        self.run.region == region && self.run.start <= start && end <= self.run.end
    }

    /// Place of a byte of the extent.
    const fn place(&self, byte: u64) -> u64 {
        self.at + (byte - self.run.start)
    }
}

impl Compact {
    /// Lays a footprint on its device; `None` if it, or that of one region, has no room there.
    pub fn new(footprint: &Footprint) -> Option<Self> {
        if footprint.is_too_large() {
            return None;
        }
        let space = footprint.space();
        let mut runs: Vec<Laid> = Vec::new();
        let (mut at, mut limit) = (0, space.capacity());
        for run in footprint.runs() {
            let is_new = runs.last().is_none_or(|last| last.run.region != run.region);
            if is_new && let Some(base) = space.base(run.region) {
                (at, limit) = (base, base + space.bytes());
            }
            let end = (run.end - run.start).checked_add(at).filter(|end| *end <= limit)?;
            runs.push(Laid { run, at });
            at = end;
        }
        Some(Self { runs, last: 0, space })
    }

    /// Layout of the devices of the trace.
    pub const fn space(&self) -> Space {
        self.space
    }

    /// Maps a range that is read or written.
    ///
    /// # Errors
    /// If it was not there when the footprint was found.
    #[inline]
    pub fn place(&mut self, region: u64, offset: u64, length: u64) -> Result<u64, Fault> {
        let end = offset.saturating_add(length);
        if self.runs.get(self.last).is_none_or(|laid| !laid.holds(region, offset, end)) {
            self.last = self.first_behind(region, offset);
        }
        match self.runs.get(self.last) {
            Some(laid) if laid.holds(region, offset, end) => Ok(laid.place(offset)),
            _ => Err(changed()),
        }
    }

    /// Start and length of what is touched of a range; `None` if nothing is.
    pub fn touched(&self, region: u64, offset: u64, length: u64) -> Option<(u64, u64)> {
        let end = offset.saturating_add(length);
        let first = self.first_behind(region, offset);
        let key = |laid: &Laid| (laid.run.region, laid.run.start);
        let behind = self.runs.partition_point(|laid| key(laid) < (region, end));
        let (first, last) = (self.runs.get(first)?, self.runs[..behind].get(first..)?.last()?);
        let start = first.place(offset.max(first.run.start));
        Some((start, last.place(end.min(last.run.end)) - start))
    }

    /// The first run that ends behind `offset`.
    fn first_behind(&self, region: u64, offset: u64) -> usize {
        let key = |laid: &Laid| (laid.run.region, laid.run.end);
        self.runs.partition_point(|laid| key(laid) <= (region, offset))
    }
}

#[cold]
fn changed() -> Fault {
    Fault::other(
        "offset: found an address that was not there when the trace was read to find what it \
         touches; expected a file that does not change",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operation;
    use crate::trace::space::Owner;

    fn footprint(space: Space, ranges: &[(u64, u64, u64)]) -> Footprint {
        let mut footprint = Footprint::new(space, 10);
        for (device, offset, length) in ranges {
            let owner = Owner { device: *device, place: *device as usize };
            footprint.take(owner, Operation::Write, *offset, *length).unwrap();
        }
        footprint
    }

    #[test]
    fn extents_lie_in_order_of_address() {
        let ranges = [(0, 1005, 3), (0, 72, 20), (0, 1000, 10)];
        let mut compact =
            Compact::new(&footprint(Space::Shared { capacity: 40 }, &ranges)).unwrap();
        assert_eq!(compact.place(0, 1005, 3), Ok(35));
        assert_eq!(compact.place(0, 72, 20), Ok(2), "three extents in one piece");
        assert_eq!(compact.place(0, 1000, 10), Ok(30));
        assert_eq!(compact.place(0, 500, 10), Err(changed()));
        assert_eq!(compact.place(0, 95, 10), Err(changed()));
        assert_eq!(compact.place(1, 1005, 3), Err(changed()));
    }

    #[test]
    fn a_trim_is_what_it_covers_in_one_piece() {
        let ranges = [(0, 20, 10), (0, 50, 20), (0, 90, 10)];
        let compact = Compact::new(&footprint(Space::Shared { capacity: 40 }, &ranges)).unwrap();
        assert_eq!(compact.touched(0, 0, 20), None);
        assert_eq!(compact.touched(0, 30, 20), None);
        assert_eq!(compact.touched(0, 100, 20), None);
        assert_eq!(compact.touched(1, 0, 200), None);
        assert_eq!(compact.touched(0, 0, 200), Some((0, 40)));
        assert_eq!(compact.touched(0, 25, 30), Some((5, 10)));
        assert_eq!(compact.touched(0, 55, 5), Some((15, 5)));
    }

    #[test]
    fn regions_begin_where_they_should() {
        let ranges = [(0, 500, 10), (1, 500, 20), (1, 900, 10)];
        let regions = Space::Regions { size: 100, count: 2 };
        let mut compact = Compact::new(&footprint(regions, &ranges)).unwrap();
        assert_eq!([compact.place(0, 500, 1), compact.place(1, 900, 1)], [Ok(0), Ok(120)]);
        let apart = Space::Apart { capacity: 40 };
        let mut compact = Compact::new(&footprint(apart, &ranges)).unwrap();
        assert_eq!([compact.place(0, 500, 1), compact.place(1, 900, 1)], [Ok(0), Ok(30)]);
    }

    #[test]
    fn what_has_no_room_is_not_laid() {
        let ranges = [(0, 500, 10), (1, 500, 20), (1, 900, 10)];
        assert!(Compact::new(&footprint(Space::Apart { capacity: 39 }, &ranges)).is_none());
        let regions = Space::Regions { size: 20, count: 3 };
        assert!(Compact::new(&footprint(regions, &ranges)).is_none(), "the second has too much");
        let edge = Space::Shared { capacity: 25 };
        assert!(Compact::new(&footprint(edge, &[(0, 0, 25)])).is_none(), "not in whole extents");
    }
}
