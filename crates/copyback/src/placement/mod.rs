//! WHERE: which open block a page goes to. Pages that die together should lie together, so a placement sorts the
//! pages that are written into *classes*; a plane keeps one open block for each. It knows page numbers and blocks'
//! lives, and nothing of dies, times or queues.
//!
//! The clock is the number of pages that the host has written to the drive, or, where [the configuration
//! says](config::Clock), the time of its latest write.
//!
//! A placement more is a file here, a variant of [`AnyPlacement`], and an arm in `new`. One that is written in Python is
//! asked through [`supply`].

mod by_hint;
mod chunks;
mod classes;
mod clusters;
mod dac;
mod eti;
mod events;
mod extents;
mod external;
mod fadac;
mod future;
mod generations;
mod groups;
mod handles;
mod heat;
mod host_and_gc_apart;
mod lives;
mod log_space;
mod midas;
mod multi_log;
mod multi_queue;
mod one_class;
mod oracle;
mod queues;
mod runs;
mod sep_bit;
mod sfr;
mod sfs;
pub mod supply;
mod warcip;
mod write_times;

use std::num::NonZeroU8;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;
use crate::config;
use crate::ids::{BlockId, Lpn};
use crate::one_of::one_of;
use crate::outside::{Device, Failed, Supply};
use crate::rng::Stream;
use crate::workload::Hint;

use by_hint::ByHint;
pub use classes::Classes;
use dac::Dac;
use eti::Eti;
pub use events::{Event, Life, Needs, Old};
use external::External;
use fadac::Fadac;
pub use future::{Foreseen, Future, MOST_ENDS};
use generations::Generations;
pub use groups::{FullBlocks, Grouping, Order, Regrouping, Wanted};
pub use handles::HandleTally;
use host_and_gc_apart::HostAndGcApart;
use midas::Midas;
use multi_log::MultiLog;
use multi_queue::MultiQueue;
use one_class::OneClass;
use oracle::Oracle;
use sep_bit::SepBit;
use sfr::Sfr;
use sfs::Sfs;
use supply::{BlockState, ExternalPlacement};
use warcip::Warcip;

/// Pages that are written to one open block of a plane. The number and one is kept, so that a block of no class takes
/// no more room.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Checkpointed,
)]
pub struct Class(NonZeroU8);

impl Class {
    /// The class with this number, counted from 0.
    ///
    /// # Panics
    /// If no placement has so many.
    pub const fn new(number: usize) -> Self {
        assert!(number < config::MOST_CLASSES as usize, "a placement has few classes");
        Self(NonZeroU8::MIN.saturating_add(number as u8))
    }

    /// Index of the handle in tables.
    pub const fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// A page that the host writes, and what it says about the data, if anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub struct HostPage {
    /// The page.
    pub lpn: Lpn,
    /// The hint.
    pub hint: Option<Hint>,
}

impl HostPage {
    /// A page of which nothing is said.
    pub const fn without_hint(lpn: Lpn) -> Self {
        Self { lpn, hint: None }
    }
}

/// Origin of a page that is written: the host or a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum Origin {
    /// The host.
    Host {
        /// Hint of the host about the data, if it gave one.
        hint: Option<Hint>,
    },
    /// A collection, out of a block.
    Moved {
        /// The class that the block was opened for, if the placement had a say in it.
        class: Option<Class>,
    },
}

/// The classes of a placement that looks at who writes a page, and at nothing else.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct ByOrigin {
    /// Of what the host writes.
    pub host: Class,
    /// Of what collections move.
    pub moved: Class,
}

impl ByOrigin {
    /// The class of a page from there.
    #[inline(always)]
    pub const fn class_of(&self, origin: Origin) -> Class {
        match origin {
            Origin::Host { .. } => self.host,
            Origin::Moved { .. } => self.moved,
        }
    }
}

/// Description of the drive that a placement is given.
#[derive(Debug, Clone, Copy)]
pub struct Drive {
    /// Logical pages; those that hold the mapping are behind the host's.
    pub pages: usize,
    /// Pages of a block that hold data.
    pub pages_per_block: u32,
    /// Planes, each with open blocks of its own.
    pub planes: usize,
    /// Erase blocks.
    pub blocks: usize,
}

/// Sorts pages into classes.
pub trait Placement {
    /// Classes, and whose pages each takes.
    fn classes(&self) -> Classes;

    /// The class of `lpn`, which is about to be written. Decides only, and must not change state: it may be asked
    /// more than once before the page is [written](Event::Wrote).
    fn class_of(&self, lpn: Lpn, origin: Origin, now: u64) -> Class;

    /// The classes of the two origins, if it looks at nothing else and has nothing to learn from pages.
    fn by_origin(&self) -> Option<ByOrigin> {
        None
    }

    /// Events that cost time to find, and that it learns from.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Learns from an `event` that has happened at `now`.
    fn learn(&mut self, _event: Event, _now: u64) {}

