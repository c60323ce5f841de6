//! The collection of one plane, or of several in step (Shahidi et al., SC 2016).
//!
//! Each plane has its victim: its lane. Pages are moved in this order:
//!
//! 1. at the same offset in every lane's victim: read together, programmed together;
//! 2. one of every lane: read one after the other, programmed together;
//! 3. what is left in the fuller victims: read and programmed alone.
//!
//! Pages are programmed together into blocks that are kept in step for that; a lone page goes where
//! a serial collection would put it. At the end all victims are erased together. What is still valid
//! is looked at before every step, so that anything may happen between two steps.

use smallvec::SmallVec;

use super::job::Job;
use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ftl::Ftl;
use crate::ids::{BlockId, PlaneId, Ppn};

/// Places in the list of lanes.
pub type Members = SmallVec<[usize; 2]>;

/// Pages, each with the place of its lane.
pub type Pages = SmallVec<[(usize, Ppn); 2]>;

/// Blocks that are erased together, one a lane.
pub type Erased = SmallVec<[BlockId; 2]>;

/// One plane's part in a collection.
#[derive(Debug, Checkpointed)]
pub struct Lane {
    /// The collection of its victim.
    pub job: Job,
    /// A page that has been read out and not been programmed yet.
    pub carried: Option<Ppn>,
}

/// A collection of one plane or more.
#[derive(Debug, Checkpointed)]
pub struct Lanes {
    /// The demanding plane first.
    pub lanes: SmallVec<[Lane; 2]>,
    /// Whether the lanes can be programmed together.
    in_step: bool,
    /// Whether some offset may still hold a valid page in every victim.
    aligned_left: bool,
    /// Whether what is carried was read together.
    read_together: bool,
    /// The page that is to be read next, whatever its turn.
    preferred: Option<(usize, Ppn)>,
    /// Blocks that are being erased.
    erasing: Erased,
    /// Way in which a lone plane's pages are moved.
    how: HowMoved,
}

/// Way in which the pages of a lone plane are moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum HowMoved {
    /// Read out and programmed.
    ReadOut,
    /// Read out and programmed, or reconstructed from others if they cannot be read.
    ReadOutOrMadeUp,
    /// With one command each, which reads and programs inside the flash.
    Copied,
    /// Copied inside the flash, uncorrectable errors included.
    CopiedWithErrors,
}

impl HowMoved {
    /// Way of a checked configuration; `splits_moves` if the host may come between the read and the program of
    /// a page.
    pub fn new(config: &Resolved, ftl: &Ftl, splits_moves: bool) -> Self {
        match config.ssd.gc.copyback && !splits_moves {
            false if ftl.lines().is_some_and(|lines| lines.collected().makes_up_what_moves()) => {
                Self::ReadOutOrMadeUp
            }
            false => Self::ReadOut,
            true if config.ssd.faults.reads_may_fail() => Self::CopiedWithErrors,
            true => Self::Copied,
        }
    }

    /// With a read and a program where the host may come between them.
    pub const fn read_out_if(self, is_split: bool) -> Self {
        if is_split { Self::ReadOut } else { self }
    }
}

/// The next flash operation of a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Reads pages at one offset of the victims, one of each of these lanes.
    Read(Pages),
    /// Programs what these lanes carry: all of them together, or one alone.
    Program(Members),
    /// Erases these blocks: the victims, or one of several that a plane's collection empties.
    Erase(Erased),
}

impl Step {
    /// Pages that it takes up to be moved, or blocks that it erases.
    pub fn parts(&self) -> u64 {
        match self {
            Self::Read(pages) => pages.len() as u64,
            Self::Program(_) => 0,
            Self::Erase(blocks) => blocks.len() as u64,
        }
    }
}

/// The next flash operation of a lone plane's collection, where it concerns one page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageStep {
    /// Moves the page with one command.
    Copy(Ppn),
    /// Does so, with its errors if it cannot be read.
    CopyWithErrors(Ppn),
    /// Reads the page out.
    Read(Ppn),
    /// Programs the page, which was read out, elsewhere.
    Program(Ppn),
}

