//! Parts of stripes whose parity and data, or whose copies, may disagree.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::checkpoint::Checkpointed;
use crate::layout::{Layout, Missing};

/// Torn parts: bytes of the array that were being written, each of one stripe.
#[derive(Debug, Default, Checkpointed)]
pub(super) struct Torn {
    parts: BTreeSet<(u64, u64)>,
}

impl Torn {
    /// Adds a part.
    pub(super) fn add(&mut self, part: Range<u64>) {
        self.parts.insert((part.start, part.end));
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.parts.clear();
    }

    /// Number of parts.
    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The parts, by their first bytes.
    pub(super) fn iter(&self) -> impl Iterator<Item = Range<u64>> {
        self.parts.iter().map(|(start, end)| *start..*end)
    }

    /// A resync has gone over `range`, whole stripes or bytes of mirrors. What lies in it agrees.
    pub(super) fn resynced(&mut self, range: &Range<u64>, layout: &Layout) {
        self.cut_out(range, |part| layout.resync_range(part));
    }

    /// A replacement holds `rows` again.
    pub(super) fn rebuilt(&mut self, rows: &Range<u64>, layout: &Layout) {
        self.parts.retain(|(start, end)| !layout.lies_in_rows(*start..*end, rows));
    }

    /// A write has made `written` agree.
    pub(super) fn rewritten(&mut self, written: &Range<u64>) {
        self.cut_out(written, |part| part);
    }

    /// Takes away what lies in `range`, where parts lie as `place` says.
    fn cut_out(&mut self, range: &Range<u64>, place: impl Fn(Range<u64>) -> Range<u64>) {
        let mut left = BTreeSet::new();
        for (start, end) in std::mem::take(&mut self.parts) {
            let placed = place(start..end);
            if placed.end <= range.start || range.end <= placed.start {
                left.insert((start, end));
            } else if placed == (start..end) {
                let rests = [(start, range.start.min(end)), (range.end.max(start), end)];
                left.extend(rests.into_iter().filter(|(start, end)| start < end));
            }
        }
        self.parts = left;
    }

    /// Forgets the parts of which data are reconstructed wrongly now that drives are `missing`. Returns how many bytes these are.
    pub(super) fn lose(&mut self, layout: &Layout, missing: &Missing) -> u64 {
        let mut lost = 0;
        self.parts.retain(|(start, end)| {
            let hole = layout.hole_bytes(&(*start..*end), missing);
            lost += hole;
            hole == 0
        });
        lost
    }
}
