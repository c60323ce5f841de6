//! What the model knows of a drive: blocks, pages, lists of free blocks. Nothing is decided here.

use std::collections::BTreeMap;

use crate::shape::Shape;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Free,
    Open,
    Full,
    /// It has been chosen and is not erased yet.
    Victim,
}

#[derive(Debug, Clone)]
pub struct Block {
    pub stage: Stage,
    /// Of which pages it is filled with; none for those that no placement sorts.
    pub class: Option<u8>,
    /// Pages that have been programmed.
    pub written: u32,
    pub erases: u32,
    /// Since when it has so few valid pages, in steps of the drive.
    pub so_few_since: u64,
    /// When its first and its last page were written, in pages of the host.
    pub opened_at: u64,
    pub filled_at: u64,
    /// When it was opened and when it was full, in steps of the drive.
    pub opened_step: u64,
    pub filled_step: u64,
    /// When it last lost a page, in changes of the blocks of its plane.
    pub lost_at: u64,
    /// When it came into the window of the oldest, in steps of the drive.
    pub in_window_since: Option<u64>,
}

#[derive(Debug, Clone, Default)]
pub struct Plane {
    /// Free blocks in the order in which they became free.
    pub free: Vec<u32>,
    /// The open block of each class.
    pub open: BTreeMap<Option<u8>, u32>,
    /// Changes of its full blocks.
    pub changes: u64,
    /// Its victims that have not been erased.
    pub victims: Vec<u32>,
    /// Whether it is below its threshold.
    pub is_short: bool,
    /// Whether a collection had to open the block that it shares with the host.
    pub is_lent: bool,
}

#[derive(Debug)]
pub struct State {
    pub shape: Shape,
    pub blocks: Vec<Block>,
    pub planes: Vec<Plane>,
    /// Where each logical page lies.
    pub map: BTreeMap<u32, u32>,
    /// Which logical page lies on each valid page.
    pub valid: BTreeMap<u32, u32>,
    /// Pages that the host has written.
    pub host_pages: u64,
    /// What has been told.
    pub step: u64,
}

impl State {
    pub fn new(shape: Shape) -> Self {
        let block = Block {
            stage: Stage::Free,
            class: None,
            written: 0,
            erases: 0,
            so_few_since: 0,
            opened_at: 0,
            filled_at: 0,
            opened_step: 0,
            filled_step: 0,
            lost_at: 0,
            in_window_since: None,
        };
        let planes = (0..shape.all_planes())
            .map(|plane| Plane { free: shape.blocks_of(plane), ..Plane::default() });
        Self {
            blocks: vec![block; shape.all_blocks() as usize],
            planes: planes.collect(),
            map: BTreeMap::new(),
            valid: BTreeMap::new(),
            host_pages: 0,
            step: 0,
            shape,
        }
    }

    /// The planes that are being collected, or should be, in words.
    pub fn describe_victims(&self) -> String {
        let is_stuck = |id: &u32| !self.plane(*id).victims.is_empty() || self.plane(*id).is_short;
        let planes = (0..self.shape.all_planes()).filter(is_stuck);
        planes.map(|plane| self.describe(plane)).collect()
    }

    /// A plane in words, for whoever looks into a difference.
    pub fn describe(&self, plane: u32) -> String {
        let known = self.plane(plane);
        let mut text = format!(
            "\n    plane {plane}: free {:?}, open {:?}, victims {:?}, short: {}, {} changes, {} host pages",
            known.free, known.open, known.victims, known.is_short, known.changes, self.host_pages
        );
        for block in self.full_blocks(plane) {
            let Block { erases, so_few_since, opened_at, filled_at, lost_at, class, .. } =
                self.block(block);
            text += &format!(
                "\n    block {block}: class {class:?}, {} valid since step {so_few_since}, opened {opened_at}, \
                 filled {filled_at}, lost {lost_at}, {erases} erases",
                self.valid_count(block)
            );
        }
        text
    }

    pub fn block(&self, block: u32) -> &Block {
        &self.blocks[block as usize]
    }