impl PageStep {
    /// Whether a page is in the register when the step begins.
    pub const fn programs_what_was_read(self) -> bool {
        matches!(self, Self::Program(_))
    }
}

impl Lanes {
    /// The collection of one plane, whose pages are moved so.
    pub fn of(job: Job, how: HowMoved) -> Self {
        let mut lanes = SmallVec::new();
        lanes.push(Lane { job, carried: None });
        Self {
            lanes,
            in_step: false,
            aligned_left: false,
            read_together: false,
            preferred: None,
            erasing: Erased::new(),
            how,
        }
    }

    /// Lets another plane join.
    pub fn join(&mut self, job: Job, ftl: &Ftl) {
        self.lanes.push(Lane { job, carried: None });
        let mut offsets =
            self.lanes.iter().map(|lane| ftl.space().next_aligned_offset(lane.job.plane));
        let first = offsets.next();
        self.in_step = offsets.all(|offset| Some(offset) == first);
        self.aligned_left = self.in_step;
    }

    /// The plane whose need began the collection.
    pub fn demanding(&self) -> PlaneId {
        self.lanes[0].job.plane
    }

    /// The planes that are collected.
    pub fn planes(&self) -> impl Iterator<Item = PlaneId> + '_ {
        self.lanes.iter().map(|lane| lane.job.plane)
    }

    /// Whether what is carried was read with one command.
    pub const fn was_read_together(&self) -> bool {
        self.read_together
    }

    /// The blocks that are being erased.
    pub fn erasing(&self) -> &[BlockId] {
        &self.erasing
    }

    /// Takes the blocks that have been erased.
    pub fn take_erased(&mut self) -> Erased {
        std::mem::take(&mut self.erasing)
    }

    /// Whether a page that cannot be read is made up from others.
    pub fn makes_up(&self) -> bool {
        self.how == HowMoved::ReadOutOrMadeUp
    }

    /// Whether any page has been read out and not been programmed yet.
    pub fn carries(&self) -> bool {
        self.lanes.iter().any(|lane| lane.carried.is_some())
    }

    /// Forgets what has been read out and not been programmed; it is read again.
    pub fn forget_carried(&mut self) {
        self.lanes.iter_mut().for_each(|lane| lane.carried = None);
    }

    /// Moves `page` next if it is still to be moved and nothing is carried. Returns whether it will.
    pub fn prefer(&mut self, page: Ppn, ftl: &Ftl) -> bool {
        let lane = self.lanes.iter().position(|lane| lane.job.may_move(page, ftl));
        self.preferred = lane.filter(|_| !self.carries()).map(|lane| (lane, page));
        self.preferred.is_some()
    }

    /// The page that a lone plane moves next with one command, if it moves pages so and one is left.
    /// Nobody looks at such a move before it begins: it counts as begun.
    #[inline]
    pub fn next_move(&mut self, ftl: &Ftl) -> Option<Ppn> {
        match &mut self.lanes[..] {
            [lane] if self.how == HowMoved::Copied => lane.job.next_move(ftl),
            _ => None,
        }
    }

    /// The next step of a lone plane, if it concerns one page. It counts as begun.
    #[inline(always)]
    pub fn next_of_one_page(&mut self, ftl: &Ftl) -> Option<PageStep> {
        let [lane] = &mut self.lanes[..] else { return None };
        match self.how {
            HowMoved::Copied => return lane.job.next_move(ftl).map(PageStep::Copy),
            HowMoved::ReadOut => {}
            HowMoved::ReadOutOrMadeUp => return None,
            HowMoved::CopiedWithErrors => {
                return lane.job.next_move(ftl).map(PageStep::CopyWithErrors);
            }
        }
        if let Some(page) = lane.carried.take().filter(|page| ftl.is_valid(*page)) {
            return Some(PageStep::Program(page));
        }
        if self.preferred.is_some() {
            return None;
        }
        lane.carried = lane.job.next_read(ftl);
        self.read_together = false;
        lane.carried.map(PageStep::Read)
    }

    /// Drops what is carried and has become out of date, and returns the next step that is not a
    /// [lone plane's](Self::next_of_one_page); `None` when the blocks have been erased. A step counts
    /// as taken when it [begins](Self::begin), so that it may be looked at and left.
    pub fn next_step(&mut self, ftl: &Ftl) -> Option<Step> {
        for lane in &mut self.lanes {
            lane.carried = lane.carried.filter(|page| ftl.is_valid(*page));
            if lane.carried.is_none() {
                lane.carried = lane.job.made_up_page(ftl);
            }
        }
        if let Some((lane, page)) = self.preferred.filter(|(_, page)| ftl.is_valid(*page))
            && !self.carries()
        {
            return Some(read_one(lane, page));
        }
        let together = if self.in_step { self.step_together(ftl) } else { None };
        together.or_else(|| self.step_alone(ftl))
    }

    /// The next step of all lanes together, while each of them has a page left.
    fn step_together(&mut self, ftl: &Ftl) -> Option<Step> {
        if self.lanes.iter().all(|lane| lane.carried.is_some()) {
            let room = |lane: &Lane| ftl.rooms().has_aligned_room(lane.job.plane);
            return self
                .lanes
                .iter()
                .all(room)
                .then(|| Step::Program((0..self.lanes.len()).collect()));
        }
        if self.aligned_left && !self.carries() {
            let victims = self.lanes.iter().map(|lane| lane.job.victim());
            if let Some(offset) = ftl.blocks().next_common(&victims) {
                let page = |lane: &Lane| ftl.geometry().page(lane.job.victim(), offset);
                return Some(Step::Read(self.lanes.iter().map(page).enumerate().collect()));
            }
            self.aligned_left = false;
        }
        let mut next = None;
        for (index, lane) in self.lanes.iter().enumerate().rev() {
            if lane.carried.is_none() {
                next = Some((index, lane.job.first_page(ftl)?));
            }
        }
        next.map(|(lane, page)| read_one(lane, page))
    }

    fn step_alone(&self, ftl: &Ftl) -> Option<Step> {
        let carrying = self.lanes.iter().position(|lane| lane.carried.is_some());
        if let Some(lane) = carrying {
            return Some(Step::Program(Members::from_slice(&[lane])));
        }
        let mut lanes = self.lanes.iter().enumerate();
        let next = lanes.find_map(|(index, lane)| Some((index, lane.job.first_page(ftl)?)));
        if let Some((lane, page)) = next {
            return Some(read_one(lane, page));
        }
        let blocks: Erased = self.lanes.iter().filter_map(|l| l.job.next_erase(ftl)).collect();
        (!blocks.is_empty()).then_some(Step::Erase(blocks))
    }

    /// The blocks that the next step erases, if it erases any.
    pub fn next_erased(&self, ftl: &Ftl) -> Erased {
        let moves = |lane: &Lane| {
            lane.carried.is_some_and(|page| ftl.is_valid(page))
                || lane.job.first_page(ftl).is_some()
        };
        match self.lanes.iter().any(moves) {
            true => Erased::new(),
            false => self.lanes.iter().filter_map(|lane| lane.job.next_erase(ftl)).collect(),
        }
    }

    /// Notes that `step` is being carried out.
    pub fn begin(&mut self, step: &Step) {
        match step {
            Step::Read(pages) => {
                self.preferred = None;
                self.read_together = pages.len() > 1;
                for (lane, page) in pages {
                    self.lanes[*lane].carried = Some(*page);
                }
            }
            Step::Program(members) => {
                for lane in members {
                    self.lanes[*lane].carried = None;
                }
            }
            Step::Erase(blocks) => {
                self.erasing.clone_from(blocks);
                self.lanes.iter_mut().for_each(|lane| lane.job.begin_erase());
            }
        }
    }

    /// Whether the page that `lane` is about to read would have to be programmed alone.
    pub fn is_surplus(&self, lane: usize, ftl: &Ftl) -> bool {
        let others = self.lanes.iter().enumerate().filter(|(index, _)| *index != lane);
        let mut exhausted =
            others.map(|(_, lane)| lane.carried.is_none() && lane.job.first_page(ftl).is_none());
        self.lanes.len() > 1 && (!self.in_step || exhausted.any(|exhausted| exhausted))
    }
}

fn read_one(lane: usize, page: Ppn) -> Step {
    Step::Read(Pages::from_slice(&[(lane, page)]))
}
