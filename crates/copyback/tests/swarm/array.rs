//! Random arrays: any layout, any coordination, drives that are lost, silent or rebuilt.

use copyback::config::quantity::{Rate, Share, Size, Time};
use copyback::config::{
    Array, Config, ConsistencyPolicy, Coordination, Cuts, Delay, Failures, FreeBlocks, Layout,
    Margin, Metrics, Protocol, ReadsAroundGc, Rebuild, Round, Scrub, WindowLength,
};
use serde_json::Value;

use crate::check::{check_array, close, equal, holds};
use crate::draw::{Case, Draw};
use crate::examine::{INTERRUPT_EVERY, LOOK_EVERY, RAMP_EVERY, STATE_EVERY};
use crate::mirrors;
use crate::observed::to_look_changes_nothing;
use crate::ramped::a_ramp_is_only_not_measured;
use crate::resumed::interruptions_change_nothing;
use crate::run::{self, Outcome};
use crate::side_by_side;
use crate::{array_power, failures, upkeep};

/// Makes an array of the drive of `config`.
pub fn draw(draw: &mut Draw, config: Config) -> Config {
    let layout = draw.of(&[Layout::Jbod, Layout::Raid0, Layout::Raid5, Layout::Raid6]);
    let devices = draw.within(u64::from(layout.least_devices()).max(2), 6) as u32;
    let drives: Vec<u32> = (0..devices).collect();
    let most = u64::from(layout.parities());
    let lost = if draw.chance(0.5) { draw.within(most.min(1), most) } else { 0 };
    let failed = several(draw, &drives, lost as usize);
    let stripe = Size(4096 * draw.small_within(1, 8));
    let array = Array {
        layout,
        devices,
        stripe,
        queue_depth: draw.small_within(1, 200) as u32,
        copies: None,
        arrangement: None,
        mirror_reads: None,
        rebuild: rebuild(draw, &failed, stripe),
        failed,
        failures: Failures::None,
        spares: 0,
        slow: Vec::new(),
        scrub: Scrub::None,
        consistency_policy: ConsistencyPolicy::default(),
        reads_around_gc: ReadsAroundGc::Fixed(layout.parities() > 0 && draw.chance(0.4)),
        coordination: coordination(draw),
        protocol: Protocol {
            latency: Time::from_ns(draw.of(&[0, 1_000, 300_000])),
            silent: if draw.chance(0.3) { several(draw, &drives, 1) } else { Vec::new() },
            register_margin: Margin::Free(margin(draw)),
            target_margin: Margin::Free(margin(draw)),
            round: Round::UntilTarget,
        },
    };
    let metrics =
        Metrics { collections: true, commands: true, messages: true, ..config.metrics.clone() };
    Config { array, metrics, ..config }
}

fn several(draw: &mut Draw, of: &[u32], count: usize) -> Vec<u32> {
    let mut left = of.to_vec();
    (0..count).map(|_| left.swap_remove(draw.within(0, left.len() as u64 - 1) as usize)).collect()
}

fn rebuild(draw: &mut Draw, failed: &[u32], stripe: Size) -> Rebuild {
    if failed.is_empty() || draw.chance(0.4) {
        return Rebuild::None;
    }
    let rate = Rate::BytesPerSecond(draw.small_within(100_000, 1_000_000_000));
    let rate = draw.of(&[Rate::None, rate]);
    Rebuild::Rate { rate, unit: Size(stripe.0 * draw.small_within(1, 8)) }
}

fn margin(draw: &mut Draw) -> FreeBlocks {
    let blocks = draw.within(0, 3) as u32;
    draw.of(&[FreeBlocks::Blocks { blocks }, FreeBlocks::Share(Share(0.02))])
}

