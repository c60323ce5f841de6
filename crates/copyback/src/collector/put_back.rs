//! Pages that collections have left in the device's DRAM go back to the flash when a die has
//! nothing else to do.

use crate::backend::{Backend, StepInFlight};
use crate::ids::DieId;
use crate::nand::Command;
use crate::units::Instant;

use super::Collector;
use super::from_dram::{self, Together};

impl Collector {
    /// Programs the page of an idle die that has been in DRAM longest, and those of its other planes
    /// that a multi-plane command may join. Returns how many there were.
    pub fn program_staged(backend: &mut Backend, die: DieId, now: Instant) -> u64 {
        if !backend.flash.die(die).is_idle() {
            return 0;
        }
        let mut first = None;
        let (mut members, mut filled) = (0, 0);
        for plane in backend.ftl.geometry().planes_of_die(die) {
            let Some(offset) = backend.ftl.next_staged_offset(plane) else { continue };
            let lead = *first.get_or_insert((plane, offset));
            let leads = lead.0 == plane;
            let rules = &backend.flash.rules;
            if !leads && !rules.may_join(Command::Program, lead, (plane, offset)) {
                continue;
            }
            let Some(placed) = backend.ftl.program_staged(plane) else { continue };
            backend.flash.pages.note_target(placed.page);
            filled += u64::from(placed.closes_block);
            members += 1;
        }
        let Some((_, offset)) = first else { return 0 };
        let step = match backend.ftl.lines().is_some() {
            // Nothing else stays in DRAM there.
            true => {
                backend.counters.rebuilt += members;
                StepInFlight::Rebuilt
            }
            false => {
                backend.counters.pages_moved += members;
                StepInFlight::ProgramStaged
            }
        };
        let pages = Together { members, offset, filled };
        from_dram::program(backend, die, pages, step, now);
        members
    }
}
