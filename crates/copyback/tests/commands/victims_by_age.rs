//! Victim policies that weigh valid pages and age, against a scan of all closed blocks and on a few by hand.

use copyback::config::{Age, AgeWeight, CollectionCost, VictimPolicy};
use copyback::ids::BlockId;
use copyback::rng::stream;
use copyback::victim::{BlockView, VictimSelector, Victims};

use copyback::config::quantity::Share;

use crate::scan::{BLOCKS, Closed, PAGES, PLANE, SHAPE, Scan, erases, follow, hotness};

const AGES: [Age; 3] = [Age::SinceInvalidated, Age::SinceSealed, Age::SinceOpened];

impl Scan {
    fn age(&self, closed: &Closed, age: Age) -> f64 {
        let age = match age {
            Age::SinceInvalidated => self.clock - closed.changed_at,
            Age::SinceSealed => self.now - closed.sealed_at,
            Age::SinceOpened => self.now - closed.opened_at,
        };
        age as f64
    }

    /// Whether `chosen` has no less of a value than all blocks with an invalid page; an empty one has it without bound.
    fn has_most(&self, chosen: Option<BlockId>, value: impl Fn(&Closed) -> f64) -> bool {
        let value = |closed: &Closed| if closed.valid == 0 { f64::INFINITY } else { value(closed) };
        let Some(found) = chosen.map(|block| self.find(block)) else { return false };
        let best = self.with_invalid().map(value).fold(0.0, f64::max);
        let found_value = value(&found);
        found.valid < PAGES && (found_value == best || (found_value - best).abs() <= 1e-9 * best)
    }
}

fn share_of_valid(closed: &Closed) -> f64 {
    f64::from(closed.valid) / f64::from(PAGES)
}

/// As the papers have it: (1 - u) / 2u x age, (1 - u) / (1 + u) x age, or with the root of the age.
fn benefit(closed: &Closed, age: f64, weight: AgeWeight, cost: CollectionCost) -> f64 {
    let u = share_of_valid(closed);
    let cost = match cost {
        CollectionCost::ValidPages => 2.0 * u,
        CollectionCost::WholeBlock => 1.0 + u,
    };
    let age = match weight {
        AgeWeight::Linear => age,
        AgeWeight::Sqrt => age.sqrt(),
    };
    (1.0 - u) / cost * age
}

#[test]
fn cost_benefit_takes_the_best_of_all_closed_blocks() {
    for age in AGES {
        for weight in [AgeWeight::Linear, AgeWeight::Sqrt] {
            for cost in [CollectionCost::ValidPages, CollectionCost::WholeBlock] {
                follow(&VictimPolicy::CostBenefit { age, weight, cost }, |scan, chosen| {
                    let value = |c: &Closed| benefit(c, scan.age(c, age), weight, cost);
                    scan.has_most(chosen, value)
                });
            }
        }
    }
}

#[test]
fn cost_age_times_takes_the_best_of_all_closed_blocks() {
    for age in AGES {
        follow(&VictimPolicy::CostAgeTimes { age }, |scan, chosen| {
            scan.has_most(chosen, |closed| {
                let u = share_of_valid(closed);
                (1.0 - u) / u * scan.age(closed, age) / f64::from(erases(closed.block).max(1))
            })
        });
    }
}

/// As long as some have so many invalid pages, of these.
#[test]
fn cost_hotness_takes_the_best_of_all_closed_blocks() {
    for (share, most_valid) in [(0.0, PAGES), (0.15, PAGES - 2), (0.5, PAGES - 4)] {
        let policy = VictimPolicy::CostHotness { least_invalid: Share(share) };
        follow(&policy, |scan, chosen| {
            let are_emptier = scan.closed.iter().any(|closed| closed.valid <= most_valid);
            scan.has_most(chosen, |closed| {
                let since_filled = 1.0 / (scan.now - closed.sealed_at).max(1) as f64;
                let u = share_of_valid(closed);
                let worth = (1.0 - u) / (u * hotness(closed.block).unwrap_or(since_filled));
                if are_emptier && closed.valid > most_valid { 0.0 } else { worth }
            })
        });
    }
}

/// Hotness is one over the time that pages of a block still live.
#[test]
fn foresight_takes_the_best_by_the_root_of_what_is_left_of_lives() {
    follow(&VictimPolicy::Foresight, |scan, chosen| {
        scan.has_most(chosen, |closed| {
            let since_filled = (scan.now - closed.sealed_at).max(1) as f64;
            let left = hotness(closed.block).map_or(since_filled, |hotness| 1.0 / hotness);
            let u = share_of_valid(closed);
            (1.0 - u) / u * left.sqrt()
        })
    });
}

/// Of blocks that are alike the one that was filled first is taken.
#[test]
fn of_equals_the_first_is_taken() {
    for age in [Age::SinceSealed, Age::SinceOpened] {
        let (weight, cost) = (AgeWeight::Sqrt, CollectionCost::ValidPages);
        let policies =
            [VictimPolicy::CostBenefit { age, weight, cost }, VictimPolicy::CostAgeTimes { age }];
        for policy in policies {
            let mut by_hand = ByHand::new(&policy);
            // Each fifth block has been erased as often.
            for block in [10, 5, 15, 0] {
                by_hand.close(block, 3);
            }
            assert_eq!(by_hand.order(), [10, 5, 15, 0]);
        }
    }
}