fn coordination(draw: &mut Draw) -> Coordination {
    let time = draw.time(10_000, 20_000_000);
    let regardless = draw.chance(0.5);
    let quorum = Share(draw.share());
    let outstanding = draw.within(0, 20) as u32;
    let check = draw.time(10_000, 1_000_000);
    draw.of(&[
        Coordination::Uncoordinated,
        Coordination::ReactiveInclusive { regardless, delay: Delay::None },
        Coordination::ReactiveSelective,
        Coordination::ProactiveIdle { check, idle: time },
        Coordination::ProactiveSoftLimit { period: time, quorum, outstanding },
        Coordination::Staggered { window: WindowLength::Fixed(time), guard: Time::default() },
    ])
}

/// An array of one drive gives what the drive gives, bit for bit.
pub fn one_drive_is_the_drive(case: &Case, alone: &Outcome) -> Result<(), String> {
    for layout in [Layout::Jbod, Layout::Raid0] {
        let array = Array { layout, stripe: Size(4096), ..Array::default() };
        let config = Config { array, ..case.config.clone() };
        if config.resolve().bytes != case.config.resolve().bytes {
            continue;
        }
        let mut outcome = run::run(&config, None, 1 << 20)?;
        outcome.summary["config_digest"] = alone.summary["config_digest"].clone();
        run::same("an array of this one drive", alone, &outcome)?;
    }
    Ok(())
}

/// Everything that is demanded of one case. Returns what the case has met.
pub fn examine(case: &Case) -> Result<Vec<bool>, String> {
    let config = &case.config;
    let first = run::run(config, None, 1 << 20)?;
    check_array(case, &first)?;
    check(config, &first)?;
    run::again_is_the_same(case, &first)?;
    // A saved drive does not tell what a recovery would look at.
    if case.number.is_multiple_of(STATE_EVERY) && config.ssd.power.cuts == Cuts::None {
        run::same("the run from a saved state", &first, &run::from_saved(case)?)?;
    }
    if case.number.is_multiple_of(INTERRUPT_EVERY) {
        interruptions_change_nothing(case, &first)?;
    }
    if case.number.is_multiple_of(LOOK_EVERY) {
        to_look_changes_nothing(case, &first)?;
    }
    if case.number.is_multiple_of(RAMP_EVERY) {
        a_ramp_is_only_not_measured(case, &first)?;
    }
    let went_ahead = side_by_side::changes_nothing(case)?;
    Ok(met(config, &first).into_iter().chain([went_ahead]).collect())
}

pub fn check(config: &Config, outcome: &Outcome) -> Result<(), String> {
    let devices = outcome.summary["devices"].as_array().ok_or("no devices")?;
    equal("drives", &devices.len(), &(config.array.drives() as usize))?;
    for pointer in ["/flash/reads", "/flash/programs", "/flash/erases", "/gc/pages_moved"] {
        let sum: u64 = devices.iter().map(|device| number(device, pointer)).sum();
        equal(pointer, &sum, &outcome.number(pointer))?;
    }
    let last: u64 = devices.iter().map(|device| number(device, "/requests_ended_last")).sum();
    equal("requests ended last somewhere", &last, &(outcome.requests.len() as u64))?;
    let together = outcome.summary["collecting_together"].as_array().ok_or("no shares")?;
    let shares: Vec<f64> = together.iter().filter_map(Value::as_f64).collect();
    equal("shares", &shares.len(), &(devices.len() + 1))?;
    if outcome.summary["throughput"]["simulated_s"].as_f64() > Some(0.0) {
        close("shares of time", shares.iter().sum(), 1.0)?;
    }
    mirrors::check(config, outcome)?;
    failures::check(config, outcome)?;
    upkeep::check(config, outcome)?;
    array_power::check(config, outcome)?;
    if config.array.layout.parities() == 0 && !config.array.layout.is_mirrored() {
        let bytes =
            outcome.number("/requests/read_bytes") + outcome.number("/requests/write_bytes");
        let commands = outcome.commands.operation.iter().zip(&outcome.commands.bytes);
        let moved = commands.filter(|(operation, _)| **operation < 2).map(|(_, bytes)| bytes);
        equal("bytes of the commands", &moved.sum::<u64>(), &bytes)?;
    }
    let lost = if config.array.rebuild == Rebuild::None { &config.array.failed[..] } else { &[] };
    for device in lost {
        let commands = number(&devices[*device as usize], "/commands/count");
        equal("commands to a lost drive", &commands, &0)?;
    }
    messages(config, outcome)
}

