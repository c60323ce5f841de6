//! Victim policies against a scan of all closed blocks, and random ones against their
//! distributions.

use std::collections::BTreeMap;

use copyback::config::{VictimPolicy, Within};
use copyback::ids::{BlockId, PlaneId, SsdId};
use copyback::outside::{Device, Failed, NoSupplier, Policy, Supply};
use copyback::rng::{Stream, stream};
use copyback::victim::supply::{BlockState, ClosedBlock, ExternalVictims};
use copyback::victim::{BlockView, Shape, VictimSelector, Victims};
use serde_json::Map;

use crate::scan::{BLOCKS, PAGES, PLANE, SHAPE, Scan, class, erases, follow, follow_selector};

#[test]
fn greedy_takes_the_fewest_valid_pages_and_the_first_to_get_there() {
    follow(&VictimPolicy::Greedy, |scan, chosen| chosen == scan.greedy());
}

#[test]
fn fifo_takes_the_block_that_was_closed_first() {
    follow(&VictimPolicy::FIFO, |scan, chosen| chosen == scan.fifo());
}

/// Of the blocks that were closed first the one with the fewest valid pages, or the first if all pages of all are valid.
fn of_window(scan: &Scan, window: usize) -> (u16, Option<BlockId>) {
    let mut oldest = scan.closed.clone();
    oldest.sort_by_key(|closed| closed.closed_at);
    oldest.truncate(window);
    let fewest = oldest.iter().map(|closed| closed.valid).min().unwrap_or(PAGES);
    (fewest, oldest.first().filter(|_| fewest == PAGES).map(|first| first.block))
}

#[test]
fn windowed_greedy_takes_the_fewest_valid_pages_of_the_blocks_closed_first() {
    for window in [2, 5, 12] {
        follow(&VictimPolicy::WindowedGreedy { window }, |scan, chosen| {
            let Some(block) = chosen else { return false };
            let older = scan.closed.iter().filter(|c| c.closed_at < scan.find(block).closed_at);
            let (fewest, first) = of_window(scan, window as usize);
            older.count() < window as usize
                && scan.valid_pages(block) == fewest
                && first.is_none_or(|first| first == block)
        });
    }
}

#[test]
fn a_window_of_one_block_is_fifo_and_one_of_all_is_greedy() {
    let windowed = |window| VictimPolicy::WindowedGreedy { window };
    follow(&windowed(1), |scan, chosen| chosen == scan.fifo());
    follow(&windowed(BLOCKS), |scan, chosen| chosen == scan.greedy());
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
        scan.close(BlockId::from_index(block), valid, 0);
        selector.closed(PLANE, BlockId::from_index(block), valid, &scan);
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
        let counts =
            draws(&VictimPolicy::Rga { d, within: Within::All }, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        // The best of d is the k-th best or a worse one with ((10 - k) / 10)^d.
        let at_least = |k: usize| ((10 - k) as f64 / 10.0).powi(d as i32);
        let shares: Vec<f64> = (0..10).map(|k| at_least(k) - at_least(k + 1)).collect();
        let (often, expected) = joined(&counts, &shares);
        assert!(chi_square(&often, &expected) < CRITICAL_9, "d = {d}: {counts:?}");
    }
}

/// The class of which the greatest share of pages is invalid; of equals the first.
fn emptiest_class(scan: &Scan) -> Option<usize> {
    let share = |wanted: usize| {
        let of_class = || scan.closed.iter().filter(|closed| class(closed.block) == wanted);
        let invalid: u32 = of_class().map(|closed| u32::from(PAGES - closed.valid)).sum();
        (of_class().count() > 0).then(|| (f64::from(invalid) / of_class().count() as f64, wanted))
    };
    let shares = (0..3).filter_map(share);
    shares.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, class)| class)
}

#[test]
fn d_choices_within_a_class_keep_to_the_one_with_most_to_gain() {
    for d in [1, 2, 500] {
        follow(&VictimPolicy::Rga { d, within: Within::Class }, |scan, chosen| {
            let (Some(block), Some(emptiest)) = (chosen, emptiest_class(scan)) else {
                return false;
            };
            let mut of_class = scan.closed.iter().filter(|closed| class(closed.block) == emptiest);
            // Of so many draws from no more than eight blocks none is left out.
            let is_best = d < 500 || of_class.all(|other| scan.valid_pages(block) <= other.valid);
            class(block) == emptiest && is_best
        });
    }
}

