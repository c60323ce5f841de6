//! Agreement of copies and parities with the data: what a write that power has cut off may leave behind, and what makes
//! it good again.
//!
//! A resync goes over the rows of the drives under parity, and over the bytes of the array where there are mirrors, as
//! Linux md does (`sync_request` in `raid5.c`, `raid1.c` and `raid10.c`).

use std::ops::Range;

use smallvec::SmallVec;

use super::{Kind, Layout, Missing, Piece, Plan};
use crate::ids::SsdId;
use crate::workload::Operation;

/// Bytes of partial parity that a write logs on a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartialParity {
    /// Drive that holds the parity of the stripes.
    pub device: SsdId,
    /// Bytes of the sum of the data that stay. None of a stripe that is written whole.
    pub bytes: u64,
}

/// Partial parities of a write, one for each drive.
pub type PartialParities = SmallVec<[PartialParity; 4]>;

impl Layout {
    /// Bytes that a resync of everything goes over.
    pub fn resync_bytes(&self) -> u64 {
        match &self.kind {
            Kind::Mirrored(_) => self.capacity,
            Kind::Concatenated(_) | Kind::Striped(_) | Kind::Parity(_) => self.used_device_bytes(),
        }
    }

    /// Bytes that a resync of the array's `bytes` goes over.
    pub fn resync_range(&self, bytes: Range<u64>) -> Range<u64> {
        match &self.kind {
            Kind::Parity(layout) => {
                let (first, last) =
                    (bytes.start / layout.width(), bytes.end.div_ceil(layout.width()));
                first * layout.unit..last * layout.unit
            }
            Kind::Concatenated(_) | Kind::Striped(_) | Kind::Mirrored(_) => bytes,
        }
    }

    /// The array's `bytes` that `operation` on them changes: of a trim under parity those of whole stripes.
    pub fn changed(&self, operation: Operation, bytes: Range<u64>) -> Range<u64> {
        match (&self.kind, operation) {
            (_, Operation::Read | Operation::Flush) => bytes.start..bytes.start,
            (Kind::Parity(layout), Operation::Trim) => {
                let stripes = layout.whole_stripes(&bytes);
                stripes.start * layout.width()..stripes.end * layout.width()
            }
            (_, Operation::Write | Operation::Trim) => bytes,
        }
    }

    /// The array's `bytes` stripe by stripe; those of mirrors in one.
    pub fn by_stripe(&self, bytes: Range<u64>) -> impl Iterator<Item = Range<u64>> + use<> {
        let width = match &self.kind {
            Kind::Parity(layout) => layout.width(),
            Kind::Concatenated(_) | Kind::Striped(_) | Kind::Mirrored(_) => self.capacity.max(1),
        };
        (bytes.start / width..bytes.end.div_ceil(width))
            .map(move |number| bytes.start.max(number * width)..bytes.end.min((number + 1) * width))
    }

    /// Whether anything is left that may disagree with the data.
    pub fn may_disagree(&self, missing: &Missing) -> bool {
        match &self.kind {
            Kind::Concatenated(_) | Kind::Striped(_) => false,
            Kind::Parity(layout) => missing.count() < layout.parities,
            Kind::Mirrored(_) => (missing.count() as usize) + 1 < self.devices(),
        }
    }

    /// Plans to read what a resync of `range` looks at, and to write what disagrees in the `torn` parts of it, by the
    /// array's bytes.
    ///
    /// # Panics
    ///
    /// If there are neither copies nor parity.
    pub fn resync(
        &self,
        range: Range<u64>,
        torn: &[Range<u64>],
        missing: &Missing,
        plan: &mut Plan,
    ) {
        plan.start(Operation::Write);
        let range = range.start..range.end.min(self.resync_bytes());
        match &self.kind {
            Kind::Concatenated(_) | Kind::Striped(_) => {
                panic!("nothing can disagree without copies or parity")
            }
            Kind::Parity(layout) => layout.resync(range, torn, missing, plan),
            Kind::Mirrored(layout) => layout.resync(range, torn, missing, plan),
        }
    }