    /// Groups in which victims are chosen, if the placement decides where they come from.
    fn grouping(&mut self) -> Option<&mut dyn Grouping> {
        None
    }

    /// Rate at which a valid page of `block` is written, in writes for each page that the host writes to the
    /// drive, if the placement knows.
    fn hotness(&self, _block: BlockId, _now: u64) -> Option<f64> {
        None
    }

    /// Brings what is known of `lpn` into the cache, without waiting for it. It only saves time.
    fn fetch(&self, _lpn: Lpn) {}

    /// Bytes in RAM, for the pages.
    fn bytes(&self) -> usize {
        0
    }

    /// Memory of the placement for a file, in a form of its own.
    fn memory(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Remembers, newly made, what a file tells. Returns whether it can have been told by a placement like this, at
    /// `now`.
    fn remember(&mut self, memory: &[u8], _now: u64) -> bool {
        memory.is_empty()
    }
}

/// The form in which files hold what a placement remembers.
fn to_bytes(placement: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(placement).expect("memory has room for what is in memory")
}

/// Makes `placement`, which is newly made, the one that has this form. False if nothing has it, or if it can't have been
/// told by such a placement: `is_sound` compares the two.
fn recall<T: DeserializeOwned>(
    placement: &mut T,
    memory: &[u8],
    is_sound: impl FnOnce(&T, &T) -> bool,
) -> bool {
    let Ok(saved) = postcard::from_bytes(memory) else { return false };
    let is_sound = is_sound(&saved, placement);
    *placement = saved;
    is_sound
}

one_of! {
    $
    /// The placement of a device.
    #[derive(Debug, Checkpointed)]
    pub enum AnyPlacement {
        /// All in one class.
        OneClass(OneClass),
        /// Host writes, and what collections move.
        HostAndGcApart(HostAndGcApart),
        /// By the host's hint.
        ByHint(Box<ByHint>),
        /// By the known time of death.
        Oracle(Box<Oracle>),
        /// By the inferred time of death.
        SepBit(Box<SepBit>),
        /// By levels that pages climb and come down.
        Dac(Box<Dac>),
        /// By a count of writes and moves, against the average.
        Fadac(Box<Fadac>),
        /// By the temperature of extents.
        Eti(Box<Eti>),
        /// By queues of chunks.
        MultiQueue(Box<MultiQueue>),
        /// By sequentiality, frequency and recency.
        Sfr(Box<Sfr>),
        /// By clusters of rewrite intervals.
        Warcip(Box<Warcip>),
        /// By how often a page has been moved.
        Generations(Box<Generations>),
        /// By clusters of the hotness of blocks.
        Sfs(Box<Sfs>),
        /// By an external placement.
        External(Box<External>),
        /// By generations in groups that a model chooses.
        Midas(Box<Midas>),
        /// By logs that pages climb by chance and come down.
        MultiLog(Box<MultiLog>),
    }
}

impl AnyPlacement {
    /// The placement that a configuration describes, for an erased drive. Its random choices follow from `random`.
    pub fn new(config: &config::Resolved, drive: Drive, random: Stream) -> Self {
        match config.ssd.ftl.placement {
            config::Placement::OneClass => Self::OneClass(OneClass),
            config::Placement::HostAndGcApart => Self::HostAndGcApart(HostAndGcApart),
            config::Placement::ByHint { handles, isolation, .. } => {
                Self::ByHint(Box::new(ByHint::new(handles, isolation, drive)))
            }
            config::Placement::Oracle { classes, width, growth } => {
                let of_victims = config.ssd.gc.victim == config::VictimPolicy::Foresight;
                Self::Oracle(Box::new(Oracle::new(classes, (width, growth), of_victims, drive)))
            }
            config::Placement::SepBit => Self::SepBit(Box::new(SepBit::new(drive))),
            config::Placement::Dac { classes, young } => {
                Self::Dac(Box::new(Dac::new(classes, young, drive)))
            }
            config::Placement::Fadac { classes, average } => {
                Self::Fadac(Box::new(Fadac::new(classes, average, drive)))
            }
            config::Placement::Eti { extents, period, hot } => {
                Self::Eti(Box::new(Eti::new(extents, period, hot, drive)))
            }
            config::Placement::AutoStreamMultiQueue {
                classes,
                chunk_pages,
                counted,
                logarithm,
                expiry,
            } => {
                let placement =
                    MultiQueue::new(classes, (chunk_pages, counted), logarithm, expiry, drive);
                Self::MultiQueue(Box::new(placement))
            }
            config::Placement::AutoStreamSfr {
                classes,
                chunk_pages,
                counted,
                period,
                logarithm,
            } => {
                let placement =
                    Sfr::new(classes, (chunk_pages, counted), period.into(), logarithm, drive);
                Self::Sfr(Box::new(placement))
            }
            config::Placement::Warcip { classes, period, .. } => {
                Self::Warcip(Box::new(Warcip::new(classes, period, drive)))
            }
            config::Placement::Midas { classes, sample } => {
                let blocks = (config.ssd.geometry.blocks_per_plane, config.drive.blocks.in_use);
                Self::Midas(Box::new(Midas::new(classes, sample, blocks, drive)))
            }
            config::Placement::Generations { .. } => Self::Generations(Box::new(Generations::new(
                config.drive.blocks.generations.clone(),
            ))),
            config::Placement::Sfs { classes, period, .. } => {
                Self::Sfs(Box::new(Sfs::new(classes, period, drive)))
            }
            config::Placement::MultiLog { classes, promotion, victims } => {
                let choices = (promotion, victims);
                Self::MultiLog(Box::new(MultiLog::new(classes, choices, drive, random)))
            }
            config::Placement::Python { classes, host_classes, .. } => {
                let classes = match host_classes.map(|count| count as usize) {
                    None => Classes::shared(classes as usize),
                    Some(of_host) => Classes::apart(0..of_host, of_host..classes as usize),
                };
                Self::External(Box::new(External::new(classes, drive, random)))
            }
        }
    }

