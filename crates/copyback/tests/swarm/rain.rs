//! Drives whose lines have parity.

use copyback::config::quantity::Share;
use copyback::config::quantity::{Rate, Time};
use copyback::config::resolved::Drive;
use copyback::config::{Config, FlashFaults, LineErase, Loader, LostDie, Mapping, Placement};

use crate::draw::{Case, Draw};
use crate::examine::{INTERRUPT_EVERY, LOOK_EVERY, RAMP_EVERY, STATE_EVERY};
use crate::run::Outcome;
use crate::{check, faults, observed, oracle, ramped, resumed, run};

/// Cases of drives with lines, which most have parity, and reads that cannot be corrected.
pub const NAME: &str = "swarm/lines";

/// Leaves out what does not go with lines.
pub fn leave_out(config: &mut Config) {
    let ssd = &mut config.ssd;
    ssd.ftl.mapping = Mapping::Page;
    ssd.ftl.mapping_unit = None;
    ssd.slc_cache = Default::default();
    ssd.power = Default::default();
    if ssd.ftl.placement.chooses_victims() {
        ssd.ftl.placement = Placement::OneClass;
    }
    let shape = &mut ssd.geometry;
    if shape.channels * shape.chips_per_channel * shape.dies_per_chip < 3 {
        shape.channels = 3;
    }
}

/// Gives lines parity, if there are any and dies enough, on a drive with as many logical pages that has more blocks for it.
pub fn draw(config: &mut Config, number: u64, name: &str) {
    let mut draw = Draw::new(number, &format!("{name}/rain"));
    let ssd = &mut config.ssd;
    ssd.gc.rotating = ssd.gc.has_lines() && draw.chance(0.5);
    let shape = &ssd.geometry;
    let dies = shape.channels * shape.chips_per_channel * shape.dies_per_chip;
    let is_possible = ssd.gc.has_lines() && dies >= 3 && Drive::of(ssd).unit.together == 1;
    if !is_possible || ssd.ftl.mapping_unit.is_some() || draw.chance(0.3) {
        return;
    }
    ssd.ftl.rain = true;
    ssd.ftl.reads_around_gc = draw.chance(0.6);
    if name == NAME && draw.chance(0.5) {
        let (read_errors, retry_failures) = (Share(0.3 * draw.share()), Share(draw.share()));
        let retry_levels = draw.within(0, 3) as u32;
        ssd.faults =
            FlashFaults { read_errors, retry_failures, retry_levels, ..FlashFaults::default() };
        // By themselves, few collections look at what they move.
        if draw.chance(0.7) {
            (ssd.gc.copyback, ssd.gc.zero_cost) = (false, false);
        }
    }
    let before = f64::from(ssd.geometry.blocks_per_plane);
    let with_parity = (ssd.geometry.blocks_per_plane * dies).div_ceil(dies - 1);
    ssd.geometry.blocks_per_plane = with_parity + ssd.ftl.placement.classes();
    let logical = (1.0 - ssd.ftl.over_provisioning.0) * before;
    ssd.ftl.over_provisioning = Share(1.0 - logical / f64::from(ssd.geometry.blocks_per_plane));
    lose_a_die(config, number, name);
}

/// Lets a drive with parity lose a die, on a drive with as many logical pages that has more blocks for it; and erases lines as
/// a whole.
fn lose_a_die(config: &mut Config, number: u64, name: &str) {
    let mut draw = Draw::new(number, &format!("{name}/lost_die"));
    let ssd = &mut config.ssd;
    ssd.gc.line_erase = draw.of(&[LineErase::AsMoved, LineErase::AsMoved, LineErase::Together]);
    let shape = &mut ssd.geometry;
    let dies = shape.channels * shape.chips_per_channel * shape.dies_per_chip;
    if name != NAME || dies < 4 || ssd.gc.zero_cost || config.array.devices > 1 {
        return;
    }
    ssd.faults.lost_die = Some(LostDie {
        die: draw.within(0, u64::from(dies) - 1) as u32,
        at: Time::from_us(draw.of(&[0, 300, 3_000, 30_000, 300_000])),
        rebuild_rate: draw.of(&[Rate::None, Rate::None, Rate::BytesPerSecond(2_000_000)]),
        rebuild_pages: draw.of(&[1, 4, 8, 64]),
    });
    let before = f64::from(shape.blocks_per_plane);
    let with_loss = (shape.blocks_per_plane * (dies - 1)).div_ceil(dies - 2);
    shape.blocks_per_plane = with_loss + ssd.ftl.placement.classes() + 2;
    let logical = (1.0 - ssd.ftl.over_provisioning.0) * before;
    ssd.ftl.over_provisioning = Share(1.0 - logical / f64::from(shape.blocks_per_plane));
    if draw.chance(0.4) {
        leave_little_spare(config);
    }
}

/// Gives the drive as many logical pages as it may have.
fn leave_little_spare(config: &mut Config) {
    let with = |ten_thousandths: u32| {
        let mut config = config.clone();
        config.ssd.ftl.over_provisioning = Share(f64::from(ten_thousandths) / 10_000.0);
        config
    };
    let is_allowed =
        |config: &Config| Loader::new().toml(&config.to_toml(), "swarm.toml", None).load().is_ok();
    let (mut low, mut high) = (0, (config.ssd.ftl.over_provisioning.0 * 10_000.0) as u32);
    while low < high {
        let middle = low.midpoint(high);
        if is_allowed(&with(middle)) { high = middle } else { low = middle + 1 }
    }
    *config = with(high);
}

