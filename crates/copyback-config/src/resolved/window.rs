//! Length of the windows of staggered collections that follows from a drive.
//!
//! A drive collects in its own window only, one of N. It must not run out of space in the others, however fast the host
//! writes. Of one round of N windows of length W:
//!
//! ```text
//!   N·B·W − G·W ≤ S        W = S ÷ (N·B − G)        W ≥ T
//!   T = v·p·(tR + tPROG + 2·tD) + tBERS
//!
//!   S  bytes between the target and the soft threshold, of all planes
//!   B  bytes that all dies program in a second, or that all channels bring, whichever is less
//!   T  one collection: p pages in a block, of which the share v is valid
//!   G  bytes that the dies gain in a second: (1 − v)·p pages in T each
//!   v  the mean of all blocks that are not free at the target, as no greedy victim holds more
//! ```
//!
//! Li et al. (IODA, SOSP 2021) choose the window for the same purpose. Their equations were not at hand: these are ours.

use super::Drive;
use crate::quantity::{Rate, Time};
use crate::{Config, PageLatency, WindowLength};

const NS_PER_S: f64 = 1e9;

/// Bounds of the length of a window, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowBounds {
    /// Time of one collection: in a shorter window none ends.
    pub least: f64,
    /// Longest time in which no drive runs out of space. `None` if a drive gains more in its window than all windows
    /// bring, so that any length will do.
    pub most: Option<f64>,
}

impl WindowBounds {
    /// Bounds for drives that collect from `soft` free blocks of a plane to `target`.
    pub(super) fn of(config: &Config, drive: &Drive, (soft, target): (u32, u32)) -> Self {
        let (ssd, blocks) = (&config.ssd, config.ssd.geometry.blocks_per_plane);
        let (page, per_block) = (drive.pages.size.0 as f64, drive.pages.per_block as f64);
        let (dies, planes) = (drive.shape.dies as f64, drive.shape.planes as f64);
        let transfer = match ssd.timing.transfer_rate {
            Rate::None => 0.0,
            Rate::BytesPerSecond(rate) => page / rate as f64 * NS_PER_S,
        };
        let read = mean(&ssd.timing.read);
        // Units of a page that is mapped in parts are programmed together.
        let program = mean(&ssd.timing.program) / f64::from(drive.pages.per_program.max(1));
        let full = planes * f64::from(blocks.saturating_sub(target)) * per_block;
        let valid = (drive.capacity.logical_pages as f64 / full).min(1.0);
        let collection = valid * per_block * (read + program + 2.0 * transfer)
            + ssd.timing.erase.0.as_ns() as f64;
        let gained = dies * (1.0 - valid) * per_block * page / collection;
        let together =
            f64::from(drive.shape.planes_per_command / drive.shape.striped_planes.max(1));
        let of_dies = dies * together * page / program;
        let of_channels = f64::from(ssd.geometry.channels) * page / transfer;
        let written = of_dies.min(of_channels) * f64::from(config.array.devices);
        let space = f64::from(target.saturating_sub(soft)) * planes * per_block * page;
        let most = (written > gained).then(|| space / (written - gained));
        Self { least: collection, most }
    }

    /// The `length` of a window. `None` if it follows from the drive, and none fits between the bounds.
    pub fn length(&self, length: WindowLength) -> Option<Time> {
        match length {
            WindowLength::Fixed(time) => Some(time),
            WindowLength::Formula => {
                let most = self.most.filter(|most| *most >= self.least)?;
                Some(Time::from_ns(most as u64))
            }
        }
    }
}

/// Mean over the types of pages.
fn mean(latency: &PageLatency) -> f64 {
    let ns = |time: &Time| time.0.as_ns() as f64;
    match latency {
        PageLatency::Uniform(time) => ns(time),
        PageLatency::ByPageType(times) => times.iter().map(ns).sum::<f64>() / times.len() as f64,
    }
}
