//! Victims of a placement that says which group of classes they come from.

use copyback::config::VictimPolicy;
use copyback::ftl::{Ftl, Occasion};
use copyback::ids::{BlockId, Lpn, PlaneId};
use copyback::placement::{FullBlocks, HostPage, Order, Wanted};
use copyback::rng::stream;
use copyback::victim::{InGroups, VictimSelector, Victims};

use crate::scan::{Closed, PAGES, PLANE, SHAPE, Scan, class, follow_selector};
use crate::toy;

/// Classes 0 and 2 are one group, class 1 is the other.
const GROUPS: [usize; 3] = [0, 1, 0];

fn in_groups(policy: &VictimPolicy) -> InGroups {
    InGroups::new(GROUPS.to_vec(), SHAPE, |group| {
        VictimSelector::new(policy, SHAPE, stream(2, &format!("victims/{group}")))
    })
}

fn group(closed: &Closed) -> usize {
    GROUPS[class(closed.block)]
}

#[test]
fn without_a_wish_the_policy_chooses_in_the_group_with_most_invalid_pages() {
    let new = || VictimSelector::InGroups(Box::new(in_groups(&VictimPolicy::Greedy)));
    follow_selector(new(), Some(&new), |scan, chosen| {
        let invalid = |of: usize| {
            let closed = scan.closed.iter().filter(|closed| group(closed) == of);
            closed.map(|closed| u64::from(PAGES - closed.valid)).sum::<u64>()
        };
        let emptiest = usize::from(invalid(1) > invalid(0));
        let found = chosen.and_then(|block| scan.closed.iter().find(|c| c.block == block));
        let fewest = scan.with_invalid().filter(|closed| group(closed) == emptiest);
        let fewest = fewest.min_by_key(|closed| (closed.valid, closed.changed_at));
        found.map(|closed| closed.block) == fewest.map(|closed| closed.block)
    });
}

#[test]
fn every_policy_is_made_again_group_by_group() {
    for policy in [VictimPolicy::COST_BENEFIT, VictimPolicy::FIFO, VictimPolicy::RandomPlus] {
        let new = || VictimSelector::InGroups(Box::new(in_groups(&policy)));
        follow_selector(new(), Some(&new), |_, chosen| chosen.is_some());
    }
}

/// Blocks that are closed in turn, with so many valid pages.
fn closed(blocks: &[(u32, u16)]) -> (InGroups, Scan) {
    let (mut groups, mut scan) = (in_groups(&VictimPolicy::Greedy), Scan::default());
    for (block, valid) in blocks {
        scan.close(BlockId(*block), *valid, 0);
        groups.closed(PLANE, BlockId(*block), *valid, &scan);
    }
    (groups, scan)
}

#[test]
fn a_group_loses_its_oldest_block_or_what_the_policy_takes_of_it() {
    let first = SHAPE.blocks as u32 / 2;
    let in_second = |from: u32| (from..).filter(|block| block % 3 == 1);
    let second: Vec<u32> = in_second(first).take(2).collect();
    let other = (first..).find(|block| block % 3 == 0).expect("there are many");
    let (mut groups, scan) = closed(&[(second[0], PAGES), (second[1], 1), (other, 0)]);
    let valid = u64::from(PAGES) + 1;
    let full = [(1, 0), (2, valid), (0, 0)]
        .map(|(blocks, valid_pages)| FullBlocks { blocks, valid_pages });
    assert_eq!(groups.full_blocks(PLANE), full);
    let mut choose = |group, order| {
        let chosen = groups.choose_wanted(PLANE, Wanted { group, order }, &scan);
        chosen.map(|block| block.0)
    };
    assert_eq!(choose(1, Order::OldestFirst), Some(second[0]), "whatever is in it");
    assert_eq!(choose(1, Order::AsPolicySays), Some(second[1]));
    assert_eq!(choose(0, Order::OldestFirst), Some(other));
}

