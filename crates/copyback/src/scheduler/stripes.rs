//! Reads that are made up from the other pages of their stripes: which pages are read for which.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ftl::Ftl;
use crate::ids::Ppn;
use crate::transaction::TransactionId;

/// Reads of a drive that are made up. Nobody goes through the tables, whose order means nothing.
#[derive(Debug, Checkpointed)]
pub struct Stripes {
    /// Whether reads go around collections.
    pub goes_around: bool,
    parts: HashMap<TransactionId, Part, FixedState>,
    made_up: HashMap<TransactionId, MadeUp, FixedState>,
    /// Reads in dies that could not be corrected, and what they read.
    uncorrectable: HashMap<TransactionId, Ppn, FixedState>,
    /// Pages that are made up to be moved.
    moved: HashMap<TransactionId, Moved, FixedState>,
}

/// A page that is made up to be moved.
#[derive(Debug, Clone, Copy, Checkpointed)]
struct Moved {
    page: Ppn,
    /// Erases of its block when it was to be moved: with more it is gone.
    erases: u32,
}

/// A page that is read for another of its stripe.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct Part {
    /// The page.
    pub page: Ppn,
    /// Erases of its block when the read was made up: with more it is gone.
    erases: u32,
    /// The read that is made up.
    pub of: TransactionId,
}

/// Reason why a read is reconstructed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum Cause {
    /// Die that collects.
    Collection,
    /// Page that could not be corrected.
    Error,
    /// Die that is lost.
    LostDie,
    /// Rebuild of a lost die elsewhere.
    Rebuild,
    /// A collection moves its page, which could not be corrected.
    Move,
}

/// A read that is made up.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct MadeUp {
    /// Reason of the reconstruction.
    pub cause: Cause,
    /// Parts that have not been read yet.
    left: usize,
    /// Whether a part was gone before it was read, or could not be corrected.
    pub has_failed: bool,
}

impl Stripes {
    /// Creates the stripes of a drive of a checked configuration, if its lines have parity.
    pub fn new(config: &Resolved) -> Option<Box<Self>> {
        let ftl = &config.ssd.ftl;
        ftl.rain.then(|| {
            Box::new(Self {
                goes_around: ftl.reads_around_gc,
                parts: HashMap::default(),
                made_up: HashMap::default(),
                uncorrectable: HashMap::default(),
                moved: HashMap::default(),
            })
        })
    }

    /// The page that is read as a part.
    pub fn page_of(&self, id: TransactionId) -> Option<Ppn> {
        self.parts.get(&id).map(|part| part.page)
    }

    /// The read that goes around a collection by the part `id`, if it is of such.
    pub fn read_around_by(&self, id: TransactionId) -> Option<TransactionId> {
        let of = self.parts.get(&id)?.of;
        self.made_up.get(&of).filter(|read| read.cause == Cause::Collection).map(|_| of)
    }

    /// The read `of` a page is made up from so many parts.
    pub fn begin(&mut self, of: TransactionId, cause: Cause, parts: usize) {
        self.made_up.insert(of, MadeUp { cause, left: parts, has_failed: false });
    }

    /// `id` reads `page` as a part of the read `of` another.
    pub fn add(&mut self, id: TransactionId, page: Ppn, of: TransactionId, ftl: &Ftl) {
        let erases = ftl.blocks().erase_count(ftl.geometry().block_of(page));
        self.parts.insert(id, Part { page, erases, of });
    }

    /// Whether the page of a part has been erased since the read was made up, or is being erased.
    pub fn is_gone(&self, id: TransactionId, ftl: &Ftl) -> bool {
        let is_gone = |part: &Part| {
            let block = ftl.geometry().block_of(part.page);
            ftl.blocks().erase_count(block) != part.erases
                || ftl.lines().is_some_and(|lines| lines.is_being_erased(block))
        };
        self.parts.get(&id).is_some_and(is_gone)
    }

    /// The read of `page`, which is in a die, cannot be corrected.
    pub fn note_uncorrectable(&mut self, id: TransactionId, page: Ppn) {
        self.uncorrectable.insert(id, page);
    }

    /// Takes what a read that has ended could not correct, if it could not.
    pub fn take_uncorrectable(&mut self, id: TransactionId) -> Option<Ppn> {
        self.uncorrectable.remove(&id)
    }

    /// `id` makes up `page`, to be moved.
    pub fn begin_to_move(&mut self, id: TransactionId, page: Ppn, ftl: &Ftl) {
        let erases = ftl.blocks().erase_count(ftl.geometry().block_of(page));
        self.moved.insert(id, Moved { page, erases });
    }

    /// Ends the reconstruction `id` of a page that is moved; returns the page if it is still to be moved.
    pub fn end_to_move(&mut self, id: TransactionId, ftl: &Ftl) -> Option<Ppn> {
        let Moved { page, erases } = self.moved.remove(&id)?;
        let is_there = ftl.blocks().erase_count(ftl.geometry().block_of(page)) == erases;
        (is_there && ftl.lines()?.collected().waits_for_stripe(page)).then_some(page)
    }

    /// Page operations that are the drive's own: for what collections move and, where a lost die is rebuilt, for the
    /// `rebuilt` pages and what they are made up from.
    pub fn own_reads(&self, rebuilt: Option<usize>) -> usize {
        let of_lost = rebuilt.map_or(0, |pages| pages + self.parts_left(Cause::Rebuild));
        let moved = match self.moved.len() {
            0 => 0,
            pages => pages + self.parts_left(Cause::Move),
        };
        of_lost + moved
    }

    /// Parts of reads that are made up for this `cause` which have not been read yet.
    fn parts_left(&self, cause: Cause) -> usize {
        self.made_up.values().filter(|read| read.cause == cause).map(|read| read.left).sum()
    }

    /// A part has been read, or `is_lost`. Returns which read it was of, and how that went if it was the last part.
    pub fn end(
        &mut self,
        id: TransactionId,
        is_lost: bool,
    ) -> Option<(TransactionId, Option<MadeUp>)> {
        let of = self.parts.remove(&id)?.of;
        let read = self.made_up.get_mut(&of)?;
        read.left -= 1;
        read.has_failed |= is_lost;
        let done = (read.left == 0).then_some(*read);
        if done.is_some() {
            self.made_up.remove(&of);
        }
        Some((of, done))
    }
}
