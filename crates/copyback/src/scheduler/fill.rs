//! Writes that wait until their page is programmed, and pages that are filled up for them.

use crate::backend::Backend;
use crate::ftl::Filled;
use crate::ids::ProgramId;
use crate::nand::{Command, Times};
use crate::transaction::{Fifo, PageNote, TransactionId, Wait};
use crate::units::{Duration, Instant};

use super::Scheduler;
use super::dispatch::issue;

impl Scheduler {
    /// Fills up the page that `program` writes. Its last units are not transferred.
    pub(super) fn start_fill(backend: &mut Backend, program: ProgramId, now: Instant) -> bool {
        let Filled { last, units, closes_block } = backend.ftl.fill_up(program);
        backend.flash.note_target(last);
        backend.counters.programs += u64::from(units);
        backend.counters.padding += u64::from(units);
        let offset = backend.ftl.geometry().page_offset(last);
        let array = backend.host_program_time(last, offset, closes_block.into());
        let times = Times {
            transfer_in: backend.flash.timing.command,
            array,
            transfer_out: Duration::ZERO,
        };
        let die = backend.ftl.geometry().die_of_plane(backend.ftl.geometry().plane_of(last));
        issue(backend, die, Command::Program, times, Fifo::default(), now);
        true
    }

    /// Whether the write `id`, which has been transferred, does not end before its page is programmed.
    pub(super) fn waits_for_page(
        &mut self,
        backend: &mut Backend,
        id: TransactionId,
        now: Instant,
    ) -> bool {
        let sequence = self.queues.transactions.get(id).sequence;
        let held = backend.held.as_mut();
        let Some(program) = held.and_then(|held| held.transferred(id, sequence)) else {
            return false;
        };
        let die = backend.ftl.geometry().die_of_program(program);
        let collected = backend.observer.collected(die, now);
        self.queues.transactions.get_mut(id).wait =
            Wait::Page(PageNote { die, since: now, collected });
        true
    }

    /// Ends the wait of a write for its page. As much of that is due to collections as its die has collected.
    fn end_wait_for_page(&mut self, backend: &mut Backend, id: TransactionId, now: Instant) {
        let write = self.queues.transactions.get(id);
        if let Wait::Page(PageNote { die, collected, .. }) = write.wait {
            let late = write.late() + (backend.observer.collected(die, now) - collected);
            self.end_wait_for_other(backend, id, late, None, now);
        }
    }

    /// The page that `program` writes has been programmed: ends the writes that have waited for that.
    pub fn end_held(&mut self, backend: &mut Backend, program: ProgramId, now: Instant) {
        let ended = backend.held.as_mut().map(|held| held.programmed(program)).unwrap_or_default();
        for id in ended {
            self.end_wait_for_page(backend, id, now);
            self.finish_transaction(backend, id, now);
        }
    }

    /// The flush at `place` among the writes of the buffer waits for all writes so far.
    pub fn flush(&self, backend: &mut Backend, place: u64) {
        if let Some(held) = &mut backend.held {
            held.flush(place, self.submitted);
            backend.wake_for_held();
        }
    }

    /// Says that room in the buffer is waited for, which one of `all` writes would make as it ends; `None` if nobody waits.
    pub fn wait_for_any(backend: &mut Backend, all: Option<usize>) {
        if let Some(held) = &mut backend.held
            && held.wait_for_any(all)
        {
            backend.wake_for_held();
        }
    }

    /// The write `id` has read what it does not cover, if it had to.
    pub(super) fn note_read(&self, backend: &mut Backend, id: TransactionId) {
        if let Some(held) = &mut backend.held {
            held.has_read(self.queues.transactions.get(id).sequence);
            backend.wake_for_held();
        }
    }
}