/// What there is to meet, and the share of cases that must.
const SIGHTS: [(&str, f64); 13] = [
    ("lines collected", 0.1),
    ("lines collected that have parity", 0.05),
    ("dies that take turns", 0.03),
    ("reads around the collection of a line", 0.005),
    ("reads made up as they cannot be corrected", 0.05),
    ("reads lost though there is parity", 0.01),
    ("moves made up as they cannot be corrected", 0.005),
    ("pages lost in moves though there is parity", 0.005),
    ("pages lost as they are copied inside the flash", 0.003),
    ("pages of a lost die rebuilt", 0.05),
    ("all of them, while requests came", 0.03),
    ("reads of pages of a lost die made up", 0.03),
    ("lines of which all blocks are erased together", 0.02),
];

/// Everything that is demanded of one case. Returns what it has met.
pub fn examine(case: &Case) -> Result<Vec<bool>, String> {
    oracle::drive(case)?;
    let first = run::run(&case.config, None, 1 << 20)?;
    check::check(case, &first)?;
    reads_of_stripes(&case.config, &first)?;
    if !case.config.ssd.faults.are_none() {
        faults::lost_pages(case, &first)?;
    }
    run::again_is_the_same(case, &first)?;
    if case.number.is_multiple_of(STATE_EVERY) {
        run::same("the run from a saved state", &first, &run::from_saved(case)?)?;
    }
    if case.number.is_multiple_of(LOOK_EVERY) {
        observed::to_look_changes_nothing(case, &first)?;
    }
    if case.number.is_multiple_of(RAMP_EVERY) {
        ramped::a_ramp_is_only_not_measured(case, &first)?;
    }
    if case.number.is_multiple_of(INTERRUPT_EVERY) {
        resumed::interruptions_change_nothing(case, &first)?;
    }
    Ok(met(&case.config, &first))
}

fn number(outcome: &Outcome, pointer: &str) -> u64 {
    outcome.summary.pointer(pointer).and_then(|found| found.as_u64()).unwrap_or(0)
}

/// A read that is made up takes at most one page of each other die.
pub fn reads_of_stripes(config: &Config, outcome: &Outcome) -> Result<(), String> {
    let of = |key: &str| number(outcome, &format!("/lines/parity/{key}"));
    let (around, rebuilt) = (of("reads_around"), of("reads_rebuilt"));
    let moves = of("moves_rebuilt");
    let others = check::dies(config) - 1;
    check::holds("made up reads need some", of("pages_read_for_others") >= around + rebuilt)?;
    // A read that was to go around a collection may find that a page it needs is gone, and wait for its die after all.
    let may_fail = !config.ssd.faults.are_none() || config.ssd.ftl.reads_around_gc;
    let most = others * (around + rebuilt + moves + of("reads_lost"));
    check::holds("and no others", may_fail || of("pages_read_for_others") <= most)?;
    check::holds("reads go around if they may", config.ssd.ftl.reads_around_gc || around == 0)?;
    let striped = u64::from(config.resolve().drive.shape.striped_planes);
    nothing_is_lost_without_need(config, outcome)?;
    let is_possible = config.ssd.faults.reads_may_fail() && !config.ssd.gc.copyback;
    check::holds("what is copied is not made up", is_possible || moves == 0)?;
    let uncorrectable = striped * number(outcome, "/faults/uncorrectable_reads");
    let is_whole = config.ssd.faults.lost_die.is_none();
    check::holds("what is right is not rebuilt", !is_whole || rebuilt + moves <= uncorrectable)
}

/// What was on a lost die is gone only if another page of its stripe was: one that could not be corrected, or whose block had been
/// erased when the die was lost.
fn nothing_is_lost_without_need(config: &Config, outcome: &Outcome) -> Result<(), String> {
    let are_right = number(outcome, "/faults/uncorrectable_reads") == 0;
    let are_there = config.ssd.gc.line_erase == LineErase::Together;
    let gone = number(outcome, "/lost_die/pages_lost");
    check::holds(&format!("{gone} pages are gone"), !are_right || !are_there || gone == 0)
}

fn met(config: &Config, outcome: &Outcome) -> Vec<bool> {
    let many = |pointer: &str| number(outcome, pointer) > 0;
    let collects = many("/lines/collected");
    let over_the_channel = !config.ssd.gc.copyback;
    vec![
        collects,
        collects && many("/lines/parity/programs"),
        collects && config.ssd.gc.rotating,
        many("/lines/parity/reads_around"),
        many("/lines/parity/reads_rebuilt"),
        many("/lines/parity/reads_lost"),
        many("/lines/parity/moves_rebuilt"),
        many("/lines/parity/programs") && over_the_channel && many("/faults/pages_lost_in_moves"),
        config.ssd.gc.copyback && many("/faults/pages_lost_in_moves"),
        many("/lost_die/pages_rebuilt"),
        outcome.summary.pointer("/lost_die/rebuild_s").is_some_and(|took| !took.is_null()),
        many("/lost_die/degraded_reads"),
        collects && config.ssd.gc.line_erase == LineErase::Together,
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
