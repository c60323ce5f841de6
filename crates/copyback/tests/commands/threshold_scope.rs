//! Thresholds that planes, dies or the whole drive are counted against.

use copyback::ids::PlaneId;

use crate::toy::Toy;

/// Two dies: even pages go to the first, odd ones to the second.
const TWO_DIES: [(&str, &str); 4] = [
    ("ssd.geometry.dies_per_chip", "2"),
    ("ssd.ftl.allocation", "DPCW"),
    ("ssd.ftl.over_provisioning", "0.625"),
    ("ssd.gc.soft_threshold", "{ blocks = 3 }"),
];

/// The second die has five free blocks, two more than its share. The first has two, one less than that, unless it has been
/// collected while it was filled.
fn uneven(scope: &str) -> Toy {
    let even = (0..22).map(|write| write % 12 * 2);
    let odd = (0..9).map(|write| write * 2 + 1);
    let mut changes = TWO_DIES.to_vec();
    changes.push(("ssd.gc.threshold_scope", scope));
    Toy::filled(&changes, &even.chain(odd).collect::<Vec<_>>())
}

fn free(toy: &Toy, plane: u32) -> usize {
    toy.ssd.backend().ftl.space().free_blocks(PlaneId(plane))
}

/// Writes so many pages to the second die, and runs until all is done. Returns collections and free blocks.
fn after_writes(mut toy: Toy, pages: u32) -> (u64, [usize; 2]) {
    for write in 0..pages {
        toy.write(u64::from(write) * 10_000_000, write, write % 9 * 2 + 1);
    }
    toy.run();
    (toy.ssd.counters().collections, [0, 1].map(|plane| free(&toy, plane)))
}

#[test]
fn a_plane_that_counts_for_itself_is_collected_though_the_drive_has_space() {
    let free_in = |scope| [0, 1].map(|plane| free(&uneven(scope), plane));
    assert_eq!(["plane", "die", "drive"].map(free_in), [[3, 5], [3, 5], [2, 5]]);
}

#[test]
fn a_drive_that_has_space_leaves_a_plane_below_its_share_alone() {
    // Seven blocks are free, then six, which is enough.
    assert_eq!(after_writes(uneven("drive"), 4), (0, [2, 4]));
}

#[test]
fn a_drive_that_runs_short_collects_the_plane_below_its_share_whichever_was_written() {
    let (collections, free) = after_writes(uneven("drive"), 8);
    assert_eq!((collections, free), (1, [3, 3]), "one block is enough");
}

#[test]
fn a_plane_on_which_the_host_can_open_no_block_is_collected_though_the_drive_has_space() {
    let mut toy = uneven("drive");
    for write in 0..8 {
        toy.write(u64::from(write) * 10_000_000, write, write * 2);
    }
    toy.run();
    assert!(toy.ssd.counters().collections > 0);
    assert!(free(&toy, 0) >= 1 && free(&toy, 1) == 5);
}

/// Collections after so many writes to eight blocks of four pages, of which `free` must be free.
fn collections_after(writes: u32, free: u32, unit: &str, scope: &str) -> u64 {
    let mut toy = Toy::new(&[
        ("ssd.gc.soft_threshold", &format!("{{ blocks = {free} }}")),
        ("ssd.ftl.over_provisioning", "0.6"),
        ("ssd.gc.threshold_unit", unit),
        ("ssd.gc.threshold_scope", scope),
    ]);
    for write in 0..writes {
        toy.write(u64::from(write) * 10_000_000, write, write % 8);
    }
    toy.run();
    toy.ssd.counters().collections
}

#[test]
fn a_block_that_is_open_is_not_free_and_its_unwritten_pages_are() {
    // The sixth block is opened when the fifth is full, which leaves two.
    let of_blocks = |writes| collections_after(writes, 3, "free_blocks", "plane");
    assert_eq!([19, 20].map(of_blocks), [0, 1]);
    for scope in ["plane", "drive"] {
        let of_pages = |writes| collections_after(writes, 3, "free_pages", scope);
        assert_eq!([20, 21].map(of_pages), [0, 1], "{scope}");
    }
}

#[test]
fn a_plane_on_which_the_host_can_open_no_block_is_collected_whatever_pages_are_free() {
    // The seventh block is opened when the sixth is full: the last is kept for collections.
    for scope in ["plane", "drive"] {
        let of_pages = |writes| collections_after(writes, 2, "free_pages", scope);
        assert_eq!([23, 24].map(of_pages), [0, 1], "{scope}");
    }
}
