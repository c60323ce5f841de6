//! The closed blocks of a plane without any index, and a victim policy that is told of them.

use copyback::config::VictimPolicy;
use copyback::ids::{BlockId, PlaneId};
use copyback::rng::{Stream, stream};
use copyback::victim::{BlockView, Shape, VictimSelector, Victims};
use rand::RngExt;

pub const BLOCKS: u32 = 24;
pub const PAGES: u16 = 7;
pub const PLANE: PlaneId = PlaneId(1);
pub const SHAPE: Shape = Shape { planes: 2, blocks: 2 * BLOCKS as usize, pages_per_block: PAGES };

/// A closed block, as a scan sees it.
#[derive(Debug, Clone, Copy)]
pub struct Closed {
    pub block: BlockId,
    pub valid: u16,
    /// When it was closed, and when it last lost a page, in changes of the plane.
    pub closed_at: u64,
    pub changed_at: u64,
    /// When it was opened and filled, in pages of the host.
    pub opened_at: u64,
    pub sealed_at: u64,
}

/// The closed blocks of a plane, kept without any index.
#[derive(Default)]
pub struct Scan {
    pub closed: Vec<Closed>,
    pub clock: u64,
    pub now: u64,
}

/// How often a block has been erased, its class, and how hot it is: the same for ever.
pub fn erases(block: BlockId) -> u32 {
    block.0 % 5
}

pub fn class(block: BlockId) -> usize {
    block.index() % 3
}

/// Not known of each fourth.
pub fn hotness(block: BlockId) -> Option<f64> {
    (!block.0.is_multiple_of(4)).then(|| f64::from(block.0 % 4) / 8.0)
}

impl BlockView for Scan {
    fn valid_pages(&self, block: BlockId) -> u16 {
        self.find(block).valid
    }

    fn erase_count(&self, block: BlockId) -> u32 {
        erases(block)
    }

    fn class(&self, block: BlockId) -> Option<usize> {
        Some(class(block))
    }

    fn opened_at(&self, block: BlockId) -> u64 {
        self.find(block).opened_at
    }

    fn sealed_at(&self, block: BlockId) -> u64 {
        self.find(block).sealed_at
    }

    fn hotness(&self, block: BlockId) -> Option<f64> {
        hotness(block)
    }

    fn now(&self) -> u64 {
        self.now
    }
}

impl Scan {
    pub fn find(&self, block: BlockId) -> Closed {
        let found = self.closed.iter().find(|closed| closed.block == block);
        *found.expect("a policy looks at closed blocks only")
    }

    /// A block is closed that was opened so many pages of the host ago.
    pub fn close(&mut self, block: BlockId, valid: u16, open_for: u64) {
        self.clock += 1;
        let (closed_at, sealed_at) = (self.clock, self.now);
        let opened_at = sealed_at.saturating_sub(open_for);
        let changed_at = closed_at;
        self.closed.push(Closed { block, valid, closed_at, changed_at, opened_at, sealed_at });
    }

    pub fn lose(&mut self, index: usize) -> Closed {
        self.clock += 1;
        self.closed[index].valid -= 1;
        self.closed[index].changed_at = self.clock;
        self.closed[index]
    }

    pub fn with_invalid(&self) -> impl Iterator<Item = &Closed> {
        self.closed.iter().filter(|closed| closed.valid < PAGES)
    }

    pub fn greedy(&self) -> Option<BlockId> {
        let first = self.with_invalid().min_by_key(|closed| (closed.valid, closed.changed_at));
        first.map(|closed| closed.block)
    }

    pub fn fifo(&self) -> Option<BlockId> {
        self.closed.iter().min_by_key(|closed| closed.closed_at).map(|closed| closed.block)
    }
}

/// Lets blocks close, lose pages and be collected at random, and compares every choice.
pub fn follow(policy: &VictimPolicy, agree: impl Fn(&Scan, Option<BlockId>) -> bool) {
    let new = || VictimSelector::new(policy, SHAPE, stream(2, "victims"));
    follow_selector(new(), Some(&new), agree);
}

/// Now and then one that has been saved and made again goes on, if `new` makes them.
pub fn follow_selector(
    mut selector: VictimSelector,
    new: Option<&dyn Fn() -> VictimSelector>,
    agree: impl Fn(&Scan, Option<BlockId>) -> bool,
) {
    let mut random = stream(1, "victims");
    let mut scan = Scan::default();
    let mut free: Vec<BlockId> = (BLOCKS..2 * BLOCKS).map(BlockId).collect();
    for step in 0..20_000 {
        change(&mut scan, &mut selector, &mut free, &mut random);
        if let Some(new) = new
            && step % 64 == 0
        {
            selector = made_again(&selector, new(), &scan);
        }
        if scan.with_invalid().next().is_none() {
            continue;
        }
        let chosen = selector.choose(PLANE, &scan);
        assert!(agree(&scan, chosen), "step {step}: {chosen:?} of {:?}", scan.closed);
        if let Some(block) = chosen.filter(|_| free.len() < 4) {
            let index = scan.closed.iter().position(|c| c.block == block).expect("it is closed");
            let closed = scan.closed.swap_remove(index);
            selector.removed(PLANE, block, closed.valid);
            free.push(block);
        }
    }
}

fn made_again(selector: &VictimSelector, mut new: VictimSelector, scan: &Scan) -> VictimSelector {
    let listed = |block| {
        let found = scan.closed.iter().find(|closed| closed.block == block);
        found.map(|closed| (PLANE, closed.valid))
    };
    assert!(new.restore(selector.saved(), SHAPE.blocks, listed, scan));
    new
}

fn change(
    scan: &mut Scan,
    selector: &mut VictimSelector,
    free: &mut Vec<BlockId>,
    random: &mut Stream,
) {
    scan.now += random.random_range(0..3);
    let index = random.random_range(0..scan.closed.len().max(1));
    let loses = scan.closed.get(index).is_some_and(|closed| closed.valid > 0);
    if loses && random.random_bool(0.8) {
        let closed = scan.lose(index);
        selector.lost_page(PLANE, closed.block, closed.valid);
    } else if !free.is_empty() {
        let block = free.swap_remove(random.random_range(0..free.len()));
        let valid = random.random_range(PAGES - 2..=PAGES);
        scan.close(block, valid, random.random_range(0..20));
        selector.closed(PLANE, block, valid, scan);
    }
}
