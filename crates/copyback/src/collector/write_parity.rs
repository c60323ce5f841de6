//! Parity of lines is programmed by the die that holds it, once its stripe is whole.

use crate::backend::{Backend, StepInFlight};
use crate::ids::DieId;
use crate::nand::Command;
use crate::units::Instant;

use super::Collector;
use super::from_dram::{self, Together};

impl Collector {
    /// Programs the parity that has waited longest for `die`, and what comes behind it that a multi-plane command may join.
    /// Returns whether the die could take it.
    pub fn program_parity(backend: &mut Backend, die: DieId, now: Instant) -> bool {
        if !backend.flash.takes_from_host(die, Command::Program) {
            return false;
        }
        let Some(page) = backend.ftl.take_parity(die) else { return false };
        let lead = backend.ftl.geometry().locate(page);
        let mut planes = backend.ftl.geometry().bit(lead.plane);
        backend.flash.pages.note_target(page);
        while let Some(page) = backend.ftl.lines().and_then(|lines| lines.parity()?.due.next(die))
            && let next = backend.ftl.geometry().locate(page)
            && planes & backend.ftl.geometry().bit(next.plane) == 0
            && backend.flash.rules.joins(Command::Program)
            && backend.flash.rules.may_join(
                Command::Program,
                (lead.plane, lead.offset),
                (next.plane, next.offset),
            )
            && backend.ftl.take_parity(die).is_some()
        {
            planes |= backend.ftl.geometry().bit(next.plane);
            backend.flash.pages.note_target(page);
        }
        let members = u64::from(planes.count_ones());
        backend.counters.parity += members;
        let offset = lead.offset;
        let is_last = offset + 1 == backend.ftl.limits().data_pages();
        let pages = Together { members, offset, filled: if is_last { members } else { 0 } };
        from_dram::program(backend, die, pages, StepInFlight::Parity, now);
        true
    }
}
