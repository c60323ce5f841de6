//! The state of every erase block: which pages are valid, and how worn it is.

use copyback_memory::{prefetch, table};
use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;
use crate::ids::BlockId;
use crate::nand::Geometry;
use crate::placement::supply::BlockState;
use crate::placement::{Class, Life, Origin};
use crate::victim::BlockView;

use super::streams::Streams;

/// Erases that no block survives.
const NEVER: u32 = u32::MAX / 2;

/// Valid pages as a bitset, and a small record a block.
#[derive(Debug, Checkpointed)]
pub struct Blocks {
    valid: Vec<u64>,
    words_per_block: usize,
    records: Vec<Record>,
    times: Vec<Times>,
    /// Blocks that have been opened since they were last taken, if somebody takes them.
    opened: Option<Vec<BlockId>>,
    /// Cell mode of each block, if the drive has an SLC cache.
    modes: Option<Vec<CellMode>>,
}

/// Bits that are programmed into the cells of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum CellMode {
    /// Native mode: the bits a cell that the flash is made for.
    Native,
    /// Fewer, until the block is erased: a native block that is lent to the SLC cache.
    LentToSlc,
    /// Fewer, always: a static block of the SLC cache.
    StaticSlc,
}

/// When a block was last opened and filled, in pages that the host had written to the drive.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, Checkpointed)]
struct Times {
    opened: u64,
    sealed: u64,
}

#[derive(Debug, Clone, Copy, Checkpointed)]
struct Record {
    erase_count: u32,
    valid: u16,
    phase: Phase,
    /// Class whose pages it takes, if the placement gives one.
    class: Option<Class>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Checkpointed)]
enum Phase {
    Free,
    /// Being filled, or being collected: no victim.
    Open,
    /// Filled.
    Closed,
    /// Never used again.
    Bad,
    /// Filled in the mode of the SLC cache ([`SlcPool`](super::units::SlcPool)): no victim of the policy.
    FullInCache,
}

/// Saved state of a block. Which of its pages are valid follows from the mapping.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct SavedBlock {
    phase: Phase,
    class: Option<Class>,
    erase_count: u32,
    times: Times,
}

impl SavedBlock {
    pub fn is_bad(self) -> bool {
        self.phase == Phase::Bad
    }
}

impl Blocks {
    /// All blocks erased.
    pub fn new(geometry: &Geometry) -> Self {
        let words_per_block = (geometry.pages_per_block as usize).div_ceil(64);
        let fresh = Record { erase_count: 0, valid: 0, phase: Phase::Free, class: None };
        Self {
            valid: table(geometry.blocks() * words_per_block, 0),
            words_per_block,
            records: table(geometry.blocks(), fresh),
            times: vec![Times::default(); geometry.blocks()],
            opened: None,
            modes: None,
        }
    }

    /// Keeps the cell mode of each block from now on: all are native.
    pub fn keep_modes(&mut self) {
        self.modes = Some(vec![CellMode::Native; self.records.len()]);
    }

    /// Cell mode of `block`.
    #[inline]
    pub fn mode(&self, block: BlockId) -> CellMode {
        self.modes.as_ref().map_or(CellMode::Native, |modes| modes[block.index()])
    }

    /// Whether `block` is in the mode of the SLC cache.
    #[inline]
    pub fn is_slc(&self, block: BlockId) -> bool {
        self.mode(block) != CellMode::Native
    }

    /// Whether `block` is a static block of the SLC cache.
    #[inline]
    pub fn is_static_slc(&self, block: BlockId) -> bool {
        self.mode(block) == CellMode::StaticSlc
    }

    /// Sets the cell mode of `block`, of a drive that keeps modes.
    pub fn set_mode(&mut self, block: BlockId, mode: CellMode) {
        if let Some(modes) = &mut self.modes {
            modes[block.index()] = mode;
        }
    }

    /// Gives the cell mode of `bad` to `spare`, which takes its place.
    pub fn pass_mode_on(&mut self, bad: BlockId, spare: BlockId) {
        self.set_mode(spare, self.mode(bad));
        self.set_mode(bad, CellMode::Native);
    }

