//! Drives that have nothing to do with each other between the arrival of a request and its end go ahead side by
//! side, and what comes of it is heard in order.
//!
//! ```text
//!  requests to come ── plan ──► commands ──► each drive on its own, until the same instant
//!                                                              │
//!  the instants of the array: arrivals, and what ◄── logs ─────┘
//! ```
//!
//! The results are those of drives that go from instant to instant together. That holds where nothing but
//! the host's own clock decides what comes: an open loop below the queue limit, no parity or copies, nobody who coordinates
//! or looks at every operation.

use std::collections::VecDeque;

use crate::checkpoint::Checkpointed;
use crate::drive::{Command, Drive, Log, Moment, Serves, Visit};
use crate::executor::{Executor, Job};
use crate::ids::{SsdId, TaskId};
use crate::units::{Duration, Instant};
use crate::workload::Request;

use super::Array;
use super::tasks::Task;
use crate::layout::Piece;

/// Events of drives that have gone ahead, not reported yet.
#[derive(Debug, Checkpointed)]
pub(super) struct Ahead {
    logs: Vec<Log>,
    /// The tasks of requests that have not arrived, in order.
    tasks: VecDeque<TaskId>,
    visit: Visit,
    /// Number of times that commands have been booked in `visit`.
    round: u32,
}

impl Array {
    /// Whether its drives have nothing to do with each other but for the requests that they share.
    pub fn may_go_ahead(&self) -> bool {
        self.drives.len() > 1
            && !self.layout.is_redundant()
            && self.members.missing.count() == 0
            && self.upkeep.is_none()
            && !self.members.may_change()
            && self.protocol.is_none()
            && self.reads.is_none()
            && self.outbox.blocked.is_none()
    }

    /// Whether drives have gone ahead that others have not heard of.
    pub const fn is_ahead(&self) -> bool {
        self.ahead.is_some()
    }

    /// Lets the drives go on until just before `until`, side by side. Until then no request arrives but these.
    pub fn go_ahead(&mut self, requests: &[Request], until: Instant, executor: &dyn Executor) {
        let mut tasks = VecDeque::with_capacity(requests.len());
        let mut arriving = vec![VecDeque::new(); self.drives.len()];
        for Request { operation, offset, length, arrival, hint, .. } in requests {
            self.layout.plan(
                *operation,
                *offset..offset + length,
                &self.members.missing,
                &mut self.work.plan,
            );
            let pieces = self.work.plan.first.iter().chain(self.work.plan.then.iter());
            let task = Task::announced(pieces.clone().count() as u32);
            let task = TaskId::from_index(self.work.tasks.insert(task));
            tasks.push_back(task);
            for &Piece { device, operation, offset, length } in pieces {
                let (serves, hint, late) = (Serves::Task(task), *hint, Duration::ZERO);
                let command = Command { serves, operation, offset, length, hint, late };
                arriving[device.index()].push_back((*arrival, command));
            }
        }
        let mut logs: Vec<_> = self.drives.iter().map(|_| Log::default()).collect();
        let mut each: Vec<_> = self.drives.iter_mut().zip(arriving).zip(&mut logs).collect();
        let share = each.len().div_ceil(executor.width());
        let mut jobs = Vec::new();
        while !each.is_empty() {
            let own = each.split_off(each.len().saturating_sub(share));
            jobs.push(Box::new(move || {
                for ((drive, arriving), log) in own {
                    *log = drive.go_ahead(arriving, until);
                }
            }) as Job<'_>);
        }
        executor.run(jobs);
        logs.iter().enumerate().for_each(|(drive, log)| self.clock.due.set(drive, log.next_time()));
        self.ahead = Some(Ahead { logs, tasks, visit: Visit::FIRST, round: 0 });
        self.end_instant_ahead();
    }

    /// The drives that others hear of at this instant.
    pub(super) fn notify(&mut self, now: Instant) {
        if let Some(ahead) = &mut self.ahead {
            (ahead.visit, ahead.round) = (ahead.visit.next(now), 0);
        }
        self.clock.due.at(now).for_each(|index| self.clock.touched.insert(index));
    }

    /// Books the commands that have ended at this moment of the instant.
    pub(super) fn book_ended(&mut self, moment: Moment) {
        for index in 0..self.drives.len() {
            let Some(ahead) = &mut self.ahead else { return };
            let mut ended = std::mem::take(&mut self.work.ended);
            ended.clear();
            ahead.logs[index].take_ended(ahead.visit, moment, &mut ended);
            for ended in &ended {
                self.piece_ended(SsdId::from_index(index), ended);
            }
            self.work.ended = ended;
        }
    }

    /// Ends an instant at which drives were heard of.
    pub(super) fn end_instant_ahead(&mut self) {
        let Some(ahead) = &mut self.ahead else { return };
        for index in self.clock.touched.iter() {
            self.clock.due.set(index, ahead.logs[index].next_time());
        }
        self.clock.touched.clear();
        if ahead.is_drained() {
            self.ahead = None;
            let times = self.drives.iter().map(Drive::next_time).enumerate();
            times.for_each(|(drive, time)| self.clock.due.set(drive, time));
        }
        self.clock.next = self.find_next_time();
    }
}

impl Ahead {
    /// Number of times that commands have been booked at this instant.
    pub(super) const fn round(&self) -> u32 {
        self.round
    }

    /// Begins to book once more. Returns whether a command has still to end at this instant.
    pub(super) fn begin_round(&mut self) -> bool {
        self.round += 1;
        self.logs.iter().any(|log| log.ends_in(self.visit))
    }

    /// The task of the request that arrives next.
    pub(super) fn next_task(&mut self) -> Option<TaskId> {
        self.tasks.pop_front()
    }

    /// Whether `device` collects since this instant, if that has changed.
    pub(super) fn take_collects(&mut self, device: SsdId) -> Option<bool> {
        self.logs[device.index()].take_collects(self.visit)
    }

    /// Whether everything has been heard of, and every request has arrived.
    fn is_drained(&self) -> bool {
        self.tasks.is_empty() && self.logs.iter().all(|log| log.next_time().is_none())
    }
}
