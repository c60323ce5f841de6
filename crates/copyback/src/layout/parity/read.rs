//! Reads.

use super::segment::segments;
use super::*;

impl Parity {
    /// Reads `bytes` without the drives in `avoid`. False if what they and the missing hold can't be
    /// made up; then the plan is of no use.
    pub(in super::super) fn read(
        &self,
        bytes: Range<u64>,
        missing: &Missing,
        avoid: &[SsdId],
        plan: &mut Plan,
    ) -> bool {
        for (number, part) in self.stripes(bytes) {
            let stripe = Stripe::new(self, number, missing, avoid);
            for segment in segments(&stripe, &part) {
                let is_lost = stripe.lost(&segment.touched, segment.rows.start) > 0;
                if !is_lost {
                    stripe.push(segment.touched, &segment.rows, &mut plan.first);
                } else if stripe.push_survivors(&segment.rows, &mut plan.first) {
                    plan.lock(number);
                } else {
                    return false;
                }
            }
        }
        true
    }
}
