//! Writes that wait in the controller's memory until the page that they go to is programmed.
//!
//! A page of the flash may hold several units of mapping (`ssd.ftl.mapping_unit`), and is programmed when the last of
//! them has come. Capacitors save those that wait for others. Without capacitors (`ssd.power.protection = "none"`) a unit
//! is safe only when its page is programmed: until then its write does not end, and the page that it supersedes is not
//! erased. So somebody may have to wait for units that nobody sends. The page is then *filled up*: it is programmed with
//! nothing in its last units.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::flash::Flash;
use crate::ftl::Ftl;
use crate::ids::{BlockId, DieId, ProgramId};
use crate::nand::Geometry;
use crate::transaction::TransactionId;

use super::Purpose;

/// The writes of a drive that wait for their pages, and who waits for them.
#[derive(Debug, Default, Checkpointed)]
pub struct Held {
    /// Of each write that is being transferred, the program that it is a part of.
    transferring: BTreeMap<TransactionId, ProgramId>,
    /// Of each program with a write that is not over, the writes that have been transferred.
    waiting: BTreeMap<ProgramId, Vec<Write>>,
    /// Number of writes that have been transferred and wait.
    count: usize,
    /// Sequence numbers of the writes that read what they do not cover first.
    reading: BTreeSet<u64>,
    /// Programs that an erase waits for.
    asked: BTreeSet<ProgramId>,
    /// The flushes that have not ended.
    flushes: VecDeque<Flush>,
    /// Number of writes that can wait at most, where something waits for any of them to end.
    all: Option<usize>,
}

/// A write that waits for its page.
#[derive(Debug, Clone, Copy, Checkpointed)]
struct Write {
    id: TransactionId,
    sequence: u64,
}

/// A flush that waits for writes.
#[derive(Debug, Clone, Copy, Checkpointed)]
struct Flush {
    /// Place of the flush among the writes of the buffer.
    place: u64,
    /// The sequence number of the last write that it waits for.
    last: u64,
}

/// A page that is to be filled up.
#[derive(Debug, Clone, Copy)]
pub struct ToFill {
    /// The program that writes the page.
    pub program: ProgramId,
    /// The sequence number of the write that has waited longest for it; 0 if an erase waits.
    pub since: u64,
}

impl Held {
    /// A record of no write yet, for a checked configuration; `None` if writes end when they have been transferred.
    pub fn new(config: &Resolved) -> Option<Box<Self>> {
        config.drive.pages.are_held.then(Box::default)
    }

    /// The write `sequence` reads what it does not cover first.
    pub fn reads_first(&mut self, sequence: u64) {
        self.reading.insert(sequence);
    }

    /// The write `sequence` has read what it does not cover, if it had to.
    pub fn has_read(&mut self, sequence: u64) {
        self.reading.remove(&sequence);
    }

    /// A write has been given to a die, as a part of `program`.
    pub fn begins(&mut self, id: TransactionId, program: ProgramId) {
        self.transferring.insert(id, program);
        self.waiting.entry(program).or_default();
    }

    /// The write `sequence` has been transferred. Returns the program that it waits for, if that is not over.
    pub fn transferred(&mut self, id: TransactionId, sequence: u64) -> Option<ProgramId> {
        let program = self.transferring.remove(&id)?;
        self.waiting.get_mut(&program)?.push(Write { id, sequence });
        self.count += 1;
        Some(program)
    }

    /// A page has been programmed. Returns the writes that have waited for that.
    pub fn programmed(&mut self, program: ProgramId) -> Vec<TransactionId> {
        self.asked.remove(&program);
        let ended = self.waiting.remove(&program).unwrap_or_default();
        self.count -= ended.len();
        ended.into_iter().map(|write| write.id).collect()
    }

    /// Writes that have been transferred and wait.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// An erase of `block` waits for the programs that supersede its pages: those that wait for further units are filled up.
    pub fn ask_for_programs(&mut self, ftl: &Ftl, flash: &mut Flash<Purpose>, block: BlockId) {
        let pages = ftl.audit().into_iter().flat_map(|audit| audit.superseding(block));
        for program in pages.map(|page| ftl.geometry().program_of(page)) {
            if self.asked.insert(program) {
                flash.wake(ftl.geometry().die_of_program(program));
            }
        }
    }

