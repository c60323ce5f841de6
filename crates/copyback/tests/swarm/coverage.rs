//! What the runs have met: a swarm in which nothing happens proves nothing.

use copyback::config::{Config, Preemption};
use copyback::ssd::Part;

use crate::run::Outcome;
use crate::{measured, newer};

/// Whether a run has met each of [`SIGHTS`].
pub type Met = Vec<bool>;

/// What there is to meet, and the share of runs that must.
const SIGHTS: &[(&str, f64)] = &[
    ("collections", 0.3),
    ("pages moved", 0.3),
    ("levelling runs", 0.05),
    ("multi-plane reads", 0.05),
    ("multi-plane programs", 0.05),
    ("reads over the channel by collections", 0.05),
    ("trimmed pages", 0.1),
    ("flushes", 0.1),
    ("unmapped reads", 0.05),
    ("waits behind the same plane's collection", 0.05),
    ("waits behind another plane's collection", 0.05),
    ("late requests", 0.05),
    ("waits for a bus", 0.2),
    ("waits in the buffer", 0.1),
    ("waits for the device queue", 0.1),
    ("collections that yield", 0.05),
    ("collections that yield after some steps", 0.02),
    ("reads from the register of a collection", 0.005),
    ("writes in place of the page in the register", 0.000_5),
    ("collections overlapping the host", 0.02),
    ("writes that wait for a free block", 0.05),
    ("planes that join a collection", 0.04),
    ("pages moved together", 0.02),
    ("pages moved in pairs", 0.01),
    ("surplus pages moved alone", 0.01),
    ("surplus pages in DRAM", 0.005),
    ("suspended programs and erases", 0.05),
    ("switch merges", 0.01),
    ("partial merges", 0.03),
    ("full merges", 0.05),
    ("compactions of superblocks", 0.04),
    ("writes to a buffer", 0.03),
    ("merges out of a buffer", 0.03),
    ("erases of a buffer's blocks", 0.01),
    ("writes that find a buffer full", 0.005),
    ("collections looked ahead to", 0.000_2),
    ("collections in long idle periods", 0.001),
    ("collections that were put off", 0.03),
    ("collections that were caught up", 0.001),
    ("mappings found in RAM", 0.05),
    ("translation pages read", 0.03),
    ("translation pages written", 0.03),
    ("changed mappings evicted", 0.03),
    ("waits for a mapping", 0.03),
    ("requests beyond a bound", 0.2),
    ("short idle periods", 0.04),
    ("idle periods with a collection", 0.01),
    ("merges looked ahead to", 0.000_2),
    ("merges in long idle periods", 0.000_2),
    ("merges that were caught up", 0.001),
    ("runs that a rule ends", 0.02),
    ("overwrites until they are steady", 0.02),
    ("writes that waited for steps", 0.02),
    ("lines collected", 0.01),
    // A run in two hundred, and of 20,000 hardly fewer.
    ("lines collected that have parity", 0.004),
    ("reclaim units of several blocks moved", 0.002),
    ("blocks of an SLC cache refreshed", 0.001),
];

/// What a run has met.
pub fn met(config: &Config, outcome: &Outcome, stopped: bool) -> Met {
    let many = |pointer: &str| outcome.number(pointer) > 0;
    let waits = |part: Part| outcome.requests.parts_ns[part as usize].iter().any(|ns| *ns > 0);
    let carried = many("/gc/pages_moved") && outcome.number("/flash/copybacks") == 0;
    let kinds = ["switch_merges", "partial_merges", "full_merges", "compactions"];
    let merges = kinds.iter().any(|kind| many(&format!("/mapping/{kind}")));
    vec![
        many("/gc/collections"),
        many("/gc/pages_moved"),
        many("/wear/levelling_runs"),
        many("/flash/multi_plane_reads"),
        many("/flash/multi_plane_programs"),
        carried,
        many("/requests/trimmed_pages"),
        many("/requests/flushes"),
        many("/requests/unmapped_page_reads"),
        waits(Part::GcSamePlane),
        waits(Part::GcOtherPlane),
        waits(Part::Late),
        waits(Part::Bus),
        waits(Part::Buffer),
        waits(Part::HostQueue),
        many("/gc/preemptions"),
        many("/gc/preemptions") && matches!(config.ssd.gc.preemption, Preemption::Partial { .. }),
        many("/gc/merged_reads"),
        many("/gc/merged_writes"),
        many("/gc/pipelined"),
        outcome.float("/gc/stalled_us").is_some_and(|stalled| stalled > 0.0),
        many("/gc/joined"),
        many("/gc/moves/together"),
        many("/gc/moves/paired"),
        many("/gc/moves/single_other"),
        many("/gc/moves/cached"),
        many("/gc/suspends"),
        many("/mapping/switch_merges"),
        many("/mapping/partial_merges"),
        many("/mapping/full_merges"),
        many("/mapping/compactions"),
        many("/mapping/nv_buffer/writes"),
        many("/mapping/nv_buffer/merges"),
        many("/mapping/nv_buffer/erases"),
        many("/mapping/nv_buffer/full"),
        many("/gc/kinds/look_ahead"),
        many("/gc/kinds/compaction"),
        many("/gc/kinds/put_off"),
        many("/gc/kinds/delayed"),
        many("/mapping/hits"),
        many("/mapping/translation_reads"),
        many("/mapping/translation_writes"),
        many("/mapping/dirty_evictions"),
        waits(Part::Translation),
        measured::exceeds_bound(outcome),
        measured::idles(outcome, "short"),
        measured::collects_when_idle(outcome),
        merges && many("/gc/kinds/look_ahead"),
        merges && many("/gc/kinds/compaction"),
        merges && many("/gc/kinds/delayed"),
        stopped,
        outcome.summary.pointer("/precondition/devices/0/reached") == Some(&true.into()),
        throttles(outcome),
        counts(outcome, "/lines/collected"),
        counts(outcome, "/lines/collected") && counts(outcome, "/lines/parity/programs"),
        config.resolve().drive.unit.together > 1 && many("/placement/fdp/events/media_reallocated"),
        newer::folds_for_the_sake_of_data_alone(&config.ssd)
            && counts(outcome, "/slc_cache/folded_bytes"),
    ]
}

fn shares(met: &[Met]) -> impl Iterator<Item = (&'static str, f64, f64)> {
    SIGHTS.iter().enumerate().map(|(sight, (name, least))| {
        let runs = met.iter().filter(|met| met[sight]).count();
        (*name, runs as f64 / met.len() as f64, *least)
    })
}

/// Prints the share of runs that have met each sight.
pub fn print(met: &[Met]) {
    for (name, share, _) in shares(met) {
        println!("{:6.2}% {name}", 100.0 * share);
    }
}

/// Checks that enough runs have met each sight.
pub fn check(met: &[Met]) {
    for (name, share, least) in shares(met) {
        assert!(share >= least, "only {:.1}% of the runs have met {name}", 100.0 * share);
    }
}

/// Whether writes have waited for steps of collections that they were charged.
pub fn throttles(outcome: &Outcome) -> bool {
    counts(outcome, "/gc/pacing/throttled")
}

/// Whether a number that not every summary has is there, and not 0.
fn counts(outcome: &Outcome, pointer: &str) -> bool {
    let count = outcome.summary.pointer(pointer).and_then(|count| count.as_u64());
    count.is_some_and(|count| count > 0)
}
