//! A dense footprint: the extents that a trace touches, laid one after the other in the order of
//! first touch.
//!
//! Extents that follow one another both in the trace and on the device are one run, so memory grows
//! with the number of runs and not with the trace.

use std::collections::BTreeMap;

use super::fault::Fault;
use crate::config::quantity::Size;

/// Where the extents of a trace went.
#[derive(Debug)]
pub struct Extents {
    size: u64,
    /// Extents that the device holds.
    most: u64,
    /// Extents laid so far.
    laid: u64,
    /// Runs by the device and number of their first extent in the trace.
    runs: BTreeMap<(u64, u64), Run>,
    split: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    /// Number on the device of its first extent.
    at: u64,
    count: u64,
}

/// The start of a range, as far as it lies in one piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Bytes of the range before it, which lie nowhere.
    pub skipped: u64,
    /// First byte on the device.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
}

impl Extents {
    /// Extents of `size` bytes on a device of `capacity` bytes.
    pub fn new(size: u64, capacity: u64) -> Self {
        Self { size, most: capacity / size, laid: 0, runs: BTreeMap::new(), split: 0 }
    }

    /// The start of a range that is read or written; lays the extents that are new.
    ///
    /// # Errors
    /// If the footprint outgrows the device.
    pub fn touch(&mut self, device: u64, offset: u64, length: u64) -> Result<Piece, Fault> {
        let end = offset.checked_add(length).ok_or_else(|| {
            Fault::other("offset and size: found more than 16 EiB in all; expected less")
        })?;
        let (first, last) = (offset / self.size, (end - 1) / self.size);
        let (start, run) = match self.run_of(device, first) {
            Some(found) => found,
            None => self.lay_new(device, first, last)?,
        };
        let run = self.extend(device, start, run, last)?;
        let piece = self.piece(start, run, offset, end);
        self.split += u64::from(piece.length < length);
        Ok(piece)
    }

    /// The first part of a range that was touched before; `None` if none was.
    pub fn find(&self, device: u64, offset: u64, length: u64) -> Option<Piece> {
        let end = offset.checked_add(length)?;
        let (first, last) = (offset / self.size, (end - 1) / self.size);
        let later = || {
            let (key, run) = self.runs.range((device, first)..=(device, last)).next()?;
            Some((key.1, *run))
        };
        let (start, run) = self.run_of(device, first).or_else(later)?;
        let from = offset.max(start * self.size);
        Some(Piece { skipped: from - offset, ..self.piece(start, run, from, end) })
    }

    /// What the user should know.
    pub fn note(&self) -> String {
        let split = match self.split {
            0 => String::new(),
            split => format!("; {split} times a request was split where they lie apart"),
        };
        format!("{} extents of {} were touched{split}", self.laid, Size(self.size))
    }

    /// The run that holds `extent`, with its first extent.
    fn run_of(&self, device: u64, extent: u64) -> Option<(u64, Run)> {
        let (&(_, start), &run) = self.runs.range((device, 0)..=(device, extent)).next_back()?;
        (extent - start < run.count).then_some((start, run))
    }

    /// Lays `first`, behind the run before it if that is the last on the device.
    fn lay_new(&mut self, device: u64, first: u64, last: u64) -> Result<(u64, Run), Fault> {
        let before = first.checked_sub(1).and_then(|extent| self.run_of(device, extent));
        let (start, run) = match before {
            Some((start, run)) if run.at + run.count == self.laid => (start, run),
            _ => (first, Run { at: self.laid, count: 0 }),
        };
        Ok((start, self.extend(device, start, run, last)?))
    }

    /// Lays the extents that follow a run up to `last`, if it is the last on the device and they are
    /// new.
    fn extend(&mut self, device: u64, start: u64, run: Run, last: u64) -> Result<Run, Fault> {
        let end = start + run.count;
        if end > last || run.at + run.count != self.laid {
            return Ok(run);
        }
        let next = self.runs.range((device, end)..=(device, last)).next();
        let more = next.map_or(last + 1, |(key, _)| key.1) - end;
        if self.laid + more > self.most {
            return Err(self.full(more));
        }
        self.laid += more;
        let run = Run { count: run.count + more, ..run };
        if run.count > 0 {
            self.runs.insert((device, start), run);
        }
        Ok(run)
    }

    /// The part of `offset..end` that lies in a run.
    fn piece(&self, start: u64, run: Run, offset: u64, end: u64) -> Piece {
        let run_end = (start + run.count).saturating_mul(self.size);
        Piece {
            skipped: 0,
            offset: run.at * self.size + (offset - start * self.size),
            length: end.min(run_end) - offset,
        }
    }

