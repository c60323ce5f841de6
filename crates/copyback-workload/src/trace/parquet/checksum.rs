//! A checksum of the rows of a row group, since pages have none: compression alone lets a damaged
//! offset pass.

use crate::trace::record::Record;
use copyback_config::units::Duration;

/// Odd, and with its bits well mixed: two to the power 64 over the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// A checksum in the making: a lane for each column, so that none waits for another. Each step is
/// reversible, so a single changed value always changes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Checksum([u64; 6]);

impl Checksum {
    /// Adds a row.
    #[inline]
    pub fn add(&mut self, record: &Record) {
        let Record { time_ns, operation, offset, length, device, measured } = *record;
        let measured = measured.map_or(0, |measured: Duration| measured.as_ns().wrapping_add(1));
        let values = [time_ns, operation.number().into(), offset, length, device, measured];
        for (lane, value) in self.0.iter_mut().zip(values) {
            *lane = mixed(*lane, value);
        }
    }

    /// The checksum as text.
    pub fn text(self) -> String {
        format!("{:016x}", self.0.into_iter().fold(0, mixed))
    }
}

#[inline]
fn mixed(lane: u64, value: u64) -> u64 {
    (lane ^ value).wrapping_mul(FACTOR).rotate_left(31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operation;

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
