//! Backend that collections and the host's operations share: the translation layer, the flash on the clock, the
//! cost of faults, and the observer.

mod ageing;
mod collecting;
mod condition;
mod counters;
mod faults;
mod held;
mod pacing;
mod sorting;
mod wake;

pub use collecting::{Collecting, Outlook};
pub use condition::Condition;
pub use counters::{Counters, Merges, Moves};
pub use faults::{FaultReport, Found};
pub use held::{Held, ToFill};
pub use pacing::PacingTally;
pub use sorting::SortingReport;
pub use wake::{wake_dies_to_collect, wake_for_work, wake_if_to_collect};

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::flash::{Flash, Noted};
use crate::ftl::Ftl;
use crate::ids::Ppn;
use crate::observer::Observer;
use crate::shortcut::Shortcuts;
use crate::transaction::Fifo;
use crate::units::Duration;

use ageing::Ageing;

/// Purpose of an operation in a die.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub enum Purpose {
    /// One page operation of the host, or several joined into a multi-plane command.
    Host(Fifo),
    /// A step of the die's collection.
    Collection(StepInFlight),
}

/// The flash operation of a collection that is in a die.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum StepInFlight {
    // The first two are what nearly every step is, and one comparison tells them from the others.
    /// Reads pages out, to be programmed elsewhere.
    Read,
    /// Programs pages that were read out, or moves one inside its plane.
    Program,
    /// Reads this page, to be programmed elsewhere, in vain: it is made up from others.
    ReadInVain(Ppn),
    /// Reads this page into the device's DRAM.
    Stage(Ppn),
    /// Erases the victims.
    Erase,
    /// Programs pages that were in the device's DRAM, when nothing is collected.
    ProgramStaged,
    /// Programs parity of lines, when nothing is collected.
    Parity,
    /// Programs pages of a lost die that were made up, when nothing is collected.
    Rebuilt,
}

/// The back end of a drive.
#[derive(Debug, Checkpointed)]
pub struct Backend {
    /// Translation layer: places of pages.
    pub ftl: Ftl,
    /// Flash: dies and channels.
    pub flash: Flash<Purpose>,
    /// Observer of the drive's time.
    pub observer: Observer,
    /// Counts of its work.
    pub counters: Counters,
    /// Dies that collect.
    pub collecting: Collecting,
    /// Condition of the flash: faults and age.
    pub condition: Condition,
    /// Kept if writes end when their page is programmed, which may hold others.
    pub held: Option<Box<Held>>,
    /// Whether anything but a read of the host has come, begun or ended since this was last taken: it may give room or work to
    /// other dies than its own.
    pub has_changed: bool,
}

impl Backend {
    /// The back end of a checked configuration around a prepared translation layer; `pipelined` if operations
    /// of collections and of the host overlap in a die.
    pub fn new(config: &Resolved, mut ftl: Ftl, pipelined: bool, shortcuts: Shortcuts) -> Self {
        let ssd = &config.ssd;
        let noted = match ssd.power.is_watched() || config.metrics.needs_journal() {
            true => Noted::Everything,
            false if ssd.commands.suspend != crate::config::Suspend::None => Noted::Programmed,
            false => Noted::Nothing,
        };
        let ageing = Ageing::new(config, &ftl);
        if ageing.is_some() {
            ftl.tell_opened_blocks();
        }
        let condition = Condition::new(&ftl, ageing);
        Self {
            flash: Flash::new(config, ftl.geometry(), pipelined, noted, shortcuts),
            observer: Observer::new(config, ftl.geometry()),
            counters: Counters::default(),
            collecting: Collecting::new(ftl.geometry().dies()),
            condition,
            held: Held::new(config),
            has_changed: true,
            ftl,
        }
    }

    /// Wakes all dies if the planes of others than those that were written may have become due, as they are counted
    /// together. Returns whether they have.
    pub fn wake_if_others_are_due(&mut self) -> bool {
        let are_due = self.ftl.take_wakes_others();
        if are_due {
            self.flash.wake_all();
        }
        let given = self.ftl.parity_mut().map(|parity| parity.due.take_given()).unwrap_or_default();
        given.iter().for_each(|die| self.flash.wake(*die));
        are_due || !given.is_empty()
    }

    /// The operation that is about to start copies `page` inside the flash, where nobody corrects it: what cannot be read is no
    /// more legible in the copy.
    #[inline]
    pub fn copy_unseen(&mut self, page: Ppn) {
        if self.condition.has_faults() && self.condition.copies_errors(&self.ftl, page) {
            self.ftl.cannot_read_to_move(page);
        }
    }

    /// Time in the array of a program at `offset`, whose pages have found their places and fill so many blocks. These get
    /// their summary pages, which are counted.
    #[inline]
    pub fn program_time(&mut self, offset: u32, filled: u64) -> Duration {
        let mut time = self.flash.timing.program(offset);
        if let Some(summary) = self.flash.timing.summary.filter(|_| filled > 0) {
            time += summary;
            self.counters.summary_pages += filled;
        }
        time + self.replacing_time()
    }

    /// Time in the array of a program of the host that has gone to `page`, at `offset` of its block; otherwise as
    /// [`program_time`](Self::program_time).
    #[inline]
    pub fn host_program_time(&mut self, page: Ppn, offset: u32, filled: u64) -> Duration {
        match self.flash.timing.cache {
            Some(cache) if self.ftl.is_in_cache(page) => {
                cache.program(offset) + self.replacing_time()
            }
            _ => self.program_time(offset, filled),
        }
    }

    /// Counts the blocks that have just been replaced. Returns what the operation which is about to start takes for that and for
    /// other faults.
    #[inline]
    pub fn replacing_time(&mut self) -> Duration {
        if !self.condition.has_faults() {
            return Duration::ZERO;
        }
        let replaced = self.ftl.take_replaced();
        let Self { condition, ftl, flash, counters, .. } = self;
        condition.count_replaced(&replaced, ftl, &flash.timing, counters)
    }
}
