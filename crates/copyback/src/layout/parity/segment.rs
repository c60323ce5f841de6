//! Rows of a stripe in which the same units are touched and the same are missing.

use std::ops::Range;

use smallvec::SmallVec;

use super::Stripe;

/// A part of a stripe that is treated alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    /// Bytes of each unit.
    pub(super) rows: Range<u64>,
    /// Roles of the data units that the request touches there.
    pub(super) touched: Range<u32>,
}

/// The segments of a request for `bytes` of the stripe's data, in the order of their rows. With
/// nothing missing there are three at most: a request begins within a unit and ends within a unit.
pub(super) fn segments<'a>(
    stripe: &'a Stripe<'_>,
    bytes: &Range<u64>,
) -> impl Iterator<Item = Segment> + use<'a> {
    let (unit, data) = (stripe.unit(), stripe.data().start);
    let (begin, end) = (bytes.start % unit, (bytes.end - 1) % unit + 1);
    let first = data + (bytes.start / unit) as u32;
    let last = data + ((bytes.end - 1) / unit) as u32;
    sections(stripe, &(0..unit), &[begin, end]).filter_map(move |rows| {
        let from = if rows.start < begin { first + 1 } else { first };
        let to = if rows.start < end { last + 1 } else { last };
        (from < to).then_some(Segment { rows, touched: from..to })
    })
}

/// `rows`, cut at `cuts` and where units of the stripe begin to be missing.
pub(super) fn sections(
    stripe: &Stripe<'_>,
    rows: &Range<u64>,
    cuts: &[u64],
) -> impl Iterator<Item = Range<u64>> + use<> {
    let mut ends: SmallVec<[u64; 8]> = cuts.iter().copied().chain(stripe.breaks()).collect();
    ends.retain(|end| rows.contains(end));
    ends.push(rows.end);
    ends.sort_unstable();
    let mut start = rows.start;
    ends.into_iter().filter_map(move |end| {
        let section = start..end;
        start = end;
        (!section.is_empty()).then_some(section)
    })
}
