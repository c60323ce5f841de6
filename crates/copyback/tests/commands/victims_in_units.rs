//! Victims that are reclaimed in units of several blocks.

use std::cell::RefCell;
use std::collections::VecDeque;

use copyback::config::{Age, AgeWeight, CollectionCost, VictimPolicy};
use copyback::ids::BlockId;
use copyback::rng::stream;
use copyback::victim::{InUnits, VictimSelector, Victims};

use crate::scan::{Closed, PAGES, PLANE, SHAPE, Scan, class, follow_selector};

/// Blocks of a unit, and classes of the placement.
const SIZE: usize = 3;
const CLASSES: usize = 3;

fn in_units(policy: &VictimPolicy) -> InUnits {
    InUnits::new(SIZE, CLASSES, SHAPE, |shape| {
        assert_eq!(shape.pages_per_block, 3 * PAGES, "the policy is told of units");
        VictimSelector::new(policy, shape, stream(2, "victims"))
    })
}

/// A block, and when it was closed: another time it is another block.
type Known = (BlockId, u64);

/// The units, without any index.
#[derive(Default)]
struct Units {
    waiting: [Vec<Known>; CLASSES],
    full: Vec<Vec<Known>>,
    reclaimed: VecDeque<Known>,
}

impl Units {
    /// Takes over what has happened to blocks since the last call.
    fn follow(&mut self, scan: &Scan) {
        let known = |closed: &Closed| (closed.block, closed.closed_at);
        let is_there = |block: &Known| scan.closed.iter().any(|closed| known(closed) == *block);
        self.reclaimed.retain(&is_there);
        if let Some(begun) = self.full.iter().position(|unit| !unit.iter().all(&is_there)) {
            self.reclaimed.extend(self.full.remove(begun).into_iter().filter(&is_there));
        }
        let all = self.waiting.iter().chain(&self.full).flatten().chain(&self.reclaimed);
        let before: Vec<Known> = all.copied().collect();
        let new = scan.closed.iter().map(known).filter(|block| !before.contains(block));
        for block in new {
            let waiting = &mut self.waiting[class(block.0)];
            waiting.push(block);
            if waiting.len() == SIZE {
                self.full.push(std::mem::take(waiting));
            }
        }
    }

    /// The first block of the unit with fewest valid pages, of those that have changed first.
    fn greedy(&self, scan: &Scan) -> Option<BlockId> {
        let of_unit = |unit: &&Vec<Known>| {
            let closed = unit.iter().map(|(block, _)| scan.find(*block));
            let last = closed.clone().map(|closed| closed.changed_at).max();
            (closed.map(|closed| closed.valid).sum::<u16>(), last)
        };
        let with_invalid = self.full.iter().filter(|unit| of_unit(unit).0 < SIZE as u16 * PAGES);
        Some(with_invalid.min_by_key(of_unit)?[0].0)
    }
}

#[test]
fn a_unit_that_is_begun_is_reclaimed_to_its_end_and_the_policy_chooses_the_next() {
    let units = RefCell::new(Units::default());
    let new = || VictimSelector::InUnits(Box::new(in_units(&VictimPolicy::Greedy)));
    follow_selector(new(), Some(&new), |scan, chosen| {
        let mut units = units.borrow_mut();
        units.follow(scan);
        let begun = units.reclaimed.front().map(|(block, _)| *block);
        chosen == begun.or_else(|| units.greedy(scan))
    });
}

#[test]
fn every_policy_is_made_again_unit_by_unit() {
    for policy in [VictimPolicy::COST_BENEFIT, VictimPolicy::FIFO, VictimPolicy::RandomPlus] {
        let new = || VictimSelector::InUnits(Box::new(in_units(&policy)));
        let chosen_at_all = RefCell::new(false);
        follow_selector(new(), Some(&new), |_, chosen| {
            *chosen_at_all.borrow_mut() |= chosen.is_some();
            true
        });
        assert!(chosen_at_all.into_inner(), "{policy:?}");
    }
}

