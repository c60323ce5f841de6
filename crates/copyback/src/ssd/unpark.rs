//! Pages that collections have left in the device's DRAM go back to the flash when a die has
//! nothing else to do.

use crate::ids::DieId;
use crate::nand::Command;
use crate::units::{Duration, Instant};

use super::Ssd;
use super::collection::StepInFlight;
use super::idle_account::Activity;

impl Ssd {
    /// Programs the page of an idle die that has been in DRAM longest, and those of its other planes
    /// that a multi-plane command may join. Returns whether there was any.
    pub(super) fn unpark(&mut self, die: DieId, now: Instant) -> bool {
        if !self.dies[die.index()].is_idle() {
            return false;
        }
        let mut first = None;
        let (mut members, mut closes_block) = (0, false);
        for plane in self.geometry.planes_of_die(die) {
            let Some(offset) = self.ftl.next_unpark_offset(plane) else { continue };
            let lead = *first.get_or_insert((plane, offset));
            let leads = lead.0 == plane;
            if !leads && !self.rules.may_join(Command::Program, lead, (plane, offset)) {
                continue;
            }
            let Some(placed) = self.ftl.unpark(plane) else { continue };
            self.note_target(placed.page);
            closes_block |= placed.closes_block;
            members += 1;
        }
        let Some((_, offset)) = first else { return false };
        self.counters.programs += members;
        self.counters.pages_moved += members;
        self.counters.multi_plane_programs += u64::from(members > 1);
        let transfer = self.timing.command + self.timing.page_transfer * members;
        let array = self.program_time(die, offset, closes_block, now);
        let times = [transfer, array, Duration::ZERO];
        self.start_on_die(die, Command::Program, times, StepInFlight::Unpark, now);
        self.die_does(die, Activity::CachedPages, now);
        true
    }
}
