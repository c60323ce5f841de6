//! Schedule of a drive's idle time (Jung, Prabhakar, Kandemir, Middleware 2012, section 5.3, Algorithm 1):
//!
//! 1. a collection that a command has interrupted goes on;
//! 2. DGC: what is owed is collected;
//! 3. AGC, by the kind of idle time: in a short gap, what the next commands will call for; in a long
//!    idle period, planes that will soon be short of space.
//!
//! Either half may be missing. Each collection looks after each of its flash operations whether a
//! command has come: the paper's checkpoints.

use std::ops::Range;

use crate::backend::{Backend, Counters};
use crate::checkpoint::Checkpointed;
use crate::collector::job::Job;
use crate::config;
use crate::ftl::{Cost, Expected, Ftl, Occasion};
use crate::ids::DieId;
use crate::nand::Geometry;
use crate::purpose::Reason;
use crate::units::{Duration, Instant};

use super::IdleTime;
use super::advanced::{LookAhead, StepTimes};
use super::delayed::JobList;

/// The use of idle time.
#[derive(Debug, Checkpointed)]
pub struct IdleSchedule {
    /// Deferred collections, if there may be any.
    pub owed: Option<JobList>,
    /// Look-ahead to announced commands, if it is used.
    pub look_ahead: Option<LookAhead>,
    /// Time for which the drive must have had no command before anything is taken up again.
    wait: Duration,
    /// Since when the drive has no command.
    quiet_since: Option<Instant>,
}

/// Kind of idle time: what it is good for (the paper's `checkIdleType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdleKind {
    /// The next command is known to come soon.
    Short,
    /// Long idle time: no command has come for long.
    Long,
    /// Neither: nobody knows how long it will last.
    Unknown,
}

impl IdleSchedule {
    /// The schedule that a checked configuration describes, if it uses idle time.
    pub fn new(config: &config::Gc, times: StepTimes) -> Option<Self> {
        let wait = match config.idle {
            config::Idle::None => return None,
            config::Idle::Advanced(_) => Duration::ZERO,
            config::Idle::Delayed { short_idle } => short_idle.0,
            config::Idle::AdvancedDelayed(advance) => advance.short_idle.0,
        };
        let owed = config.idle.delays().then(JobList::default);
        let look_ahead = config
            .idle
            .in_advance()
            .map(|advance| LookAhead::new(times, advance.short_idle.0, advance.long_idle.0));
        Some(Self { owed, look_ahead, wait, quiet_since: Some(Instant::START) })
    }

    /// A command has come. Returns whether there was none.
    pub fn became_busy(&mut self) -> bool {
        self.quiet_since.take().is_some()
    }

    /// Records that there is no command. Returns whether there was one.
    pub fn became_quiet(&mut self, now: Instant) -> bool {
        let was_busy = self.quiet_since.is_none();
        self.quiet_since.get_or_insert(now);
        was_busy
    }

    /// Whether the drive has no command.
    pub const fn is_quiet(&self) -> bool {
        self.quiet_since.is_some()
    }

    /// When owed and interrupted collections may go on, if no command comes.
    pub fn catches_up_from(&self) -> Option<Instant> {
        self.quiet_since.map(|since| since + self.wait)
    }

    /// Whether owed and interrupted collections may go on.
    pub fn catches_up(&self, now: Instant) -> bool {
        self.catches_up_from().is_some_and(|from| from <= now)
    }

    /// The kind of an idle period that starts or lasts at `now`. `is_long`: it has lasted long.
    pub fn kind(&self, is_long: bool, now: Instant) -> IdleKind {
        let gap = self.look_ahead.as_ref().and_then(|look_ahead| look_ahead.gap(now));
        match (gap, is_long) {
            (Some(_), _) => IdleKind::Short,
            (None, true) => IdleKind::Long,
            (None, false) => IdleKind::Unknown,
        }
    }
}

impl IdleTime {
    /// Algorithm 1 for `die`, which has nothing else to do: what is owed, then what can be done in advance.
    pub(super) fn next_job(
        &mut self,
        backend: &mut Backend,
        die: DieId,
        now: Instant,
    ) -> Option<Job> {
        self.note_debts(&backend.ftl, &mut backend.counters, die);
        if !self.schedule.is_quiet() || !backend.flash.die(die).is_idle() {
            return None;
        }
        if self.schedule.catches_up(now)
            && let Some(owed) = &self.schedule.owed
        {
            let mut short = owed.owed(plane_numbers(backend.ftl.geometry(), die));
            let ftl = &mut backend.ftl;
            let owed = Job::on(Occasion::Owed(die), Reason::Delayed, ftl);
            let for_space = |plane| Job::on(Occasion::Demand(plane), Reason::Delayed, ftl);
            if let Some(job) = owed.or_else(|| short.find_map(for_space)) {
                return Some(job);
            }
        }
        match self.schedule.kind(self.is_long, now) {
            IdleKind::Short => self.look_ahead_job(backend, die, now),
            IdleKind::Long => self.compaction_job(backend, die),
            IdleKind::Unknown => None,
        }
    }

    /// Notes which planes of `die` are owed a collection.
    fn note_debts(&mut self, ftl: &Ftl, counters: &mut Counters, die: DieId) {
        let (to_collect, geometry) = (ftl.planes_to_collect(die), ftl.geometry());
        let Some(owed) = &mut self.schedule.owed else { return };
        owed.settle(&plane_numbers(geometry, die), |plane| to_collect & geometry.bit(plane) != 0);
        for plane in geometry.planes_in(to_collect, die) {
            counters.put_off += u64::from(owed.owe(plane));
        }
    }

    fn look_ahead_job(&self, backend: &mut Backend, die: DieId, now: Instant) -> Option<Job> {
        let look_ahead = self.schedule.look_ahead.as_ref()?;
        let fits = |cost: Cost| look_ahead.fits(cost.pages, cost.blocks, now);
        let geometry = *backend.ftl.geometry();
        let of_die = |expected: &&Expected| geometry.die_of_plane(expected.plane) == die;
        let mut expected = self.expected.iter().filter(of_die);
        expected.find_map(|expected| {
            let writes = Occasion::Writes { expected, fits: &fits };
            Job::on(writes, Reason::LookAhead, &mut backend.ftl)
        })
    }

    fn compaction_job(&mut self, backend: &mut Backend, die: DieId) -> Option<Job> {
        let compaction = &mut self.compaction;
        backend.ftl.geometry().planes_in(compaction.planes_of(die), die).find_map(|plane| {
            let job = Job::on(Occasion::Advance(plane), compaction.reason(), &mut backend.ftl);
            if job.is_none() {
                compaction.give_up(plane);
            }
            job
        })
    }
}

/// The numbers of the planes of `die`.
fn plane_numbers(geometry: &Geometry, die: DieId) -> Range<u32> {
    let first = geometry.first_plane(die).0;
    first..first + geometry.planes_per_die
}
