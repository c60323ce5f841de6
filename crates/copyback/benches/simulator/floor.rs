//! The bare loop: map, invalidate, greedy pick, move. No time, no events, no planes: one pool of
//! blocks, one frontier, blocks in lists by their number of valid pages.
//!
//! It is held to be as fast as such a loop can be, so that a ratio to it says how much a simulator adds: tables
//! in huge pages, what is known of a block side by side.

use copyback_memory::table;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const NONE: u32 = u32::MAX;
const PAGES: u32 = 64;
/// Blocks that are kept free.
const FREE: usize = 4;

/// What is known of a block.
#[derive(Clone, Copy)]
struct Block {
    /// A bit for each page that is valid.
    valid: u64,
    next: u32,
    previous: u32,
}

const ERASED: Block = Block { valid: 0, next: NONE, previous: NONE };

/// A device that is nothing but its tables.
pub struct Device {
    physical: Vec<u32>,
    logical: Vec<u32>,
    blocks: Vec<Block>,
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
            physical: table((pages as f64 * utilisation) as usize, NONE),
            logical: table(pages, NONE),
            blocks: table(blocks as usize, ERASED),
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
        let pages = self.physical.len() as u64;
        for _ in 0..writes {
            // By a product of 32 bits, not to the last bit alike: a draw without bias takes twice as long.
            let lpn = (u64::from(self.random.next_u32()) * pages) >> 32;
            self.write(lpn as u32);
        }
    }

    /// Bytes of the tables, a physical page.
    pub fn bytes_per_page(&self) -> f64 {
        let tables = size_of_val(&self.physical[..]) + size_of_val(&self.logical[..]);
        (tables + size_of_val(&self.blocks[..])) as f64 / self.logical.len() as f64
    }

    #[inline]
    fn write(&mut self, lpn: u32) {
        let old = self.physical[lpn as usize];
        if old != NONE {
            self.invalidate(old);
        }
        self.append(lpn);
        while self.free.len() < FREE {
            self.collect();
        }
    }

    #[inline]
    fn append(&mut self, lpn: u32) {
        let page = self.open * PAGES + self.offset;
        self.physical[lpn as usize] = page;
        self.logical[page as usize] = lpn;
        self.blocks[self.open as usize].valid |= 1 << self.offset;
        self.offset += 1;
        if self.offset == PAGES {
            self.link(self.open);
            self.open = self.free.pop().expect("a collection has freed a block");
            self.offset = 0;
        }
    }

    #[inline]
    fn invalidate(&mut self, page: u32) {
        let block = page / PAGES;
        let is_full = block != self.open;
        if is_full {
            self.unlink(block);
        }
        self.blocks[block as usize].valid &= !(1 << (page % PAGES));
        if is_full {
            self.link(block);
        }
    }

    fn collect(&mut self) {
        while self.heads[self.lowest] == NONE {
            self.lowest += 1;
        }
        let victim = self.heads[self.lowest];
        self.unlink(victim);
        let Block { mut valid, .. } = std::mem::replace(&mut self.blocks[victim as usize], ERASED);
        while valid != 0 {
            let page = victim * PAGES + valid.trailing_zeros();
            valid &= valid - 1;
            self.moved += 1;
            self.append(self.logical[page as usize]);
        }
        self.free.push(victim);
    }

    #[inline]
    fn link(&mut self, block: u32) {
        let count = self.blocks[block as usize].valid.count_ones() as usize;
        let head = std::mem::replace(&mut self.heads[count], block);
        let known = &mut self.blocks[block as usize];
        (known.next, known.previous) = (head, NONE);
        if head != NONE {
            self.blocks[head as usize].previous = block;
        }
        self.lowest = self.lowest.min(count);
    }

    #[inline]
    fn unlink(&mut self, block: u32) {
        let Block { valid, next, previous } = self.blocks[block as usize];
        if next != NONE {
            self.blocks[next as usize].previous = previous;
        }
        match previous {
            NONE => self.heads[valid.count_ones() as usize] = next,
            previous => self.blocks[previous as usize].next = next,
        }
    }
}
