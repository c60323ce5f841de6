//! The choice of a die for a write that any could take.

use crate::backend::{Backend, Collecting, Purpose};
use crate::flash::Flash;
use crate::ftl::Ftl;
use crate::ids::DieId;
use crate::nand::Command;
use crate::placement::HostPage;

/// Whether `die` is idle and can take a write of `page`, which has no place of its own.
pub fn is_free_for(backend: &Backend, die: DieId, page: HostPage) -> bool {
    backend.flash.die(die).is_idle() && may_take(&backend.ftl, &backend.collecting, die, page)
}

fn may_take(ftl: &Ftl, collecting: &Collecting, die: DieId, page: HostPage) -> bool {
    collecting.leaves_free(die) && ftl.has_place(die, page)
}

/// The first die that takes a write of `page` at once and has a page that writes wait for and this one may fill.
pub fn die_with_held(backend: &Backend, page: HostPage) -> Option<DieId> {
    backend.held.as_ref()?.first_die(&backend.ftl, |die| {
        backend.flash.die(*die).only_transfers()
            && may_take(&backend.ftl, &backend.collecting, *die, page)
    })
}

/// Wakes the dies that can load a write of `page`, which has no place of its own, beside what they do: one that looks need not
/// take it. Returns whether there are any.
pub fn wake_to_load(
    flash: &mut Flash<Purpose>,
    ftl: &Ftl,
    collecting: &Collecting,
    page: HostPage,
) -> bool {
    if !flash.overlap.double_register {
        return false;
    }
    let mut are_any = false;
    for die in dies(ftl) {
        if flash.takes_from_host(die, Command::Program) && may_take(ftl, collecting, die, page) {
            flash.wake(die);
            are_any = true;
        }
    }
    are_any
}

/// Whether a write that any die could take [may be left to another](leaves_to_other) than the one that looks for work.
pub const fn may_leave_to_other(backend: &Backend) -> bool {
    backend.held.is_some() || backend.flash.overlap.double_register
}

/// Whether a write of `page` that any die could take is left to another die than `die`: to one with a page that writes wait
/// for, or by a die that would load it beside what it does, to one that is idle.
pub fn leaves_to_other(backend: &Backend, die: DieId, page: HostPage) -> bool {
    let looks =
        |other: &DieId| backend.flash.is_awake(*other) || !backend.flash.die(*other).is_idle();
    let waits = backend.held.as_ref().is_some_and(|held| held.waits_in(&backend.ftl, die));
    if !waits && die_with_held(backend, page).as_ref().is_some_and(looks) {
        return true;
    }
    let is_idle = |other| backend.flash.is_awake(other) && is_free_for(backend, other, page);
    !backend.flash.die(die).is_idle() && dies(&backend.ftl).any(is_idle)
}

fn dies(ftl: &Ftl) -> impl Iterator<Item = DieId> + use<> {
    (0..ftl.geometry().dies()).map(DieId::from_index)
}
