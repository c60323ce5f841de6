//! The choice of a die for a write that any could take.

use crate::backend::Backend;
use crate::ids::DieId;
use crate::nand::Command;
use crate::placement::HostPage;

/// Whether `die` is idle and can take a write of `page`, which has no place of its own.
pub fn is_free_for(backend: &Backend, die: DieId, page: HostPage) -> bool {
    backend.flash.die(die).is_idle() && may_take(backend, die, page)
}

fn may_take(backend: &Backend, die: DieId, page: HostPage) -> bool {
    backend.collecting.leaves_free(die) && backend.ftl.has_place(die, page)
}

/// The first die that takes a write of `page` at once and has a page that writes wait for and this one may fill.
pub fn die_with_held(backend: &Backend, page: HostPage) -> Option<DieId> {
    backend.held.as_ref()?.first_die(&backend.ftl, |die| {
        backend.flash.die(*die).only_transfers() && may_take(backend, *die, page)
    })
}

/// Whether `die` can load a write of `page`, which has no place of its own, beside what it does.
fn may_load(backend: &Backend, die: DieId, page: HostPage) -> bool {
    backend.flash.takes_from_host(die, Command::Program) && may_take(backend, die, page)
}

/// Wakes the dies that can load a write of `page` beside what they do: one that looks need not take it. Returns whether there
/// are any.
pub fn wake_to_load(backend: &mut Backend, page: HostPage) -> bool {
    if !backend.flash.has_two_registers() {
        return false;
    }
    let mut are_any = false;
    for die in dies(backend) {
        if may_load(backend, die, page) {
            backend.flash.wake(die);
            are_any = true;
        }
    }
    are_any
}

/// Whether a write that any die could take [may be left to another](leaves_to_other) than the one that looks for work.
pub const fn may_leave_to_other(backend: &Backend) -> bool {
    backend.held.is_some() || backend.flash.has_two_registers()
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
    !backend.flash.die(die).is_idle() && dies(backend).any(is_idle)
}

fn dies(backend: &Backend) -> impl Iterator<Item = DieId> + use<> {
    (0..backend.ftl.geometry().dies()).map(DieId::from_index)
}
