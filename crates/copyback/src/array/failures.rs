//! Drives that fail in a run (`array.failures`), spares that take their places, and data that are lost.
//!
//! ```text
//!  fails ──► its place is missing ──► a spare takes the place ──► rebuilt
//!                  │
//!                  └──► more is missing than the layout makes up for: data are lost, and the run ends
//! ```
//!
//! A command that is under way in a drive when it fails ends when it would have ended, with an error. A read that has
//! met one is planned again, without that drive. A write has its parity or its copies elsewhere, and goes on.

use std::cmp::Reverse;

use rand_distr::{Distribution, Weibull};
use schemars::JsonSchema;
use serde::Serialize;

use crate::checkpoint::Checkpointed;
use crate::config::{self, Rebuild, Resolved};
use crate::drive::{Ended, Serves};
use crate::ids::{SsdId, TaskId};
use crate::outcome::Outcome;
use crate::rng::{self, Stream};
use crate::units::{Duration, Instant};
use crate::workload::Operation;

use super::Array;

/// Cause of the failure of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, Checkpointed)]
#[serde(rename_all = "snake_case")]
pub enum FailureCause {
    /// A time of `array.failures`, set or random.
    Time,
    /// A write that the drive rejected, as too many of its blocks are bad.
    EndOfLife,
}

/// Failure of a drive.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema, Checkpointed)]
pub struct FailureSummary {
    /// When it failed, in microseconds from the start of the run.
    pub at_us: f64,
    /// The drive, counted from 0.
    pub drive: u16,
    /// Cause of the failure.
    pub cause: FailureCause,
    /// Drive that has taken its place; null if no spare was left.
    pub replaced_by: Option<u16>,
    /// When the replacement held all that it should, in microseconds from the start of the run; null if it never did.
    pub rebuilt_us: Option<f64>,
}

/// Data that an array has lost: more drives had failed than its layout makes up for.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema, Checkpointed)]
pub struct LossSummary {
    /// When they were lost, in microseconds from the start of the run. No further request enters then.
    pub at_us: f64,
    /// Bytes of the array's address space that are on no drive and can be made up from none.
    pub bytes: u64,
}

/// Failures of the drives of an array: those that come and those that have been.
#[derive(Debug, Checkpointed)]
pub struct Failures {
    /// The next one last.
    to_come: Vec<(Instant, SsdId)>,
    lifetimes: Option<Lifetimes>,
    had: Vec<FailureSummary>,
    lost: Option<LossSummary>,
    /// Whether a drive stays in its place though it rejects writes.
    is_read_only: bool,
}

impl Failures {
    /// The failures of a checked configuration, if drives may fail.
    pub(super) fn new(config: &Resolved) -> Option<Box<Self>> {
        let (to_come, had) = Default::default();
        let mut failures = Self { to_come, lifetimes: None, had, lost: None, is_read_only: false };
        match &config.array.failures {
            config::Failures::None => return None,
            config::Failures::EndOfLife => {}
            config::Failures::At { drives } => {
                for config::Failure { drive, at } in drives {
                    failures.add(Instant::START + at.0, SsdId(*drive as u16));
                }
            }
            config::Failures::Random { life, shape } => {
                failures.lifetimes = Some(Lifetimes::new(config.seed, life.0, *shape));
                let is_replaced = config.array.rebuild != Rebuild::None;
                let serves = |drive: &u32| is_replaced || !config.array.failed.contains(drive);
                let drives = (0..config.array.devices).filter(serves);
                drives.for_each(|drive| failures.serves_from(SsdId(drive as u16), Instant::START));
            }
        }
        Some(Box::new(failures))
    }

    fn add(&mut self, at: Instant, drive: SsdId) {
        self.to_come.push((at, drive));
        self.to_come.sort_unstable_by_key(|failure| Reverse(*failure));
    }

    /// `drive` is in service from `now` on.
    fn serves_from(&mut self, drive: SsdId, now: Instant) {
        if let Some(lifetimes) = &self.lifetimes {
            self.add(now + lifetimes.draw(drive), drive);
        }
    }

    /// When the next drive fails, unless data are lost already.
    pub(super) fn next_time(&self) -> Option<Instant> {
        self.to_come.last().filter(|_| self.lost.is_none()).map(|(at, _)| *at)
    }

    fn take(&mut self, now: Instant) -> Option<SsdId> {
        self.next_time().filter(|at| *at <= now)?;
        self.to_come.pop().map(|(_, drive)| drive)
    }

    /// The drives that have failed, in order of time.
    pub(super) fn had(&self) -> &[FailureSummary] {
        &self.had
    }

    /// Whether a drive stays in its place though it rejects writes.
    pub(super) const fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// Whether data are lost.
    pub const fn have_lost_data(&self) -> bool {
        self.lost.is_some()
    }

    /// Data that are lost, if any are.
    pub(super) const fn lost(&self) -> Option<LossSummary> {
        self.lost
    }

    /// Note for the user that data are lost, if any are.
    pub fn loss_note(&self) -> Option<String> {
        let LossSummary { at_us, bytes } = self.lost?;
        let drive = self.had.last()?.drive;
        Some(format!(
            "the failure of drive {drive} at {:.6} s lost {bytes} bytes of the array, which no other drives \
             make up for; no request entered after it",
            at_us / 1e6
        ))
    }

    /// `drive` holds all that it should.
    pub(super) fn rebuilt(&mut self, drive: SsdId, now: Instant) {
        let had = self.had.iter_mut().find(|failure| failure.replaced_by == Some(drive.0));
        if let Some(failure) = had {
            failure.rebuilt_us = Some(us(now));
        }
    }
}

