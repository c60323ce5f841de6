//! A checksum of the rows of a row group, since pages have none: compression alone lets a damaged
//! offset pass.

use crate::trace::record::Record;
use copyback_config::units::Duration;

/// Odd, and with its bits well mixed: two to the power 64 over the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// A checksum in the making: a lane for each column, so that none waits for another. Each step is
/// reversible, so a single changed value always changes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Checksum {
    lanes: [u64; 6],
    /// Zero as long as no row has a handle: then the checksum is the one that files had before they could.
    handles: u64,
}

impl Checksum {
    /// Adds a row.
    #[inline]
    pub fn add(&mut self, record: &Record) {
        let Record { time_ns, operation, offset, length, device, measured, handle } = *record;
        let measured = measured.map_or(0, |measured: Duration| measured.as_ns().wrapping_add(1));
        let values = [time_ns, operation.number().into(), offset, length, device, measured];
        for (lane, value) in self.lanes.iter_mut().zip(values) {
            *lane = mixed(*lane, value);
        }
        self.handles = mixed(self.handles, handle.map_or(0, |handle| u64::from(handle.0) + 1));
    }

    /// The checksum as text.
    pub fn text(self) -> String {
        let sum = self.lanes.into_iter().fold(0, mixed);
        let sum = if self.handles == 0 { sum } else { mixed(sum, self.handles) };
        format!("{sum:016x}")
    }
}

#[inline]
fn mixed(lane: u64, value: u64) -> u64 {
    (lane ^ value).wrapping_mul(FACTOR).rotate_left(31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Handle, Operation};

    #[test]
    fn every_field_and_the_order_count() {
        let record = Record::new(1, Operation::Read, 512, 4096);
        let others = [
            Record { time_ns: 2, ..record },
            Record { operation: Operation::Write, ..record },
            Record { offset: 1024, ..record },
            Record { length: 512, ..record },
            record.on(1),
            record.took(Some(Duration::ZERO)),
            record.with(Some(Handle(0))),
            record.with(Some(Handle(1))),
        ];
        let of = |records: &[Record]| {
            let mut checksum = Checksum::default();
            records.iter().for_each(|record| checksum.add(record));
            checksum.text()
        };
        for other in others {
            assert_ne!(of(&[record]), of(&[other]), "{other:?}");
            assert_ne!(of(&[record, other]), of(&[other, record]), "{other:?}");
        }
    }
}
