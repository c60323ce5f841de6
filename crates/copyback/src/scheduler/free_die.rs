//! The choice of a die for a write that any could take.

use crate::backend::Backend;
use crate::ids::DieId;
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

/// Whether a write of `page` that any die could take is left to another die than `die`, which has a page that writes wait
/// for and is about to look for work.
pub fn leaves_to_other(backend: &Backend, die: DieId, page: HostPage) -> bool {
    let waits = backend.held.as_ref().is_some_and(|held| held.waits_in(&backend.ftl, die));
    let looks = |other: DieId| backend.flash.is_awake(other) || !backend.flash.die(other).is_idle();
    !waits && die_with_held(backend, page).is_some_and(looks)
}
