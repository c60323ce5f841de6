//! Until when a die is undisturbed, which has been looked at or could be.

use crate::backend::Backend;
use crate::ids::DieId;
use crate::nand::Command;
use crate::shortcut::Undisturbed;

use super::Queues;

impl Queues {
    /// Until when `die` is undisturbed, in which an operation goes on.
    #[inline(always)]
    pub fn undisturbed(&self, backend: &Backend, die: DieId) -> Undisturbed {
        let waits = |command| self.might_serve(backend, die, command);
        backend.flash.shortcuts.while_busy(
            || backend.flash.could_begin(die, waits),
            || backend.ftl.rooms().keeps_room(die) == Some(true),
        )
    }

    /// Until when `die` is undisturbed, whose collection has just ended a step.
    #[inline(always)]
    pub fn undisturbed_between_steps(&self, backend: &Backend, die: DieId) -> Undisturbed {
        let waits = |command| self.might_serve(backend, die, command);
        backend.flash.shortcuts.between_steps(
            || self.host_waits(backend, die),
            || waits(Command::Read) || waits(Command::Program),
        )
    }
}
