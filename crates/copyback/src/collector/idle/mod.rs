//! Idle time of a drive: what it finds out about that time is here, what it makes of it in
//! [`advanced_delayed`].

mod advanced;
mod advanced_delayed;
mod delayed;
mod foresight;

pub use foresight::Announced;

use crate::backend::Backend;
use crate::checkpoint::Checkpointed;
use crate::collector::lanes::{HowMoved, Lanes};
use crate::collector::permit::{Asked, Permits, Until};
use crate::config::Resolved;
use crate::event::{Agenda, Event};
use crate::ftl::{Expected, Ftl};
use crate::idle::IdleDetector;
use crate::ids::{DieId, PlaneId};
use crate::nand::{Geometry, Timing};
use crate::units::{Duration, Instant};

use super::{Collection, Collector};
use advanced::StepTimes;
use advanced_delayed::IdleSchedule;

/// The use of idle time, and what it watches.
#[derive(Debug, Checkpointed)]
pub struct IdleTime {
    schedule: IdleSchedule,
    /// Long idle periods.
    long: Option<IdleDetector>,
    /// Planes to be collected in the long idle period that lasts now.
    compaction: Permits,
    /// Free blocks of a plane that long idle periods aim at.
    goal: u32,
    is_long: bool,
    /// When the next looks at the idle time are on the agenda: to catch up, and for long idle periods.
    looks: [Option<Instant>; 2],
    /// Commands that the host has announced, in order of arrival.
    announced: Vec<Announced>,
    /// Whether that is news.
    has_news: bool,
    /// Writes of these commands, in the order of the planes' first pages.
    expected: Vec<Expected>,
}

/// Looks are at the nanosecond.
const TICK: Duration = Duration::from_ns(1);

impl IdleTime {
    /// The use of idle time of a checked configuration, if there is one.
    pub fn new(
        config: &Resolved,
        geometry: &Geometry,
        timing: &Timing,
        poll: Duration,
    ) -> Option<Box<Self>> {
        let gc = &config.ssd.gc;
        let times = step_times(timing, gc.copyback, poll);
        Some(Box::new(Self {
            schedule: IdleSchedule::new(gc, times)?,
            long: gc.idle.in_advance().map(|advance| IdleDetector::new(TICK, advance.long_idle.0)),
            compaction: Permits::new(
                geometry.dies(),
                geometry.planes_per_die,
                1,
                config.drive.blocks.reserve,
            ),
            goal: config.drive.thresholds.idle_goal,
            is_long: false,
            looks: [None; 2],
            announced: Vec::new(),
            has_news: false,
            expected: Vec::new(),
        }))
    }

    fn became_busy(&mut self) {
        if self.schedule.became_busy() {
            if let Some(long) = &mut self.long {
                long.became_busy();
            }
            self.is_long = false;
            self.compaction.request_came();
        }
    }

    /// Returns whether there is anything to do at once.
    fn became_quiet(&mut self, now: Instant) -> bool {
        let is_new = self.schedule.became_quiet(now);
        if is_new && let Some(long) = &mut self.long {
            long.became_quiet(now);
        }
        is_new
    }

    /// When the idle time is to be looked at, if no command comes: to catch up, and for long idle
    /// periods.
    fn next_looks(&self, now: Instant) -> [Option<Instant>; 2] {
        let catch_up = self.schedule.catches_up_from().filter(|from| *from > now);
        [catch_up, self.long.as_ref().and_then(IdleDetector::next_check)]
    }

    /// Forgets what the host has announced.
    pub fn forget_announced(&mut self) {
        self.announced.clear();
        self.has_news = true;
    }

    /// The host has announced a command, behind those that it has announced before.
    pub fn announce(&mut self, command: Announced) {
        self.announced.push(command);
        self.has_news = true;
    }

    /// Before work is looked for: whether the drive `is_busy`. Writes that have no place of their own go to the
    /// dies in turn, from `next_die` on. Returns whether every die is to look for work.
    pub fn note(&mut self, ftl: &Ftl, is_busy: bool, next_die: usize, now: Instant) -> bool {
        if is_busy {
            self.became_busy();
            return false;
        }
        let looks = self.became_quiet(now) || self.has_news;
        if looks {
            if let Some(look_ahead) = &mut self.schedule.look_ahead {
                look_ahead.announced(self.announced.first().map(|command| command.arrival));
                self.expected = foresight::foresee(&self.announced, ftl, next_die);
            }
            self.has_news = false;
        }
        looks
    }

