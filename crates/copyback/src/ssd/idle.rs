//! What a drive does with the time in which it has no command: asks the schedule, begins what it says,
//! and lays down what a command interrupts.

use std::ops::Range;

use crate::config::Config;
use crate::event::{Agenda, Event};
use crate::ftl::{Cost, Expected};
use crate::gc::job::{Job, Reason};
use crate::gc::lanes::Lanes;
use crate::gc::permit::{Asked, Permits, Until};
use crate::gc::schedule::{Admitted, IdleKind, IdleSchedule, Schedule, StepTimes};
use crate::idle::IdleDetector;
use crate::ids::{DieId, Lpn, PlaneId};
use crate::nand::{Geometry, Timing};
use crate::units::{Duration, Instant};

use super::Ssd;
use super::queues::planes_in;

/// The use of idle time, and what it watches.
#[derive(Debug)]
pub(super) struct IdleTime {
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
    /// What the host has announced, in order of arrival.
    announced: Vec<Announced>,
    /// Whether that is news.
    has_news: bool,
    /// What that writes, in the order of the planes' first pages.
    expected: Vec<Expected>,
}

/// A command that the host has announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Announced {
    /// When it arrives.
    pub arrival: Instant,
    /// Its first page.
    pub first: Lpn,
    /// How many it touches.
    pub pages: u32,
    /// Whether it writes them.
    pub writes: bool,
}

/// Looks are at the nanosecond.
const TICK: Duration = Duration::from_ns(1);

