//! Collections on the dies of a drive: which planes, how wide, and what the next flash operation of each is.
//!
//! Why a collection begins and whether it yields is not decided here, but for what a drive does in
//! [idle time](idle).

mod at_no_cost;
mod busy;
mod fold_in_idle_time;
mod from_dram;
pub mod idle;
pub mod job;
pub mod lanes;
pub mod permit;
mod put_back;
mod steps;
mod width;
mod write_parity;

pub use steps::{Collection, Point, Progress, place_copy};

use crate::backend::{Backend, Collecting};
use crate::checkpoint::Checkpointed;
use crate::config::{GcEnd, GcStart, Resolved};
use crate::ftl::{Ftl, Occasion};
use crate::ids::{BlockId, DieId, PlaneId};
use crate::observer::{Collected, Entry, Observer};
use crate::purpose::Reason;
use crate::units::{Duration, Instant};
use job::Job;
use lanes::{HowMoved, Lanes};
use permit::Permits;
use width::Width;

use fold_in_idle_time::FoldInIdleTime;
use idle::IdleTime;

/// The collections of a drive.
#[derive(Debug, Checkpointed)]
pub struct Collector {
    /// Boxed, as a collection leaves its place for each of its steps.
    collections: Vec<Option<Box<Collection>>>,
    /// Permits: collections that others have asked for.
    pub permits: Permits,
    width: Width,
    settings: Settings,
    /// Flag of each die: whether a collection has ended since the host was served. Kept where a collection ends
    /// after one victim, or blocks are refreshed, which may go on for ever.
    has_ended: Option<Vec<bool>>,
    /// Boxed: few drives have one.
    pub idle: Option<Box<IdleTime>>,
    /// Folding in idle time, where there is a cache of blocks in another cell mode.
    pub folds: Option<Box<FoldInIdleTime>>,
}

/// Settings of the steps.
#[derive(Debug, Clone, Copy, Checkpointed)]
struct Settings {
    /// Whether pages are moved without the channel.
    copyback: bool,
    /// Way in which a lone plane's pages are moved: with one command each if nobody looks at them between the
    /// read and the program.
    how: HowMoved,
    /// Whether collections take no time.
    zero_cost: bool,
    start: GcStart,
    end: GcEnd,
    /// DRAM for pages on their way from one block to another.
    cache_pages: usize,
    /// Whether erases wait for programs that supersede what they erase.
    holds_erases: bool,
    /// Time of a look at the host's queue after an operation.
    poll: Duration,
}

impl Collector {
    /// No collection yet on a drive of a checked configuration. A look at the host's queue takes `poll` after
    /// an operation; `splits_moves` if the host may come between the read and the program of a page.
    pub fn new(config: &Resolved, backend: &Backend, poll: Duration, splits_moves: bool) -> Self {
        let gc = &config.ssd.gc;
        let geometry = backend.ftl.geometry();
        let dies = geometry.dies();
        Self {
            collections: (0..dies).map(|_| None).collect(),
            permits: Permits::new(
                dies,
                geometry.planes_per_die,
                backend.ftl.space().planes_together(),
                config.drive.blocks.reserve,
            ),
            width: Width::new(config),
            has_ended: (gc.end == GcEnd::OneVictim || backend.condition.ageing.is_some())
                .then(|| vec![false; dies]),
            settings: Settings {
                copyback: gc.copyback,
                how: HowMoved::new(config, &backend.ftl, splits_moves),
                zero_cost: gc.zero_cost,
                start: gc.start,
                end: gc.end,
                cache_pages: config.drive.pages.in_cache_of_width,
                holds_erases: config.ssd.power.holds_erases(),
                poll,
            },
            idle: IdleTime::new(config, geometry, &backend.flash.timing, poll),
            folds: FoldInIdleTime::new(config),
        }
    }

    /// The collection of `die`, if one is under way.
    #[inline]
    pub fn of(&self, die: DieId) -> Option<&Collection> {
        self.collections[die.index()].as_deref()
    }

