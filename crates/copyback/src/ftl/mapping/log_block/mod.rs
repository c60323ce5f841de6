//! Log-block mapping (Kim, Kim, Noh, Min, Cho: A space-efficient flash translation layer for
//! CompactFlash systems, IEEE TCE 2002).
//!
//! A logical block of P pages has a data block, in which each page has its place, and at most one
//! update block, which takes its writes in the order in which they come:
//!
//! ```text
//!            update block                      merge     pages copied      blocks erased
//!  ┌───┬───┬───┬───┐
//!  │ 0 │ 1 │ 2 │ 3 │  filled in order          switch    none              the data block
//!  ├───┼───┼───┼───┤
//!  │ 0 │ 1 │   │   │  in order so far          partial   the rest: P - 2   the data block
//!  ├───┼───┼───┼───┤
//!  │ 0 │ 0 │ 2 │   │  out of order             full      all: P            both
//!  └───┴───┴───┴───┘
//! ```
//!
//! After a switch or partial merge the update block is the data block. Pages that hold no data are
//! not copied; their places in the new data block stay empty.
//!
//! A drive that delays merges replaces an update block that is full by a fresh one ([`super::bound`]).
//! Then a merge erases every block but the newest, and that one too if it is out of order.

use smallvec::SmallVec;

use super::bound::{Group, GroupId, Merge};
use super::plan::ReclaimKind;
use crate::ftl::space::Frontier;

/// Blocks that a logical block may have before one is to be replaced.
pub fn most_blocks(group: &Group) -> usize {
    usize::from(group.has_data_block) + 1
}

/// The merge of a logical block whose blocks hold `data_pages` pages, and that has `buffered` newer ones
/// elsewhere.
pub fn merge(id: GroupId, group: &Group, buffered: u16, data_pages: u32) -> Merge {
    match &group.blocks[..] {
        [older @ .., newest] if group.in_place && !older.is_empty() && buffered == 0 => {
            let target = group.open.unwrap_or(Frontier { block: *newest, next_page: data_pages });
            let is_full = target.next_page == data_pages;
            let kind = if is_full { ReclaimKind::SwitchMerge } else { ReclaimKind::PartialMerge };
            let sources = SmallVec::from_slice(older);
            Merge { group: id, kind, sources, buffered, target: Some(target) }
        }
        _ => {
            let sources = SmallVec::from_slice(&group.blocks);
            let kind = if buffered > 0 { ReclaimKind::Cleaning } else { ReclaimKind::FullMerge };
            Merge { group: id, kind, sources, buffered, target: None }
        }
    }
}

/// The block that takes writes is full. If it is the only one and each page is in its place, it is the
/// data block from now on.
pub fn filled(group: &mut Group) {
    group.has_data_block |= group.in_place && group.blocks.len() == 1;
}

/// A merge has ended: its target, if it had one, is the data block.
pub fn merged(group: &mut Group, target: Option<Frontier>) {
    group.has_data_block = target.is_some();
    if group.open.is_none() {
        filled(group);
    }
}