/// Random times in service.
#[derive(Debug, Checkpointed)]
struct Lifetimes {
    seed: u64,
    life: Duration,
    shape: f64,
}

impl Lifetimes {
    const fn new(seed: u64, life: Duration, shape: f64) -> Self {
        Self { seed, life, shape }
    }

    /// The time that `drive` serves, whatever others do.
    fn draw(&self, drive: SsdId) -> Duration {
        let mut random: Stream = rng::stream(self.seed, &format!("array/failures/{}", drive.0));
        let times = Weibull::new(1.0, self.shape).expect("the configuration has been checked");
        let drawn: f64 = times.sample(&mut random);
        // Whoever serves for longer than the clock goes does not fail.
        let ns = (drawn * self.life.as_ns() as f64).min(Instant::END.as_ns() as f64 / 4.0);
        Duration::from_ns(ns as u64)
    }
}

fn us(at: Instant) -> f64 {
    at.as_ns() as f64 / 1_000.0
}

impl Array {
    /// Lets the drives fail whose time has come.
    pub(super) fn fail_drives(&mut self) {
        while let Some(drive) =
            self.members.failures.as_mut().and_then(|failures| failures.take(self.clock.now))
        {
            self.fail(drive, FailureCause::Time);
        }
    }

    /// Takes the drive of `place`, which has rejected a write, for failed, unless data would be lost with it. Linux md does
    /// the same (`raid1.c`, `raid5.c`, `raid10.c`: `error`), but drops such a drive of RAID-5 and RAID-6 as well.
    #[cold]
    #[inline(never)]
    pub(super) fn fail_as_it_rejects(&mut self, place: SsdId, drive: SsdId, ended: &Ended) {
        let mut without = self.members.missing.clone();
        without.lose(place);
        if self.layout.survives(&without) {
            self.fail(drive, FailureCause::EndOfLife);
            return self.book_failed(drive, ended);
        }
        self.members.failures.iter_mut().for_each(|failures| failures.is_read_only = true);
        self.book_piece(drive, ended);
    }

    fn fail(&mut self, drive: SsdId, cause: FailureCause) {
        let place = self.members.fail(drive);
        let replaced_by = place.and_then(|place| self.lose_place(place));
        let now = self.clock.now;
        let Some(failures) = &mut self.members.failures else { return };
        let replaced_by = replaced_by.inspect(|spare| failures.serves_from(*spare, now));
        failures.had.push(FailureSummary {
            at_us: us(now),
            drive: drive.0,
            cause,
            replaced_by: replaced_by.map(|spare| spare.0),
            rebuilt_us: None,
        });
    }

    /// Notes that all of `place` is missing. Returns the spare that takes it, if one is left and no data are lost.
    fn lose_place(&mut self, place: SsdId) -> Option<SsdId> {
        self.members.missing.lose(place);
        if let Some(consistency) = &mut self.upkeep.consistency {
            consistency.lose(&self.layout, &self.members.missing);
        }
        if let Some(protocol) = &mut self.protocol {
            protocol.lose(place, self.clock.now);
        }
        if let Some(rebuilder) = &mut self.upkeep.rebuilder {
            rebuilder.give_up(place);
        }
        if !self.layout.survives(&self.members.missing) {
            let lost = LossSummary {
                at_us: us(self.clock.now),
                bytes: self.layout.lost_bytes(&self.members.missing),
            };
            self.members.failures.iter_mut().for_each(|failures| failures.lost = Some(lost));
            self.stop_upkeep();
            return None;
        }
        let spare = self.members.replace(place)?;
        if let Some(protocol) = &mut self.protocol {
            protocol.join(place);
        }
        if let Some(rebuilder) = &mut self.upkeep.rebuilder {
            rebuilder.add(place, self.clock.now);
        }
        Some(spare)
    }

    /// Books a command of a drive that has failed.
    #[cold]
    #[inline(never)]
    pub(super) fn book_failed(&mut self, drive: SsdId, ended: &Ended) {
        let Serves::Task(id) = ended.command.serves else {
            unreachable!("where drives fail, requests go by tasks")
        };
        // A write has its parity or its copies elsewhere.
        let task = &mut self.work.tasks[id.index()];
        task.is_outdated |= ended.command.operation == Operation::Read && task.needs_its_reads();
        self.book_piece(drive, &Ended { outcome: Outcome::Done, ..*ended });
    }

    /// Plans a task again that has read from a drive which has failed.
    pub(super) fn begin_again(&mut self, id: TaskId) {
        let task = &mut self.work.tasks[id.index()];
        task.give_up_plan();
        let (had_lock, request, undelayed) = (
            std::mem::take(&mut task.has_lock),
            task.request(),
            self.clock.now.before(task.late()),
        );
        self.upkeep.take_back_intent((id, task), &self.layout, false, self.clock.now);
        if had_lock {
            self.work.locks.release(id, undelayed);
        }
        self.plan_and_begin(id);
        if had_lock {
            self.begin_unlocked(request);
        }
    }

    /// Ends a task that cannot be carried out any more, as data are lost.
    pub(super) fn end_uncorrectable(&mut self, id: TaskId) {
        let task = &mut self.work.tasks[id.index()];
        if let Some(step) = task.repair() {
            return self.end_repair(id, step, Outcome::Uncorrectable);
        }
        task.outcome.worsen(task.outcome_if_lost());
        self.end_task(id, SsdId::default());
    }

    /// Failures of drives, if drives may fail.
    pub fn failures(&self) -> Option<&Failures> {
        self.members.failures.as_deref()
    }
}