    /// The collection of `die`, if one is under way.
    #[inline]
    pub fn of_mut(&mut self, die: DieId) -> Option<&mut Collection> {
        self.collections[die.index()].as_deref_mut()
    }

    /// Whether a plane of `die` that is short of space, or asked for, is to be collected before anything else, or a
    /// block for the sake of its data.
    /// `host_waits` says whether operations of the host wait for it.
    #[inline(always)]
    pub fn is_due(&self, backend: &Backend, die: DieId, host_waits: impl FnOnce() -> bool) -> bool {
        let planes = backend.ftl.planes_to_collect(die) | self.permits.planes_of(die);
        (planes != 0 && self.is_to_be_collected(backend, die, host_waits))
            || self.is_to_be_refreshed(backend, die)
    }

    /// Whether a block of `die` is to be collected for the sake of its data.
    #[inline]
    fn is_to_be_refreshed(&self, backend: &Backend, die: DieId) -> bool {
        let condition = &backend.condition;
        let due = condition.ageing.as_ref().and_then(|ageing| ageing.next_due(&backend.ftl, die));
        due.is_some() && !condition.is_read_only()
    }

    // Apart, as mostly no plane is short of space.
    #[inline(never)]
    fn is_to_be_collected(
        &self,
        backend: &Backend,
        die: DieId,
        host_waits: impl FnOnce() -> bool,
    ) -> bool {
        let is_short = self.planes_due(backend, die) != 0
            && match self.settings.start {
                GcStart::AtOnce => true,
                GcStart::BeforeOperation => {
                    host_waits()
                        || backend.ftl.lines().is_some_and(|lines| lines.rebuilt_waits_for_room())
                }
            };
        (is_short || self.permits.planes_of(die) != 0) && !backend.condition.is_read_only()
    }

    /// Whether the host goes first on `die` though a collection is due.
    pub fn gives_way(&self, die: DieId) -> bool {
        self.has_ended.as_ref().is_some_and(|has_ended| has_ended[die.index()])
    }

    /// An operation of the host begins on `die`.
    #[inline]
    pub fn host_begins(&mut self, die: DieId) {
        if let Some(has_ended) = &mut self.has_ended {
            has_ended[die.index()] = false;
        }
    }

    /// Puts the collection that is due on an idle `die`. `choose` says whose turn it is of the planes whose bits
    /// it is given. Returns whether there is one: with [no cost](Self::takes_no_time) everything has been done.
    pub fn begin(
        &mut self,
        backend: &mut Backend,
        die: DieId,
        choose: impl FnMut(u32) -> Option<PlaneId>,
        now: Instant,
    ) -> bool {
        if self.settings.zero_cost {
            self.collect_at_no_cost(backend, die);
            return false;
        }
        let Some(lanes) = self.next_collection(backend, die, choose) else { return false };
        let in_idle_time = self.folds_in_idle_time(backend, &lanes);
        let Backend { ftl, collecting, observer, .. } = backend;
        let collection = Collection::new(lanes, 0, ftl.geometry());
        self.put_on_die(ftl, collecting, observer, (die, in_idle_time), collection, now);
        true
    }

    /// Whether pages are moved without the channel.
    pub const fn moves_by_copyback(&self) -> bool {
        self.settings.copyback
    }

    /// Whether collections take no time.
    pub const fn takes_no_time(&self) -> bool {
        self.settings.zero_cost
    }

