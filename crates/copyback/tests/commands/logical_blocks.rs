//! Which logical pages make a logical block: where a sequential run goes, and how it is merged. A drive of
//! four dies of one plane, each on a channel of its own, with four logical blocks of four pages each.

use copyback::backend::Merges;

use crate::toy::Toy;

const LOG_BLOCK: (&str, &str) = ("ssd.ftl.mapping", "log_block");
const SUPERBLOCK: (&str, &str) =
    ("ssd.ftl.mapping", "{ type = \"superblock\", data_blocks = 2, update_blocks = 2 }");
const DIES: [(&str, &str); 2] = [("ssd.geometry.channels", "4"), ("ssd.ftl.allocation", "CWDP")];
const ERASE: u64 = 1_500_000;
const WRITE: u64 = 211_000;
const PAGES: u32 = 64;

/// Each kind of logical block, and the planes that a run goes round.
const KINDS: [(&str, u32); 3] =
    [("contiguous", 1), ("{ type = \"superpage\", planes = 2 }", 2), ("striped", 4)];

/// A drive with every page written in order, then these.
fn after(mapping: (&str, &str), kind: &str, rewritten: impl Iterator<Item = u32>) -> Toy {
    let settings = [&DIES[..], &[mapping, ("ssd.ftl.logical_blocks", kind)]].concat();
    let pages: Vec<u32> = (0..PAGES).chain(rewritten).collect();
    Toy::filled(&settings, &pages)
}

/// Free blocks of each plane.
fn free(toy: &Toy) -> Vec<usize> {
    toy.ssd.backend().ftl.space().free_blocks_by_plane().collect()
}

fn assert_work(toy: &Toy, merges: Merges, copies: u64, erases: u64) {
    let counters = toy.ssd.counters();
    assert_eq!(counters.merges, merges);
    assert_eq!((counters.pages_moved, counters.erases), (copies, erases));
}

#[test]
fn a_run_fills_the_update_blocks_of_its_planes_and_each_is_merged_by_a_switch() {
    for (kind, planes) in KINDS {
        let run = 4 * planes;
        let mut toy = after(LOG_BLOCK, kind, 0..run);
        let used: Vec<usize> = (0..4).map(|plane| 4 - usize::from(plane < planes)).collect();
        assert_eq!(free(&toy), used, "{kind}");
        toy.writes(0, &(0..planes).map(|lpn| (lpn, lpn)).collect::<Vec<_>>());
        toy.run();
        for request in 0..planes {
            assert_eq!(toy.ended(request), Some(ERASE + WRITE), "{kind}");
        }
        let switch = planes.into();
        assert_work(&toy, Merges { switch, ..Merges::default() }, 0, switch);
    }
}

#[test]
fn what_follows_a_run_goes_to_the_next_planes() {
    for (kind, planes) in KINDS {
        let run = 4 * planes;
        // One page more: on the plane behind those of the run, if there is one.
        let toy = after(LOG_BLOCK, kind, 0..=run);
        let mut used: Vec<usize> = (0..4).map(|plane| 4 - usize::from(plane < planes)).collect();
        used[(planes % 4) as usize] -= 1;
        assert_eq!(free(&toy), used, "{kind}");
    }
}

#[test]
fn a_request_of_several_pages_takes_as_long_as_its_share_of_a_plane() {
    for (kind, planes) in KINDS {
        let mut toy = after(LOG_BLOCK, kind, 0..0);
        toy.writes(0, &[0, 1, 2, 3].map(|lpn| (lpn, lpn)));
        toy.run();
        let rounds = u64::from(4 / planes);
        let last = (0..4).map(|request| toy.ended(request)).max();
        assert_eq!(last, Some(Some(rounds * WRITE)), "{kind}");
        assert_work(&toy, Merges::default(), 0, 0);
    }
}

/// A superblock has two logical blocks: the planes have four of them in two superblocks.
#[test]
fn a_superblock_has_logical_blocks_that_are_neighbours() {
    for (kind, planes) in KINDS {
        let toy = after(SUPERBLOCK, kind, 0..8 * planes);
        let used: Vec<usize> = (0..4).map(|plane| if plane < planes { 2 } else { 4 }).collect();
        assert_eq!(free(&toy), used, "{kind}");
    }
}
