//! Arrays that lose their power.

use copyback::config::quantity::{Rate, Size};
use copyback::config::{Array, Config, ConsistencyPolicy, Coordination, Cuts, Layout, Loader};

use crate::check::{equal, holds};
use crate::draw::Draw;
use crate::power;
use crate::run::Outcome;

/// Lets some arrays lose their power, and care for that in one way or another.
pub fn draw(draw: &mut Draw, config: &mut Config) {
    if config.array.devices == 1 || draw.chance(0.5) {
        return;
    }
    if config.array.layout.is_redundant() {
        let policy = policy(draw, &config.array);
        try_it(config, |config| config.array.consistency_policy = policy);
    }
    let with_cuts = power::draw(draw, config.clone());
    let is_left_alone = draw.chance(0.4);
    try_it(config, |config| {
        config.ssd.power = with_cuts.ssd.power;
        if is_left_alone {
            config.array.coordination = Coordination::Uncoordinated;
        }
    });
}

/// Gives some arrays with parity a journal.
pub fn add_journal(draw: &mut Draw, config: &mut Config) {
    if config.array.layout.parities() > 0 && draw.chance(0.2) {
        try_it(config, |config| config.array.consistency_policy = ConsistencyPolicy::Journal);
    }
}

/// Changes the configuration unless that makes it one that is refused.
fn try_it(config: &mut Config, change: impl FnOnce(&mut Config)) {
    let mut changed = config.clone();
    change(&mut changed);
    let text = serde_json::to_string(&changed).expect("a configuration is JSON");
    if Loader::new().json(&text).load().is_ok() {
        *config = changed;
    }
}

fn policy(draw: &mut Draw, array: &Array) -> ConsistencyPolicy {
    let step = if array.layout == Layout::Raid1 { Size(4096) } else { array.stripe };
    let unit = Size(step.0 * draw.small_within(1, 8));
    let most = Rate::BytesPerSecond(draw.small_within(100_000_000, 1_000_000_000));
    let least = Rate::BytesPerSecond(draw.small_within(100_000, 100_000_000));
    let chunk = Size(step.0 * draw.small_within(1, 32));
    let delay = draw.time(1_000, 20_000_000);
    let space = Size(4096 + array.stripe.0 * draw.within(2, 3));
    draw.of(&[
        ConsistencyPolicy::None,
        ConsistencyPolicy::Resync { least, most, unit },
        ConsistencyPolicy::Bitmap { chunk, delay, least, most, unit },
        ConsistencyPolicy::Ppl { space },
    ])
}

/// The count of this name, 0 where there is none.
pub fn count(outcome: &Outcome, name: &str) -> u64 {
    let pointer = format!("/array/consistency/{name}");
    outcome.summary.pointer(&pointer).map_or(0, |_| outcome.number(&pointer))
}

/// Checks that what cuts do to stripes fits the layout and the policy.
pub fn check(config: &Config, outcome: &Outcome) -> Result<(), String> {
    let Config { array, ssd, .. } = config;
    let is_told = outcome.summary.pointer("/array/consistency").is_some();
    let may_fail = ssd.power.cuts != Cuts::None;
    let cares =
        array.layout.is_redundant() && (may_fail || array.consistency_policy.writes_ahead());
    equal("whether cuts are told of", &is_told, &cares)?;
    if may_fail {
        equal("durable pages lost", &power::count(outcome, "durable_pages_lost"), &0)?;
    }
    let hole = count(outcome, "write_hole_bytes");
    let may_have_hole = array.layout.parities() > 0
        && !matches!(
            array.consistency_policy,
            ConsistencyPolicy::Ppl { .. } | ConsistencyPolicy::Journal
        )
        && count(outcome, "torn_writes") > 0;
    holds("a hole has a reason", hole == 0 || may_have_hole)?;
    let (torn, left) = (count(outcome, "torn_writes"), count(outcome, "torn_left"));
    holds("what is left was torn", torn > 0 || left == 0)?;
    let resynced = matches!(
        array.consistency_policy,
        ConsistencyPolicy::Resync { .. }
            | ConsistencyPolicy::Bitmap { .. }
            | ConsistencyPolicy::Ppl { .. }
            | ConsistencyPolicy::Journal
    );
    holds("somebody resyncs", resynced || count(outcome, "resync_read_bytes") == 0)?;
    let writes_ahead = array.consistency_policy.writes_ahead();
    holds("somebody keeps a log", writes_ahead || count(outcome, "log_bytes") == 0)
}
