//! Programs of the device's DRAM content, staged pages or parity, by a die that collects nothing.

use crate::backend::{Backend, StepInFlight};
use crate::ids::DieId;
use crate::nand::{Command, Times};
use crate::observer::Activity;
use crate::units::{Duration, Instant};

use super::steps::issue;

/// Pages of planes of one die that are programmed together.
#[derive(Clone, Copy)]
pub(super) struct Together {
    pub members: u64,
    /// Page offset in the block.
    pub offset: u32,
    /// Blocks that they fill.
    pub filled: u64,
}

/// Gives `die` the program of these pages, which cross the channel one after the other.
pub(super) fn program(
    backend: &mut Backend,
    die: DieId,
    pages: Together,
    step: StepInFlight,
    now: Instant,
) {
    backend.counters.programs += pages.members;
    backend.counters.multi_plane_programs += u64::from(pages.members > 1);
    let array = backend.program_time(pages.offset, pages.filled);
    let timing = &backend.flash.timing;
    let transfer_in = timing.command + timing.page_transfer * pages.members;
    let times = Times { transfer_in, array, transfer_out: Duration::ZERO };
    issue(&mut backend.flash, die, Command::Program, times, step, now);
    backend.observer.die_does(die, Activity::CachedPages, now);
}