/// A policy and what it is told of.
struct ByHand {
    scan: Scan,
    selector: VictimSelector,
}

impl ByHand {
    fn new(policy: &VictimPolicy) -> Self {
        let selector = VictimSelector::new(policy, SHAPE, stream(1, "victims"));
        Self { scan: Scan::default(), selector }
    }

    /// Block so-and-so of the plane is filled, with so many valid pages, having been open for two pages of the host.
    fn close(&mut self, block: u32, valid: u16) {
        let block = BlockId(BLOCKS + block);
        self.scan.close(block, valid, 2);
        self.selector.closed(PLANE, block, valid, &self.scan);
    }

    fn lose(&mut self, block: u32) {
        let block = BlockId(BLOCKS + block);
        let index = self.scan.closed.iter().position(|closed| closed.block == block);
        let Closed { valid, .. } = self.scan.lose(index.expect("it is closed"));
        self.selector.lost_page(PLANE, block, valid);
    }

    fn host_writes(&mut self, pages: u64) {
        self.scan.now += pages;
    }

    /// In which order the blocks are taken.
    fn order(mut self) -> Vec<u32> {
        let mut order = Vec::new();
        while self.scan.with_invalid().next().is_some() {
            let block = self.selector.choose(PLANE, &self.scan).expect("one has an invalid page");
            self.selector.removed(PLANE, block, self.scan.valid_pages(block));
            self.scan.closed.retain(|closed| closed.block != block);
            order.push(block.0 - BLOCKS);
        }
        order
    }
}

/// Three blocks of seven pages, filled 100, 36 and 4 pages of the host ago, with 5, 3 and 2 valid pages. The oldest is
/// the last to have lost one.
fn three(policy: &VictimPolicy) -> Vec<u32> {
    let mut by_hand = ByHand::new(policy);
    by_hand.close(0, 6);
    by_hand.host_writes(64);
    by_hand.close(1, 3);
    by_hand.host_writes(32);
    by_hand.close(2, 2);
    by_hand.host_writes(4);
    by_hand.lose(0);
    by_hand.order()
}

#[test]
fn the_age_its_weight_and_the_cost_decide() {
    let order = |age, weight, cost| three(&VictimPolicy::CostBenefit { age, weight, cost });
    use {Age::*, AgeWeight::*, CollectionCost::*};
    // 2/5 x 100 = 40, 4/3 x 36 = 48, 5/2 x 4 = 10.
    assert_eq!(order(SinceSealed, Linear, ValidPages), [1, 0, 2]);
    // 2/5 x 10 = 4, 4/3 x 6 = 8, 5/2 x 2 = 5.
    assert_eq!(order(SinceSealed, Sqrt, ValidPages), [1, 2, 0]);
    // 2/12 x 100 = 16.7, 4/10 x 36 = 14.4, 5/9 x 4 = 2.2.
    assert_eq!(order(SinceSealed, Linear, WholeBlock), [0, 1, 2]);
    // 2/5 x 102 = 40.8, 4/3 x 38 = 50.7, 5/2 x 6 = 15.
    assert_eq!(order(SinceOpened, Linear, ValidPages), [1, 0, 2]);
    // Four changes: 2/5 x 0 = 0, 4/3 x 2 = 2.7, 5/2 x 1 = 2.5.
    assert_eq!(order(SinceInvalidated, Linear, ValidPages), [1, 2, 0]);
}

#[test]
fn cost_age_times_spares_a_block_that_is_worn() {
    let mut by_hand = ByHand::new(&VictimPolicy::CostAgeTimes { age: Age::SinceSealed });
    // Block 24 + n has been erased (24 + n) % 5 times: 0 four times, 1 never, 2 once, 3 twice.
    for block in 0..4 {
        by_hand.close(block, 3);
        by_hand.host_writes(4);
    }
    // 16 / 4 = 4, 12 / 1 = 12 as if erased once, 8 / 1 = 8, 4 / 2 = 2.
    assert_eq!(by_hand.order(), [1, 2, 0, 3]);
}

/// Four blocks in the order of closing, with 5, 6, 3 and 1 valid pages; 1 loses five pages.
#[test]
fn a_window_moves_on_with_what_is_taken() {
    let order = |window| {
        let mut by_hand = ByHand::new(&VictimPolicy::WindowedGreedy { window });
        for (block, valid) in [(0, 5), (1, 6), (2, 3), (3, 1)] {
            by_hand.close(block, valid);
        }
        (0..5).for_each(|_| by_hand.lose(1));
        by_hand.order()
    };
    assert_eq!([1, 2, 3, 4].map(order), [[0, 1, 2, 3], [1, 2, 3, 0], [1, 3, 2, 0], [3, 1, 2, 0]]);
}
