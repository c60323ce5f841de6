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

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::bound::{Bound, Group, Groups, Merge, Scheme};
use super::plan::ReclaimKind;
use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ftl::blocks::Blocks;
use crate::ftl::recovery::Survey;
use crate::ftl::space::Frontier;
use crate::ftl::spare::Role;
use crate::ftl::tables::Tables;
use crate::ids::{BlockId, Ppn};

/// Log-block mapping.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
pub struct LogBlock {
    groups: Groups<DataAndUpdate>,
}

impl LogBlock {
    /// With nothing written.
    pub fn new(config: &Resolved, tables: &Tables) -> Self {
        Self { groups: Groups::new(config, tables, DataAndUpdate) }
    }
}

impl Bound for LogBlock {
    type Scheme = DataAndUpdate;

    fn groups(&self) -> &Groups<DataAndUpdate> {
        &self.groups
    }

    fn groups_mut(&mut self) -> &mut Groups<DataAndUpdate> {
        &mut self.groups
    }
}

/// A data block and an update block for each logical block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Checkpointed)]
pub struct DataAndUpdate;

impl Scheme for DataAndUpdate {
    fn most_blocks(self, group: &Group) -> usize {
        usize::from(group.has_data_block) + 1
    }

    fn has_place_in(self, group: &Group, block: BlockId) -> bool {
        let is_data_block = group.has_data_block && group.blocks.first() == Some(&block);
        let is_in_order = group.in_place && group.blocks.last() == Some(&block);
        is_data_block || is_in_order
    }

    /// If the block is the only one and each page is in its place, it is the data block from now on.
    fn filled(self, group: &mut Group) {
        group.has_data_block |= group.in_place && group.blocks.len() == 1;
    }

    fn merge(
        self,
        group: &Group,
        merge: Merge,
        _: Option<BlockId>,
        _: &Blocks,
        data_pages: u32,
    ) -> Merge {
        match &group.blocks[..] {
            [older @ .., newest] if group.in_place && !older.is_empty() && merge.buffered == 0 => {
                let target =
                    group.open.unwrap_or(Frontier { block: *newest, next_page: data_pages });
                let is_full = target.next_page == data_pages;
                let kind =
                    if is_full { ReclaimKind::SwitchMerge } else { ReclaimKind::PartialMerge };
                Merge { kind, sources: SmallVec::from_slice(older), target: Some(target), ..merge }
            }
            all => {
                let is_cleaned = merge.buffered > 0;
                let kind = if is_cleaned { ReclaimKind::Cleaning } else { ReclaimKind::FullMerge };
                Merge { kind, sources: SmallVec::from_slice(all), ..merge }
            }
        }
    }

    /// Adds the target: it will be the data block; a block that takes writes meanwhile stays the last.
    fn add_target(self, blocks: &mut Vec<BlockId>, target: BlockId) {
        blocks.insert(0, target);
    }

    fn offset_in(self, _: Frontier, place: u32) -> u32 {
        place
    }

    /// Pages before the next one of the target have been copied, or hold no data; some may have been written to a
    /// fresh block meanwhile.
    fn next_page(
        groups: &Groups<Self>,
        merge: &Merge,
        tables: &Tables,
        is_buffers: impl Fn(BlockId) -> bool,
    ) -> Option<Ppn> {
        let first = merge.target.map_or(0, |target| target.next_page);
        let is_source = |page: &Ppn| {
            let block = tables.geometry.block_of(*page);
            merge.sources.contains(&block) || is_buffers(block)
        };
        (first..groups.data_pages()).find_map(|place| {
            let lpn = groups.layout().page_at(merge.group, place)?;
            tables.map.physical(lpn).filter(is_source)
        })
    }

    /// The target is the data block.
    fn merged(self, group: &mut Group, target: Option<Frontier>, _: u32) {
        group.has_data_block = target.is_some();
        if group.open.is_none() {
            self.filled(group);
        }
    }

    fn erases(self, group: &Group, block: BlockId) -> bool {
        group.blocks.first() == Some(&block)
    }

    fn makes_room(self, group: &Group, _: &Merge) -> bool {
        group.blocks.len() >= self.most_blocks(group)
    }

    fn recover(groups: &Groups<Self>, blocks: Vec<BlockId>, survey: &Survey<'_>) -> Group {
        let takes_writes = |block: &BlockId| {
            survey.written(*block) < groups.data_pages() && survey.role(*block) != Role::Merge
        };
        let open = blocks.last().copied().filter(takes_writes);
        let open = open.map(|block| Frontier { block, next_page: survey.written(block) });
        let in_place = is_in_order(groups, &blocks, survey);
        let has_data_block = blocks.first().is_some_and(|first| {
            open.is_none_or(|open| open.block != *first) && is_in_place(groups, *first, survey)
        });
        Group { blocks, open, has_data_block, in_place, listed: None }
    }

    fn is_sound(self, group: &Group, blocks: &Blocks, data_pages: u32) -> bool {
        let update = group.blocks.get(usize::from(group.has_data_block));
        let written = group.open.map_or(data_pages, |open| open.next_page);
        // What an update block in order holds, the data block holds no more.
        let data_is_behind =
            |data: &BlockId| blocks.next_valid(*data, 0).is_none_or(|first| first >= written);
        group.blocks.len() <= 1 + usize::from(group.has_data_block)
            && (!group.has_data_block || !group.blocks.is_empty())
            && group.open.is_none_or(|open| update == Some(&open.block))
            && (!group.in_place
                || !group.has_data_block
                || update.is_none()
                || group.blocks.first().is_some_and(data_is_behind))
    }
}

/// Whether each page of `block` that can be read is in its place.
fn is_in_place(groups: &Groups<DataAndUpdate>, block: BlockId, survey: &Survey<'_>) -> bool {
    let geometry = &survey.image.geometry;
    let mut stamps = survey.image.stamps(block);
    stamps.all(|(page, stamp)| groups.layout().place_of(stamp.lpn) == geometry.page_offset(page))
}

/// Whether the last of `blocks` has been filled in order without a gap, and none before it holds the newest version of
/// a page up to there.
fn is_in_order(groups: &Groups<DataAndUpdate>, blocks: &[BlockId], survey: &Survey<'_>) -> bool {
    let Some((last, older)) = blocks.split_last() else { return false };
    let written = survey.written(*last);
    let is_behind = |block: &BlockId| {
        survey.newest_in(*block).all(|(lpn, _)| groups.layout().place_of(lpn) >= written)
    };
    survey.image.stamps(*last).count() == written as usize
        && is_in_place(groups, *last, survey)
        && older.iter().all(is_behind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::Occasion;
    use crate::ftl::mapping::tests::device;
    use crate::ids::{Lpn, PlaneId};
    use crate::placement::HostPage;

    #[test]
    fn the_order_of_updates_decides_how_a_logical_block_is_merged() {
        let kind_after = |updates: &[u32]| {
            let mut ftl = device("log_block");
            let writes = [0, 1, 2, 3].iter().chain(updates);
            for (version, lpn) in (1..).zip(writes) {
                ftl.write(PlaneId(0), HostPage::without_hint(Lpn(*lpn)), version);
            }
            let victim = ftl
                .choose_victim(Occasion::Demand(PlaneId(0)))
                .expect("a merge gives a block back");
            ftl.begin_reclaim(victim).kind()
        };
        assert_eq!(kind_after(&[0, 1, 2, 3]), ReclaimKind::SwitchMerge);
        assert_eq!(kind_after(&[0, 1]), ReclaimKind::PartialMerge);
        assert_eq!(kind_after(&[0, 0, 2]), ReclaimKind::FullMerge);
    }
}
