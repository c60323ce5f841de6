//! Order in which the pages of a victim are moved (`ssd.gc.move_order`).

use copyback::ids::Lpn;

use crate::toy::Toy;

const BY_LUN: (&str, &str) = ("ssd.gc.move_order", "{ type = \"by_lun\", luns = 2 }");

/// Overwrites page 0 of a full toy, so that its block, which holds the pages 0 to 3 in turn, is collected. Returns the pages
/// that were moved, in the order in which they lie.
fn moved(changes: &[(&str, &str)]) -> Vec<u32> {
    let mut set =
        vec![("ssd.gc.soft_threshold", "{ blocks = 6 }"), ("ssd.gc.least_invalid", "0.25")];
    set.extend(changes);
    let mut toy = Toy::filled(&set, &(0..16).collect::<Vec<_>>());
    toy.write(0, 0, 0);
    toy.run();
    assert_eq!(toy.ssd.counters().pages_moved, 3);
    let ftl = &toy.ssd.backend().ftl;
    let mut pages = vec![1, 2, 3];
    pages.sort_by_key(|lpn| ftl.lookup(Lpn(*lpn)).expect("it has been written"));
    pages
}

#[test]
fn pages_are_moved_as_they_were_written() {
    assert_eq!(moved(&[]), [1, 2, 3]);
}

#[test]
fn pages_of_a_lun_are_moved_together() {
    assert_eq!(moved(&[BY_LUN]), [2, 1, 3], "the first LUN has the pages 0 and 2");
}

#[test]
fn the_order_is_the_same_however_pages_are_moved() {
    for how in [
        &[("ssd.gc.copyback", "false")][..],
        &[("ssd.gc.preemption", "\"semi_preemptive\"")],
        &[("ssd.gc.copyback", "false"), ("ssd.gc.preemption", "\"semi_preemptive\"")],
        &[("ssd.gc.zero_cost", "true")],
        &[("ssd.geometry.planes_per_die", "1"), ("ssd.gc.width", "\"serial\"")],
    ] {
        assert_eq!(moved(&[how, &[BY_LUN]].concat()), [2, 1, 3], "{how:?}");
    }
}