#[test]
fn where_there_is_no_such_block_the_policy_chooses_in_the_emptiest_group() {
    let first = SHAPE.blocks as u32 / 2;
    let second = (first..).find(|block| block % 3 == 1).expect("there are many");
    let (mut groups, scan) = closed(&[(second, 1)]);
    for order in [Order::OldestFirst, Order::AsPolicySays] {
        let chosen = groups.choose_wanted(PLANE, Wanted { group: 0, order }, &scan);
        assert_eq!(chosen, Some(BlockId(second)));
    }
}

/// A drive of one plane that is written and collected by hand.
struct Chain {
    ftl: Ftl,
    writes: u64,
}

impl Chain {
    /// Twelve blocks of four pages, 16 of them for the host; the first two generations hold a block each.
    fn new() -> Self {
        let config = toy::config(&[
            ("ssd.geometry.blocks_per_plane", "12"),
            ("ssd.ftl.over_provisioning", "0.666"),
            (
                "ssd.ftl.placement",
                r#"{ type = "generations", sizes = [{ blocks = 1 }, { blocks = 1 }] }"#,
            ),
        ]);
        Self { ftl: Ftl::new(&config.resolve(), "ssd"), writes: 0 }
    }

    fn write(&mut self, pages: impl IntoIterator<Item = u32>) {
        for page in pages {
            self.writes += 1;
            self.ftl.write(PlaneId(0), HostPage::without_hint(Lpn(page)), self.writes);
        }
    }

    /// The block that a page lies in.
    fn block_of(&self, page: u32) -> Option<BlockId> {
        self.ftl.lookup(Lpn(page)).map(|page| self.ftl.geometry().block_of(page))
    }

    /// Collects a block, and returns the pages that were in it.
    fn collect(&mut self) -> Vec<u32> {
        let victim = self.ftl.choose_victim(Occasion::Demand(PlaneId(0))).expect("there is one");
        self.ftl.begin_reclaim(victim);
        let mut moved = Vec::new();
        while let Some(page) = self.ftl.next_valid(victim, 0) {
            moved.push(self.ftl.logical(page).0);
            self.ftl.relocate(page);
        }
        self.ftl.erase(victim);
        self.ftl.end_reclaim(PlaneId(0));
        assert_eq!(
            self.ftl
                .check()
                .err()
                .as_deref()
                .or(self.ftl.audit().and_then(|audit| audit.violation())),
            None
        );
        moved
    }

    /// Blocks of each generation that have been filled.
    fn filled(&self) -> Vec<u64> {
        self.ftl.streams().tally().classes().iter().map(|class| class.filled).collect()
    }
}

#[test]
fn generations_are_collected_oldest_first_as_far_as_they_are_too_large() {
    let mut chain = Chain::new();
    chain.write(0..16);
    assert_eq!(chain.ftl.choose_victim(Occasion::Demand(PlaneId(0))), None, "nothing is invalid");
    chain.write([0, 1, 2, 5, 9]);
    // Five blocks of the first generation, which may hold one: the oldest goes, then the next, whatever is in them.
    assert_eq!([chain.collect(), chain.collect()], [vec![3], vec![4, 6, 7]]);
    assert_eq!(chain.filled(), [5, 1, 0], "3, 4, 6 and 7 fill a block of the second");
    assert_eq!(chain.collect(), [8, 10, 11]);
    chain.write([13]);
    assert_eq!(chain.collect(), [12, 14, 15]);
    // The first has 0, 1, 2 and 5 left. The second has 8, 10, 11 and 12 beside the first four, a block too many.
    assert_eq!(chain.filled(), [5, 2, 0]);
    chain.write([8]);
    assert_eq!(chain.collect(), [3, 4, 6, 7]);
    assert_eq!(chain.filled(), [5, 2, 1]);
    // None is too large, and nothing of the last is invalid: greedy takes what is emptiest elsewhere.
    assert_eq!(chain.collect(), [10, 11, 12]);
    chain.write([3, 4, 0]);
    // 9, 13, 8 and 3 fill the next block of the host: the first generation is too large again.
    assert_eq!(chain.collect(), [1, 2, 5]);
    assert_eq!(chain.filled(), [6, 3, 1]);
    assert_eq!(chain.block_of(1), chain.block_of(15), "what has been moved once is together");
    // Now the last has a block to give.
    assert_eq!(chain.collect(), [6, 7]);
}
