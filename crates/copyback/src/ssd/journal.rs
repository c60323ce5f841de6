//! What dies and channels do, told as it happens to whoever draws or explains it. Nothing depends on it.

use smallvec::SmallVec;

use crate::channel::Transfer;
use crate::ftl::ReclaimKind;
use crate::gc::job::Reason;
use crate::ids::{BlockId, ChannelId, DieId, Lpn, Ppn};
use crate::nand::{Command, Operation, Slot};
use crate::units::{Duration, Instant};

use super::collection::{Collection, StepInFlight};
use super::transaction::{Fifo, Kind, Transaction, TransactionId, Wait};
use super::waits::{For, HeldUp, Waited};
use super::{Owner, Parts, Purpose, Ssd};

/// Something that a drive did, or began to do.
#[derive(Debug, Clone)]
pub enum Entry {
    /// The array of a die begins to work for `time`, unless it is suspended.
    Array {
        /// Which die.
        die: DieId,
        /// When.
        at: Instant,
        /// How long.
        time: Duration,
        /// What for.
        work: Work,
    },
    /// What the array of this die does is suspended, or left by the end of the run.
    Cut {
        /// Which die.
        die: DieId,
        /// When.
        at: Instant,
    },
    /// A channel carries commands and data for a die.
    Transfer {
        /// Which channel.
        channel: ChannelId,
        /// For which die.
        die: DieId,
        /// When it begins.
        at: Instant,
        /// How long it takes.
        time: Duration,
        /// What for.
        work: Work,
    },
    /// A page operation has waited.
    Waited(HeldUp<Party, Party>),
    /// A collection begins, though it may wait for its first operation.
    Begins {
        /// Which die.
        die: DieId,
        /// When.
        at: Instant,
        /// What is collected.
        collected: Collected,
    },
    /// The collection of a die has its first operation, or goes on.
    Runs {
        /// Which die.
        die: DieId,
        /// When.
        at: Instant,
    },
    /// The collection of a die rests: the host is served instead.
    Rests {
        /// Which die.
        die: DieId,
        /// When.
        at: Instant,
    },
    /// The collection of a die has ended.
    Ends {
        /// Which die.
        die: DieId,
        /// When.
        at: Instant,
    },
}

/// A page operation that waits or is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Party {
    /// Whose page operation it is.
    pub owner: Owner,
    /// The page.
    pub lpn: Lpn,
}

/// What a flash operation is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A read of the host.
    HostRead,
    /// A write of the host, with the read of the old page if it covers only part of one.
    HostWrite,
    /// The write buffer makes room.
    Destage,
    /// The mapping table lies in flash.
    Mapping,
    /// A block is collected.
    Collection(Reason),
    /// A collection left a page in DRAM, which is written back.
    CachedPages,
    /// The array is taken from a program or an erase.
    Suspend,
}

/// A flash operation.
#[derive(Debug, Clone)]
pub struct Work {
    /// What the die does.
    pub command: Command,
    /// What for.
    pub class: Class,
    /// Pages that are read or programmed, or the first page of each block that is erased.
    pub pages: SmallVec<[Ppn; 2]>,
    /// Whether it goes on after it was suspended.
    pub resumed: bool,
    /// Whose the page operations are, if they are not a collection's.
    pub owners: SmallVec<[Owner; 2]>,
}

/// What a collection reclaims.
#[derive(Debug, Clone)]
pub struct Collected {
    /// Why.
    pub reason: Reason,
    /// How.
    pub kind: ReclaimKind,
    /// The victim of each plane, and its valid pages when it was chosen.
    pub victims: SmallVec<[(BlockId, u16); 2]>,
}

impl Class {
    /// The name in outputs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HostRead => "host_read",
            Self::HostWrite => "host_write",
            Self::Destage => "destage",
            Self::Mapping => "mapping",
            Self::Collection(Reason::WearLevelling) => "wear_levelling",
            Self::Collection(_) => "gc",
            Self::CachedPages => "cached_pages",
            Self::Suspend => "suspend",
        }
    }
}

impl Transaction {
    /// Who it is in a journal.
    pub(super) const fn party(&self) -> Party {
        Party { owner: self.owner, lpn: self.lpn }
    }
}

impl Entry {
    /// Whose page operations it tells of.
    pub fn owners(&self) -> &[Owner] {
        match self {
            Self::Array { work, .. } | Self::Transfer { work, .. } => &work.owners,
            Self::Waited(HeldUp { who, .. }) => std::slice::from_ref(&who.owner),
            _ => &[],
        }
    }
}

impl Entry {
    /// Whom what has waited waited for, if it tells of such and that is known.
    pub const fn behind(&self) -> Option<Party> {
        match self {
            Self::Waited(HeldUp { behind, .. }) => *behind,
            _ => None,
        }
    }
}

impl Ssd {
    /// Takes what the drive did since the last call, in order, if it keeps a journal.
    pub fn take_journal(&mut self) -> impl Iterator<Item = Entry> {
        self.journal.iter_mut().flat_map(|journal| journal.drain(..))
    }

    #[inline]
    fn tell(&mut self, entry: impl FnOnce(&Self) -> Entry) {
        if self.journal.is_some() {
            self.write_down(entry);
        }
    }

    // Kept out of the code that tells: hardly any run has a journal.
    #[cold]
    fn write_down(&mut self, entry: impl FnOnce(&Self) -> Entry) {
        let entry = entry(self);
        if let Some(journal) = &mut self.journal {
            journal.push(entry);
        }
    }

