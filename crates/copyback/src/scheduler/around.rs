//! Reads around: a page that cannot be read now, or not at all, is made up from the other pages of its stripe, which are
//! read at the same time. The last of them ends the read.
//!
//! Around a collection as TTFLASH does (Yan et al., FAST 2017): if the die of the page collects, and no other of the stripe.

use crate::backend::Backend;
use crate::ftl::StripePages;
use crate::ids::{DieId, PlaneId, Ppn};
use crate::outcome::Outcome;
use crate::transaction::{Kind, Transaction, TransactionId};
use crate::units::Instant;

use super::Scheduler;
use super::stripes::Cause;

impl Scheduler {
    /// Sends the read of `page` around the collection of its die, or makes it up if that is lost, if there is one and it is
    /// possible. Returns whether it has.
    pub(super) fn read_around(
        &mut self,
        backend: &mut Backend,
        id: TransactionId,
        page: Ppn,
        now: Instant,
    ) -> bool {
        let Some((cause, others)) = self.detour(backend, page) else { return false };
        let read = self.queues.transactions.get_mut(id);
        backend.ftl.check_read(read.lpn, read.reader());
        // What is made up has the mark of a lost page, too.
        if backend.ftl.lost_pages().is_marked(page) {
            read.cannot_be_corrected();
        }
        match others {
            Some(others) if others.is_empty() => {
                if let Some(rebuild) = &mut self.rebuild {
                    rebuild.note_degraded_read();
                }
                self.finish_read(backend, id, now);
            }
            Some(others) => self.make_up(backend, id, cause, &others, now),
            None => self.fail_read(backend, id, now),
        }
        true
    }

    /// Reason why `page` cannot be read where it is, or not now, and the others of its stripe that are read instead: `None` if
    /// there are none, empty if all that is needed is in DRAM.
    fn detour(&self, backend: &Backend, page: Ppn) -> Option<(Cause, Option<StripePages>)> {
        let geometry = backend.ftl.geometry();
        let die_of = |page| geometry.die_of_plane(geometry.plane_of(page));
        if self.rebuild.is_some() && backend.ftl.is_lost(die_of(page)) {
            return Some((Cause::LostDie, backend.ftl.others_of_stripe(page)));
        }
        let goes_around = self.queues.stripes.as_ref().is_some_and(|stripes| stripes.goes_around);
        let collects = |page: &Ppn| backend.collecting.is_running(die_of(*page));
        if !goes_around || !collects(&page) {
            return None;
        }
        let others = backend.ftl.others_of_stripe(page).filter(|others| !others.is_empty())?;
        (!others.iter().any(collects)).then_some((Cause::Collection, Some(others)))
    }

    /// The die has begun to collect: reads that wait for it go around it, if they can.
    pub fn send_around(&mut self, backend: &mut Backend, die: DieId, now: Instant) {
        if !self.queues.stripes.as_ref().is_some_and(|stripes| stripes.goes_around) {
            return;
        }
        for plane in backend.ftl.geometry().planes_of_die(die) {
            let waiting: Vec<_> = std::iter::from_fn(|| self.queues.pop_read(plane)).collect();
            waiting.into_iter().for_each(|id| self.send_one_around(backend, id, plane, now));
        }
    }

    fn send_one_around(
        &mut self,
        backend: &mut Backend,
        id: TransactionId,
        plane: PlaneId,
        now: Instant,
    ) {
        let transaction = self.queues.transactions.get(id);
        let page = match transaction.kind {
            Kind::OfStripe if self.is_free_again(backend, id) => {
                self.queues.transactions.get_mut(id).end_wait(&mut backend.observer, now);
                return self.finish_part(backend, id, true, now);
            }
            Kind::OfStripe => None,
            Kind::Read | Kind::ReadToUpdate | Kind::Write => backend.ftl.lookup(transaction.lpn),
        };
        if !page.is_some_and(|page| self.read_around(backend, id, page, now)) {
            self.queues.push_read(plane, id);
        }
    }

    /// Whether the page that the part `id` of a stripe is read for can be read itself by now: it was to go around its die, which
    /// collects no more.
    fn is_free_again(&self, backend: &Backend, id: TransactionId) -> bool {
        let stripes = self.queues.stripes.as_ref();
        let Some(of) = stripes.and_then(|stripes| stripes.read_around_by(id)) else { return false };
        let geometry = backend.ftl.geometry();
        backend.ftl.lookup(self.queues.transactions.get(of).lpn).is_some_and(|page| {
            let die = geometry.die_of_plane(geometry.plane_of(page));
            !backend.collecting.is_running(die) && !backend.ftl.is_lost(die)
        })
    }

