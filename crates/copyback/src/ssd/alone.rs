//! Shortcut past arbitration: where one event of the flash is all that falls on an instant, only its die and
//! its channel are asked, and not even they where the event concerns one operation alone.

use crate::backend::{Backend, Purpose, StepInFlight};
use crate::event::{Agenda, Event};
use crate::ids::{ChannelId, DieId};
use crate::nand::Command;
use crate::shortcut::Undisturbed;
use crate::units::Instant;

use super::Ssd;
use super::stalls::Stalls;

impl Ssd {
    /// Carries out `event`, the only one at `now`, with everything that follows at once: both phases of the
    /// instant. Returns whether it has; if not, nothing has changed.
    #[inline]
    pub fn carry_out(&mut self, event: Event, now: Instant, agenda: &mut Agenda) -> bool {
        if self.backend.flash.shortcuts.limit() == Undisturbed::Never {
            return false;
        }
        match event {
            Event::ArrayDone(die) => self.end_array_work(die, now, agenda),
            Event::TransferDone(channel) => self.end_transfer(channel, now, agenda),
            _ => return false,
        }
        true
    }

    #[inline]
    fn end_array_work(&mut self, die: DieId, now: Instant, agenda: &mut Agenda) {
        if self.move_next_page(die, now, agenda) {
            return;
        }
        let (flash, mut describer) = self.flash_and_describer();
        if flash.data_leave(die, now, agenda, &mut describer) {
            return self.note_who_waits(die, now);
        }
        self.backend.flash.array_done(die, now);
        if !self.begin_next_step(die, now, agenda) {
            self.backend.flash.wake(die);
            self.start_what_can_start(now, agenda);
        }
    }

    /// Begins the next step of the die's collection where one that concerned one page has ended, if that
    /// concerns one page, too, and nobody goes first. Returns whether one has begun: nothing else follows then.
    #[inline(always)]
    pub(super) fn begin_next_step(
        &mut self,
        die: DieId,
        now: Instant,
        agenda: &mut Agenda,
    ) -> bool {
        let ended = self.backend.flash.ended_alone(die);
        matches!(ended, Some(Purpose::Collection(StepInFlight::Read | StepInFlight::Program)))
            && self.begin_step_behind(die, now, agenda)
    }

    #[inline(never)]
    fn begin_step_behind(&mut self, die: DieId, now: Instant, agenda: &mut Agenda) -> bool {
        if self.schedule.yields && self.backend.flash.shortcuts.names_writes {
            self.scheduler.name_next_writes(&mut self.backend, die);
        }
        if self.scheduler.queues.undisturbed_between_steps(&self.backend, die) == Undisturbed::Never
        {
            return false;
        }
        let Some((command, times, step)) = self.collector.next_page_step(&mut self.backend, die)
        else {
            return false;
        };
        self.scheduler.note_replaced(&mut self.backend, die, now);
        let (flash, mut describer) = self.flash_and_describer();
        let operation = (command, times, Purpose::Collection(step));
        flash.follow(die, operation, now, agenda, &mut describer);
        if command != Command::Program {
            self.schedule.step_begins(die, 1);
        }
        self.note_who_waits(die, now);
        true
    }

    #[inline]
    fn end_transfer(&mut self, channel: ChannelId, now: Instant, agenda: &mut Agenda) {
        let (flash, mut describer) = self.flash_and_describer();
        match flash.transfer_ends(channel, now, agenda, &mut describer) {
            Some((die, false)) if self.begin_next_step(die, now, agenda) => {}
            Some((die, false)) => {
                self.backend.flash.stir_channel(die);
                self.backend.flash.wake(die);
                self.start_what_can_start(now, agenda);
            }
            Some((die, true)) => self.note_who_waits(die, now),
            None => {}
        }
    }

    /// Looks who waits for `die`, in which an operation goes on that is alone.
    #[inline]
    fn note_who_waits(&mut self, die: DieId, now: Instant) {
        if !self.schedule.yields {
            return;
        }
        if self.backend.flash.shortcuts.names_writes && self.backend.flash.may_take_more(die) {
            self.scheduler.name_next_writes(&mut self.backend, die);
        }
        let Backend { ftl, observer, .. } = &mut self.backend;
        Stalls::note(ftl, observer, &self.scheduler.queues, die, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::when::{Admitted, AtDie, When};
    use crate::shortcut::Shortcuts;

    /// A schedule with only the required function.
    #[derive(Debug)]
    struct Required;

    impl When for Required {
        fn admitted(&mut self, _: &AtDie<'_>) -> Admitted {
            Admitted::NOTHING
        }
    }

    impl Ssd {
        /// From now on, gives the schedule's answer as a schedule does that has only the required function.
        pub fn answer_only_what_is_required(&mut self) {
            let shortcuts = &mut self.backend.flash.shortcuts;
            *shortcuts = Shortcuts::new(Required.undisturbed(), shortcuts.names_writes);
        }
    }
}
