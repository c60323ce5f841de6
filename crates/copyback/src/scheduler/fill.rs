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

    /// The page that `program` writes has been programmed: ends the writes that have waited for that.
    pub fn end_held(&mut self, backend: &mut Backend, program: ProgramId, now: Instant) {
        let ended = backend.held.as_mut().map(|held| held.programmed(program)).unwrap_or_default();
        for id in ended {
            self.queues.transactions.get_mut(id).end_wait_for_page(&mut backend.observer, now);
            self.finish_transaction(backend, id, now);
        }
    }
}

/// Fills up the page that `program` writes. Its last units are not transferred.
pub fn start_fill(backend: &mut Backend, program: ProgramId, now: Instant) -> bool {
    let Filled { last, units, closes_block } = backend.ftl.fill_up(program);
    backend.flash.note_target(last);
    backend.counters.programs += u64::from(units);
    backend.counters.padding += u64::from(units);
    let offset = backend.ftl.geometry().page_offset(last);
    let array = backend.host_program_time(last, offset, closes_block.into());
    let times =
        Times { transfer_in: backend.flash.timing.command, array, transfer_out: Duration::ZERO };
    let die = backend.ftl.geometry().die_of_plane(backend.ftl.geometry().plane_of(last));
    issue(backend, die, Command::Program, times, Fifo::default(), now);
    true
}