    #[cold]
    fn full(&self, more: u64) -> Fault {
        Fault::other(format!(
            "footprint: found {} extents of {} touched up to here; expected at most the {} that \
             the device holds",
            self.laid + more,
            Size(self.size),
            self.most,
        ))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn piece(offset: u64, length: u64) -> Result<Piece, Fault> {
        Ok(Piece { skipped: 0, offset, length })
    }

    #[test]
    fn extents_lie_in_order_of_first_touch() {
        let mut extents = Extents::new(10, 100);
        assert_eq!(extents.touch(0, 1005, 3), piece(5, 3));
        assert_eq!(extents.touch(0, 72, 20), piece(12, 20), "three extents in one piece");
        assert_eq!(extents.touch(0, 1000, 10), piece(0, 10));
        assert_eq!(extents.touch(1, 1000, 10), piece(40, 10), "another device");
        assert_eq!(extents.note(), "5 extents of 10B were touched");
    }

    #[test]
    fn what_grows_at_the_end_stays_in_one_run() {
        let mut extents = Extents::new(10, 1000);
        for i in 0..50 {
            assert_eq!(extents.touch(0, 5000 + i * 10, 10), piece(i * 10, 10));
        }
        assert_eq!(extents.touch(0, 5000, 600), piece(0, 600));
        assert_eq!(extents.runs.len(), 1);
    }

    #[test]
    fn what_lies_apart_is_split() {
        let mut extents = Extents::new(10, 100);
        assert_eq!(extents.touch(0, 20, 10), piece(0, 10));
        assert_eq!(extents.touch(0, 0, 10), piece(10, 10));
        assert_eq!(extents.touch(0, 5, 40), piece(15, 15), "the gap, then what lies elsewhere");
        assert_eq!(extents.touch(0, 20, 25), piece(0, 10));
        assert_eq!(extents.touch(0, 30, 15), piece(30, 15));
        let note =
            "5 extents of 10B were touched; 2 times a request was split where they lie apart";
        assert_eq!(extents.note(), note);
    }

    #[test]
    fn what_was_never_touched_is_nowhere() {
        let mut extents = Extents::new(10, 100);
        extents.touch(0, 20, 10).unwrap();
        assert_eq!(extents.find(0, 0, 20), None);
        assert_eq!(extents.find(1, 20, 10), None);
        let found = Piece { skipped: 15, offset: 0, length: 10 };
        assert_eq!(extents.find(0, 5, 100), Some(found));
        assert_eq!(extents.find(0, 25, 100), Some(Piece { skipped: 0, offset: 5, length: 5 }));
        assert_eq!(extents.laid, 1);
    }

    #[test]
    fn a_full_device_is_told() {
        let mut extents = Extents::new(10, 39);
        extents.touch(0, 500, 30).unwrap();
        let fault = extents.touch(0, 100, 11).unwrap_err().to_string();
        assert_eq!(
            fault,
            "footprint: found 5 extents of 10B touched up to here; expected at most the 3 that the \
             device holds"
        );
        assert!(extents.touch(0, u64::MAX, 2).is_err());
    }

    proptest! {
        #[test]
        fn agrees_with_a_table_of_extents(
            ranges in prop::collection::vec((0_u64..2, 0_u64..300, 1_u64..80, prop::bool::ANY), 1..60),
        ) {
            let mut extents = Extents::new(10, 10_000);
            let mut table = BTreeMap::<(u64, u64), u64>::new();
            for (device, offset, length, is_trim) in ranges {
                let (mut at, end) = (offset, offset + length);
                while at < end {
                    let piece = if is_trim {
                        let Some(piece) = extents.find(device, at, end - at) else { break };
                        piece
                    } else {
                        extents.touch(device, at, end - at).unwrap()
                    };
                    let passed = at..at + piece.skipped;
                    prop_assert!(passed.clone().all(|byte| !table.contains_key(&(device, byte / 10))));
                    at = passed.end;
                    for byte in 0..piece.length {
                        let next = table.len() as u64;
                        let key = (device, (at + byte) / 10);
                        let extent = *table.entry(key).or_insert(next);
                        prop_assert_eq!(extent, (piece.offset + byte) / 10);
                        prop_assert_eq!((at + byte) % 10, (piece.offset + byte) % 10);
                    }
                    at += piece.length;
                }
            }
            prop_assert_eq!(extents.laid, table.len() as u64);
        }
    }
}