    fn word_and_bit(&self, block: BlockId, offset: u32) -> (usize, u64) {
        (block.index() * self.words_per_block + offset as usize / 64, 1 << (offset % 64))
    }

    /// Brings what says whether the page at `offset` is valid into the cache, without waiting for it.
    pub fn fetch(&self, block: BlockId, offset: u32) {
        prefetch(&self.valid, self.word_and_bit(block, offset).0);
        prefetch(&self.records, block.index());
    }

    pub fn is_valid(&self, block: BlockId, offset: u32) -> bool {
        let (word, bit) = self.word_and_bit(block, offset);
        self.valid[word] & bit != 0
    }

    /// The blocks as they are by the clock of `streams`, and as their placement knows them.
    pub const fn at<'a>(&'a self, streams: &'a Streams) -> BlocksAt<'a> {
        BlocksAt { blocks: self, streams }
    }

    pub fn valid_pages(&self, block: BlockId) -> u16 {
        self.records[block.index()].valid
    }

    pub fn erase_count(&self, block: BlockId) -> u32 {
        self.records[block.index()].erase_count
    }

    pub fn erase_counts(&self) -> impl Iterator<Item = u32> + Clone {
        self.records.iter().map(|record| record.erase_count)
    }

    pub fn set_erase_count(&mut self, block: BlockId, erases: u32) {
        self.records[block.index()].erase_count = erases;
    }

    pub fn is_free(&self, block: BlockId) -> bool {
        self.records[block.index()].phase == Phase::Free
    }

    pub fn is_open(&self, block: BlockId) -> bool {
        self.records[block.index()].phase == Phase::Open
    }

    pub fn is_closed(&self, block: BlockId) -> bool {
        self.records[block.index()].phase == Phase::Closed
    }

    pub fn is_bad(&self, block: BlockId) -> bool {
        self.records[block.index()].phase == Phase::Bad
    }

    pub fn set_open(&mut self, block: BlockId) {
        self.records[block.index()].phase = Phase::Open;
    }

    /// `block` is opened for the pages of a class, or for what the placement has no say in.
    pub fn open(&mut self, block: BlockId, class: Option<Class>, now: u64) {
        let record = &mut self.records[block.index()];
        (record.phase, record.class) = (Phase::Open, class);
        self.times[block.index()].opened = now;
        if let Some(opened) = &mut self.opened {
            opened.push(block);
        }
    }

    /// Keeps account from now on of the blocks that are opened.
    pub fn tell_opened(&mut self) {
        self.opened.get_or_insert_default();
    }

