//! Dies that work waits for are woken to look for it, unless they are undisturbed until they look by themselves.

use crate::flash::Flash;
use crate::ftl::Ftl;
use crate::ids::{DieId, Ppn};
use crate::nand::Command;
use crate::shortcut::Undisturbed;

use super::Purpose;

/// Wakes `die`, which work waits for, if anything may come of that.
#[inline]
pub fn wake_for_work(flash: &mut Flash<Purpose>, ftl: &Ftl, die: DieId) {
    // A read may wait, or a write, or a collection.
    let has_room = || ftl.rooms().keeps_room(die) != Some(false);
    let could_begin = || flash.could_begin(die, |of| of == Command::Read || has_room());
    match flash.shortcuts.while_busy(could_begin, || ftl.rooms().keeps_room(die) == Some(true)) {
        Undisturbed::Never => flash.wake(die),
        Undisturbed::UntilNextInstant => flash.pass(die),
        Undisturbed::UntilOperationEnds | Undisturbed::UntilCollectionEnds => {}
    }
}

/// Wakes the die of `page`, which is out of date now, if it is short of space: it may have had nothing to
/// give so far.
#[inline]
pub fn wake_if_to_collect(flash: &mut Flash<Purpose>, ftl: &Ftl, page: Option<Ppn>) {
    let Some(page) = page else { return };
    let die = ftl.geometry().die_of_plane(ftl.geometry().plane_of(page));
    if ftl.planes_to_collect(die) != 0 {
        wake_for_work(flash, ftl, die);
    }
}

/// Dies that are short of space look whether they can collect: at the start, those that the preparation
/// left so; and all of them if data may be too old.
pub fn wake_dies_to_collect(flash: &mut Flash<Purpose>, ftl: &Ftl, data_age: bool) {
    for die in (0..ftl.geometry().dies()).map(DieId::from_index) {
        if data_age {
            flash.wake(die);
        } else if ftl.planes_to_collect(die) != 0 {
            wake_for_work(flash, ftl, die);
        }
    }
}
