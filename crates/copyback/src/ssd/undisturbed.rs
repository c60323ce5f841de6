//! Until when a die is undisturbed, which has been looked at or could be.

use crate::ids::DieId;
use crate::nand::Command;
use crate::shortcut::Undisturbed;

use super::Ssd;

impl Ssd {
    /// Until when `die` is undisturbed, in which an operation goes on.
    #[inline(always)]
    pub(super) fn undisturbed(&self, die: DieId) -> Undisturbed {
        let Self { backend, scheduler, .. } = self;
        let waits = |command| scheduler.queues.might_serve(backend, die, command);
        backend.flash.shortcuts.while_busy(
            || backend.flash.could_begin(die, waits),
            || backend.ftl.rooms().keeps_room(die) == Some(true),
        )
    }

    /// Until when `die` is undisturbed, whose collection has just ended a step.
    #[inline(always)]
    pub(super) fn undisturbed_between_steps(&self, die: DieId) -> Undisturbed {
        let Self { backend, scheduler, .. } = self;
        let waits = |command| scheduler.queues.might_serve(backend, die, command);
        backend.flash.shortcuts.between_steps(
            || scheduler.queues.host_waits(backend, die),
            || waits(Command::Read) || waits(Command::Program),
        )
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
