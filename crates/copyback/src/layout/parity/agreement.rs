//! Parities that may disagree with their data.

use super::segment::segments;
use super::*;
use crate::layout::agreement::{PartialParities, PartialParity};

impl Parity {
    /// Number of the stripe that `part` lies in, and what it has of the stripe's data.
    fn stripe_of(&self, part: &Range<u64>) -> (u64, Range<u64>) {
        let number = part.start / self.width();
        let start = number * self.width();
        (number, part.start - start..part.end - start)
    }

    /// Reads `rows` of every drive of which nothing is missing, and writes the parities of the `torn` parts in them.
    pub(in super::super) fn resync(
        &self,
        rows: Range<u64>,
        torn: &[Range<u64>],
        missing: &Missing,
        plan: &mut Plan,
    ) {
        self.scrub(rows.clone(), missing, plan);
        for part in torn {
            let (number, data) = self.stripe_of(part);
            if !rows.contains(&(number * self.unit)) {
                continue;
            }
            let stripe = Stripe::new(self, number, missing, &[]);
            for segment in segments(&stripe, &data) {
                stripe.push(stripe.parities(), &segment.rows, &mut plan.then);
            }
        }
    }

    /// Whether `plan` reads a parity in the rows of `part`.
    pub(in super::super) fn reads_parity(&self, part: &Range<u64>, plan: &Plan) -> bool {
        let (number, data) = self.stripe_of(part);
        let stripe = Stripe::new(self, number, &Missing::default(), &[]);
        let start = number * self.unit;
        let is_read = |rows: Range<u64>| {
            plan.first.iter().any(|piece| {
                stripe.parities().any(|role| stripe.device_of(role) == piece.device)
                    && piece.offset < start + rows.end
                    && start + rows.start < piece.end()
            })
        };
        segments(&stripe, &data).any(|segment| is_read(segment.rows))
    }

    /// Data bytes in the rows of `torn` that are missing and were not being written. None where no parity is there: they
    /// are lost without any cut.
    pub(in super::super) fn hole_bytes(&self, torn: &Range<u64>, missing: &Missing) -> u64 {
        let (number, data) = self.stripe_of(torn);
        let stripe = Stripe::new(self, number, missing, &[]);
        let units = stripe.data();
        let hole = |segment: Segment| {
            let Segment { rows, touched } = segment;
            let lost = |roles| u64::from(stripe.lost(&roles, rows.start));
            (lost(units.start..touched.start) + lost(touched.end..units.end))
                * (rows.end - rows.start)
        };
        segments(&stripe, &data).map(hole).sum()
    }

    /// Partial parities of a write of `bytes`, by the drive that holds P.
    pub(in super::super) fn partial_parities(
        &self,
        bytes: Range<u64>,
        missing: &Missing,
    ) -> PartialParities {
        let mut logs = PartialParities::new();
        for (number, data) in self.stripes(bytes) {
            let stripe = Stripe::new(self, number, missing, &[]);
            let device = stripe.device_of(0);
            if missing.from(device).is_some() {
                continue;
            }
            let is_partial = |segment: &Segment| segment.touched != stripe.data();
            let rows = |segment: Segment| segment.rows.end - segment.rows.start;
            let bytes = segments(&stripe, &data).filter(is_partial).map(rows).sum::<u64>();
            match logs.iter_mut().find(|log| log.device == device) {
                Some(log) => log.bytes += bytes,
                None => logs.push(PartialParity { device, bytes }),
            }
        }
        logs
    }
}
