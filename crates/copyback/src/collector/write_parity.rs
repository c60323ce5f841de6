//! Parity of lines is programmed by the die that holds it, once its stripe is whole.

use crate::backend::{Backend, StepInFlight};
use crate::ids::DieId;
use crate::nand::{Command, Times};
use crate::observer::Activity;
use crate::units::{Duration, Instant};

use super::Collector;
use super::steps::issue;

impl Collector {
    /// Programs the parity that has waited longest for `die`, and what comes behind it that a multi-plane command may join.
    /// Returns whether the die could take it.
    pub fn program_parity(backend: &mut Backend, die: DieId, now: Instant) -> bool {
        if !backend.flash.takes_from_host(die, Command::Program) {
            return false;
        }
        let Some(page) = backend.ftl.take_parity(die) else { return false };
        let lead = backend.locate(page);
        let mut planes = backend.bit(lead.plane);
        backend.flash.note_target(page);
        while let Some(page) = backend.ftl.next_parity(die)
            && let next = backend.locate(page)
            && planes & backend.bit(next.plane) == 0
            && backend.flash.rules.joins(Command::Program)
            && backend.flash.rules.may_join(
                Command::Program,
                (lead.plane, lead.offset),
                (next.plane, next.offset),
            )
            && backend.ftl.take_parity(die).is_some()
        {
            planes |= backend.bit(next.plane);
            backend.flash.note_target(page);
        }
        let members = u64::from(planes.count_ones());
        backend.counters.programs += members;
        backend.counters.parity += members;
        backend.counters.multi_plane_programs += u64::from(members > 1);
        let closes_block =
            u64::from(lead.offset) + 1 == u64::from(backend.ftl.data_pages_per_block());
        let array = backend.program_time(lead.offset, closes_block);
        let timing = &backend.flash.timing;
        let transfer_in = timing.command + timing.page_transfer * members;
        let times = Times { transfer_in, array, transfer_out: Duration::ZERO };
        issue(backend, die, Command::Program, times, StepInFlight::Parity, now);
        backend.observer.die_does(die, Activity::CachedPages, now);
        true
    }
}