    /// Notes that the operation which is about to start reads `page`, or erases from it on.
    pub(super) fn note_page(&mut self, page: Ppn) {
        if self.options.notes_pages {
            self.pages.push(page);
        }
    }

    /// Notes that the operation which is about to start reads the page that holds `lpn`.
    pub(super) fn note_read(&mut self, lpn: Lpn) {
        if self.journal.is_some() {
            self.pages.extend(self.ftl.lookup(lpn));
        }
    }

    /// The array of `die` begins to work, or goes on with what was suspended.
    pub(super) fn tell_array(&mut self, die: DieId, time: Duration, at: Instant) {
        self.tell(|ssd| {
            let work = match ssd.dies[die.index()].in_slot(Slot::Array) {
                Some(operation) => ssd.work(die, operation),
                None => ssd.suspending(die),
            };
            Entry::Array { die, at, time, work }
        });
    }

    /// What the array of `die` does is suspended.
    pub(super) fn tell_cut(&mut self, die: DieId, at: Instant) {
        self.tell(|_| Entry::Cut { die, at });
    }

    /// `channel` begins to serve `transfer`.
    pub(super) fn tell_transfer(&mut self, channel: ChannelId, transfer: &Transfer, at: Instant) {
        self.tell(|ssd| {
            let Transfer { die, slot, time } = *transfer;
            let work = match ssd.dies[die.index()].in_slot(slot) {
                Some(operation) => ssd.work(die, operation),
                None => ssd.suspending(die),
            };
            Entry::Transfer { channel, die, at, time, work }
        });
    }

    /// The `wait` of a page operation, behind another if that can be told, has ended.
    pub(super) fn tell_waited(
        &mut self,
        id: TransactionId,
        wait: &Wait,
        parts: Parts,
        behind: Option<Party>,
        until: Instant,
    ) {
        self.tell(|ssd| {
            let (what, since) = match wait {
                Wait::Nothing => (For::AnyDie, until),
                Wait::Die(die, note) => (For::Die(*die), note.since()),
                Wait::Device(note) => (For::AnyDie, note.since()),
                Wait::Update(since) => (For::Update, *since),
                Wait::Translation(since) => (For::Mapping, *since),
            };
            let who = ssd.transactions.get(id).party();
            Entry::Waited(HeldUp { who, wait: Waited { what, since, until, parts }, behind })
        });
    }

    /// `collection` begins on `die`.
    pub(super) fn tell_begins(&mut self, die: DieId, collection: &Collection, at: Instant) {
        self.tell(|ssd| {
            let jobs = collection.lanes.lanes.iter().map(|lane| &lane.job);
            let victims = jobs.map(|job| (job.victim(), ssd.ftl.valid_pages(job.victim())));
            let collected = Collected {
                reason: collection.reason(),
                kind: collection.lanes.lanes[0].job.kind(),
                victims: victims.collect(),
            };
            Entry::Begins { die, at, collected }
        });
    }

    /// The collection of `die` has its first operation, or goes on.
    pub(super) fn tell_runs(&mut self, die: DieId, at: Instant) {
        self.tell(|_| Entry::Runs { die, at });
    }

    /// The collection of `die` rests.
    pub(super) fn tell_rests(&mut self, die: DieId, at: Instant) {
        self.tell(|_| Entry::Rests { die, at });
    }

    /// The collection of `die` has ended.
    pub(super) fn tell_ends(&mut self, die: DieId, at: Instant) {
        self.tell(|_| Entry::Ends { die, at });
    }

    fn work(&self, die: DieId, operation: &Operation<Purpose>) -> Work {
        Work {
            command: operation.command,
            class: self.class(die, operation.tag),
            pages: operation.pages.as_deref().cloned().unwrap_or_default(),
            resumed: operation.was_suspended(),
            owners: self.owners(operation.tag),
        }
    }

    /// While the array suspends, what it is taken from is beside it.
    fn suspending(&self, die: DieId) -> Work {
        let suspended = self.dies[die.index()].suspended();
        let command = suspended.map_or(Command::Program, |operation| operation.command);
        let (pages, owners) = (SmallVec::new(), SmallVec::new());
        Work { command, class: Class::Suspend, pages, resumed: false, owners }
    }

    fn owners(&self, purpose: Purpose) -> SmallVec<[Owner; 2]> {
        let Purpose::Host(mut group) = purpose else { return SmallVec::new() };
        std::iter::from_fn(|| group.pop(&self.transactions))
            .map(|id| self.transactions.get(id).owner)
            .collect()
    }

    fn class(&self, die: DieId, purpose: Purpose) -> Class {
        match purpose {
            Purpose::Host(group) => self.class_of_group(group),
            Purpose::Collection(StepInFlight::Unpark) => Class::CachedPages,
            Purpose::Collection(_) => {
                let collection = self.collections[die.index()].as_ref();
                Class::Collection(collection.map_or(Reason::OnDemand, |known| known.reason()))
            }
        }
    }

    /// Page operations that share a command are of one kind; the first tells what they are for.
    fn class_of_group(&self, group: Fifo) -> Class {
        let first = group.front().map(|id| self.transactions.get(id));
        match first.map(|transaction| (transaction.owner, transaction.kind)) {
            Some((Owner::Destage, _)) => Class::Destage,
            Some((Owner::Translation, _)) => Class::Mapping,
            Some((Owner::Host(_), Kind::Read)) | None => Class::HostRead,
            Some((Owner::Host(_), Kind::Write | Kind::ReadToUpdate)) => Class::HostWrite,
        }
    }
}