/// Blocks 0, 3, 6, 9 are of class 0, which is the emptiest here.
#[test]
fn d_choices_within_a_class_take_the_best_of_d_draws_with_replacement() {
    for d in [1, 2, 3] {
        let policy = VictimPolicy::Rga { d, within: Within::Class };
        let counts = draws(&policy, [0, 7, 7, 1, 7, 7, 2, 7, 7, 3]);
        let at_least = |k: usize| ((4 - k) as f64 / 4.0).powi(d as i32);
        let shares: Vec<f64> = (0..4).map(|k| at_least(k) - at_least(k + 1)).collect();
        let of_class: Vec<u32> = counts.iter().step_by(3).copied().collect();
        assert_eq!(of_class.iter().sum::<u32>(), DRAWS, "{counts:?}");
        assert!(chi_square(&of_class, &shares) < CRITICAL_4, "d = {d}: {counts:?}");
    }
}

/// Greedy, by what an external policy is told, and wrong from the given choice on.
#[derive(Debug)]
struct Told {
    closed: BTreeMap<BlockId, ClosedBlock>,
    choices: u32,
    wrong_from: Option<u32>,
}

impl Policy for Told {
    fn memory(&self) -> Result<Vec<u8>, Failed> {
        Ok(Vec::new())
    }

    fn remember(&mut self, _: &[u8]) -> Result<(), Failed> {
        Ok(())
    }
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
        assert!(self.closed.iter().all(|(block, closed)| closed.erase_count == erases(*block)));
        self.choices += 1;
        if self.wrong_from.is_some_and(|wrong_from| self.choices > wrong_from) {
            return Ok(BlockId(0));
        }
        let first = self.closed.iter().min_by_key(|(_, c)| (c.valid_pages, c.changed_at));
        first.map(|(block, _)| *block).ok_or(Failed("asked in vain".into()))
    }
}

struct Supplied {
    wrong_from: Option<u32>,
}

impl Supply<dyn ExternalVictims> for Supplied {
    fn supply(&self, _: (Device, Shape), _: Stream) -> Result<Box<dyn ExternalVictims>, Failed> {
        let wrong_from = self.wrong_from;
        Ok(Box::new(Told { closed: BTreeMap::new(), choices: 0, wrong_from }))
    }
}

fn external(supplier: &dyn Supply<dyn ExternalVictims>) -> Result<VictimSelector, Failed> {
    let policy = VictimPolicy::Python { policy: "told".into(), parameters: Map::new() };
    let mut selector = VictimSelector::new(&policy, SHAPE, stream(2, "victims"));
    let (dies, planes_per_die, blocks_per_plane, pages_per_block) = (1, 2, BLOCKS, PAGES.into());
    let id = SsdId(0);
    let logical_pages = 0;
    let device =
        Device { id, dies, planes_per_die, blocks_per_plane, pages_per_block, logical_pages };
    selector.supply(device, supplier).map(|()| selector)
}

#[test]
fn a_policy_from_outside_is_told_what_a_scan_sees() {
    let selector = external(&Supplied { wrong_from: None }).expect("it is supplied");
    follow_selector(selector, None, |scan, chosen| chosen == scan.greedy());
}

#[test]
fn one_that_chooses_a_block_that_is_not_closed_is_asked_no_more() {
    let mut selector = external(&Supplied { wrong_from: Some(0) }).expect("it is supplied");
    let mut scan = Scan::default();
    scan.close(BlockId(BLOCKS), 3, 0);
    selector.closed(PLANE, BlockId(BLOCKS), 3, &scan);
    assert_eq!(selector.failed(), None);
    assert_eq!(selector.choose(PLANE, &scan), Some(BlockId(BLOCKS)), "a stand-in");
    let problem = selector.failed().expect("block 0 is not closed").to_string();
    assert!(problem.contains("told: choose: found BlockId(0), not closed"), "{problem}");
}

#[test]
fn one_is_not_asked_where_nothing_is_worth_it() {
    let mut selector = external(&Supplied { wrong_from: None }).expect("it is supplied");
    let mut scan = Scan::default();
    scan.close(BlockId(BLOCKS), PAGES, 0);
    selector.closed(PLANE, BlockId(BLOCKS), PAGES, &scan);
    assert_eq!(selector.choose(PLANE, &scan), None);
    assert_eq!(selector.failed(), None);
}

#[test]
fn without_a_supplier_it_is_refused() {
    let refused = external(&NoSupplier).expect_err("there is none");
    assert!(refused.to_string().starts_with("ssd.gc.victim: found a policy in Python"));
}
