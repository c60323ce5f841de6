//! Logical pages that are bound to blocks of their own: those of a logical block, or of several that
//! share their blocks. Which blocks a group has, which of them takes the next write, and what is
//! merged to make room.

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ftl::blocks::{Blocks, BlocksAt};
use crate::ftl::space::Frontier;
use crate::ftl::tables::Tables;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};
use crate::nand::Geometry;
use crate::victim::BlockView;

use super::idle_jobs::IdleJobs;
use super::layout::{GroupId, Layout};
use super::merge::Merge;
use super::scheme::Scheme;

/// The blocks of a group.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Checkpointed)]
pub struct Group {
    /// The oldest first.
    pub blocks: Vec<BlockId>,
    /// The one that takes the next write.
    pub open: Option<Frontier>,
    /// Whether the first block is a data block, in which each page has its place.
    pub has_data_block: bool,
    /// Whether each page of the last block is in its place so far.
    pub in_place: bool,
    /// The block under which the victim policy knows the group, if a merge gives a block back.
    pub listed: Option<Listed>,
}

/// An entry of the victim policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Checkpointed)]
pub struct Listed {
    /// A block that a merge is certain to erase.
    pub block: BlockId,
    /// Pages moved for each block that a merge gives back.
    pub moves_per_block: u16,
}

/// Whether a page may be written now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// Block of its group with room.
    In(Frontier),
    /// Block that its group may open.
    InNewBlock,
    /// Fresh block: its group is used up or being merged, and gets one all the same if the host may open one.
    InReplacement,
    /// No room: its group must be merged first.
    None,
    /// No room: its group is being merged.
    Merging,
}

/// Work under way in a plane.
#[derive(Debug, Clone, Default, Checkpointed)]
struct Work {
    merge: Option<Merge>,
    /// The group that must be merged before the next write.
    wanted: Option<GroupId>,
}

/// The groups of a device.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
pub struct Groups<S> {
    pub(super) scheme: S,
    pub(super) layout: Layout,
    pub(super) data_pages: u32,
    pub(super) groups: Vec<Group>,
    /// The group of every block that is not free.
    #[serde(skip)]
    pub(super) owners: Vec<Option<GroupId>>,
    #[serde(skip)]
    planes: Vec<Work>,
    /// A bit for each plane of a die in which a group is wanted.
    #[serde(skip)]
    wanted: Vec<u32>,
    /// A bit for each plane of a die whose groups have other blocks, or another merge, since what its next write wants
    /// was [noted](Self::want_room).
    #[serde(skip)]
    pub(super) changed: Vec<u32>,
    /// Kept if idle time is used.
    #[serde(skip)]
    pub(super) idle_jobs: Option<IdleJobs>,
    pub(super) planes_per_die: u32,
}

impl<S: Scheme> Groups<S> {
    /// Groups without blocks, of a checked configuration.
    pub fn new(config: &Resolved, tables: &Tables, scheme: S) -> Self {
        let (geometry, data_pages) = (&tables.geometry, tables.limits.data_pages);
        let layout = Layout::new(config);
        let mut groups = Self {
            scheme,
            layout,
            data_pages,
            groups: vec![Group::default(); layout.groups()],
            owners: Vec::new(),
            planes: Vec::new(),
            wanted: Vec::new(),
            changed: Vec::new(),
            idle_jobs: None,
            planes_per_die: geometry.planes_per_die,
        };
        groups.forget_work(geometry);
        groups
    }

    /// Forgets all work: no group owns a block, and no merge is under way or wanted.
    pub(super) fn forget_work(&mut self, geometry: &Geometry) {
        self.owners = vec![None; geometry.blocks()];
        self.planes = vec![Work::default(); geometry.planes()];
        self.wanted = vec![0; geometry.dies()];
        self.changed = vec![u32::MAX; geometry.dies()];
    }

    /// Layout of the pages into groups.
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Pages that a block holds.
    pub const fn data_pages(&self) -> u32 {
        self.data_pages
    }