#[test]
fn a_block_that_is_taken_otherwise_takes_its_unit_along_if_that_is_full() {
    let (mut units, mut scan) = (in_units(&VictimPolicy::Greedy), Scan::default());
    let first = SHAPE.blocks as u32 / 2;
    let of_class: Vec<_> = (first..).filter(|block| block % 3 == 1).map(BlockId).take(7).collect();
    for block in &of_class {
        scan.close(*block, 2, 0);
        units.closed(PLANE, *block, 2, &scan);
    }
    assert_eq!((units.tally().filled[1], units.waiting_blocks(PLANE, 1)), (2, 1));
    assert_eq!(units.choose(PLANE, &scan), Some(of_class[0]));
    // The second unit, by its middle block; then the others of it, though they are not the emptiest.
    units.removed(PLANE, of_class[4], 2);
    assert_eq!(units.choose(PLANE, &scan), Some(of_class[3]));
    units.removed(PLANE, of_class[3], 2);
    assert_eq!(units.choose(PLANE, &scan), Some(of_class[5]));
    units.removed(PLANE, of_class[5], 2);
    // One of a unit that is not full leaves a gap in it.
    units.removed(PLANE, of_class[6], 2);
    assert_eq!(units.waiting_blocks(PLANE, 1), 0);
    assert_eq!(units.choose(PLANE, &scan), Some(of_class[0]));
    assert_eq!(units.tally().reallocated, 1);
}

#[test]
fn where_only_units_that_are_not_full_have_invalid_pages_there_is_no_victim() {
    let (mut units, mut scan) = (in_units(&VictimPolicy::Greedy), Scan::default());
    let first = SHAPE.blocks as u32 / 2;
    let of_class: Vec<_> = (first..).filter(|block| block % 3 == 1).map(BlockId).take(5).collect();
    for (block, valid) in of_class.iter().zip([PAGES, PAGES, PAGES, 0, 0]) {
        scan.close(*block, valid, 0);
        units.closed(PLANE, *block, valid, &scan);
    }
    assert_eq!(units.choose(PLANE, &scan), None);
    let lost = scan.lose(1);
    units.changed(PLANE, lost.block, lost.valid + 1, lost.valid);
    assert_eq!(units.choose(PLANE, &scan), Some(of_class[0]));
}

#[test]
fn a_unit_is_as_old_as_the_block_of_it_that_was_filled_last() {
    let policy = VictimPolicy::CostBenefit {
        age: Age::SinceSealed,
        weight: AgeWeight::Linear,
        cost: CollectionCost::ValidPages,
    };
    // When the blocks of two units are filled. Of those of the first five pages of seven are valid, of the second three.
    for (filled, chosen) in [([10, 20, 30, 93, 94, 95], 0), ([10, 20, 95, 90, 91, 92], 3)] {
        let (mut units, mut scan) = (in_units(&policy), Scan::default());
        let first = SHAPE.blocks as u32 / 2;
        let of_class = |class: u32| (first..).filter(move |block| block % 3 == class).take(3);
        let blocks: Vec<_> = of_class(1).chain(of_class(2)).map(BlockId).collect();
        let valid = [5, 5, 5, 3, 3, 3];
        let mut in_order: Vec<_> = filled.into_iter().zip(blocks.iter().zip(valid)).collect();
        in_order.sort_unstable();
        for (at, (block, valid)) in in_order {
            scan.now = at;
            scan.close(*block, valid, 0);
            units.closed(PLANE, *block, valid, &scan);
        }
        scan.now = 100;
        // 70 x 2 / 10 against 5 x 4 / 6; then 5 x 2 / 10 against 8 x 4 / 6.
        assert_eq!(units.choose(PLANE, &scan), Some(blocks[chosen]), "{filled:?}");
    }
}
