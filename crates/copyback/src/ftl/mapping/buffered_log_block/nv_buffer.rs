//! The non-volatile buffer that takes writes which would need a merge first (P-FTL of Jung, Prabhakar,
//! Kandemir, Middleware 2012; after Choudhuri, Givargis: Deterministic service guarantees for NAND flash
//! using partial block cleaning, CODES+ISSS 2008).
//!
//! Each plane has a number of blocks for it, in which any page may lie anywhere:
//!
//! ```text
//!  oldest ┌───┬───┬───┬───┐ ┌───┬───┬───┬───┐ open   a, b, c: pages of logical blocks
//!         │ a │ - │ b │ a │ │ c │ b │   │   │        -: a page that has been written again since
//!         └───┴───┴───┴───┘ └───┴───┴───┴───┘
//! ```
//!
//! A logical block whose update block is used up is queued with its first write to the buffer, and merged
//! when its turn comes, which takes all its pages out of the buffer. What else was written there (its
//! logical block was being merged, or no block was free) stays until then, or until all blocks of the buffer
//! are in use: then logical blocks are merged in the order of their oldest page (above: a, b, c). A full
//! block that holds no valid page any more is erased.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;
use crate::ftl::space::Frontier;
use crate::ids::{BlockId, PlaneId};
use crate::less::Less;
use crate::nand::Geometry;

use crate::ftl::mapping::bound::GroupId;

/// The buffers of all planes.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
pub struct NvBuffer {
    pub(super) planes: Vec<PlaneBuffer>,
    /// Blocks of each plane.
    pub(super) blocks_per_plane: usize,
    /// Valid pages of each group in the buffer.
    #[serde(skip)]
    pub(super) pages: Vec<u16>,
    /// Whether each group is queued.
    #[serde(skip)]
    pub(super) queued: Vec<bool>,
    /// Whether each block of the device belongs to the buffer.
    #[serde(skip)]
    pub(super) holds: Vec<bool>,
    /// A bit for each plane of a die in whose buffer there is something to merge or to erase.
    #[serde(skip)]
    pub(super) to_clean: Vec<u32>,
    pub(super) planes_per_die: u32,
    #[serde(skip)]
    tally: BufferTally,
}

/// The buffer of a plane.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Checkpointed)]
pub struct PlaneBuffer {
    /// Blocks with valid pages and the open one, the oldest first.
    pub(super) blocks: VecDeque<BlockId>,
    /// The one that takes the next write: the last, if it is not full.
    pub(super) open: Option<Frontier>,
    /// Full blocks without a valid page.
    pub(super) emptied: VecDeque<BlockId>,
    /// Valid pages.
    pub(super) valid: u32,
    /// Groups that take no write and have written here, the first to do so first.
    pub(super) queue: VecDeque<GroupId>,
    /// Whether the next write has been seen to find no room.
    #[serde(skip)]
    refuses: bool,
}

/// Use of the buffer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Checkpointed)]
pub struct BufferTally {
    /// Pages that the host has written to it.
    pub writes: u64,
    /// Writes that found it full.
    pub full: u64,
    /// Most blocks of a plane in use at once.
    pub most_blocks: u64,
}

impl std::ops::AddAssign for BufferTally {
    fn add_assign(&mut self, other: Self) {
        self.writes += other.writes;
        self.full += other.full;
        self.most_blocks = self.most_blocks.max(other.most_blocks);
    }
}

impl Less for BufferTally {
    /// Difference to `earlier`, but for the most blocks, which are those of all the time.
    fn less(self, earlier: Self) -> Self {
        let (writes, full) = (self.writes.less(earlier.writes), self.full.less(earlier.full));
        Self { writes, full, ..self }
    }
}

impl BufferTally {
    /// Each page and block stands for one of each of `planes` striped together.
    pub const fn striped(&mut self, planes: u64) {
        self.writes *= planes;
        self.full *= planes;
    }
}

impl PlaneBuffer {
    /// Blocks that are not free.
    pub(super) fn in_use(&self) -> usize {
        self.blocks.len() + self.emptied.len()
    }

    fn is_open(&self, block: BlockId) -> bool {
        self.open.is_some_and(|open| open.block == block)
    }
}

impl NvBuffer {
    /// Empty buffers of so many blocks a plane for this many groups.
    pub fn new(geometry: &Geometry, blocks_per_plane: u32, groups: usize) -> Self {
        Self {
            planes: vec![PlaneBuffer::default(); geometry.planes()],
            blocks_per_plane: blocks_per_plane as usize,
            pages: vec![0; groups],
            queued: vec![false; groups],
            holds: vec![false; geometry.blocks()],
            to_clean: vec![0; geometry.dies()],
            planes_per_die: geometry.planes_per_die,
            tally: BufferTally::default(),
        }
    }

    /// Blocks of `plane` that are not free.
    pub fn in_use(&self, plane: PlaneId) -> usize {
        self.planes[plane.index()].in_use()
    }

    /// Valid pages of `group` in the buffer.
    pub fn pages_of(&self, group: GroupId) -> u16 {
        self.pages[group.index()]
    }

    /// Whether `block` belongs to the buffer.
    pub fn holds(&self, block: BlockId) -> bool {
        self.holds[block.index()]
    }

    /// A bit for each plane of the die at this place in whose buffer there is something to do.
    pub fn planes_to_clean(&self, die: usize) -> u32 {
        self.to_clean[die]
    }

    /// Place of the next page, if a block is open.
    pub fn open_on(&self, plane: PlaneId) -> Option<Frontier> {
        self.planes[plane.index()].open
    }

