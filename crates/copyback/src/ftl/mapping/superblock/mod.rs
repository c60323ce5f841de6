//! Superblock mapping (Kang, Jo, Kim, Lee: A superblock-based flash translation layer for NAND flash
//! memory, EMSOFT 2006).
//!
//! n neighbouring logical blocks share n data blocks and up to m update blocks. Any of their pages may
//! lie on any page of these. When no more block may be opened, the superblock is compacted: the valid
//! pages of every block that holds an invalid one are moved together, and those blocks are erased. A
//! block is erased as soon as it is empty, so that one free block is enough to begin with.

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ftl::blocks::Blocks;
use crate::ftl::recovery::Survey;
use crate::ftl::space::Frontier;
use crate::ftl::tables::Tables;
use crate::ids::{BlockId, Ppn};

use super::bound::{Bound, Group, Groups, Merge, Scheme};
use super::plan::ReclaimKind;

/// Superblock mapping.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
pub struct Superblock {
    groups: Groups<SharedBlocks>,
}

impl Superblock {
    /// With nothing written, for superblocks of at most so many blocks.
    pub fn new(config: &Resolved, tables: &Tables, most_blocks: usize) -> Self {
        Self { groups: Groups::new(config, tables, SharedBlocks { most_blocks }) }
    }
}

impl Bound for Superblock {
    type Scheme = SharedBlocks;

    fn groups(&self) -> &Groups<SharedBlocks> {
        &self.groups
    }

    fn groups_mut(&mut self) -> &mut Groups<SharedBlocks> {
        &mut self.groups
    }
}

/// Blocks in which any page of a superblock may lie anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Checkpointed)]
pub struct SharedBlocks {
    most_blocks: usize,
}

impl Scheme for SharedBlocks {
    fn most_blocks(self, _: &Group) -> usize {
        self.most_blocks
    }

    fn merge(
        self,
        group: &Group,
        merge: Merge,
        victim: Option<BlockId>,
        blocks: &Blocks,
        data_pages: u32,
    ) -> Merge {
        let written = |block: BlockId| match group.open {
            Some(open) if open.block == block => open.next_page,
            _ => data_pages,
        };
        let is_source = |block: &BlockId| {
            victim == Some(*block) || u32::from(blocks.valid_pages(*block)) < written(*block)
        };
        Merge {
            kind: ReclaimKind::Compaction,
            sources: group.blocks.iter().copied().filter(is_source).collect(),
            target: group.open.filter(|open| !is_source(&open.block)),
            ..merge
        }
    }

    fn add_target(self, blocks: &mut Vec<BlockId>, target: BlockId) {
        blocks.push(target);
    }

    fn offset_in(self, target: Frontier, _: u32) -> u32 {
        target.next_page
    }

    fn next_page(
        _: &Groups<Self>,
        merge: &Merge,
        tables: &Tables,
        _: impl Fn(BlockId) -> bool,
    ) -> Option<Ppn> {
        tables.next_valid(*merge.sources.first()?, 0)
    }

    /// Whether `block` may be moved next: there must be enough room left for the block that is emptied first.
    fn may_move_next(self, merge: &Merge, block: BlockId, room: u32, blocks: &Blocks) -> bool {
        let is_first = merge.sources.first() == Some(&block);
        let left = merge.sources.first().map_or(0, |first| blocks.valid_pages(*first));
        merge.sources.contains(&block) && (is_first || u32::from(left) < room)
    }

    /// A block that the compaction has left open takes the next write, unless another does.
    fn merged(self, group: &mut Group, target: Option<Frontier>, data_pages: u32) {
        if group.open.is_none() {
            group.open = target.filter(|target| target.next_page < data_pages);
        }
    }

    fn makes_room(self, _: &Group, merge: &Merge) -> bool {
        !merge.sources.is_empty()
    }

    fn recover(groups: &Groups<Self>, blocks: Vec<BlockId>, survey: &Survey<'_>) -> Group {
        let half_filled =
            blocks.iter().filter(|block| survey.written(**block) < groups.data_pages());
        let open = half_filled.max_by_key(|block| survey.last_program(**block));
        let open = open.map(|block| Frontier { block: *block, next_page: survey.written(*block) });
        Group { blocks, open, ..Group::default() }
    }

    fn is_sound(self, group: &Group, _: &Blocks, _: u32) -> bool {
        group.blocks.len() <= self.most_blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::Occasion;
    use crate::ftl::ReclaimStep;
    use crate::ftl::mapping::AnyMapping;
    use crate::ftl::mapping::tests::device;
    use crate::ids::{Lpn, PlaneId};
    use crate::placement::HostPage;

    #[test]
    fn a_full_block_that_is_wholly_valid_is_not_compacted() {
        let mut ftl = device("{ type = \"superblock\", data_blocks = 2, update_blocks = 1 }");
        for (version, lpn) in (1..).zip([0, 1, 2, 3, 4, 5, 6, 7, 0]) {
            ftl.write(PlaneId(0), HostPage::without_hint(Lpn(lpn)), version);
        }
        let victim = ftl
            .choose_victim(Occasion::Demand(PlaneId(0)))
            .expect("a page of the first block is invalid");
        let mut plan = ftl.begin_reclaim(victim);
        let (mut moved, mut erased) = (0, Vec::new());
        while let Some(step) = plan.next_step(&ftl) {
            match step {
                ReclaimStep::Move(page) => {
                    ftl.relocate(page);
                    moved += 1;
                }
                ReclaimStep::Erase(block) => {
                    ftl.erase(block);
                    erased.push(block);
                }
            }
        }
        assert_eq!((moved, erased), (3, vec![victim]));
        assert_eq!(ftl.check(), Ok(()));
    }

    #[test]
    fn a_page_out_of_turn_leaves_room_for_the_block_that_is_emptied_first() {
        let mut ftl = device("{ type = \"superblock\", data_blocks = 2, update_blocks = 1 }");
        let mut placed = Vec::new();
        for (version, lpn) in (1..).zip([0, 1, 2, 3, 4, 5, 6, 7, 0, 4]) {
            placed.push(ftl.write(PlaneId(0), HostPage::without_hint(Lpn(lpn)), version).page);
        }
        let [first, second, open] = [0, 4, 8].map(|write| ftl.geometry.block_of(placed[write]));
        let sources = [first, second].into_iter().collect();
        let AnyMapping::Superblock(mapping) = &ftl.mapping else { panic!("that is the mapping") };
        let group = mapping.groups.owner(first).expect("all blocks are of one superblock");
        let merge = Merge { sources, ..Merge::nothing(group, 0) };
        let shared = SharedBlocks { most_blocks: 3 };
        // Three pages of each are still valid.
        let may = |block, room| shared.may_move_next(&merge, block, room, &ftl.blocks);
        assert_eq!(
            [1, 3, 4].map(|room| may(first, room)),
            [true; 3],
            "they are what room is kept for"
        );
        assert_eq!([1, 3, 4].map(|room| may(second, room)), [false, false, true]);
        assert_eq!([1, 3, 4].map(|room| may(open, room)), [false; 3], "it is not emptied");
    }
}