/// Silent drives say and hear nothing; nobody does if nothing is coordinated.
fn messages(config: &Config, outcome: &Outcome) -> Result<(), String> {
    let silent = |device: u16| config.array.protocol.silent.contains(&u32::from(device));
    holds("silent drives are silent", !outcome.messages.iter().any(|sent| silent(sent.device.0)))?;
    let none = config.array.coordination == Coordination::Uncoordinated;
    holds("nobody speaks", !none || outcome.messages.is_empty())?;
    let latency = config.array.protocol.latency.0;
    let in_time = outcome.messages.iter().all(|message| message.arrives == message.sent + latency);
    holds("messages take their time", in_time)
}

fn number(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {pointer}"))
}

/// What there is to meet, and the share of runs that must.
const SIGHTS: [(&str, f64); 19] = [
    ("collections because the array asked", 0.05),
    ("collections in idle time", 0.005),
    ("collections by own need", 0.1),
    ("messages", 0.3),
    ("reads around collections", 0.01),
    ("bytes rebuilt", 0.05),
    ("requests with a lost drive", 0.1),
    ("several drives collecting together", 0.1),
    ("mirrors", 0.2),
    ("drives failing in the run", 0.05),
    ("spares that hold all", 0.005),
    ("slow drives", 0.1),
    ("whole scrubs", 0.002),
    ("cuts of power", 0.05),
    ("torn writes", 0.005),
    ("bytes reconstructed wrongly", 0.0005),
    ("whole resyncs", 0.003),
    ("bitmaps or partial parity written", 0.02),
    ("drives going ahead side by side", 0.02),
];

fn met(config: &Config, outcome: &Outcome) -> Vec<bool> {
    let many = |pointer: &str| outcome.number(pointer) > 0;
    let together = outcome.summary["collecting_together"].as_array();
    let together = together.is_some_and(|shares| {
        shares.iter().skip(2).filter_map(Value::as_f64).any(|share| share > 0.0)
    });
    let failures = || outcome.summary["array"]["failures"].as_array().into_iter().flatten();
    vec![
        many("/gc/forced"),
        many("/gc/idle"),
        many("/gc/on_demand"),
        !outcome.messages.is_empty(),
        many("/array/reads_around_gc"),
        many("/array/rebuilt_bytes"),
        !config.array.failed.is_empty(),
        together,
        config.array.layout.is_mirrored(),
        failures().next().is_some(),
        failures().any(|failure| failure["rebuilt_us"].is_number()),
        !config.array.slow.is_empty(),
        config.array.scrub != Scrub::None && many("/array/scrubs/completed"),
        config.ssd.power.cuts != Cuts::None && many("/power_loss/cuts"),
        array_power::count(outcome, "torn_writes") > 0,
        array_power::count(outcome, "write_hole_bytes") > 0,
        array_power::count(outcome, "resyncs") > 0,
        array_power::count(outcome, "log_bytes") > 0,
    ]
}

/// Prints the share of runs that have met each sight; demands it of a `whole` swarm.
pub fn coverage(met: &[Vec<bool>], whole: bool) {
    for (sight, (name, least)) in SIGHTS.iter().enumerate() {
        let share = met.iter().filter(|met| met[sight]).count() as f64 / met.len() as f64;
        println!("{:5.1}% {name}", 100.0 * share);
        assert!(!whole || share >= *least, "only {:.1}% have met {name}", 100.0 * share);
    }
}