    /// Makes up what `id`, which waits no more, reads from the `others` of its stripe.
    pub(super) fn make_up(
        &mut self,
        backend: &mut Backend,
        id: TransactionId,
        cause: Cause,
        others: &StripePages,
        now: Instant,
    ) {
        self.queues.transactions.get_mut(id).end_wait(&mut backend.observer, now);
        if let Some(stripes) = &mut self.queues.stripes {
            stripes.begin(id, cause, others.len());
        }
        if cause != Cause::Rebuild {
            backend.counters.stripe_reads += others.len() as u64;
        }
        let read = self.queues.transactions.get(id);
        let (owner, lpn, sequence, late) = (read.owner, read.lpn, read.sequence, read.late());
        for page in others {
            let part = Transaction::new(owner, lpn, Kind::OfStripe, sequence, late);
            let part = self.queues.transactions.insert(part);
            if let Some(stripes) = &mut self.queues.stripes {
                stripes.add(part, *page, id, &backend.ftl);
            }
            let Backend { ftl, flash, observer, .. } = &mut *backend;
            self.queues.enqueue_read_of(ftl, flash, observer, part, *page, now);
        }
    }

    /// A part of a stripe has been read, or `is_lost`: the last one ends the read.
    pub(super) fn finish_part(
        &mut self,
        backend: &mut Backend,
        id: TransactionId,
        is_lost: bool,
        now: Instant,
    ) {
        let Some(stripes) = &mut self.queues.stripes else { return };
        let cannot_be_read = stripes.take_uncorrectable(id).is_some();
        let ended = stripes.end(id, is_lost || cannot_be_read);
        let parts = self.queues.transactions.get(id).parts;
        self.queues.transactions.remove(id);
        let Some((of, Some(read))) = ended else { return };
        self.queues.transactions.get_mut(of).parts += parts;
        if read.has_failed {
            // Whether there was a mark is not known.
            self.queues.transactions.get_mut(of).in_vain = false;
        }
        match (read.cause, read.has_failed) {
            // What is gone has been moved, or its die is waited for.
            (Cause::Collection, true) => return self.enqueue_read_plainly(backend, of, now),
            (Cause::Collection, false) => backend.counters.reads_around += 1,
            (Cause::Error, true) => return self.fail_read(backend, of, now),
            (Cause::Error, false) => backend.counters.reads_rebuilt += 1,
            (Cause::LostDie, true) if self.lies_elsewhere(backend, of) => {
                return self.enqueue_read(backend, of, now);
            }
            (Cause::LostDie, true) => return self.fail_read(backend, of, now),
            (Cause::LostDie, false) => {
                if let Some(rebuild) = &mut self.rebuild {
                    rebuild.note_degraded_read();
                }
            }
            (Cause::Move, has_failed) => {
                return self.made_up_to_move(backend, of, !has_failed);
            }
            (Cause::Rebuild, has_failed) => {
                return self.stripe_was_read(backend, of, !has_failed);
            }
        }
        self.finish_read(backend, of, now);
    }

    /// Whether what `id` reads is not on the lost die any more.
    pub(super) fn lies_elsewhere(&self, backend: &Backend, id: TransactionId) -> bool {
        let geometry = backend.ftl.geometry();
        let page = backend.ftl.lookup(self.queues.transactions.get(id).lpn);
        !page
            .is_some_and(|page| backend.ftl.is_lost(geometry.die_of_plane(geometry.plane_of(page))))
    }

    /// Ends the read `id`, whose data are not to be had.
    #[cold]
    pub(super) fn fail_read(&mut self, backend: &mut Backend, id: TransactionId, now: Instant) {
        backend.counters.reads_lost += 1;
        let read = self.queues.transactions.get_mut(id);
        read.cannot_be_corrected();
        match read.kind {
            Kind::ReadToUpdate => self.turn_into_write(backend, id, now),
            Kind::Read | Kind::Write | Kind::OfStripe => {
                self.finish(Outcome::Uncorrectable, backend, id, now);
            }
        }
    }

    /// The read `id` has ended. If its die could not correct the page, makes it up from the others of its stripe.
    pub(super) fn finish_read(&mut self, backend: &mut Backend, id: TransactionId, now: Instant) {
        let stripes = self.queues.stripes.as_mut();
        if let Some(page) = stripes.and_then(|stripes| stripes.take_uncorrectable(id)) {
            let others = backend.ftl.others_of_stripe(page).filter(|others| !others.is_empty());
            return match others {
                Some(others) => self.make_up(backend, id, Cause::Error, &others, now),
                None => self.fail_read(backend, id, now),
            };
        }
        let read = self.queues.transactions.get(id);
        match read.kind {
            _ if read.in_vain => self.fail_read(backend, id, now),
            Kind::ReadToUpdate => self.turn_into_write(backend, id, now),
            Kind::Read | Kind::Write | Kind::OfStripe => {
                self.finish(Outcome::Done, backend, id, now);
            }
        }
    }
}