    /// A full block of `plane` without a valid page.
    pub fn emptied(&self, plane: PlaneId) -> Option<BlockId> {
        self.planes[plane.index()].emptied.front().copied()
    }

    /// The group of `plane` that is to be merged next for its own sake.
    pub fn first_queued(&self, plane: PlaneId) -> Option<GroupId> {
        self.planes[plane.index()].queue.front().copied()
    }

    /// Puts `group` of `plane` behind those that are to be merged, if it is not among them.
    pub fn queue(&mut self, plane: PlaneId, group: GroupId) {
        if !std::mem::replace(&mut self.queued[group.index()], true) {
            self.planes[plane.index()].queue.push_back(group);
            self.weigh(plane);
        }
    }

    /// `group` of `plane` is being merged.
    pub fn leave_queue(&mut self, plane: PlaneId, group: GroupId) {
        if std::mem::take(&mut self.queued[group.index()]) {
            self.planes[plane.index()].queue.retain(|queued| *queued != group);
            self.weigh(plane);
        }
    }

    /// Whether every block of `plane` is in use.
    pub fn is_used_up(&self, plane: PlaneId) -> bool {
        self.in_use(plane) == self.blocks_per_plane
    }

    /// The block of `plane` with the oldest valid pages, if there are any.
    pub fn oldest(&self, plane: PlaneId) -> Option<BlockId> {
        let plane = &self.planes[plane.index()];
        plane.blocks.front().copied().filter(|_| plane.valid > 0)
    }

    /// `block` is opened for writes of `plane`.
    pub fn open(&mut self, plane: PlaneId, block: BlockId) {
        self.holds[block.index()] = true;
        let buffer = &mut self.planes[plane.index()];
        buffer.blocks.push_back(block);
        buffer.open = Some(Frontier { block, next_page: 0 });
        self.tally.most_blocks = self.tally.most_blocks.max(buffer.in_use() as u64);
    }

    /// A page of `group` has been written to the open block of `plane`, which holds `data_pages`.
    /// Returns whether that filled it.
    pub fn wrote(&mut self, plane: PlaneId, group: GroupId, data_pages: u32) -> bool {
        self.pages[group.index()] += 1;
        self.tally.writes += 1;
        let buffer = &mut self.planes[plane.index()];
        buffer.valid += 1;
        let next = buffer.open.map(|open| Frontier { next_page: open.next_page + 1, ..open });
        buffer.open = next.filter(|open| open.next_page < data_pages);
        let is_full = buffer.open.is_none();
        self.weigh(plane);
        is_full
    }

    /// A page of `group` in `block` of `plane` is out of date; `valid` are left in the block.
    pub fn lost_page(&mut self, plane: PlaneId, block: BlockId, group: GroupId, valid: u16) {
        self.pages[group.index()] -= 1;
        let buffer = &mut self.planes[plane.index()];
        buffer.valid -= 1;
        if valid == 0 && !buffer.is_open(block) {
            buffer.blocks.retain(|held| *held != block);
            buffer.emptied.push_back(block);
        }
        self.weigh(plane);
    }

    /// `spare` takes the place of `block` of `plane`, if that is the buffer's. Returns whether it is.
    pub fn replace(&mut self, plane: PlaneId, block: BlockId, spare: BlockId) -> bool {
        let was_held = std::mem::take(&mut self.holds[block.index()]);
        if was_held {
            self.holds[spare.index()] = true;
            let buffer = &mut self.planes[plane.index()];
            buffer.blocks.iter_mut().filter(|held| **held == block).for_each(|held| *held = spare);
            if let Some(open) = buffer.open.as_mut().filter(|open| open.block == block) {
                open.block = spare;
            }
        }
        was_held
    }

    /// `block` of `plane` has been erased. Returns whether it was the buffer's.
    pub fn erased(&mut self, plane: PlaneId, block: BlockId) -> bool {
        let was_held = std::mem::take(&mut self.holds[block.index()]);
        if was_held {
            self.planes[plane.index()].emptied.retain(|held| *held != block);
            self.weigh(plane);
        }
        was_held
    }

    /// Notes whether there is something to do on `plane`.
    pub fn weigh(&mut self, plane: PlaneId) {
        let buffer = &self.planes[plane.index()];
        let has_work = !buffer.emptied.is_empty()
            || !buffer.queue.is_empty()
            || buffer.valid > 0 && self.is_used_up(plane);
        let bit = 1 << (plane.0 % self.planes_per_die);
        let die = &mut self.to_clean[(plane.0 / self.planes_per_die) as usize];
        match has_work {
            true => *die |= bit,
            false => *die &= !bit,
        }
    }

    /// Notes whether the next write of `plane` finds room.
    pub fn next_write_fits(&mut self, plane: PlaneId, fits: bool) {
        let buffer = &mut self.planes[plane.index()];
        self.tally.full += u64::from(!fits && !buffer.refuses);
        buffer.refuses = !fits;
    }

    /// Use of the buffer since it was last [reset](Self::reset_tally).
    pub const fn tally(&self) -> BufferTally {
        self.tally
    }

    /// Counts from now on.
    pub fn reset_tally(&mut self) {
        let most_blocks = self.planes.iter().map(PlaneBuffer::in_use).max().unwrap_or(0) as u64;
        self.tally = BufferTally { most_blocks, ..BufferTally::default() };
    }

    /// Pages of `block`, one of the buffer, that have been programmed; a block holds `data_pages`.
    pub fn programmed(&self, block: BlockId, data_pages: u32) -> u32 {
        let mut open = self.planes.iter().filter_map(|buffer| buffer.open);
        let open = open.find(|open| open.block == block);
        open.map_or(data_pages, |open| open.next_page)
    }
}
