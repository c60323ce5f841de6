//! Layouts with parity: RAID-5 (Patterson, Gibson, Katz: A Case for Redundant Arrays of Inexpensive
//! Disks, SIGMOD 1988) and RAID-6, left-symmetric as Linux md places them.
//!
//! A stripe is one unit of each drive. Its units are told apart by their role, counted from the
//! drive that holds P: first the parities (P; P and Q), then the data units in the order of their
//! addresses. P is on the last drive in stripe 0, and one drive further left in each stripe.
//!
//! A request is cut into stripes, and these into segments: rows of bytes in which the same units are
//! touched and the same are missing. All choices are made segment by segment.

mod agreement;
mod read;
mod rebuild;
mod segment;
mod stripe;
mod write;

use std::ops::Range;

use self::segment::Segment;
use self::stripe::Stripe;
use super::missing::Missing;
use super::plan::Plan;
use crate::checkpoint::Checkpointed;
use crate::ids::SsdId;

/// A striped layout with parity.
#[derive(Debug, Clone, Checkpointed)]
pub(super) struct Parity {
    pub(super) devices: u32,
    /// Parity units of a stripe: 1 or 2.
    pub(super) parities: u32,
    /// Bytes of a unit.
    pub(super) unit: u64,
}

impl Parity {
    /// Data bytes of a stripe.
    pub(super) fn width(&self) -> u64 {
        u64::from(self.devices - self.parities) * self.unit
    }

    /// The drive that has all of these bytes, and where they begin there, if they lie in one unit.
    pub(super) fn place_of(&self, bytes: &Range<u64>) -> Option<(SsdId, u64)> {
        let (unit, offset) = (bytes.start / self.unit, bytes.start % self.unit);
        let units = u64::from(self.devices - self.parities);
        let (number, data) = (unit / units, (unit % units) as u32);
        let device =
            Stripe::new(self, number, &Missing::default(), &[]).device_of(self.parities + data);
        let fits = offset + (bytes.end - bytes.start) <= self.unit;
        fits.then(|| (device, number * self.unit + offset))
    }

    /// Each stripe that the array's `bytes` touch, with what they touch of its data.
    fn stripes(&self, bytes: Range<u64>) -> impl Iterator<Item = (u64, Range<u64>)> {
        let width = self.width();
        (bytes.start / width..bytes.end.div_ceil(width)).map(move |number| {
            let start = number * width;
            (number, bytes.start.max(start) - start..bytes.end.min(start + width) - start)
        })
    }

    /// Data bytes in rows of which more is missing than parities make up for.
    pub(super) fn lost_bytes(&self, capacity: u64, missing: &Missing) -> u64 {
        let stripes = 0..capacity / self.width();
        stripes.map(|number| Stripe::new(self, number, missing, &[]).lost_bytes()).sum()
    }

    /// Numbers of the whole stripes among `bytes`.
    pub(super) fn whole_stripes(&self, bytes: &Range<u64>) -> Range<u64> {
        let width = self.width();
        bytes.start.div_ceil(width)..bytes.end / width
    }

    /// Trims the whole stripes among `bytes`, parities and all.
    pub(super) fn trim(&self, bytes: Range<u64>, missing: &Missing, plan: &mut Plan) {
        let stripes = self.whole_stripes(&bytes);
        if stripes.is_empty() {
            return;
        }
        let range = stripes.start * self.unit..stripes.end * self.unit;
        for device in (0..self.devices as usize).map(SsdId::from_index) {
            let end = missing.from(device).map_or(range.end, |from| from.min(range.end));
            if range.start < end {
                plan.then.push(device, range.start..end);
            }
        }
        plan.stripes = Some(stripes);
    }
}