    /// Takes the placement of `device`, whose blocks are in these states, from `supplier`, if it comes from outside.
    ///
    /// # Errors
    /// If the supplier has none.
    pub fn supply(
        &mut self,
        device: Device,
        blocks: impl Iterator<Item = BlockState>,
        supplier: &dyn Supply<dyn ExternalPlacement>,
    ) -> Result<(), Failed> {
        match self {
            Self::External(external) => {
                external.supply((device, &blocks.collect::<Vec<_>>()), supplier)
            }
            _ => Ok(()),
        }
    }

    /// Begins anew where the power has failed with `before` in use. What is from outside is asked for a new one.
    pub fn begin_anew(&mut self, before: &Self, blocks: impl Iterator<Item = BlockState>) {
        if let (Self::External(external), Self::External(before)) = (self, before) {
            external.begin_anew(before, &blocks.collect::<Vec<_>>());
        }
    }

    /// Reason why an external placement is no longer called, if it has failed.
    pub fn failed(&self) -> Option<Failed> {
        match self {
            Self::External(external) => external.failed(),
            _ => None,
        }
    }

    /// Takes what the run will do, once it begins, if the placement knows the future.
    pub fn foresee(&mut self, future: Future) {
        if let Self::Oracle(oracle) = self {
            oracle.foresee(future);
        }
    }

    /// Pages written with each handle, if it goes by handles.
    pub fn handles(&self) -> Option<&HandleTally> {
        match self {
            Self::ByHint(by_hint) => Some(by_hint.tally()),
            _ => None,
        }
    }

    /// Continues the counts of `before`, which was in use until the power failed, if it goes by handles.
    pub fn counts_on(&mut self, before: &Self) {
        if let (Self::ByHint(by_hint), Self::ByHint(before)) = (self, before) {
            by_hint.counts_on(before);
        }
    }

    /// Whether it may look at the placement handles that the host names.
    pub const fn looks_at_handles(&self) -> bool {
        matches!(self, Self::ByHint(_) | Self::External(_))
    }

    /// The placement, if it comes from outside: it is told more, to be asked less often.
    #[inline(always)]
    pub const fn external(&mut self) -> Option<&mut External> {
        match self {
            Self::External(external) => Some(external),
            _ => None,
        }
    }
}

impl Placement for AnyPlacement {
    fn classes(&self) -> Classes {
        each!(self, placement => placement.classes())
    }

    fn class_of(&self, lpn: Lpn, origin: Origin, now: u64) -> Class {
        each!(self, placement => placement.class_of(lpn, origin, now))
    }

    fn by_origin(&self) -> Option<ByOrigin> {
        each!(self, placement => placement.by_origin())
    }

    fn needs(&self) -> Needs {
        each!(self, placement => placement.needs())
    }

    #[inline(always)]
    fn learn(&mut self, event: Event, now: u64) {
        each!(self, placement => placement.learn(event, now));
    }

    fn grouping(&mut self) -> Option<&mut dyn Grouping> {
        each!(self, placement => placement.grouping())
    }

    fn hotness(&self, block: BlockId, now: u64) -> Option<f64> {
        each!(self, placement => placement.hotness(block, now))
    }

    fn fetch(&self, lpn: Lpn) {
        each!(self, placement => placement.fetch(lpn));
    }

    fn bytes(&self) -> usize {
        each!(self, placement => placement.bytes())
    }

    fn memory(&self) -> Vec<u8> {
        each!(self, placement => placement.memory())
    }

    fn remember(&mut self, memory: &[u8], now: u64) -> bool {
        each!(self, placement => placement.remember(memory, now))
    }
}
