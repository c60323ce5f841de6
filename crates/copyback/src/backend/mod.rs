//! Backend that collections and the host's operations share: the translation layer, the flash on the clock, the
//! cost of faults, and the observer.

mod ageing;
mod collecting;
mod counters;
mod faults;
mod held;
mod pacing;
mod sorting;
mod wake;

pub use collecting::Outlook;
pub use counters::{Counters, Merges, Moves};
pub use faults::{FaultReport, Found};
pub use held::ToFill;
pub use pacing::PacingTally;
pub use sorting::SortingReport;

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::flash::{Flash, Noted};
use crate::ftl::Ftl;
use crate::ids::{BlockId, DieId, Lpn, PlaneId, Ppn};
use crate::nand::ReadOut;
use crate::observer::Observer;
use crate::purpose::Reason;
use crate::shortcut::Shortcuts;
use crate::transaction::Fifo;
use crate::units::Instant;

use ageing::Ageing;
use collecting::Collecting;
use faults::FaultCosts;
use held::Held;

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
    /// Kept if anything can go wrong in the flash.
    faults: Option<Box<FaultCosts>>,
    /// Kept if reads or time do anything to the data of blocks.
    pub ageing: Option<Box<Ageing>>,
    /// Kept if an array read brings several units of mapping.
    read_out: Option<Box<ReadOut>>,
    /// Kept if writes end when their page is programmed, which may hold others.
    pub held: Option<Box<Held>>,
}

/// Location of a physical page: the plane and offset that multi-plane rules look at.
#[derive(Debug, Clone, Copy)]
pub struct Located {
    /// Plane of the page.
    pub plane: PlaneId,
    /// Page offset in its block.
    pub offset: u32,
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
        Self {
            flash: Flash::new(config, ftl.geometry(), pipelined, noted, shortcuts),
            observer: Observer::new(config, ftl.geometry()),
            counters: Counters::default(),
            collecting: Collecting::new(ftl.geometry().dies()),
            faults: ftl.bad_blocks().are_possible().then(Box::default),
            ageing,
            read_out: ReadOut::new(ftl.geometry()).map(Box::new),
            held: Held::new(config),
            ftl,
        }
    }

    /// Whether a page of `die` may have to be filled up.
    #[inline(always)]
    pub fn may_fill(&self, die: DieId) -> bool {
        self.held.as_ref().is_some_and(|held| held.may_fill(&self.ftl, die))
    }

    /// Wakes the dies whose pages writes wait for.
    pub fn wake_for_held(&mut self) {
        let Self { held: Some(held), ftl, flash, .. } = self else { return };
        held.programs().for_each(|program| flash.wake(ftl.geometry().die_of_program(program)));
    }

    /// An erase of `block` waits for the programs that supersede its pages: those that wait for further units are filled up.
    pub fn ask_for_programs(&mut self, block: BlockId) {
        let Self { held: Some(held), ftl, flash, .. } = self else { return };
        let pages = ftl.audit().into_iter().flat_map(|audit| audit.superseding(block));
        for program in pages.map(|page| ftl.geometry().program_of(page)) {
            if held.ask(program) {
                flash.wake(ftl.geometry().die_of_program(program));
            }
        }
    }

    /// The bit of `plane` in the masks of its die.
    pub fn bit(&self, plane: PlaneId) -> u32 {
        1 << self.ftl.geometry().plane_in_die(plane)
    }

    /// The planes of `die` whose bits are set in `mask`.
    pub fn planes_in(&self, mask: u32, die: DieId) -> impl Iterator<Item = PlaneId> + use<> {
        crate::ids::planes_in(mask, die, self.ftl.geometry().planes_per_die)
    }

    /// The plane and the offset of `page`.
    pub fn locate(&self, page: Ppn) -> Located {
        let plane = self.ftl.geometry().plane_of(page);
        Located { plane, offset: self.ftl.geometry().page_offset(page) }
    }

    /// `lpn` is read, from flash, the register of a collection or DRAM: counted if it is a translation page.
    #[inline(always)]
    pub fn count_translation_read(&mut self, lpn: Lpn) {
        self.counters.mapping.reads += u64::from(self.ftl.limits().is_translation_page(lpn));
    }

    /// Notes the present time for the age of blocks.
    #[inline]
    pub fn note_time(&mut self, now: Instant) {
        if let Some(ageing) = &mut self.ageing {
            ageing.note(&self.ftl.take_opened_blocks(), &self.ftl, now);
        }
    }

    /// When the drive is to look for data that have become too old, if that was not said before.
    #[inline]
    pub fn plan_refresh_look(&mut self) -> Option<Instant> {
        self.ageing.as_mut()?.plan_look(&self.ftl)
    }

    /// Whether a block of `die` is to be collected for the sake of its data.
    #[inline]
    pub fn is_to_be_refreshed(&self, die: DieId) -> bool {
        let due = self.ageing.as_ref().and_then(|ageing| ageing.next_due(&self.ftl, die));
        due.is_some() && !self.is_read_only()
    }

    /// Wakes all dies if the planes of others than those that were written may have become due, as they are counted
    /// together. Returns whether they have.
    pub fn wake_if_others_are_due(&mut self) -> bool {
        let are_due = self.ftl.take_wakes_others();
        if are_due {
            self.flash.wake_all();
        }
        let given = self.ftl.parity_mut().map(|parity| parity.take_given()).unwrap_or_default();
        given.iter().for_each(|die| self.flash.wake(*die));
        are_due || !given.is_empty()
    }

    /// The die begins, or goes on, to collect the planes of `mask`.
    #[inline]
    pub fn collection_runs(&mut self, die: DieId, mask: u32, reason: Reason, now: Instant) {
        if self.collecting.runs(die) {
            self.observer.collection_runs(die, mask, reason.into(), now);
        }
    }

    /// The die stops collecting, at the end of a collection or to serve the host.
    pub fn collection_rests(&mut self, die: DieId, now: Instant) {
        if self.collecting.rests(die) {
            self.observer.collection_rests(die, now);
        }
    }
}
