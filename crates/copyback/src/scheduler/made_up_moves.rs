//! Pages that collections of lines with parity could not correct as they read them: made up from the others of their stripes, which
//! takes reads of other dies. Meanwhile the collection goes on; it programs the page when that is there.

use crate::backend::Backend;
use crate::ids::Ppn;
use crate::purpose::Owner;
use crate::transaction::{Kind, TransactionId};
use crate::units::{Duration, Instant};

use super::Scheduler;
use super::stripes::Cause;

impl Scheduler {
    /// A collection has read `page` in vain: makes it up, if it is still to be moved.
    pub fn make_up_to_move(&mut self, backend: &mut Backend, page: Ppn, now: Instant) {
        if !backend.ftl.lines().is_some_and(|lines| lines.collected().waits_for_stripe(page)) {
            return;
        }
        let lpn = backend.ftl.logical(page);
        let id = self.admit(Owner::Rebuild, lpn, Kind::Read, Duration::ZERO);
        if let Some(stripes) = &mut self.queues.stripes {
            stripes.begin_to_move(id, page, &backend.ftl);
        }
        match backend.ftl.others_of_stripe(page) {
            // All that is needed is in DRAM.
            Some(others) if others.is_empty() => self.made_up_to_move(backend, id, true),
            Some(others) => self.make_up(backend, id, Cause::Move, &others, now),
            None => self.made_up_to_move(backend, id, false),
        }
    }

    /// Records that a read for reconstructing a page that is moved, of which `id` is part, has ended or failed.
    pub(super) fn made_up_to_move(
        &mut self,
        backend: &mut Backend,
        id: TransactionId,
        is_made_up: bool,
    ) {
        self.queues.transactions.remove(id);
        let stripes = self.queues.stripes.as_mut();
        let Some(page) = stripes.and_then(|stripes| stripes.end_to_move(id, &backend.ftl)) else {
            return;
        };
        backend.counters.moves_rebuilt += u64::from(is_made_up);
        backend.ftl.stripe_was_read(page, is_made_up);
        backend
            .flash
            .wake(backend.ftl.geometry().die_of_plane(backend.ftl.geometry().plane_of(page)));
    }
}
