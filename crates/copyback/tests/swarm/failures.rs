//! Arrays whose drives fail in the run.

use copyback::config::quantity::{Rate, Size};
use copyback::config::{Array, Config, Failure, Failures, Layout, Rebuild};
use serde_json::Value;

use crate::check::{equal, holds};
use crate::draw::Draw;
use crate::mirrors;
use crate::run::Outcome;

/// Lets drives of some arrays fail, as long as nothing may be lost.
pub fn draw(draw: &mut Draw, config: &mut Config) {
    let array = &mut config.array;
    let is_redundant = array.layout.parities() > 0 || array.layout.is_mirrored();
    if !is_redundant || draw.chance(0.6) {
        return;
    }
    let drives = failing(draw, array);
    if drives.is_empty() {
        return;
    }
    array.failures = Failures::At { drives };
    if draw.chance(0.6) {
        spares(draw, array);
    }
}

/// Drives that fail, each at a time of its own: those without which everything can be read.
fn failing(draw: &mut Draw, array: &Array) -> Vec<Failure> {
    let mut gone = array.clone();
    let mut failing = Vec::new();
    for _ in 0..draw.within(1, 3) {
        let drive = draw.within(0, u64::from(array.devices) - 1) as u32;
        if gone.failed.contains(&drive) {
            continue;
        }
        gone.failed.push(drive);
        if survives(&gone) {
            failing.push(Failure { drive, at: draw.time(1_000, 40_000_000) });
        } else {
            gone.failed.pop();
        }
    }
    failing
}

fn survives(array: &Array) -> bool {
    match array.layout.is_mirrored() {
        true => mirrors::keeps_a_copy(array),
        false => array.failed.len() <= array.layout.parities() as usize,
    }
}

fn spares(draw: &mut Draw, array: &mut Array) {
    array.spares = draw.within(1, 2) as u32;
    let step = if array.layout == Layout::Raid1 { Size(4096) } else { array.stripe };
    let unit = Size(step.0 * draw.small_within(1, 8));
    let most = Rate::BytesPerSecond(draw.small_within(1_000_000, 1_000_000_000));
    let least = Rate::BytesPerSecond(draw.small_within(100_000, 1_000_000));
    let throttled = Rebuild::Throttled { least, most, unit };
    if array.rebuild == Rebuild::None || draw.chance(0.3) {
        array.rebuild = draw.of(&[throttled, Rebuild::Rate { rate: most, unit }]);
    }
}

/// Nothing is lost, and a drive that has failed is sent nothing.
pub fn check(config: &Config, outcome: &Outcome) -> Result<(), String> {
    let Failures::At { drives } = &config.array.failures else { return Ok(()) };
    equal("data lost", &outcome.summary["array"]["lost"], &Value::Null)?;
    let had = outcome.summary["array"]["failures"].as_array().ok_or("no failures")?;
    holds("drives fail once", had.len() <= drives.len())?;
    let commands = &outcome.commands;
    for Failure { drive, at } in drives {
        let of_drive =
            (0..commands.device.len()).filter(|row| u32::from(commands.device[*row]) == *drive);
        let late = of_drive.filter(|row| commands.arrival_ns[*row] > at.0.as_ns()).count();
        equal("commands to a drive that has failed", &late, &0)?;
    }
    let replaced = had.iter().filter(|failure| failure["replaced_by"].is_number()).count();
    holds("each spare takes one place", replaced <= config.array.spares as usize)
}
