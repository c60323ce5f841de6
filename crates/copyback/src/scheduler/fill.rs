//! Writes that wait until their page is programmed, and pages that are filled up for them.

use crate::backend::{Backend, Held};
use crate::ftl::Filled;
use crate::ids::ProgramId;
use crate::nand::{Command, Geometry, Times};
use crate::observer::Observer;
use crate::outcome::Outcome;
use crate::transaction::{Fifo, PageNote, TransactionId, Wait};
use crate::units::{Duration, Instant};

use super::dispatch::issue;
use super::{Queues, Scheduler};

impl Queues {
    /// Whether the write `id`, which has been transferred, does not end before its page is programmed.
    pub(super) fn waits_for_page(
        &mut self,
        held: &mut Held,
        observer: &Observer,
        geometry: &Geometry,
        id: TransactionId,
        now: Instant,
    ) -> bool {
        let write = self.transactions.get_mut(id);
        let Some(program) = held.transferred(id, write.sequence) else { return false };
        let die = geometry.die_of_program(program);
        let collected = observer.collected(die, now);
        write.wait = Wait::Page(PageNote { die, since: now, collected });
        true
    }
}

impl Scheduler {
    /// The page that `program` writes has been programmed: ends the writes that have waited for that.
    pub fn end_held(&mut self, backend: &mut Backend, program: ProgramId, now: Instant) {
        let ended = backend.held.as_mut().map(|held| held.programmed(program)).unwrap_or_default();
        for id in ended {
            self.queues.transactions.get_mut(id).end_wait_for_page(&mut backend.observer, now);
            self.finish(Outcome::Done, backend, id, now);
        }
    }
}

/// Fills up the page that `program` writes. Its last units are not transferred.
pub fn start_fill(backend: &mut Backend, program: ProgramId, now: Instant) -> bool {
    let Filled { last, units, closes_block } = backend.ftl.fill_up(program);
    backend.flash.pages.note_target(last);
    backend.counters.programs += u64::from(units);
    backend.counters.padding += u64::from(units);
    let offset = backend.ftl.geometry().page_offset(last);
    let array = backend.host_program_time(last, offset, closes_block.into());
    let times =
        Times { transfer_in: backend.flash.timing.command, array, transfer_out: Duration::ZERO };
    let die = backend.ftl.geometry().die_of_plane(backend.ftl.geometry().plane_of(last));
    issue(
        &mut backend.observer,
        &mut backend.flash,
        die,
        Command::Program,
        times,
        Fifo::default(),
        now,
    );
    true
}
