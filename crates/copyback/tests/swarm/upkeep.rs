//! Arrays that are scrubbed, and whose drives are slow for a while.

use copyback::config::quantity::{Rate, Size};
use copyback::config::{Array, Config, Layout, Scrub, SlowDrive};

use crate::check::holds;
use crate::draw::Draw;
use crate::run::Outcome;

/// Lets some arrays be scrubbed, and drives of some be slow.
pub fn draw(draw: &mut Draw, config: &mut Config) {
    let array = &mut config.array;
    if array.devices == 1 {
        return;
    }
    if array.layout.is_redundant() && draw.chance(0.3) {
        array.scrub = scrub(draw, array);
    }
    let slow = if draw.chance(0.3) { draw.within(1, 3) } else { 0 };
    for _ in 0..slow {
        let drive = draw.within(0, u64::from(array.drives()) - 1) as u32;
        let (at, lasts) = (draw.time(0, 40_000_000), draw.time(1, 20_000_000));
        let factor = 1.0 + 20.0 * draw.share();
        let slow = SlowDrive { drive, at, lasts, factor };
        if !array.slow.iter().any(|other| other.overlaps(&slow)) {
            array.slow.push(slow);
        }
    }
}

fn scrub(draw: &mut Draw, array: &Array) -> Scrub {
    let step = if array.layout == Layout::Raid1 { Size(4096) } else { array.stripe };
    Scrub::Throttled {
        every: draw.time(1_000, 5_000_000),
        least: Rate::BytesPerSecond(draw.small_within(100_000, 100_000_000)),
        most: Rate::BytesPerSecond(draw.small_within(100_000_000, 1_000_000_000)),
        unit: Size(step.0 * draw.small_within(1, 8)),
    }
}

/// Checks that the reads of scrubs are among those of the drives.
pub fn check(config: &Config, outcome: &Outcome) -> Result<(), String> {
    if config.array.scrub == Scrub::None {
        return Ok(());
    }
    let commands = outcome.commands.operation.iter().zip(&outcome.commands.bytes);
    let read: u64 =
        commands.filter(|(operation, _)| **operation == 0).map(|(_, bytes)| bytes).sum();
    holds("drives read what scrubs do", outcome.number("/array/scrubs/read_bytes") <= read)
}
