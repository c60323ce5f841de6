//! Random drives and arrays whose flash has faults of every kind, many of them to the end of their lives.

use copyback::config::quantity::{Share, Time};
use copyback::config::{
    Config, FlashFaults, FreeBlocks, Idle, InAdvance, LineErase, Margin, Overwrites, ReadsAroundGc,
};
use copyback::workload::Operation;

use crate::check::{equal, holds, responses_add_up, series_agrees, statistics_agree};
use crate::draw::{Case, Draw};
use crate::examine::{INTERRUPT_EVERY, LOOK_EVERY, STATE_EVERY};
use crate::observed::to_look_changes_nothing;
use crate::oracle;
use crate::resumed::interruptions_change_nothing;
use crate::run::{self, Outcome};

/// Gives the flash of `config` faults, so many that a few hundred requests meet some, and in most cases enough
/// blocks and little enough preparation to live until then.
pub fn draw(draw: &mut Draw, mut config: Config) -> Config {
    let mut some =
        |most: f64| Share(if draw.chance(0.6) { most * draw.share().powi(3) } else { 0.0 });
    let faults = FlashFaults {
        factory_bad_blocks: some(0.1),
        program_failures: some(0.05),
        erase_failures: some(0.3),
        read_errors: some(0.5),
        retry_failures: some(1.0),
        ..FlashFaults::default()
    };
    if draw.chance(0.8) {
        let given = &mut config.ssd.ftl.over_provisioning.0;
        *given += (0.9 - *given) * draw.share();
        config.precondition.overwrites = Overwrites::Fixed(0.3 * draw.share());
    }
    config.ssd.endurance.rated_cycles = Some(draw.small_within(1, 200) as u32);
    config.ssd.faults = FlashFaults {
        endurance_spread: draw.chance(0.5).then(|| Share(draw.share() / 2.0)),
        worn_read_errors: draw.chance(0.5).then(|| Share(draw.share())),
        retry_levels: draw.within(0, 5) as u32,
        ..faults
    };
    // By themselves, idle time and reads around collections meet faults too rarely.
    if draw.chance(0.3) {
        config.ssd.gc.zero_cost = false;
        config.ssd.gc.idle = idle(draw);
    }
    if config.array.layout.parities() > 0 {
        config.array.reads_around_gc = ReadsAroundGc::Fixed(true);
    }
    config
}

/// Idle time that is used soon.
fn idle(draw: &mut Draw) -> Idle {
    let (short_idle, long_idle) = (Time::default(), draw.time(1_000, 200_000));
    let margin = FreeBlocks::Blocks { blocks: draw.within(1, 6) as u32 };
    let advance = InAdvance { entries: 16, short_idle, long_idle, margin: Margin::Free(margin) };
    draw.of(&[
        Idle::Advanced(advance),
        Idle::Delayed { short_idle },
        Idle::AdvancedDelayed(advance),
    ])
}

/// Everything that is demanded of one case. Returns what it has met.
pub fn examine(case: &Case) -> Result<Vec<bool>, String> {
    if case.config.array.devices == 1 {
        oracle::drive(case)?;
    }
    let first = match run::run(&case.config, None, 1 << 20) {
        Ok(first) => first,
        Err(problem) if is_dead_before_the_run(&problem) => return Ok(met(None)),
        Err(problem) => return Err(problem),
    };
    check(case, &first)?;
    run::again_is_the_same(case, &first)?;
    if case.number.is_multiple_of(LOOK_EVERY) {
        to_look_changes_nothing(case, &first)?;
    }
    if case.number.is_multiple_of(INTERRUPT_EVERY) {
        interruptions_change_nothing(case, &first)?;
    }
    if case.number.is_multiple_of(STATE_EVERY) {
        run::same("the run from a saved state", &first, &run::from_saved(case)?)?;
    }
    Ok(met(Some(&first)))
}

/// Whether a drive had too few good blocks before anything could be measured.
pub fn is_dead_before_the_run(problem: &str) -> bool {
    problem.starts_with("ssd.faults.factory_bad_blocks: leaves")
        || problem.contains("becomes read-only while it is prepared")
}

pub fn check(case: &Case, outcome: &Outcome) -> Result<(), String> {
    responses_add_up(outcome)?;
    for (class, of) in [("all", &[0, 1][..]), ("read", &[0]), ("write", &[1])] {
        statistics_agree(class, &outcome.responses(of), outcome)?;
    }
    series_agrees(outcome)?;
    every_request_is_done_or_rejected(case, outcome)?;
    let number = |pointer: &str| outcome.number(pointer);
    let failures = number("/faults/program_failures") + number("/faults/erase_failures");
    let striped = u64::from(case.config.resolve().drive.shape.striped_planes);
    let grown = number("/faults/grown_bad_blocks");
    holds("each failure costs a block", grown >= failures * striped)?;
    lost_pages(case, outcome)?;
    if case.config.ssd.gc.copyback {
        return Ok(());
    }
    let replacing = number("/faults/program_failures") * striped + number("/faults/pages_copied");
    let written = number("/flash/host_programs") + number("/mapping/translation_writes");
    let parity = if case.config.ssd.ftl.rain { number("/lines/parity/programs") } else { 0 };
    let programs = written + number("/gc/pages_moved") + replacing + parity;
    equal("programs", &number("/flash/programs"), &programs)
}

