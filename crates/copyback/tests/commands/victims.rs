//! Victim policies against a scan of all closed blocks, and random ones against their
//! distributions.

use std::collections::BTreeMap;

use copyback::config::VictimPolicy;
use copyback::ids::{BlockId, PlaneId, SsdId};
use copyback::rng::{Stream, stream};
use copyback::scheduler::when::supply::NoSupplier;
use copyback::victim::supply::{
    BlockState, ClosedBlock, Device, ExternalVictims, Failed, VictimSupplier,
};
use copyback::victim::{BlockView, Shape, VictimSelector, Victims};
use rand::RngExt;
use serde_json::Map;

const BLOCKS: u32 = 24;
const PAGES: u16 = 7;
const PLANE: PlaneId = PlaneId(1);
const SHAPE: Shape = Shape { planes: 2, blocks: 2 * BLOCKS as usize, pages_per_block: PAGES };

/// A closed block, as a scan sees it.
#[derive(Debug, Clone, Copy)]
struct Closed {
    block: BlockId,
    valid: u16,
    /// When it was closed, and when it last lost a page, in changes of the plane.
    closed_at: u64,
    changed_at: u64,
}

/// The closed blocks of a plane, kept without any index.
#[derive(Default)]
struct Scan {
    closed: Vec<Closed>,
    clock: u64,
}

impl BlockView for Scan {
    fn valid_pages(&self, block: BlockId) -> u16 {
        let found = self.closed.iter().find(|closed| closed.block == block);
        found.expect("a policy looks at closed blocks only").valid
    }

    fn erase_count(&self, block: BlockId) -> u32 {
        block.0
    }
}

impl Scan {
    fn close(&mut self, block: BlockId, valid: u16) {
        self.clock += 1;
        let now = self.clock;
        self.closed.push(Closed { block, valid, closed_at: now, changed_at: now });
    }

    fn lose(&mut self, index: usize) -> Closed {
        self.clock += 1;
        self.closed[index].valid -= 1;
        self.closed[index].changed_at = self.clock;
        self.closed[index]
    }

    fn with_invalid(&self) -> impl Iterator<Item = &Closed> {
        self.closed.iter().filter(|closed| closed.valid < PAGES)
    }

    fn greedy(&self) -> Option<BlockId> {
        let first = self.with_invalid().min_by_key(|closed| (closed.valid, closed.changed_at));
        first.map(|closed| closed.block)
    }

    fn fifo(&self) -> Option<BlockId> {
        self.closed.iter().min_by_key(|closed| closed.closed_at).map(|closed| closed.block)
    }

    /// (1 - u) / 2u x age; without bound for an empty block.
    fn benefit(&self, block: BlockId) -> f64 {
        let closed = self.closed.iter().find(|closed| closed.block == block).expect("it is closed");
        let share = f64::from(closed.valid) / f64::from(PAGES);
        let age = (self.clock - closed.changed_at) as f64;
        if closed.valid == 0 { f64::INFINITY } else { (1.0 - share) / (2.0 * share) * age }
    }

    fn best_benefit(&self) -> Option<f64> {
        self.with_invalid().map(|closed| self.benefit(closed.block)).reduce(f64::max)
    }
}

/// Lets blocks close, lose pages and be collected at random, and compares every choice.
fn follow(policy: &VictimPolicy, agree: impl Fn(&Scan, Option<BlockId>) -> bool) {
    follow_selector(VictimSelector::new(policy, SHAPE, stream(2, "victims")), agree);
}

