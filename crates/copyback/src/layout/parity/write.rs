//! Writes: what must be read first, so that parity can be made up.

use super::segment::segments;
use super::*;

/// Reads of a segment before it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Preparation {
    /// No read: all data are new, or no parity is there.
    Nothing,
    /// The old data and parities: parity changes by what the data change.
    ReadModifyWrite,
    /// The data that stay: parity is made anew.
    ReconstructWrite,
    /// Everything that is there, to make up old data that are missing.
    Reconstruct,
}

impl Parity {
    /// Writes `bytes` and the parities of their stripes.
    pub(in super::super) fn write(&self, bytes: Range<u64>, missing: &Missing, plan: &mut Plan) {
        self.write_prepared(bytes, missing, preparation, plan);
    }

    /// Writes `bytes` and the parities of their stripes, which are made from all of the data. Nothing is missing.
    pub(in super::super) fn write_anew(&self, bytes: Range<u64>, plan: &mut Plan) {
        let anew = |_: &Stripe<'_>, _: &Segment| Preparation::ReconstructWrite;
        self.write_prepared(bytes, &Missing::default(), anew, plan);
    }

    fn write_prepared(
        &self,
        bytes: Range<u64>,
        missing: &Missing,
        preparation: impl Fn(&Stripe<'_>, &Segment) -> Preparation,
        plan: &mut Plan,
    ) {
        for (number, part) in self.stripes(bytes) {
            let stripe = Stripe::new(self, number, missing, &[]);
            for segment in segments(&stripe, &part) {
                prepare(&stripe, &segment, preparation(&stripe, &segment), plan);
                stripe.push(segment.touched, &segment.rows, &mut plan.then);
                stripe.push(stripe.parities(), &segment.rows, &mut plan.then);
            }
            plan.lock(number);
        }
    }
}

fn prepare(stripe: &Stripe<'_>, segment: &Segment, preparation: Preparation, plan: &mut Plan) {
    let (rows, touched, data) = (&segment.rows, &segment.touched, stripe.data());
    let reads = &mut plan.first;
    match preparation {
        Preparation::Nothing => {}
        Preparation::ReadModifyWrite => {
            stripe.push(touched.clone(), rows, reads);
            stripe.push(stripe.parities(), rows, reads);
        }
        Preparation::ReconstructWrite => {
            stripe.push(data.start..touched.start, rows, reads);
            stripe.push(touched.end..data.end, rows, reads);
        }
        Preparation::Reconstruct => {
            let is_whole = stripe.push_survivors(rows, reads);
            assert!(is_whole, "parities make up for all that is missing of {stripe:?}");
        }
    }
}

/// The way that reads least; a reconstruct-write if both read the same, as Linux md does.
fn preparation(stripe: &Stripe<'_>, Segment { rows, touched }: &Segment) -> Preparation {
    let (data, parities) = (stripe.data(), stripe.parities());
    let lost = |roles: &Range<u32>| stripe.lost(roles, rows.start);
    let live_parities = parities.len() as u32 - lost(&parities);
    let untouched = (data.len() - touched.len()) as u32;
    if live_parities == 0 || untouched == 0 {
        return Preparation::Nothing;
    }
    let lost_touched = lost(touched);
    let lost_untouched = lost(&data) - lost_touched;
    let modify = touched.len() as u32 + live_parities;
    match (lost_touched > 0, lost_untouched > 0) {
        (true, true) => Preparation::Reconstruct,
        (true, false) => Preparation::ReconstructWrite,
        (false, true) => Preparation::ReadModifyWrite,
        (false, false) if modify < untouched => Preparation::ReadModifyWrite,
        (false, false) => Preparation::ReconstructWrite,
    }
}