impl IdleTime {
    /// The use of idle time of a checked configuration, if there is one.
    pub fn new(
        config: &Config,
        geometry: &Geometry,
        timing: &Timing,
        schedule: &Schedule,
    ) -> Option<Box<Self>> {
        let gc = &config.ssd.gc;
        let times = step_times(timing, gc.copyback, schedule.poll());
        Some(Box::new(Self {
            schedule: IdleSchedule::new(gc, times)?,
            long: gc.idle.in_advance().map(|advance| IdleDetector::new(TICK, advance.long_idle.0)),
            compaction: Permits::new(
                geometry.dies(),
                geometry.planes_per_die,
                config.reserve_blocks(),
            ),
            goal: config.ssd.soft_threshold() + config.ssd.free_margin(),
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
}

/// What the steps of a collection take, with the queue looked at after each.
fn step_times(timing: &Timing, copyback: bool, poll: Duration) -> StepTimes {
    let (load, write) = match copyback {
        true => (timing.read(0), timing.program(0)),
        false => (timing.whole_read(), timing.whole_program()),
    };
    let metadata = timing.summary.unwrap_or_default();
    StepTimes { load: load + poll, write: write + poll, erase: timing.erase, metadata }
}

impl Ssd {
    /// Whether idle time is used.
    pub const fn uses_idle_time(&self) -> bool {
        self.idle.is_some()
    }

    /// Whether commands are in the drive, if only on their way to the flash or from it.
    pub const fn note_commands(&mut self, commands: bool) {
        self.has_commands = commands;
    }

    /// Whether the drive has anything to do for a command.
    pub(super) fn is_busy(&self) -> bool {
        self.has_commands || self.host_operations() > 0
    }

    /// Forgets what the host has announced.
    pub fn forget_announced(&mut self) {
        if let Some(idle) = &mut self.idle {
            idle.announced.clear();
            idle.has_news = true;
        }
    }

    /// The host has announced a command, behind those that it has announced before.
    pub fn announce(&mut self, command: Announced) {
        if let Some(idle) = &mut self.idle {
            idle.announced.push(command);
            idle.has_news = true;
        }
    }

    /// Finds out what the announced commands will write, and where.
    fn foresee(&self, commands: &[Announced]) -> Vec<Expected> {
        let mut turns = vec![0; self.geometry.dies()];
        let mut places: Vec<Option<usize>> = vec![None; self.geometry.planes()];
        let mut expected: Vec<Expected> = Vec::new();
        let writes = commands.iter().filter(|command| command.writes);
        let pages =
            writes.flat_map(|command| (0..command.pages).map(|page| Lpn(command.first.0 + page)));
        for (number, lpn) in pages.enumerate() {
            let plane = self.foreseen_plane(lpn, number, &mut turns);
            let place = *places[plane.index()].get_or_insert(expected.len());
            if place == expected.len() {
                expected.push(Expected::new(plane));
            }
            self.ftl.expect(lpn, &mut expected[place]);
        }
        expected
    }

    /// The plane that the write of `lpn` will go to, the `place`th that has been announced: for sure, if
    /// the allocation fixes it; else if dies and planes take their turns.
    fn foreseen_plane(&self, lpn: Lpn, place: usize, turns: &mut [u32]) -> PlaneId {
        let allocation = &self.ftl.allocation;
        if let Some(plane) = allocation.plane_of(lpn) {
            return plane;
        }
        let dies = self.dies.len();
        let any = DieId::from_index((self.next_die + place) % dies);
        let die = allocation.die_of(lpn, &self.geometry).unwrap_or(any);
        let planes = self.geometry.planes_per_die;
        let turn = (allocation.turn_of(die) + turns[die.index()]) % planes;
        turns[die.index()] += 1;
        PlaneId(self.geometry.first_plane(die).0 + turn)
    }

    /// Every die looks for work when the drive next [arbitrates](Self::arbitrate).
    pub(super) fn wake_all_dies(&mut self) {
        (0..self.dies.len()).for_each(|die| self.dirty_dies.insert(die));
    }

    /// Before work is looked for: whether the drive has commands.
    pub(super) fn note_idle_time(&mut self, now: Instant) {
        // Without power there is nothing to use idle time with.
        let is_busy = self.is_busy() || self.is_off;
        let Some(mut idle) = self.idle.take() else { return };
        if is_busy {
            idle.became_busy();
        } else if idle.became_quiet(now) || idle.has_news {
            if let Some(look_ahead) = &mut idle.schedule.look_ahead {
                look_ahead.announced(idle.announced.first().map(|command| command.arrival));
                idle.expected = self.foresee(&idle.announced);
            }
            idle.has_news = false;
            self.wake_all_dies();
        }
        self.idle = Some(idle);
    }

    /// After work has been looked for: when the idle time is to be looked at.
    pub(super) fn plan_idle_look(&mut self, now: Instant, agenda: &mut Agenda) {
        let Some(idle) = &mut self.idle else { return };
        let next = idle.next_looks(now);
        for (planned, next) in idle.looks.iter_mut().zip(next) {
            if let Some(next) = next
                && planned.is_none_or(|planned| next < planned)
            {
                *planned = Some(next);
                agenda.add(next, Event::IdleLook);
            }
        }
    }

    /// A look at the idle time that was on the agenda. The drive may have become busy since.
    pub fn idle_look(&mut self, now: Instant) {
        let Some(idle) = &mut self.idle else { return };
        for planned in &mut idle.looks {
            planned.take_if(|planned| *planned <= now);
        }
        if idle.long.as_mut().is_some_and(|long| long.check(now)) {
            idle.is_long = true;
            let until = Until::LongIdle(idle.goal);
            let asked = Asked { until, regardless: false };
            idle.compaction.ask(asked, self.ftl.free_blocks_by_plane());
        }
        if idle.schedule.is_quiet() {
            self.wake_all_dies();
        }
    }

    /// A bit for each plane of `die` that is short of space and cannot be put off.
    pub(super) fn planes_due(&self, die: DieId) -> u32 {
        let hungry = self.ftl.hungry_planes(die);
        if hungry == 0 || self.idle.as_ref().is_none_or(|idle| idle.schedule.owed.is_none()) {
            return hungry;
        }
        planes_in(hungry, die, self.geometry.planes_per_die)
            .filter(|plane| !self.ftl.can_wait(*plane))
            .fold(0, |due, plane| due | self.bit(plane))
    }

    /// Whether the collection of `die` waits until the drive has no command.
    pub(super) fn is_put_off(&self, die: DieId, now: Instant) -> bool {
        let Some(idle) = &self.idle else { return false };
        let collection = self.collections[die.index()].as_ref();
        collection.is_some_and(|collection| collection.in_idle_time)
            && !idle.schedule.catches_up(now)
            && !self.collection_is_due(die)
    }

    /// Lays the collection of `die` down and serves the host. What has been read out is forgotten: it is
    /// valid where it was. Returns whether the die may have further work to start now.
    pub(super) fn serve_instead(&mut self, die: DieId, now: Instant) -> bool {
        self.yield_to_host(die, now);
        if let Some(collection) = &mut self.collections[die.index()] {
            collection.lanes.forget_carried();
        }
        self.start_host_operation(die, Admitted::ALL, now)
    }

    /// Uses idle time for the next collection of `die`, which has nothing else to do. Returns whether it
    /// has work now.
    pub(super) fn use_idle_time(&mut self, die: DieId, now: Instant) -> bool {
        let Some(mut idle) = self.idle.take() else { return false };
        self.note_debts(die, &mut idle.schedule);
        let job = match idle.schedule.is_quiet() && self.dies[die.index()].is_idle() {
            true => self.next_idle_job(die, &mut idle, now),
            false => None,
        };
        self.idle = Some(idle);
        let Some(job) = job else { return false };
        let mut lanes = Lanes::of(job, false);
        if self.width.is_parallel() {
            self.let_planes_join(&mut lanes);
        }
        self.put_on_die(die, lanes, 0, true, now);
        self.start_collection_step(die, now)
    }

    /// Notes which planes of `die` are owed a collection.
    fn note_debts(&mut self, die: DieId, schedule: &mut IdleSchedule) {
        let hungry = self.ftl.hungry_planes(die);
        let Some(owed) = &mut schedule.owed else { return };
        owed.settle(&self.plane_numbers(die), |plane| hungry & self.bit(plane) != 0);
        for plane in planes_in(hungry, die, self.geometry.planes_per_die) {
            self.counters.put_off += u64::from(owed.owe(plane));
        }
    }

    fn plane_numbers(&self, die: DieId) -> Range<u32> {
        let first = self.geometry.first_plane(die).0;
        first..first + self.geometry.planes_per_die
    }

    /// Algorithm 1 of the paper, for a die: what is owed, then what can be done in advance.
    fn next_idle_job(&mut self, die: DieId, idle: &mut IdleTime, now: Instant) -> Option<Job> {
        if idle.schedule.catches_up(now)
            && let Some(job) = self.owed_job(die, &idle.schedule)
        {
            return Some(job);
        }
        match idle.schedule.kind(idle.is_long, now) {
            IdleKind::Short => self.look_ahead_job(die, idle, now),
            IdleKind::Long => self.compaction_job(die, &mut idle.compaction),
            IdleKind::Unknown => None,
        }
    }

    fn owed_job(&mut self, die: DieId, schedule: &IdleSchedule) -> Option<Job> {
        let mut short = schedule.owed.as_ref()?.owed(self.plane_numbers(die));
        Job::owed(die, &mut self.ftl).or_else(|| {
            short.find_map(|plane| Job::for_space(Reason::Delayed, plane, &mut self.ftl))
        })
    }

    fn look_ahead_job(&mut self, die: DieId, idle: &IdleTime, now: Instant) -> Option<Job> {
        let look_ahead = idle.schedule.look_ahead.as_ref()?;
        let fits = |cost: Cost| look_ahead.fits(cost.pages, cost.blocks, now);
        let geometry = self.geometry;
        let of_die = |expected: &&Expected| geometry.die_of_plane(expected.plane) == die;
        let mut expected = idle.expected.iter().filter(of_die);
        expected.find_map(|expected| Job::called_for(expected, &mut self.ftl, fits))
    }

    fn compaction_job(&mut self, die: DieId, compaction: &mut Permits) -> Option<Job> {
        let planes = compaction.planes_of(die);
        planes_in(planes, die, self.geometry.planes_per_die).find_map(|plane| {
            let job = Job::in_advance(compaction.reason(), plane, &mut self.ftl);
            if job.is_none() {
                compaction.give_up(plane);
            }
            job
        })
    }

    /// A block of `plane` has been collected.
    pub(super) fn note_collected(&mut self, plane: PlaneId) {
        let free = self.ftl.free_blocks(plane);
        self.permits.block_collected(plane, free);
        if let Some(idle) = &mut self.idle {
            idle.compaction.block_collected(plane, free);
        }
    }
}
