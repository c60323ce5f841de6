//! The bare loop: map, invalidate, greedy pick, move. No time, no events, no planes: one pool of
//! blocks, one frontier, blocks in lists by their number of valid pages.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const NONE: u32 = u32::MAX;
const PAGES: u32 = 64;

/// A device that is nothing but its tables.
pub struct Device {
    physical: Vec<u32>,
    logical: Vec<u32>,
    valid: Vec<u64>,
    count: Vec<u16>,
    next: Vec<u32>,
    previous: Vec<u32>,
    /// First block with each number of valid pages.
    heads: Vec<u32>,
    lowest: usize,
    free: Vec<u32>,
    open: u32,
    offset: u32,
    random: Xoshiro256PlusPlus,
    /// Pages moved so far.
    pub moved: u64,
}

impl Device {
    /// An erased device of `blocks` blocks of 64 pages, of which the share `utilisation` is used.
    pub fn new(blocks: u32, utilisation: f64) -> Self {
        let pages = blocks as usize * PAGES as usize;
        Self {
            physical: vec![NONE; (pages as f64 * utilisation) as usize],
            logical: vec![NONE; pages],
            valid: vec![0; blocks as usize],
            count: vec![0; blocks as usize],
            next: vec![NONE; blocks as usize],
            previous: vec![NONE; blocks as usize],
            heads: vec![NONE; PAGES as usize + 1],
            lowest: 0,
            free: (1..blocks).rev().collect(),
            open: 0,
            offset: 0,
            random: Xoshiro256PlusPlus::seed_from_u64(1),
            moved: 0,
        }
    }

    /// Fills the logical space in order and overwrites it once at random.
    pub fn fill_and_age(&mut self) {
        for lpn in 0..self.physical.len() as u32 {
            self.write(lpn);
        }
        self.overwrite(self.physical.len() as u64);
    }

    /// Overwrites random pages.
    pub fn overwrite(&mut self, writes: u64) {
        for _ in 0..writes {
            let lpn = self.random.random_range(0..self.physical.len() as u32);
            self.write(lpn);
        }
    }

    /// Bytes of the tables, a physical page.
    pub fn bytes_per_page(&self) -> f64 {
        let blocks = self.valid.len();
        let bytes = 4 * self.physical.len() + 4 * self.logical.len() + blocks * (8 + 2 + 4 + 4);
        bytes as f64 / self.logical.len() as f64
    }

    fn write(&mut self, lpn: u32) {
        let old = self.physical[lpn as usize];
        if old != NONE {
            self.invalidate(old);
        }
        self.append(lpn);
        while self.free.is_empty() {
            self.collect();
        }
    }

    fn append(&mut self, lpn: u32) {
        let page = self.open * PAGES + self.offset;
        self.physical[lpn as usize] = page;
        self.logical[page as usize] = lpn;
        self.valid[self.open as usize] |= 1 << self.offset;
        self.count[self.open as usize] += 1;
        self.offset += 1;
        if self.offset == PAGES {
            self.link(self.open);
            self.open = self.free.pop().expect("a collection has freed a block");
            self.offset = 0;
        }
    }

    fn invalidate(&mut self, page: u32) {
        let block = page / PAGES;
        self.valid[block as usize] &= !(1 << (page % PAGES));
        if block == self.open {
            self.count[block as usize] -= 1;
            return;
        }
        self.unlink(block);
        self.count[block as usize] -= 1;
        self.link(block);
    }

    fn collect(&mut self) {
        while self.heads[self.lowest] == NONE {
            self.lowest += 1;
        }
        let victim = self.heads[self.lowest];
        self.unlink(victim);
        let mut valid = std::mem::take(&mut self.valid[victim as usize]);
        self.count[victim as usize] = 0;
        self.free.push(victim);
        while valid != 0 {
            let page = victim * PAGES + valid.trailing_zeros();
            valid &= valid - 1;
            self.moved += 1;
            self.append(self.logical[page as usize]);
        }
    }

    fn link(&mut self, block: u32) {
        let count = self.count[block as usize] as usize;
        let head = self.heads[count];
        self.next[block as usize] = head;
        self.previous[block as usize] = NONE;
        if head != NONE {
            self.previous[head as usize] = block;
        }
        self.heads[count] = block;
        self.lowest = self.lowest.min(count);
    }

    fn unlink(&mut self, block: u32) {
        let (next, previous) = (self.next[block as usize], self.previous[block as usize]);
        if next != NONE {
            self.previous[next as usize] = previous;
        }
        match previous {
            NONE => self.heads[self.count[block as usize] as usize] = next,
            previous => self.next[previous as usize] = next,
        }
    }
}
