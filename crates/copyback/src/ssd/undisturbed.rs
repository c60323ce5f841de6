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
            || backend.ftl.keeps_room(die) == Some(true),
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