fn follow_selector(mut selector: VictimSelector, agree: impl Fn(&Scan, Option<BlockId>) -> bool) {
    let mut random = stream(1, "victims");
    let mut scan = Scan::default();
    let mut free: Vec<BlockId> = (BLOCKS..2 * BLOCKS).map(BlockId).collect();
    for step in 0..20_000 {
        change(&mut scan, &mut selector, &mut free, &mut random);
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

fn change(
    scan: &mut Scan,
    selector: &mut VictimSelector,
    free: &mut Vec<BlockId>,
    random: &mut Stream,
) {
    let index = random.random_range(0..scan.closed.len().max(1));
    let loses = scan.closed.get(index).is_some_and(|closed| closed.valid > 0);
    if loses && random.random_bool(0.8) {
        let closed = scan.lose(index);
        selector.lost_page(PLANE, closed.block, closed.valid);
    } else if !free.is_empty() {
        let block = free.swap_remove(random.random_range(0..free.len()));
        let valid = random.random_range(PAGES - 2..=PAGES);
        scan.close(block, valid);
        selector.closed(PLANE, block, valid);
    }
}

#[test]
fn greedy_takes_the_fewest_valid_pages_and_the_first_to_get_there() {
    follow(&VictimPolicy::Greedy, |scan, chosen| chosen == scan.greedy());
}

#[test]
fn fifo_takes_the_block_that_was_closed_first() {
    follow(&VictimPolicy::FIFO, |scan, chosen| chosen == scan.fifo());
}

#[test]
fn cost_benefit_takes_the_best_of_all_closed_blocks() {
    follow(&VictimPolicy::CostBenefit, |scan, chosen| {
        let (Some(block), Some(best)) = (chosen, scan.best_benefit()) else { return false };
        let found = scan.benefit(block);
        found == best || (found - best).abs() <= 1e-9 * best
    });
}

#[test]
fn random_with_an_invalid_page_takes_no_full_block() {
    follow(&VictimPolicy::RandomPlus, |scan, chosen| {
        chosen.is_some_and(|block| scan.valid_pages(block) < PAGES)
    });
}

/// Draws of a policy from ten closed blocks, of which block i has `valid[i]` valid pages.
fn draws(policy: &VictimPolicy, valid: [u16; 10]) -> [u32; 10] {
    let mut selector = VictimSelector::new(policy, SHAPE, stream(3, "victims"));
    let mut scan = Scan::default();
    for (block, valid) in valid.into_iter().enumerate() {
        scan.close(BlockId::from_index(block), valid);
        selector.closed(PLANE, BlockId::from_index(block), valid);
    }
    let mut counts = [0; 10];
    for _ in 0..DRAWS {
        let chosen = selector.choose(PLANE, &scan).expect("there is one");
        counts[chosen.index()] += 1;
    }
    counts
}

const DRAWS: u32 = 50_000;
/// The chi-square statistic of nine degrees of freedom exceeds this once in a thousand seeds.
const CRITICAL_9: f64 = 27.88;
/// The same for four.
const CRITICAL_4: f64 = 18.47;

fn chi_square(counts: &[u32], shares: &[f64]) -> f64 {
    let term = |(count, share): (&u32, &f64)| {
        let expected = share * f64::from(DRAWS);
        (f64::from(*count) - expected).powi(2) / expected
    };
    counts.iter().zip(shares).map(term).sum()
}

#[test]
fn random_takes_every_block_alike() {
    let counts = draws(&VictimPolicy::Random, [0, 7, 1, 7, 2, 7, 3, 7, 4, 7]);
    assert!(chi_square(&counts, &[0.1; 10]) < CRITICAL_9, "{counts:?}");
}

#[test]
fn random_plus_takes_every_block_with_an_invalid_page_alike() {
    let counts = draws(&VictimPolicy::RandomPlus, [0, 7, 1, 7, 2, 7, 3, 7, 4, 7]);
    let (able, full): (Vec<_>, Vec<_>) = counts.iter().enumerate().partition(|(i, _)| i % 2 == 0);
    let able: Vec<u32> = able.into_iter().map(|(_, count)| *count).collect();
    assert!(full.into_iter().all(|(_, count)| *count == 0), "{counts:?}");
    assert!(chi_square(&able, &[0.2; 5]) < CRITICAL_4, "{counts:?}");
}

/// Counts and shares from the first that is expected too rarely for the statistic on, in one.
fn joined(counts: &[u32], shares: &[f64]) -> (Vec<u32>, Vec<f64>) {
    let usual = shares.iter().take_while(|share| **share * f64::from(DRAWS) >= 5.0).count();
    let with_rest = |usual: &[f64], rare: &[f64]| [usual, &[rare.iter().sum()]].concat();
    let (often, rarely) = counts.split_at(usual - 1);
    let counts = [often, &[rarely.iter().sum()]].concat();
    (counts, with_rest(&shares[..usual - 1], &shares[usual - 1..]))
}

#[test]
fn d_choices_take_the_best_of_d_draws_with_replacement() {
    for d in [1, 2, 3, 8] {
        let counts = draws(&VictimPolicy::Rga { d }, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        // The best of d is the k-th best or a worse one with ((10 - k) / 10)^d.
        let at_least = |k: usize| ((10 - k) as f64 / 10.0).powi(d as i32);
        let shares: Vec<f64> = (0..10).map(|k| at_least(k) - at_least(k + 1)).collect();
        let (often, expected) = joined(&counts, &shares);
        assert!(chi_square(&often, &expected) < CRITICAL_9, "d = {d}: {counts:?}");
    }
}

/// Greedy, by what an external policy is told, and wrong from the given choice on.
#[derive(Debug)]
struct Told {
    closed: BTreeMap<BlockId, ClosedBlock>,
    choices: u32,
    wrong_from: Option<u32>,
}

impl ExternalVictims for Told {
    fn choose(
        &mut self,
        plane: PlaneId,
        clock: u64,
        changed: &[BlockState],
    ) -> Result<BlockId, Failed> {
        assert_eq!(plane, PLANE);
        for BlockState { block, closed } in changed {
            self.closed.remove(block);
            self.closed.extend(closed.map(|closed| (*block, closed)));
        }
        assert!(self.closed.values().all(|closed| closed.closed_at <= closed.changed_at));
        assert!(self.closed.values().all(|closed| closed.changed_at <= clock));
        assert!(self.closed.iter().all(|(block, closed)| closed.erase_count == block.0));
        self.choices += 1;
        if self.wrong_from.is_some_and(|wrong_from| self.choices > wrong_from) {
            return Ok(BlockId(0));
        }
        let first = self.closed.iter().min_by_key(|(_, c)| (c.valid_pages, c.changed_at));
        first.map(|(block, _)| *block).ok_or(Failed("asked in vain".into()))
    }
}

struct Supply {
    wrong_from: Option<u32>,
}

impl VictimSupplier for Supply {
    fn victims(&self, _: Device, _: Shape, _: Stream) -> Result<Box<dyn ExternalVictims>, Failed> {
        let wrong_from = self.wrong_from;
        Ok(Box::new(Told { closed: BTreeMap::new(), choices: 0, wrong_from }))
    }
}

fn external(supplier: &dyn VictimSupplier) -> Result<VictimSelector, Failed> {
    let policy = VictimPolicy::Python { policy: "told".into(), parameters: Map::new() };
    let mut selector = VictimSelector::new(&policy, SHAPE, stream(2, "victims"));
    let (dies, planes_per_die, blocks_per_plane, pages_per_block) = (1, 2, BLOCKS, PAGES.into());
    let id = SsdId(0);
    let device = Device { id, dies, planes_per_die, blocks_per_plane, pages_per_block };
    selector.supply(device, supplier).map(|()| selector)
}

#[test]
fn a_policy_from_outside_is_told_what_a_scan_sees() {
    let selector = external(&Supply { wrong_from: None }).expect("it is supplied");
    follow_selector(selector, |scan, chosen| chosen == scan.greedy());
}

#[test]
fn one_that_chooses_a_block_that_is_not_closed_is_asked_no_more() {
    let mut selector = external(&Supply { wrong_from: Some(0) }).expect("it is supplied");
    let mut scan = Scan::default();
    scan.close(BlockId(BLOCKS), 3);
    selector.closed(PLANE, BlockId(BLOCKS), 3);
    assert_eq!(selector.failed(), None);
    assert_eq!(selector.choose(PLANE, &scan), Some(BlockId(BLOCKS)), "a stand-in");
    let problem = selector.failed().expect("block 0 is not closed").to_string();
    assert!(problem.contains("told: choose: found BlockId(0), not closed"), "{problem}");
}

#[test]
fn one_is_not_asked_where_nothing_is_worth_it() {
    let mut selector = external(&Supply { wrong_from: None }).expect("it is supplied");
    let mut scan = Scan::default();
    scan.close(BlockId(BLOCKS), PAGES);
    selector.closed(PLANE, BlockId(BLOCKS), PAGES);
    assert_eq!(selector.choose(PLANE, &scan), None);
    assert_eq!(selector.failed(), None);
}

#[test]
fn without_a_supplier_it_is_refused() {
    let refused = external(&NoSupplier).expect_err("there is none");
    assert!(refused.to_string().starts_with("ssd.gc.victim: found a policy in Python"));
}