    /// After work has been looked for: plans when the idle time is to be looked at.
    pub fn plan_look(&mut self, now: Instant, agenda: &mut Agenda) {
        let next = self.next_looks(now);
        for (planned, next) in self.looks.iter_mut().zip(next) {
            if let Some(next) = next
                && planned.is_none_or(|planned| next < planned)
            {
                *planned = Some(next);
                agenda.add(next, Event::IdleLook);
            }
        }
    }

    /// A look at the idle time that was on the agenda. The drive may have become busy since. Returns whether every die is to
    /// look for work.
    pub fn look(&mut self, ftl: &Ftl, now: Instant) -> bool {
        for planned in &mut self.looks {
            planned.take_if(|planned| *planned <= now);
        }
        if self.long.as_mut().is_some_and(|long| long.check(now)) {
            self.is_long = true;
            let until = Until::LongIdle(self.goal);
            let asked = Asked::until(until);
            self.compaction.ask(asked, ftl.space().free_blocks_by_plane());
        }
        self.schedule.is_quiet()
    }

    /// A block of `plane` has been collected.
    pub(super) fn note_collected(&mut self, plane: PlaneId, free_blocks: usize) {
        self.compaction.block_collected(plane, free_blocks, free_blocks);
    }
}

/// Durations of the steps of a collection, with the look at the queue after each.
pub(super) fn step_times(timing: &Timing, copyback: bool, poll: Duration) -> StepTimes {
    let (load, write) = match copyback {
        true => (timing.read(0), timing.program(0)),
        false => (timing.whole_read(), timing.whole_program()),
    };
    let metadata = timing.summary.unwrap_or_default();
    StepTimes { load: load + poll, write: write + poll, erase: timing.erase, metadata }
}

impl Collector {
    /// A bit for each plane of `die` that is short of space and cannot be put off.
    #[inline]
    pub fn planes_due(&self, backend: &Backend, die: DieId) -> u32 {
        match backend.ftl.planes_to_collect(die) {
            0 => 0,
            to_collect => self.without_those_put_off(backend, die, to_collect),
        }
    }

    #[inline(never)]
    fn without_those_put_off(&self, backend: &Backend, die: DieId, to_collect: u32) -> u32 {
        if self.idle.as_ref().is_none_or(|idle| idle.schedule.owed.is_none()) {
            return to_collect;
        }
        let due = backend
            .ftl
            .geometry()
            .planes_in(to_collect, die)
            .filter(|plane| !backend.ftl.can_wait(*plane));
        due.fold(0, |due, plane| due | backend.ftl.geometry().bit(plane))
    }

    /// Whether the collection of `die` waits until the drive has no command, unless one `is_due`.
    pub fn is_put_off(
        &self,
        backend: &Backend,
        die: DieId,
        is_due: impl FnOnce() -> bool,
        now: Instant,
    ) -> bool {
        if self.idle.is_none() && self.folds.is_none() {
            return false;
        }
        let catches_up = || self.idle.as_ref().is_some_and(|idle| idle.schedule.catches_up(now));
        backend.collecting.is_in_idle_time(die)
            && !catches_up()
            && !self.is_folding_in_idle_time()
            && !is_due()
    }

    /// Lays the collection of `die` down for a while. What has been read out is forgotten: it is valid where it
    /// was.
    pub fn put_off(&mut self, die: DieId) {
        if let Some(collection) = self.of_mut(die) {
            collection.lanes.forget_carried();
        }
    }

    /// Puts on `die`, which has nothing else to do, what idle time is good for. Returns whether there is
    /// anything.
    pub fn use_idle_time(&mut self, backend: &mut Backend, die: DieId, now: Instant) -> bool {
        let Some(idle) = &mut self.idle else { return false };
        let Some(job) = idle.next_job(backend, die, now) else { return false };
        let mut lanes = Lanes::of(job, HowMoved::ReadOut);
        self.let_planes_join(backend, &mut lanes);
        let Backend { ftl, collecting, observer, .. } = backend;
        let collection = Collection::new(lanes, 0, ftl.geometry());
        self.put_on_die(ftl, collecting, observer, (die, true), collection, now);
        true
    }
}
