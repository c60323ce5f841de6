//! Groups, and the buffer in front of them, as a cut of power has left their blocks.

use crate::ftl::recovery::Survey;
use crate::ftl::space::Frontier;
use crate::ftl::spare::Role;
use crate::ids::BlockId;

use super::Bound;
use super::groups::{Groups, Scheme};
use super::layout::GroupId;

impl Bound {
    /// Takes over every block that is written. Each holds what is newest somewhere.
    pub(super) fn recover_blocks(&mut self, survey: &Survey<'_>) {
        let mut written: Vec<_> =
            survey.image.blocks().filter(|block| survey.written(*block) > 0).collect();
        written.sort_by_key(|block| survey.first_program(*block));
        for block in written {
            match (survey.role(block), &mut self.buffer) {
                (Role::Buffer, Some(buffer)) => buffer.recover_block(block, survey, &self.groups),
                _ => self.groups.recover_block(block, survey),
            }
        }
        self.groups.recover_groups(survey);
        if let Some(buffer) = &mut self.buffer {
            buffer.queue_used_up(survey, &self.groups);
        }
    }
}

impl Groups {
    /// Finds out how the blocks of every group were used.
    pub(super) fn recover_groups(&mut self, survey: &Survey<'_>) {
        self.layout.ids().for_each(|id| self.recover_group(id, survey));
    }

    /// Takes over a written block, begun later than those before.
    pub(super) fn recover_block(&mut self, block: BlockId, survey: &Survey<'_>) {
        let Some((_, stamp)) = survey.image.stamps(block).next() else { return };
        let id = self.layout.group_of(stamp.lpn);
        self.owners[block.index()] = Some(id);
        let is_merged = self.scheme == Scheme::LogBlock && survey.role(block) == Role::Merge;
        let blocks = &mut self.get_mut(id).blocks;
        // The last that a merge has filled is the data block, however late it was begun.
        let place = if is_merged { 0 } else { blocks.len() };
        blocks.insert(place, block);
    }

    /// Finds out how the blocks of a group were used.
    fn recover_group(&mut self, id: GroupId, survey: &Survey<'_>) {
        let blocks = self.get(id).blocks.clone();
        let is_half_filled = |block: &&BlockId| survey.written(**block) < self.data_pages;
        let open = match self.scheme {
            Scheme::LogBlock => blocks
                .last()
                .filter(|block| is_half_filled(block) && survey.role(**block) != Role::Merge),
            Scheme::Superblock { .. } => {
                let open = blocks.iter().filter(is_half_filled);
                open.max_by_key(|block| survey.last_program(**block))
            }
        };
        let open = open.map(|block| Frontier { block: *block, next_page: survey.written(*block) });
        let in_place = self.is_in_order(&blocks, survey);
        let has_data_block = self.scheme == Scheme::LogBlock
            && blocks.first().is_some_and(|first| {
                open.is_none_or(|open| open.block != *first) && self.is_in_place(*first, survey)
            });
        let group = self.get_mut(id);
        group.open = open;
        group.in_place = in_place;
        group.has_data_block = has_data_block;
    }

    /// Whether each page of `block` that can be read is in its place.
    fn is_in_place(&self, block: BlockId, survey: &Survey<'_>) -> bool {
        let geometry = &survey.image.geometry;
        let mut stamps = survey.image.stamps(block);
        stamps.all(|(page, stamp)| self.layout.place_of(stamp.lpn) == geometry.page_offset(page))
    }

    /// Whether the last of `blocks` has been filled in order without a gap, and none before it holds the
    /// newest version of a page up to there.
    fn is_in_order(&self, blocks: &[BlockId], survey: &Survey<'_>) -> bool {
        let Some((last, older)) = blocks.split_last() else { return false };
        let written = survey.written(*last);
        let is_behind = |block: &BlockId| {
            survey.newest_in(*block).all(|(lpn, _)| self.layout.place_of(lpn) >= written)
        };
        self.scheme == Scheme::LogBlock
            && survey.image.stamps(*last).count() == written as usize
            && self.is_in_place(*last, survey)
            && older.iter().all(is_behind)
    }
}
