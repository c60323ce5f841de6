//! Uniform writes are the control of placements: there is nothing to learn, so none may gain.

use super::support::{config, untimed_amplification};

const BLOCKS: f64 = 400.0;
const PAGES_PER_BLOCK: f64 = 32.0;
/// Of the pages of these blocks.
const SPARE: f64 = 0.15;
/// Writes in multiples of the logical capacity: before, and while, amplification is measured.
const WARM: u64 = 5;
const MEASURED: u64 = 8;

/// Amplification of uniform writes with this victim and placement, whose open blocks take so many blocks out of the
/// drive. Without these, all drives have as much spare.
fn amplification(placement: &str, taken: f64, victim: &str) -> f64 {
    let blocks = (BLOCKS + taken).ceil();
    let over_provisioning = 1.0 - (1.0 - SPARE) * BLOCKS / blocks;
    let config = config(&format!(
        r#"
        seed = 1
        [ssd.geometry]
        channels = 1
        chips_per_channel = 1
        dies_per_chip = 1
        planes_per_die = 1
        blocks_per_plane = {blocks}
        pages_per_block = {PAGES_PER_BLOCK}
        [ssd.ftl]
        over_provisioning = {over_provisioning}
        placement = {placement}
        [ssd.gc]
        victim = {victim}
        soft_threshold = {{ blocks = 2 }}
        [precondition]
        fill = 1.0
        overwrites = {overwrites}
        "#,
        overwrites = WARM + MEASURED,
    ));
    untimed_amplification(&config, WARM, MEASURED)
}

/// A placement, and the blocks that its open ones take: half of one that is being filled is not written yet.
const PLACEMENTS: [(&str, f64); 11] = [
    (r#""host_and_gc_apart""#, 1.0),
    (r#""sepbit""#, 3.0),
    (r#""dac""#, 3.0),
    // Counts of pages that are written alike reach few classes; the others open no block.
    (r#""fadac""#, 2.0),
    (r#"{ type = "fadac", average = "mean" }"#, 2.0),
    (r#""eti""#, 1.5),
    (r#""auto_stream_multi_queue""#, 3.0),
    // All chunks are soon in the hottest class, and stay there. The blocks of the four below, which they have climbed
    // through, stay open, hold what is long invalid, and are lost as a whole.
    (r#""auto_stream_sfr""#, 5.0),
    (r#""warcip""#, 3.0),
    (r#""sfs""#, 3.0),
    // Nearly all pages are soon in the coldest log. The open blocks of the others hold what is long invalid.
    (r#""multi_log""#, 5.0),
];

#[test]
fn nothing_gains_under_uniform_writes() {
    let mut wrong = Vec::new();
    for victim in [r#""greedy""#, r#""cost_benefit""#] {
        let one_class = amplification(r#""one_class""#, 0.5, victim);
        for (placement, taken) in PLACEMENTS {
            let change = amplification(placement, taken, victim) / one_class - 1.0;
            println!("{placement} {victim}: {:+.2}% of {one_class:.3}", change * 100.0);
            if !(-0.01..=0.01).contains(&change) {
                wrong.push(format!("{placement} with {victim}: {:+.2}%", change * 100.0));
            }
        }
    }
    assert!(wrong.is_empty(), "against one class: {wrong:#?}");
}