    pub fn block_mut(&mut self, block: u32) -> &mut Block {
        &mut self.blocks[block as usize]
    }

    pub fn plane(&self, plane: u32) -> &Plane {
        &self.planes[plane as usize]
    }

    pub fn plane_mut(&mut self, plane: u32) -> &mut Plane {
        &mut self.planes[plane as usize]
    }

    /// The valid pages of a block, in order.
    pub fn valid_pages(&self, block: u32) -> Vec<u32> {
        let first = block * self.shape.pages;
        self.valid.range(first..first + self.shape.pages).map(|(ppn, _)| *ppn).collect()
    }

    pub fn valid_count(&self, block: u32) -> u32 {
        self.valid_pages(block).len() as u32
    }

    pub fn room_in(&self, block: u32) -> u32 {
        self.shape.data_pages - self.block(block).written
    }

    /// The full blocks of a plane, the one that was filled first at the front.
    pub fn full_blocks(&self, plane: u32) -> Vec<u32> {
        let blocks = self.shape.blocks_of(plane).into_iter();
        let mut full: Vec<u32> =
            blocks.filter(|block| self.block(*block).stage == Stage::Full).collect();
        full.sort_by_key(|block| self.block(*block).filled_step);
        full
    }

    /// The page on `ppn` is valid no more.
    pub fn lose(&mut self, ppn: u32) {
        self.valid.remove(&ppn);
        let block = self.shape.block_of(ppn);
        let (step, plane) = (self.step, self.shape.plane_of(block));
        self.block_mut(block).so_few_since = step;
        if self.block(block).stage == Stage::Full {
            self.plane_mut(plane).changes += 1;
            let changes = self.plane(plane).changes;
            self.block_mut(block).lost_at = changes;
        }
    }

    /// Logical page `lpn` lies on `ppn` from now on. Returns whether that fills the block.
    pub fn put(&mut self, lpn: u32, ppn: u32) -> bool {
        let block = self.shape.block_of(ppn);
        if let Some(old) = self.map.insert(lpn, ppn) {
            self.lose(old);
        }
        self.valid.insert(ppn, lpn);
        let step = self.step;
        let data_pages = self.shape.data_pages;
        let changed = self.block_mut(block);
        changed.written += 1;
        changed.so_few_since = step;
        let is_full = changed.written == data_pages;
        if is_full {
            self.fill(block);
        }
        is_full
    }

    fn fill(&mut self, block: u32) {
        let (step, now, plane) = (self.step, self.host_pages, self.shape.plane_of(block));
        self.plane_mut(plane).open.retain(|_, open| *open != block);
        self.plane_mut(plane).changes += 1;
        let changes = self.plane(plane).changes;
        let filled = self.block_mut(block);
        filled.stage = Stage::Full;
        filled.filled_at = now;
        filled.filled_step = step;
        filled.lost_at = changes;
    }

    /// `block` leaves the full ones.
    pub fn choose(&mut self, block: u32) {
        let plane = self.shape.plane_of(block);
        self.plane_mut(plane).victims.push(block);
        self.block_mut(block).stage = Stage::Victim;
    }

    pub fn erase(&mut self, block: u32) {
        let plane = self.shape.plane_of(block);
        let erased = self.block_mut(block);
        erased.stage = Stage::Free;
        erased.class = None;
        erased.written = 0;
        erased.erases += 1;
        erased.in_window_since = None;
        let plane = self.plane_mut(plane);
        plane.victims.retain(|victim| *victim != block);
        plane.free.push(block);
    }

    pub fn open(&mut self, block: u32, class: Option<u8>) {
        let (step, plane) = (self.step, self.shape.plane_of(block));
        let now = self.host_pages;
        let opened = self.block_mut(block);
        opened.stage = Stage::Open;
        opened.class = class;
        opened.opened_step = step;
        opened.opened_at = now;
        let plane = self.plane_mut(plane);
        plane.free.retain(|free| *free != block);
        plane.open.insert(class, block);
    }
}
