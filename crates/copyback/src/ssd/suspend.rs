//! Program and erase suspend: a read of the host takes the array away from what it does.

use smallvec::SmallVec;

use crate::config;
use crate::ids::{DieId, PlaneId, Ppn};
use crate::nand::{Command, Operation};
use crate::units::{Duration, Instant};

use super::{Purpose, Ssd};

/// What suspending costs, and how often it may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuspendRule {
    suspend: Duration,
    resume: Duration,
    most: u32,
}

impl SuspendRule {
    /// The rule that a checked configuration describes, if operations may be suspended.
    pub const fn new(config: config::Suspend) -> Option<Self> {
        match config {
            config::Suspend::None => None,
            config::Suspend::ProgramErase { suspend, resume, most } => {
                Some(Self { suspend: suspend.0, resume: resume.0, most })
            }
        }
    }
}

impl Ssd {
    /// Lets waiting reads suspend what the array does, or goes on with what was suspended. `None` if
    /// neither is at hand; else whether the die may have further work to start now.
    pub(super) fn suspend_or_resume(&mut self, die: DieId, now: Instant) -> Option<bool> {
        let rule = self.options.suspend?;
        let state = &self.dies[die.index()];
        if state.suspended().is_some() {
            return Some(self.read_or_resume(die, rule, now));
        }
        state.suspendable(rule.most, rule.suspend, now)?;
        self.next_read_besides_programs(die)?;
        self.collection_rests(die, now);
        self.counters.suspends += 1;
        if let Some(audit) = &mut self.audit {
            audit.array_suspended(die, now);
        }
        self.tell_cut(die, now);
        self.dies[die.index()].suspend(rule.suspend, now);
        Some(true)
    }

    fn read_or_resume(&mut self, die: DieId, rule: SuspendRule, now: Instant) -> bool {
        let state = &self.dies[die.index()];
        let can_read = state.accepts(Command::Read);
        if let Some(plane) = self.next_read_besides_programs(die) {
            return can_read && self.start_read(plane, now);
        }
        if !can_read || !self.dies[die.index()].has_free_registers() {
            return false;
        }
        if let Some(Operation { tag: Purpose::Collection(_), .. }) =
            self.dies[die.index()].suspended()
            && let Some(collection) = &self.collections[die.index()]
        {
            let (mask, reason) = (collection.mask, collection.reason());
            self.collection_runs(die, mask, reason, now);
        }
        self.dies[die.index()].resume(rule.resume, now);
        true
    }

    /// The plane of the read that has waited longest, unless its page is being programmed.
    fn next_read_besides_programs(&self, die: DieId) -> Option<PlaneId> {
        let (_, plane) = self.oldest_read(die)?;
        let page = self.page_of_first_read(plane);
        page.is_none_or(|page| !self.dies[die.index()].programs(page)).then_some(plane)
    }

    /// Notes that the operation which is about to start programs `page`.
    pub(super) fn note_target(&mut self, page: Ppn) {
        if self.options.notes_targets {
            self.pages.push(page);
        }
    }

    /// The noted pages of the operation which starts now.
    pub(super) fn take_pages(&mut self) -> Option<Box<SmallVec<[Ppn; 2]>>> {
        (!self.pages.is_empty()).then(|| Box::new(std::mem::take(&mut self.pages)))
    }
}