    /// Whether `lpn` may lie at this page of `block`.
    pub fn is_place_of(&self, lpn: Lpn, block: BlockId, offset: u32) -> bool {
        let id = self.layout.group_of(lpn);
        let is_in_place = offset == self.layout.place_of(lpn);
        self.owner(block) == Some(id)
            && (is_in_place || !self.scheme.has_place_in(self.get(id), block))
    }

    pub fn get(&self, group: GroupId) -> &Group {
        &self.groups[group.index()]
    }

    pub fn get_mut(&mut self, group: GroupId) -> &mut Group {
        &mut self.groups[group.index()]
    }

    /// The group that `block` belongs to, unless it is free.
    pub fn owner(&self, block: BlockId) -> Option<GroupId> {
        self.owners[block.index()]
    }

    /// Whether `lpn` may be written to `plane`, its own, now.
    pub fn room_for(&self, plane: PlaneId, lpn: Lpn) -> Room {
        let id = self.layout.group_of(lpn);
        let group = self.get(id);
        if let Some(open) = group.open {
            Room::In(open)
        } else if self.is_merged(plane, id) {
            if self.idle_jobs.is_some() { Room::InReplacement } else { Room::Merging }
        } else if self.is_used_up(group) {
            if self.delays() { Room::InReplacement } else { Room::None }
        } else {
            Room::InNewBlock
        }
    }

    /// Whether a group can take no write unless its blocks are merged or one is replaced.
    pub fn is_used_up(&self, group: &Group) -> bool {
        group.open.is_none() && group.blocks.len() >= self.most_blocks(group)
    }

    /// Blocks that a group may have before one is to be replaced.
    pub(super) fn most_blocks(&self, group: &Group) -> usize {
        self.scheme.most_blocks(group)
    }

    /// A block is opened for the writes of a group.
    pub fn open(&mut self, group: GroupId, frontier: Frontier) {
        self.owners[frontier.block.index()] = Some(group);
        let group = self.get_mut(group);
        group.blocks.push(frontier.block);
        group.open = Some(frontier);
        group.in_place = true;
    }

    /// `lpn` has been written to the block of its group that takes writes. Returns whether that filled
    /// the block.
    pub fn wrote(&mut self, lpn: Lpn) -> bool {
        let (id, place) = (self.layout.group_of(lpn), self.layout.place_of(lpn));
        let (scheme, data_pages) = (self.scheme, self.data_pages);
        let group = self.get_mut(id);
        let Some(open) = &mut group.open else { return false };
        group.in_place &= open.next_page == place;
        open.next_page += 1;
        let is_full = open.next_page == data_pages;
        if is_full {
            group.open = None;
            scheme.filled(group);
        }
        is_full
    }

    /// Notes that a write of `lpn` is next on `plane`, its own, where the host `may_open` a block or
    /// not. Returns whether its group must be merged first.
    pub fn want_room(&mut self, plane: PlaneId, lpn: Lpn, may_open: bool) -> bool {
        let must = match self.room_for(plane, lpn) {
            Room::None => true,
            Room::InReplacement => !may_open,
            Room::In(_) | Room::InNewBlock | Room::Merging => false,
        };
        self.set_wanted(plane, must.then(|| self.layout.group_of(lpn)));
        must
    }

    fn set_wanted(&mut self, plane: PlaneId, group: Option<GroupId>) {
        let die = (plane.0 / self.planes_per_die) as usize;
        let bit = 1 << (plane.0 % self.planes_per_die);
        match group {
            Some(_) => self.wanted[die] |= bit,
            None => self.wanted[die] &= !bit,
        }
        self.planes[plane.index()].wanted = group;
    }

    /// The blocks of a group of `plane`, or its merge, have changed.
    pub fn note_change(&mut self, plane: PlaneId) {
        self.changed[(plane.0 / self.planes_per_die) as usize] |=
            1 << (plane.0 % self.planes_per_die);
    }