    /// Takes the blocks that have been opened since the last call, if account of them is kept.
    pub fn take_opened(&mut self) -> Vec<BlockId> {
        self.opened.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// `block` is full.
    pub fn seal(&mut self, block: BlockId, now: u64) {
        self.records[block.index()].phase = Phase::Closed;
        self.times[block.index()].sealed = now;
    }

    /// `block`, which is in the mode of the cache, is full.
    pub fn fill_in_cache(&mut self, block: BlockId, now: u64) {
        self.records[block.index()].phase = Phase::FullInCache;
        self.times[block.index()].sealed = now;
    }

    /// Checks the blocks that each class is `counted` to hold.
    ///
    /// # Errors
    /// Names what they hold, if that is not so.
    pub fn check_classes(&self, counted: &[u64]) -> Result<(), String> {
        let held = self.of_classes(counted.len());
        match held == counted {
            true => Ok(()),
            false => Err(format!("classes hold {held:?} blocks, but {counted:?} counted")),
        }
    }

    /// Origin of a page that is moved out of `block`.
    #[inline(always)]
    pub fn origin_in(&self, block: BlockId) -> Origin {
        Origin::Moved { class: self.class(block) }
    }

    /// Whether `block` has been opened and not erased since.
    pub fn is_in_use(&self, block: BlockId) -> bool {
        self.is_open(block) || self.is_closed(block) || self.is_full_in_cache(block)
    }

    pub fn is_full_in_cache(&self, block: BlockId) -> bool {
        self.records[block.index()].phase == Phase::FullInCache
    }

    /// The class that `block` was opened for, if the placement had a say in it.
    #[inline(always)]
    pub fn class(&self, block: BlockId) -> Option<Class> {
        self.records[block.index()].class
    }

    /// When `block` was last opened.
    pub fn opened_at(&self, block: BlockId) -> u64 {
        self.times[block.index()].opened
    }

    /// When `block` was last filled.
    pub fn sealed_at(&self, block: BlockId) -> u64 {
        self.times[block.index()].sealed
    }

    /// Blocks of each of so many classes that are neither free nor bad.
    pub fn of_classes(&self, classes: usize) -> Vec<u64> {
        let mut held = vec![0; classes];
        for Record { phase, class, .. } in &self.records {
            if let (Phase::Open | Phase::Closed, Some(class)) = (phase, class) {
                held[class.index()] += 1;
            }
        }
        held
    }

    /// `spare` takes the place of `bad`, which was being filled.
    pub fn open_in_place_of(&mut self, bad: BlockId, spare: BlockId) {
        let class = self.records[bad.index()].class;
        self.open(spare, class, self.times[bad.index()].opened);
    }

    /// `block` is of another class from now on.
    pub fn set_class(&mut self, block: BlockId, class: Class) {
        self.records[block.index()].class = Some(class);
    }

    /// Class of `block` and the time since which it takes its pages, if it was opened for a class.
    pub fn life(&self, block: BlockId) -> Option<Life> {
        let Record { valid, class, .. } = self.records[block.index()];
        let Times { opened, sealed } = self.times[block.index()];
        class.map(|class| Life { block, class, opened, sealed, valid })
    }

    /// State of `block`, as far as an external placement may see it.
    pub fn state(&self, block: BlockId) -> BlockState {
        let Record { phase, class, .. } = self.records[block.index()];
        let Times { opened, sealed } = self.times[block.index()];
        let holds_pages = matches!(phase, Phase::Open | Phase::Closed);
        let class = class.filter(|_| holds_pages);
        let sealed = (phase == Phase::Closed).then_some(sealed);
        BlockState { block, class, opened, sealed }
    }

    /// States of all blocks, as far as an external placement may see them.
    pub fn states(&self) -> impl Iterator<Item = BlockState> {
        (0..self.records.len()).map(BlockId::from_index).map(|block| self.state(block))
    }

    /// Saved state of every block.
    pub fn saved(&self) -> Vec<SavedBlock> {
        let saved = |(record, times): (&Record, &Times)| {
            let Record { erase_count, phase, class, .. } = *record;
            SavedBlock { phase, class, erase_count, times: *times }
        };
        self.records.iter().zip(&self.times).map(saved).collect()
    }

    /// Makes blocks of which no page is valid those that were saved. False if with so many classes they can't have
    /// lived so by `now`.
    pub fn restore(&mut self, saved: &[SavedBlock], classes: usize, now: u64) -> bool {
        let blocks = self.records.iter_mut().zip(&mut self.times);
        for ((record, times), saved) in blocks.zip(saved) {
            let SavedBlock { phase, class, erase_count, times: lived } = *saved;
            (*record, *times) = (Record { erase_count, valid: 0, phase, class }, lived);
        }
        let is_sound = |saved: &SavedBlock| {
            let Times { opened, sealed } = saved.times;
            let has_lived = opened <= now && sealed <= now;
            saved.class.is_none_or(|class| class.index() < classes)
                && has_lived
                && saved.erase_count < NEVER
        };
        saved.len() == self.records.len() && saved.iter().all(is_sound)
    }

    pub fn set_bad(&mut self, block: BlockId) {
        debug_assert_eq!(self.records[block.index()].valid, 0, "{block:?} is bad and holds data");
        self.records[block.index()].phase = Phase::Bad;
    }

    /// The page at `offset` now holds the current version of a logical page.
    #[inline(always)]
    pub fn program(&mut self, block: BlockId, offset: u32) {
        let (word, bit) = self.word_and_bit(block, offset);
        debug_assert!(self.valid[word] & bit == 0, "{block:?} page {offset} programmed twice");
        self.valid[word] |= bit;
        self.records[block.index()].valid += 1;
    }

    /// The page at `offset` is out of date. Returns how many valid pages are left.
    #[inline(always)]
    pub fn invalidate(&mut self, block: BlockId, offset: u32) -> u16 {
        let (word, bit) = self.word_and_bit(block, offset);
        debug_assert!(self.valid[word] & bit != 0, "{block:?} page {offset} is not valid");
        self.valid[word] &= !bit;
        let valid = &mut self.records[block.index()].valid;
        *valid -= 1;
        *valid
    }

    /// `block`, of a die that is lost, holds nothing any more. It is not erased, and counts as free.
    pub fn empty_lost(&mut self, block: BlockId) {
        let record = &mut self.records[block.index()];
        debug_assert_eq!(record.valid, 0, "{block:?} is given up with valid pages");
        record.phase = Phase::Free;
    }

    pub fn erase(&mut self, block: BlockId) {
        let record = &mut self.records[block.index()];
        debug_assert_eq!(record.valid, 0, "{block:?} is erased with valid pages");
        record.erase_count += 1;
        record.phase = Phase::Free;
    }

    /// The offset of the first valid page at or after `offset`.
    #[inline]
    pub fn next_valid(&self, block: BlockId, offset: u32) -> Option<u32> {
        let first = block.index() * self.words_per_block;
        let words = &self.valid[first..first + self.words_per_block];
        let mut index = offset as usize / 64;
        let mut hits = words.get(index)? & (u64::MAX << (offset % 64));
        while hits == 0 {
            index += 1;
            hits = *words.get(index)?;
        }
        Some(index as u32 * 64 + hits.trailing_zeros())
    }

    /// The offset of the last valid page.
    pub fn last_valid(&self, block: BlockId) -> Option<u32> {
        let first = block.index() * self.words_per_block;
        let words = &self.valid[first..first + self.words_per_block];
        let (index, word) = words.iter().enumerate().rfind(|(_, word)| **word != 0)?;
        Some(index as u32 * 64 + word.ilog2())
    }

    /// The first offset at which every one of `blocks` has a valid page.
    pub fn next_common(&self, blocks: &(impl Iterator<Item = BlockId> + Clone)) -> Option<u32> {
        (0..self.words_per_block).find_map(|word| {
            let words =
                blocks.clone().map(|block| self.valid[block.index() * self.words_per_block + word]);
            let hits = words.fold(u64::MAX, |common, word| common & word);
            (hits != 0).then(|| word as u32 * 64 + hits.trailing_zeros())
        })
    }

    /// Checks that the count of valid pages agrees with the bits.
    pub fn check(&self, block: BlockId) -> Result<(), String> {
        let first = block.index() * self.words_per_block;
        let words = &self.valid[first..first + self.words_per_block];
        let bits: u32 = words.iter().map(|word| word.count_ones()).sum();
        let counted = self.valid_pages(block);
        if self.is_bad(block) && bits > 0 {
            return Err(format!("{block:?} is bad, but has {bits} valid pages"));
        }
        if bits != u32::from(counted) {
            return Err(format!("{block:?}: {bits} valid pages, but {counted} counted"));
        }
        Ok(())
    }
}

/// The blocks as a victim policy sees them.
#[derive(Debug, Clone, Copy)]
pub struct BlocksAt<'a> {
    blocks: &'a Blocks,
    streams: &'a Streams,
}

impl BlockView for BlocksAt<'_> {
    fn valid_pages(&self, block: BlockId) -> u16 {
        self.blocks.valid_pages(block)
    }

    fn erase_count(&self, block: BlockId) -> u32 {
        self.blocks.erase_count(block)
    }

    fn class(&self, block: BlockId) -> Option<usize> {
        self.blocks.class(block).map(Class::index)
    }

    fn opened_at(&self, block: BlockId) -> u64 {
        self.blocks.opened_at(block)
    }

    fn sealed_at(&self, block: BlockId) -> u64 {
        self.blocks.sealed_at(block)
    }

    fn hotness(&self, block: BlockId) -> Option<f64> {
        self.streams.hotness(block)
    }

    fn now(&self) -> u64 {
        self.streams.clock
    }
}
