//! Uniform writes to lines over all dies cost what they cost on one plane whose blocks are the lines.

use super::support::{config, untimed_amplification};

/// Writes in multiples of the logical capacity: before, and while, amplification is measured.
const WARM: u64 = 5;
const MEASURED: u64 = 5;
const BLOCKS: u32 = 256;

/// Amplification of uniform writes to so many planes, whose blocks of one index have so many pages together.
fn amplification((planes, unit): (u32, &str), pages: u32, placement: &str, victim: &str) -> f64 {
    let config = config(&format!(
        r#"
        seed = 3
        [ssd.geometry]
        channels = {dies}
        chips_per_channel = 1
        dies_per_chip = 1
        planes_per_die = {planes_per_die}
        blocks_per_plane = {BLOCKS}
        pages_per_block = {pages}
        [ssd.ftl]
        over_provisioning = 0.15
        allocation = "dynamic"
        placement = "{placement}"
        [ssd.gc]
        unit = "{unit}"
        victim = "{victim}"
        soft_threshold = {{ blocks = 3 }}
        [precondition]
        fill = 1.0
        overwrites = {overwrites}
        "#,
        dies = planes.div_ceil(2),
        planes_per_die = planes.min(2),
        pages = pages / planes,
        overwrites = WARM + MEASURED,
    ));
    untimed_amplification(&config, WARM, MEASURED)
}

/// By how much lines over eight planes cost more than one plane.
fn excess(pages: u32, placement: &str, victim: &str) -> f64 {
    let one_plane = amplification((1, "block"), pages, placement, victim);
    let lines = amplification((8, "line"), pages, placement, victim);
    println!("{placement} {victim}, {pages} pages: one plane {one_plane:.3}, lines {lines:.3}");
    lines / one_plane - 1.0
}

#[test]
fn uniform_writes_to_lines_cost_what_one_plane_of_as_large_blocks_costs() {
    for victim in ["greedy", "fifo", "cost_benefit"] {
        let excess = excess(256, "one_class", victim);
        assert!((-0.005..0.02).contains(&excess), "{victim}: {excess}");
    }
}

/// Planes get as many pages of the host, but not as many moved ones: of a class that takes these alone, lines are begun on
/// some planes that others have not begun. They are few blocks where blocks are large.
#[test]
fn lines_that_take_moved_pages_alone_are_filled_unevenly() {
    let small = excess(256, "host_and_gc_apart", "greedy");
    assert!((0.03..0.12).contains(&small), "blocks of 32 pages: {small}");
    let large = excess(2048, "host_and_gc_apart", "greedy");
    assert!((0.0..0.03).contains(&large), "blocks of 256 pages: {large}");
}