/// A page is lost as it is moved, and nothing is read in vain that can be read.
pub fn lost_pages(case: &Case, outcome: &Outcome) -> Result<(), String> {
    let number = |pointer: &str| outcome.number(pointer);
    let lost = number("/faults/pages_lost_in_moves");
    // What the host writes while the page waits in DRAM is never programmed for it, and not counted as moved.
    let staged = number("/gc/moves/cached");
    let moved = number("/gc/pages_moved") + number("/faults/pages_copied") + staged;
    // Moves of a ramp are not measured.
    let is_whole = outcome.summary.pointer("/requests/of_ramp").is_none();
    holds("pages are lost as they are moved", !is_whole || lost <= moved)?;
    let may_fail = case.config.ssd.faults.pages_may_be_lost();
    let is_well = lost + number("/faults/failed_reads") == 0;
    holds("no read fails where none can", may_fail || is_well)?;
    let is_seen = !case.config.ssd.gc.copyback;
    let are_right = number("/faults/uncorrectable_reads") == 0;
    let is_whole = case.config.ssd.faults.lost_die.is_none()
        || case.config.ssd.gc.line_erase == LineErase::Together;
    holds("what can be read is not lost", !are_right || !is_seen || !is_whole || is_well)
}

fn every_request_is_done_or_rejected(case: &Case, outcome: &Outcome) -> Result<(), String> {
    for (operation, rejected) in [
        (Operation::Read, None),
        (Operation::Write, Some("/faults/rejected_writes")),
        (Operation::Trim, Some("/faults/rejected_trims")),
        (Operation::Flush, Some("/faults/rejected_flushes")),
    ] {
        let all = case.flows.iter().flat_map(|flow| &flow.requests);
        let expected = all.filter(|request| request.operation == operation).count() as u64;
        let rows = outcome.requests.operation.iter();
        let done = rows.filter(|found| **found == operation as u8).count() as u64;
        let rejected = rejected.map_or(0, |pointer| outcome.number(pointer));
        equal(&format!("{operation:?} done or rejected"), &(done + rejected), &expected)?;
        let is_read_only = !outcome.summary["faults"]["read_only_since_s"].is_null();
        holds("only a drive that is read-only rejects", rejected == 0 || is_read_only)?;
    }
    Ok(())
}

/// What there is to meet, and the share of cases that must.
const SIGHTS: [(&str, f64); 16] = [
    ("drives that die before the run", 0.05),
    ("factory bad blocks", 0.1),
    ("failed programs", 0.05),
    ("pages copied to spare blocks", 0.04),
    ("failed erases", 0.02),
    ("reads that are retried", 0.1),
    ("uncorrectable reads", 0.03),
    ("pages lost in moves", 0.02),
    ("reads of the host in vain", 0.02),
    ("reads of drives that arrays made up", 0.005),
    ("reads of drives that they could not make up", 0.005),
    ("drives that become read-only", 0.02),
    ("rejected writes", 0.02),
    ("collections in idle time", 0.01),
    ("reads around collections", 0.002),
    ("arrays with a drive that is read-only", 0.005),
];

fn met(outcome: Option<&Outcome>) -> Vec<bool> {
    let Some(outcome) = outcome else {
        return (0..SIGHTS.len()).map(|sight| sight == 0).collect();
    };
    let many = |key: &str| outcome.number(&format!("/faults/{key}")) > 0;
    let number =
        |pointer: &str| outcome.summary.pointer(pointer).and_then(|n| n.as_u64()) > Some(0);
    let is_read_only = !outcome.summary["faults"]["read_only_since_s"].is_null();
    let retries = outcome.summary["faults"]["read_retries"].as_array();
    vec![
        false,
        many("factory_bad_blocks"),
        many("program_failures"),
        many("pages_copied"),
        many("erase_failures"),
        retries.is_some_and(|levels| !levels.is_empty()),
        many("uncorrectable_reads"),
        many("pages_lost_in_moves"),
        many("failed_reads"),
        number("/array/repairs/made_up"),
        number("/array/repairs/lost"),
        is_read_only,
        many("rejected_writes"),
        number("/gc/idle"),
        number("/array/reads_around_gc"),
        outcome.summary["devices"].is_array() && is_read_only,
    ]
}

/// Prints the share of cases that have met each sight; demands it of a `whole` swarm.
pub fn coverage(met: &[Vec<bool>], whole: bool) {
    for (sight, (name, least)) in SIGHTS.iter().enumerate() {
        let share = met.iter().filter(|met| met[sight]).count() as f64 / met.len() as f64;
        println!("{:5.1}% {name}", 100.0 * share);
        assert!(!whole || share >= *least, "only {:.1}% have met {name}", 100.0 * share);
    }
}