    /// Forgets the change of `plane`: what its next write wants is being noted.
    pub fn forget_change(&mut self, plane: PlaneId) {
        self.changed[(plane.0 / self.planes_per_die) as usize] &=
            !(1 << (plane.0 % self.planes_per_die));
    }

    /// A bit for each plane of the die at this place whose groups have changed since a write was noted there: on the
    /// others it wants what it wanted. Where idle time is used, that depends on more.
    pub fn changed_on(&self, die: usize) -> u32 {
        if self.idle_jobs.is_some() { u32::MAX } else { self.changed[die] }
    }

    /// A bit for each plane of the die at this place in which a group is wanted.
    pub fn wanted_on(&self, die: usize) -> u32 {
        self.wanted[die]
    }

    /// The group that is wanted on `plane`.
    pub fn wanted_group(&self, plane: PlaneId) -> Option<GroupId> {
        self.planes[plane.index()].wanted
    }

    /// The merge of a group as it stands, that has `buffered` newer pages elsewhere; `victim` is among the blocks
    /// that it erases in any case.
    pub fn merge_of(
        &self,
        id: GroupId,
        victim: Option<BlockId>,
        blocks: &Blocks,
        buffered: u16,
    ) -> Merge {
        self.scheme.merge(
            self.get(id),
            Merge::nothing(id, buffered),
            victim,
            blocks,
            self.data_pages,
        )
    }

    /// Whether the data of `block`, which is not free, may be moved to level wear.
    pub fn is_still(&self, block: BlockId) -> bool {
        let Some(id) = self.owner(block) else { return false };
        let group = self.get(id);
        let is_open = group.open.is_some_and(|open| open.block == block);
        !is_open && self.scheme.erases(group, block)
    }

    /// The merge that is under way on `plane`.
    pub fn merge_on(&self, plane: PlaneId) -> Option<&Merge> {
        self.planes[plane.index()].merge.as_ref()
    }

    /// Whether a group of `plane` is being merged.
    pub fn is_merged(&self, plane: PlaneId, id: GroupId) -> bool {
        self.merge_on(plane).is_some_and(|merge| merge.group == id)
    }

    /// Begins a merge on `plane`. Writes that come meanwhile don't go to the blocks that it knows.
    pub fn begin(&mut self, plane: PlaneId, merge: Merge) {
        self.get_mut(merge.group).open = None;
        if self.planes[plane.index()].wanted == Some(merge.group) {
            self.set_wanted(plane, None);
        }
        self.planes[plane.index()].merge = Some(merge);
        self.note_change(plane);
    }

    /// Place of the next page of the merge on `plane`, if it has a block with room.
    pub fn target(&self, plane: PlaneId) -> Option<Frontier> {
        let target = self.merge_on(plane)?.target?;
        (target.next_page < self.data_pages).then_some(target)
    }

    /// A block is opened for the pages of the merge on `plane`.
    pub fn open_target(&mut self, plane: PlaneId, frontier: Frontier) {
        self.note_change(plane);
        let Some(merge) = &mut self.planes[plane.index()].merge else { return };
        merge.target = Some(frontier);
        let id = merge.group;
        self.owners[frontier.block.index()] = Some(id);
        let group = &mut self.groups[id.index()];
        self.scheme.add_target(&mut group.blocks, frontier.block);
    }

    /// The offset that `lpn` gets in the block that the next page goes to.
    pub fn offset_in(&self, target: Frontier, lpn: Lpn) -> u32 {
        self.scheme.offset_in(target, self.layout.place_of(lpn))
    }

    /// The merge on `plane` has put a page at `offset`. Returns whether that filled the block.
    pub fn has_moved(&mut self, plane: PlaneId, offset: u32) -> bool {
        if let Some(Merge { target: Some(target), .. }) = &mut self.planes[plane.index()].merge {
            target.next_page = offset + 1;
        }
        offset + 1 == self.data_pages
    }

