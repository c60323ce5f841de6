//! Victims of which too little is invalid (`ssd.gc.least_invalid`).

use copyback::config::{Config, Loader};
use copyback::ids::SsdId;
use copyback::precondition::Preconditioner;

use crate::toy::Toy;

/// Overwrites these pages of a full toy, one after the other. Its four full blocks hold the pages 0 to 3, 4 to 7 and so
/// on, three blocks are free, and collections would go on to the sixth. Returns collections and pages moved.
fn overwritten(share: &str, pages: &[u32]) -> (u64, u64) {
    let changes = [("ssd.gc.soft_threshold", "{ blocks = 6 }"), ("ssd.gc.least_invalid", share)];
    let mut toy = Toy::filled(&changes, &(0..16).collect::<Vec<_>>());
    for (write, lpn) in pages.iter().enumerate() {
        toy.write(write as u64 * 100_000_000, write as u32, *lpn);
    }
    toy.run();
    (toy.ssd.counters().collections, toy.ssd.counters().pages_moved)
}

#[test]
fn a_victim_is_refused_until_enough_of_it_is_invalid() {
    assert_eq!(overwritten("0.25", &[0]), (1, 3));
    assert_eq!(overwritten("0.26", &[0]), (0, 0), "a page is less");
    assert_eq!(overwritten("0.5", &[0, 4, 8, 12]), (0, 0), "one of each block");
    assert_eq!(overwritten("0.5", &[0, 4, 8, 12, 5]), (1, 2));
    assert_eq!(overwritten("1.0", &[0, 4, 1, 2]), (0, 0));
    assert_eq!(overwritten("1.0", &[0, 4, 1, 2, 3]), (1, 0));
}

#[test]
fn little_must_do_where_the_host_can_open_no_block() {
    let two_of_each = [0, 4, 8, 12, 1, 5, 9, 13];
    assert_eq!(overwritten("0.75", &two_of_each[..7]), (0, 0));
    // The eighth fills a block, and the host's next one leaves only what a collection needs.
    assert_eq!(overwritten("0.75", &two_of_each), (2, 4), "until another can be opened");
}

/// Uniform writes to a plane that is always below its threshold.
fn always_short(share: f64) -> Config {
    let text = format!(
        r#"
        seed = 1
        [ssd.geometry]
        channels = 1
        chips_per_channel = 1
        dies_per_chip = 1
        planes_per_die = 1
        blocks_per_plane = 256
        pages_per_block = 256
        [ssd.ftl]
        over_provisioning = 0.4
        [ssd.gc]
        soft_threshold = {{ blocks = 200 }}
        least_invalid = {share}
        [precondition]
        fill = 1.0
        overwrites = 6
        "#
    );
    Loader::new().toml(&text, "always-short.toml", None).load().expect("it is valid")
}

/// Each victim has just the share that it must have, so the formula is exact but for blocks that lose more while they are
/// open.
#[test]
fn what_must_be_invalid_says_how_much_is_written_where_collections_never_end() {
    for share in [0.125, 0.25] {
        let config = always_short(share).resolve();
        let pages = config.drive.capacity.logical_pages;
        let mut device = Preconditioner::new(&config, SsdId(0));
        device.advance(pages * 4);
        let before = device.tally().pages_moved;
        device.advance(pages * 3);
        let moved = device.tally().pages_moved - before;
        let found = 1.0 + moved as f64 / (pages * 3) as f64;
        assert!((found * share - 1.0).abs() < 0.01, "{share}: {found}");
    }
}
