//! Dies that work waits for are woken to look for it, unless they are undisturbed until they look by themselves.

use crate::ids::{DieId, Ppn};
use crate::nand::Command;
use crate::shortcut::Undisturbed;

use super::Backend;

impl Backend {
    /// Wakes `die`, which work waits for, if anything may come of that.
    #[inline]
    pub fn wake_for_work(&mut self, die: DieId) {
        let Self { flash, ftl, .. } = self;
        // A read may wait, or a write, or a collection.
        let has_room = || ftl.rooms().keeps_room(die) != Some(false);
        let could_begin = || flash.could_begin(die, |of| of == Command::Read || has_room());
        match flash.shortcuts.while_busy(could_begin, || ftl.rooms().keeps_room(die) == Some(true))
        {
            Undisturbed::Never => flash.wake(die),
            Undisturbed::UntilNextInstant => flash.pass(die),
            Undisturbed::UntilOperationEnds | Undisturbed::UntilCollectionEnds => {}
        }
    }

    /// Wakes the die of `page`, which is out of date now, if it is short of space: it may have had nothing to
    /// give so far.
    #[inline]
    pub fn wake_if_to_collect(&mut self, page: Option<Ppn>) {
        let Some(page) = page else { return };
        let die = self.ftl.geometry().die_of_plane(self.ftl.geometry().plane_of(page));
        if self.ftl.planes_to_collect(die) != 0 {
            self.wake_for_work(die);
        }
    }

    /// Dies that are short of space look whether they can collect: at the start, those that the preparation
    /// left so; and those with data that may be too old.
    pub fn wake_dies_to_collect(&mut self) {
        for die in (0..self.ftl.geometry().dies()).map(DieId::from_index) {
            if self.ageing.is_some() {
                self.flash.wake(die);
            } else if self.ftl.planes_to_collect(die) != 0 {
                self.wake_for_work(die);
            }
        }
    }
}