    /// The page that the merge on `plane` moves before it erases a block, be it that it `is_buffers`.
    pub fn next_page(
        &self,
        tables: &Tables,
        plane: PlaneId,
        is_buffers: impl Fn(BlockId) -> bool,
    ) -> Option<Ppn> {
        S::next_page(self, self.merge_on(plane)?, tables, is_buffers)
    }

    /// Whether the merge on `plane`, which has `room` for so many pages, may move a valid page of `block`
    /// out of turn: there must be enough left for the block that is emptied first.
    pub fn may_move_next(
        &self,
        plane: PlaneId,
        block: BlockId,
        room: u32,
        blocks: &Blocks,
    ) -> bool {
        self.merge_on(plane)
            .is_some_and(|merge| self.scheme.may_move_next(merge, block, room, blocks))
    }

    /// `spare` takes the place of `block` of `plane`, which is open. Returns what the victim policy knows of
    /// its group, if it knows it under that block.
    pub fn replace(&mut self, plane: PlaneId, block: BlockId, spare: BlockId) -> Option<Listed> {
        self.note_change(plane);
        let owner = self.owners[block.index()].take();
        self.owners[spare.index()] = owner;
        if let Some(Merge { target: Some(target), .. }) = &mut self.planes[plane.index()].merge
            && target.block == block
        {
            target.block = spare;
        }
        let group = &mut self.groups[owner?.index()];
        group.blocks.iter_mut().filter(|held| **held == block).for_each(|held| *held = spare);
        if let Some(open) = group.open.as_mut().filter(|open| open.block == block) {
            open.block = spare;
        }
        let listed = group.listed.as_mut().filter(|listed| listed.block == block)?;
        listed.block = spare;
        Some(*listed)
    }

    /// `block` of `plane` has been erased. Returns the group whose merge that has ended.
    pub fn forget(&mut self, plane: PlaneId, block: BlockId) -> Option<GroupId> {
        self.note_change(plane);
        self.owners[block.index()] = None;
        let merge = self.planes[plane.index()].merge.as_mut()?;
        merge.sources.retain(|source| *source != block);
        let id = merge.group;
        self.get_mut(id).blocks.retain(|held| *held != block);
        self.end_merge(plane)
    }

    /// Ends the merge on `plane` if nothing is left to be erased. Returns whose it was.
    pub fn end_merge(&mut self, plane: PlaneId) -> Option<GroupId> {
        self.note_change(plane);
        let is_over = |merge: &mut Merge| merge.sources.is_empty();
        let Merge { group: id, target, .. } = self.planes[plane.index()].merge.take_if(is_over)?;
        let (scheme, data_pages) = (self.scheme, self.data_pages);
        let group = self.get_mut(id);
        scheme.merged(group, target, data_pages);
        Some(id)
    }
}

/// View of the groups that a victim policy has.
pub struct GroupView<'a, S> {
    pub groups: &'a Groups<S>,
    pub blocks: BlocksAt<'a>,
}

impl<S: Scheme> BlockView for GroupView<'_, S> {
    /// Number that the victim policy compares: pages moved for each block given back.
    fn valid_pages(&self, block: BlockId) -> u16 {
        let listed = self.groups.owner(block).and_then(|group| self.groups.get(group).listed);
        listed.map_or(0, |listed| listed.moves_per_block)
    }

    fn erase_count(&self, block: BlockId) -> u32 {
        self.blocks.erase_count(block)
    }

    fn class(&self, block: BlockId) -> Option<usize> {
        self.blocks.class(block)
    }

    fn opened_at(&self, block: BlockId) -> u64 {
        self.blocks.opened_at(block)
    }

    fn sealed_at(&self, block: BlockId) -> u64 {
        self.blocks.sealed_at(block)
    }

    fn hotness(&self, block: BlockId) -> Option<f64> {
        self.blocks.hotness(block)
    }

    fn now(&self) -> u64 {
        self.blocks.now()
    }
}
