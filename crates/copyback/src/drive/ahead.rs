//! A drive that goes ahead of the rest of the array: it is told what will come until then, and keeps what comes of
//! it, for the others to hear of it in its time.

use std::collections::VecDeque;

use crate::checkpoint::Checkpointed;
use crate::units::Instant;

use super::{Command, Drive, Ended, Serves};

/// Log of a drive that has gone ahead: what the array is still to be notified of, in order.
#[derive(Debug, Default, Checkpointed)]
pub struct Log(VecDeque<(Visit, Notice)>);

/// An instant, gone through so many times before: what takes no time makes it begin anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub struct Visit {
    at: Instant,
    before: u32,
}

#[derive(Debug, Clone, Copy, Checkpointed)]
enum Notice {
    /// A command has ended.
    Ended(Moment, Ended),
    /// At the end of the instant, it collects or does so no more.
    Collects(bool),
}

/// When in an instant a command has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum Moment {
    /// When commands were booked for the time of this number, from 0.
    Round(u32),
    /// When that command was handed in.
    Behind(Serves),
}

impl Visit {
    /// The first one of all.
    pub const FIRST: Self = Self { at: Instant::START, before: 0 };

    /// The next one, which is at `now`.
    pub fn next(self, now: Instant) -> Self {
        Self { at: now, before: if now == self.at { self.before + 1 } else { 0 } }
    }
}

impl Log {
    /// When others hear of it next.
    pub fn next_time(&self) -> Option<Instant> {
        self.0.front().map(|(visit, _)| visit.at)
    }

    /// Whether a command has still to end in this visit.
    pub fn ends_in(&self, visit: Visit) -> bool {
        matches!(self.0.front(), Some((at, Notice::Ended(..))) if *at == visit)
    }

    /// Takes the commands that have ended at this moment of a visit.
    pub fn take_ended(&mut self, visit: Visit, moment: Moment, into: &mut VecDeque<Ended>) {
        while let Some((at, Notice::Ended(when, ended))) = self.0.front()
            && (*at, *when) == (visit, moment)
        {
            into.push_back(*ended);
            self.0.pop_front();
        }
    }

    /// Whether it collects since this visit, if that has changed.
    pub fn take_collects(&mut self, visit: Visit) -> Option<bool> {
        let (at, Notice::Collects(collects)) = *self.0.front()? else { return None };
        if at != visit {
            return None;
        }
        self.0.pop_front();
        Some(collects)
    }
}

impl Drive {
    /// Goes on until just before `until`, while these commands arrive, in order. Nothing of it may depend on what
    /// happens outside.
    pub fn go_ahead(&mut self, mut arriving: VecDeque<(Instant, Command)>, until: Instant) -> Log {
        let mut log = Log::default();
        let mut was_collecting = self.ssd.is_collecting();
        let mut visit = Visit::FIRST;
        loop {
            let arrival = arriving.front().map(|(at, _)| *at).filter(|at| *at < until);
            let bound = arrival.unwrap_or(until);
            let has_started = if self.next_time().is_some_and(|next| next < bound) {
                self.apply_next_events(bound)
            } else if arrival.is_some() {
                self.apply_events(bound);
                false
            } else {
                return log;
            };
            visit = visit.next(self.now);
            self.go_through(visit, has_started, &mut arriving, &mut log);
            let collects = self.ssd.is_collecting();
            if collects != was_collecting {
                log.0.push_back((visit, Notice::Collects(collects)));
            }
            was_collecting = collects;
        }
    }

    /// The second phase of an instant, which the flash may have gone through.
    fn go_through(
        &mut self,
        visit: Visit,
        flash_has: bool,
        arriving: &mut VecDeque<(Instant, Command)>,
        log: &mut Log,
    ) {
        let now = self.now;
        if !flash_has {
            self.book_finished();
            self.note_ended(visit, Moment::Round(0), log);
        }
        while let Some((at, command)) = arriving.front().copied()
            && at == now
        {
            arriving.pop_front();
            self.submit(command, now);
            self.note_ended(visit, Moment::Behind(command.serves), log);
        }
        let mut round = 0;
        // What the flash has ended is booked in the next round.
        while (round == 0 && flash_has && !self.ssd.scheduler().finished.is_empty())
            || self.start_work()
        {
            round += 1;
            self.book_finished();
            self.note_ended(visit, Moment::Round(round), log);
        }
    }

    fn note_ended(&mut self, visit: Visit, moment: Moment, log: &mut Log) {
        log.0.extend(
            self.endings.queue.drain(..).map(|ended| (visit, Notice::Ended(moment, ended))),
        );
    }
}