    /// Plans to read what is `logged` of the `torn` parts in `range`, given by the array's bytes, and to write them again with
    /// their parities.
    ///
    /// # Panics
    ///
    /// If there is no parity.
    pub fn replay(
        &self,
        range: Range<u64>,
        torn: &[Range<u64>],
        missing: &Missing,
        logged: &[Piece],
        plan: &mut Plan,
    ) {
        let Kind::Parity(layout) = &self.kind else { panic!("what has no parity has no journal") };
        plan.start(Operation::Write);
        plan.lock_all(range.start / layout.unit..range.end.div_ceil(layout.unit));
        for Piece { device, offset, length, .. } in logged {
            plan.first.push(*device, *offset..offset + length);
        }
        let mut again = Plan::default();
        let lies_there =
            |part: &&Range<u64>| range.contains(&self.resync_range((*part).clone()).start);
        for part in torn.iter().filter(lies_there) {
            self.plan(Operation::Write, part.clone(), missing, &mut again);
            again
                .then
                .iter()
                .for_each(|piece| plan.then.push(piece.device, piece.offset..piece.end()));
        }
    }

    /// Plans a write of the array's `bytes` that makes parities from all data of their stripes, as nothing is missing and
    /// the old parities may be wrong (`handle_stripe_dirtying` in Linux `raid5.c`).
    pub fn write_anew(&self, bytes: Range<u64>, plan: &mut Plan) {
        let Kind::Parity(layout) = &self.kind else {
            return self.plan(Operation::Write, bytes, &Missing::default(), plan);
        };
        plan.start(Operation::Write);
        layout.write_anew(bytes, plan);
    }

    /// Whether the write in `plan` makes `part`, bytes of one stripe, agree: no parity that it writes is made from an old
    /// one.
    pub fn makes_agree(&self, part: &Range<u64>, plan: &Plan) -> bool {
        match &self.kind {
            Kind::Parity(layout) => !layout.reads_parity(part, plan),
            Kind::Concatenated(_) | Kind::Striped(_) | Kind::Mirrored(_) => true,
        }
    }

    /// Data bytes which are on a `missing` drive and would be reconstructed wrongly, as a write of `torn`, bytes of one stripe, was
    /// cut off: the write hole. The bytes that were being written do not count.
    pub fn hole_bytes(&self, torn: &Range<u64>, missing: &Missing) -> u64 {
        match &self.kind {
            Kind::Parity(layout) => layout.hole_bytes(torn, missing),
            Kind::Concatenated(_) | Kind::Striped(_) | Kind::Mirrored(_) => 0,
        }
    }

    /// Whether all agrees where a replacement has been rebuilt: nothing is left beside it that could disagree.
    pub fn rebuild_agrees(&self) -> bool {
        match &self.kind {
            Kind::Concatenated(_) | Kind::Striped(_) => true,
            Kind::Parity(layout) => layout.parities == 1,
            Kind::Mirrored(layout) => layout.copies == 2,
        }
    }

    /// Whether all of the array's `bytes`, of one stripe, lie in `rows` of the drives. No for mirrors, whose copies lie in
    /// several rows.
    pub fn lies_in_rows(&self, bytes: Range<u64>, rows: &Range<u64>) -> bool {
        let own = self.resync_range(bytes);
        matches!(self.kind, Kind::Parity(_)) && rows.start <= own.start && own.end <= rows.end
    }

    /// Partial parities of a write of the array's `bytes`, of the drives that hold parity and are there. None without parity.
    pub fn partial_parities(&self, bytes: Range<u64>, missing: &Missing) -> PartialParities {
        match &self.kind {
            Kind::Parity(layout) => layout.partial_parities(bytes, missing),
            Kind::Concatenated(_) | Kind::Striped(_) | Kind::Mirrored(_) => SmallVec::new(),
        }
    }
}
