//! Scheme of a mapping that binds logical pages to blocks: how the blocks of a group are used.

use std::fmt::Debug;

use crate::ftl::blocks::Blocks;
use crate::ftl::recovery::Survey;
use crate::ftl::space::Frontier;
use crate::ftl::tables::Tables;
use crate::ids::{BlockId, Ppn};

use super::groups::{Group, Groups};
use super::merge::Merge;

/// Scheme by which the blocks of a group are used. Decides only: [`Groups`] hold what there is.
pub trait Scheme: Debug + Copy + PartialEq {
    /// Blocks that a group may have before one is to be replaced.
    fn most_blocks(self, group: &Group) -> usize;

    /// Whether each page has its place in `block` of a group.
    fn has_place_in(self, _group: &Group, _block: BlockId) -> bool {
        false
    }

    /// The block of a group that takes writes is full.
    fn filled(self, _group: &mut Group) {}

    /// The merge of a group as it stands. What it takes out of a buffer is in `merge`, and nothing else; `victim` is
    /// among the blocks that it erases in any case. Blocks hold `data_pages` pages.
    fn merge(
        self,
        group: &Group,
        merge: Merge,
        victim: Option<BlockId>,
        blocks: &Blocks,
        data_pages: u32,
    ) -> Merge;

    /// A block is opened for the pages of a merge, among those of its group.
    fn add_target(self, blocks: &mut Vec<BlockId>, target: BlockId);

    /// The offset in the block of a merge that a page gets whose place in its group is `place`.
    fn offset_in(self, target: Frontier, place: u32) -> u32;

    /// The page that `merge` moves before it erases a block.
    fn next_page(
        groups: &Groups<Self>,
        merge: &Merge,
        tables: &Tables,
        is_buffers: impl Fn(BlockId) -> bool,
    ) -> Option<Ppn>;

    /// Whether `merge`, which has `room` for so many pages, may move a valid page of `block` out of turn.
    fn may_move_next(self, _merge: &Merge, _block: BlockId, _room: u32, _blocks: &Blocks) -> bool {
        false
    }

    /// A merge of a group that ended with this `target`, if it had one, is over.
    fn merged(self, group: &mut Group, target: Option<Frontier>, data_pages: u32);

    /// Whether a merge of a group erases `block`, which takes no writes, if it is chosen.
    fn erases(self, _group: &Group, _block: BlockId) -> bool {
        true
    }

    /// Whether there is more room in a group after its merge.
    fn makes_room(self, group: &Group, merge: &Merge) -> bool;

    /// Finds out how the `blocks` of a group were used that a cut of power has left.
    fn recover(groups: &Groups<Self>, blocks: Vec<BlockId>, survey: &Survey<'_>) -> Group;

    /// Whether a group that comes from a file can be one.
    fn is_sound(self, group: &Group, blocks: &Blocks, data_pages: u32) -> bool;
}