    /// The flush at `place` among the writes of the buffer waits for all writes up to the `last`.
    pub fn flush(&mut self, place: u64, last: u64) {
        match self.flushes.back_mut() {
            Some(flush) if flush.place == place => flush.last = last,
            _ => self.flushes.push_back(Flush { place, last }),
        }
    }

    /// The flush at `place` has ended, and all before.
    pub fn flush_ended(&mut self, place: u64) {
        let ended = self.flushes.partition_point(|flush| flush.place <= place);
        self.flushes.drain(..ended);
    }

    /// Says that room in the buffer is waited for, which one of `all` writes would make as it ends; `None` if nobody waits. Returns
    /// whether that is news.
    pub fn wait_for_any(&mut self, all: Option<usize>) -> bool {
        std::mem::replace(&mut self.all, all) != all
    }

    /// The programs that writes wait for.
    pub fn programs(&self) -> impl Iterator<Item = ProgramId> {
        self.waiting.keys().copied()
    }

    /// Wakes the dies whose pages writes wait for.
    pub fn wake_dies(&self, geometry: &Geometry, flash: &mut Flash<Purpose>) {
        self.programs().for_each(|program| flash.wake(geometry.die_of_program(program)));
    }

    /// The first die that is `asked_for` of those with a page that writes wait for and others could fill.
    pub fn first_die(&self, ftl: &Ftl, asked_for: impl Fn(&DieId) -> bool) -> Option<DieId> {
        let filled_in_part = self.programs().filter(|program| ftl.is_filled_in_part(*program));
        filled_in_part.map(|program| ftl.geometry().die_of_program(program)).find(asked_for)
    }

    /// Whether a page of `die` holds some units, and writes wait for it.
    pub fn waits_in(&self, ftl: &Ftl, die: DieId) -> bool {
        let mut of_die = self.waiting.range(ftl.geometry().programs_of_die(die));
        of_die.any(|(program, _)| ftl.is_filled_in_part(*program))
    }

    /// The page of `die` that an erase waits for and that is to be filled up.
    pub fn next_asked(&self, ftl: &Ftl, die: DieId) -> Option<ToFill> {
        let mut asked = self.asked.range(ftl.geometry().programs_of_die(die)).copied();
        let program = asked.find(|program| ftl.is_filled_in_part(*program))?;
        Some(ToFill { program, since: 0 })
    }

    /// The page of `die` that is to be filled up if no write waits that could.
    pub fn next_to_fill(&self, ftl: &Ftl, die: DieId) -> Option<ToFill> {
        self.next_asked(ftl, die).or_else(|| self.next_waited_for(ftl, die))
    }

    fn next_waited_for(&self, ftl: &Ftl, die: DieId) -> Option<ToFill> {
        let mut of_die = self.waiting.range(ftl.geometry().programs_of_die(die));
        of_die.find_map(|(program, writes)| {
            let since = writes.first()?.sequence;
            let is_due = self.is_waited_for(since) && ftl.may_be_filled(*program);
            is_due.then_some(ToFill { program: *program, since })
        })
    }

    /// Whether somebody waits for the write `sequence`, and no write comes any more that this waits for, too.
    fn is_waited_for(&self, sequence: u64) -> bool {
        let flush = self.flushes.iter().find(|flush| flush.last >= sequence);
        let comes = |flush: &Flush| self.reading.first().is_some_and(|first| *first <= flush.last);
        self.all == Some(self.count) || flush.is_some_and(|flush| !comes(flush))
    }

    /// Whether a page of `die` may have to be filled up: at worst says that one may.
    pub fn may_fill(&self, ftl: &Ftl, die: DieId) -> bool {
        let programs = ftl.geometry().programs_of_die(die);
        let is_waited_for = !self.flushes.is_empty() || self.all == Some(self.count);
        self.asked.range(programs.clone()).next().is_some()
            || (is_waited_for && self.waiting.range(programs).next().is_some())
    }
}