    /// The collection of the plane whose turn it is, of those that are short of space or asked for and
    /// have something to give, and of the planes that join it; else of the block whose data are in danger.
    fn next_collection(
        &mut self,
        backend: &mut Backend,
        die: DieId,
        mut choose: impl FnMut(u32) -> Option<PlaneId>,
    ) -> Option<Lanes> {
        let due = self.planes_due(backend, die);
        let mut candidates = due | self.permits.planes_of(die);
        while let Some(plane) = choose(candidates) {
            let bit = backend.ftl.geometry().bit(plane);
            let reason = if due & bit != 0 { Reason::OnDemand } else { self.permits.reason() };
            if let Some(job) = Job::on(Occasion::Demand(plane), reason, &mut backend.ftl) {
                let how = self.settings.how.read_out_if(self.is_folding_in_idle_time());
                let mut lanes = Lanes::of(job, how);
                self.let_planes_join(backend, &mut lanes);
                return Some(lanes);
            }
            self.permits.give_up(plane);
            candidates &= !bit;
        }
        let job = Job::for_its_data(die, backend)?;
        Some(Lanes::of(job, self.settings.how))
    }

    fn let_planes_join(&self, backend: &mut Backend, lanes: &mut Lanes) {
        if !self.width.is_parallel() {
            return;
        }
        let (demanding, lead) = (lanes.demanding(), lanes.lanes[0].job.victim());
        for plane in backend.flash.rules.group_of(demanding) {
            if plane != demanding
                && self.joins(backend, plane, lead)
                && let Some(job) = Job::beside(lead, plane, &mut backend.ftl)
            {
                lanes.join(job, &backend.ftl);
            }
        }
    }

    /// Whether `plane` joins the collection of `lead`: to be folded if that is, else as the width says.
    fn joins(&self, backend: &Backend, plane: PlaneId, lead: BlockId) -> bool {
        match backend.ftl.slc_pool() {
            Some(pool) if backend.ftl.blocks().is_slc(lead) => pool.is_due(plane),
            _ => self.width.joins(backend.ftl.space(), plane),
        }
    }

    fn put_on_die(
        &mut self,
        ftl: &Ftl,
        collecting: &mut Collecting,
        observer: &mut Observer,
        (die, in_idle_time): (DieId, bool),
        collection: Collection,
        now: Instant,
    ) {
        observer.record(|| {
            let jobs = collection.lanes.lanes.iter().map(|lane| &lane.job);
            let victims = jobs.map(|job| (job.victim(), ftl.blocks().valid_pages(job.victim())));
            let (reason, kind) = (collection.reason(), collection.lanes.lanes[0].job.kind());
            let collected = Collected { reason, kind, victims: victims.collect() };
            Entry::Begins { die, at: now, collected }
        });
        collecting.begins(die, in_idle_time);
        if collection.reason().is_for_space() {
            collecting.look_forward(collection.outlook(ftl));
        }
        self.collections[die.index()] = Some(Box::new(collection));
    }

    /// A block of `plane` has been collected.
    fn note_collected(&mut self, plane: PlaneId, ftl: &Ftl) {
        let free_blocks = ftl.space().free_blocks(plane);
        self.permits.block_collected(plane, free_blocks, ftl.space().free_together(plane));
        if let Some(idle) = &mut self.idle {
            idle.note_collected(plane, free_blocks);
        }
    }

    /// The collection of `die` does not go on, once the operation of it in the die has ended.
    pub fn lay_down(
        &mut self,
        collecting: &mut Collecting,
        observer: &mut Observer,
        die: DieId,
        now: Instant,
    ) {
        let ended =
            self.collections[die.index()].take_if(|collection| collection.in_flight.is_none());
        if ended.is_some() {
            collecting.end(observer, die, now);
        }
    }

    /// The blocks of `die` that are being erased.
    pub fn erasing(&self, die: DieId) -> &[BlockId] {
        self.of(die).map_or(&[], |collection| collection.lanes.erasing())
    }

    /// The drive is read-only from now on: nothing is collected any more.
    pub fn stop(&mut self, collecting: &mut Collecting, observer: &mut Observer, now: Instant) {
        self.idle = None;
        self.folds = None;
        self.permits.withdraw();
        for die in (0..self.collections.len()).map(DieId::from_index) {
            self.lay_down(collecting, observer, die, now);
        }
    }
}
