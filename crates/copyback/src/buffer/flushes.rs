//! Flushes of a write buffer: each ends once every earlier write has left for flash.

use std::collections::VecDeque;

use crate::checkpoint::Checkpointed;
use crate::ids::CommandId;
use crate::units::{Duration, Instant};

/// Flushes under way, in order.
#[derive(Debug, Default, Checkpointed)]
pub struct Flushes {
    queue: VecDeque<Flush>,
    /// Whether the last one waits for what the drive has not been told of.
    waits_for_more: bool,
}

#[derive(Debug, Clone, Copy, Checkpointed)]
struct Flush {
    command: CommandId,
    /// Every earlier write must have left before it ends.
    before: u64,
    /// When those that have left since would have left without collections; `None` if none has: what it waited
    /// for was trimmed.
    undelayed: Option<Instant>,
}

impl Flushes {
    /// Begins a flush of every write before the one with this number.
    pub fn begin(&mut self, command: CommandId, before: u64) {
        self.queue.push_back(Flush { command, before, undelayed: None });
        self.waits_for_more = true;
    }

    /// Whether none is under way.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The write with this number leaves for flash.
    pub fn leaves(&mut self, write: u64) {
        self.waits_for_more |= self.queue.back().is_some_and(|flush| write < flush.before);
    }

    /// The write with this number has left; without collections it would have at `undelayed`.
    pub fn has_left(&mut self, write: u64, undelayed: Instant) {
        for flush in self.queue.iter_mut().filter(|flush| write < flush.before) {
            flush.undelayed = flush.undelayed.max(Some(undelayed));
        }
    }

    /// Takes the number before which the last flush waits for writes, if the drive is to be told of more of them.
    pub fn take_news(&mut self) -> Option<u64> {
        let waits_for_more = std::mem::take(&mut self.waits_for_more);
        self.queue.back().filter(|_| waits_for_more).map(|flush| flush.before)
    }

    /// Takes the next flush that has ended, as `oldest` is the first write that is not in flash: its command, its place
    /// among the writes, and how much of its wait was due to collections.
    pub fn take_ended(
        &mut self,
        oldest: Option<u64>,
        now: Instant,
    ) -> Option<(CommandId, u64, Duration)> {
        let Flush { command, before, undelayed } = *self.queue.front()?;
        if oldest.is_some_and(|oldest| oldest < before) {
            return None;
        }
        self.queue.pop_front();
        Some((command, before, undelayed.map_or(Duration::ZERO, |undelayed| now - undelayed)))
    }

    /// Takes the commands of all.
    pub fn take_all(&mut self) -> impl Iterator<Item = CommandId> {
        self.queue.drain(..).map(|flush| flush.command)
    }
}
