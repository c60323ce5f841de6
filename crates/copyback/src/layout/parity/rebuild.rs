//! Rebuild: the data of a lost drive are reconstructed and written to its replacement. Scrub: all drives are read.

use super::segment::sections;
use super::*;

impl Parity {
    /// Makes up `bytes` of `device` from the others and writes them.
    pub(in super::super) fn rebuild(
        &self,
        device: SsdId,
        bytes: Range<u64>,
        missing: &Missing,
        plan: &mut Plan,
    ) {
        if bytes.is_empty() {
            return;
        }
        for number in bytes.start / self.unit..bytes.end.div_ceil(self.unit) {
            let start = number * self.unit;
            let rows = bytes.start.max(start) - start..bytes.end.min(start + self.unit) - start;
            let stripe = Stripe::new(self, number, missing, &[device]);
            for section in sections(&stripe, &rows, &[]) {
                let is_whole = stripe.push_survivors(&section, &mut plan.first);
                assert!(is_whole, "parities make up for {device:?} and all of {missing:?}");
            }
            plan.lock(number);
        }
        plan.then.push(device, bytes);
    }

    /// Reads `bytes` of every drive of which nothing is missing.
    pub(in super::super) fn scrub(&self, bytes: Range<u64>, missing: &Missing, plan: &mut Plan) {
        let drives = (0..self.devices as usize).map(SsdId::from_index);
        for drive in drives.filter(|drive| missing.from(*drive).is_none()) {
            plan.first.push(drive, bytes.clone());
        }
        plan.lock_all(bytes.start / self.unit..bytes.end.div_ceil(self.unit));
    }
}
