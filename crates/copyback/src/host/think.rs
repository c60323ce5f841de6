//! Pauses of a closed loop, as fio's `thinktime` makes them.

use crate::checkpoint::Checkpointed;
use crate::config::{CountedBlocks, ThinkTime};
use crate::units::{Duration, Instant};
use crate::workload::Operation;

/// When a flow pauses, and whether it does now.
#[derive(Checkpointed)]
pub(super) struct Thinking {
    time: Duration,
    /// Requests that count after which a pause is due.
    blocks: Option<u64>,
    /// Whether requests count once they have ended, and not as they are issued.
    counts_ended: bool,
    /// Time after the last pause from which on the next request makes one due.
    iotime: Option<Duration>,
    /// Reads, writes and trims so far that count.
    counted: u64,
    /// Value of `counted` when the last pause became due.
    counted_before: u64,
    /// End of the last pause; before the first, when the first request was issued.
    since: Option<Instant>,
    stage: Stage,
}

/// Phase of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Checkpointed)]
enum Stage {
    /// Requests are issued.
    Issues,
    /// All that are under way end, before the pause.
    Waits,
    /// No request is issued before this instant.
    Pauses { until: Instant },
}

impl Thinking {
    /// The pauses that are configured, if there are any.
    pub fn new(config: ThinkTime) -> Option<Box<Self>> {
        let ThinkTime::Pause { time, blocks, blocks_type, iotime } = config else { return None };
        Some(Box::new(Self {
            time: time.0,
            blocks: blocks.or_else(|| iotime.is_none().then_some(1)),
            counts_ended: blocks_type == CountedBlocks::Complete,
            iotime: iotime.map(|time| time.0),
            counted: 0,
            counted_before: 0,
            since: None,
            stage: Stage::Issues,
        }))
    }

    /// Instant from which on requests may be issued: the end of the last pause; `None` as long as others have to end before.
    pub fn allows(&self) -> Option<Instant> {
        match self.stage {
            Stage::Issues => Some(self.since.unwrap_or(Instant::START)),
            Stage::Waits => None,
            Stage::Pauses { until } => Some(until),
        }
    }

    /// A request is issued at `now`: it arrives.
    pub fn issue(&mut self, operation: Operation, now: Instant) {
        if operation == Operation::Flush {
            return;
        }
        self.counted += u64::from(!self.counts_ended);
        self.stage = Stage::Issues;
        let since = *self.since.get_or_insert(now);
        if self.is_enough() || self.iotime.is_some_and(|time| now.saturating_since(since) >= time) {
            self.wait();
        }
    }

    /// A request ends, and leaves `others` under way. fio learns of requests that have ended only if it has as many under way
    /// as it may: then it `looks`.
    pub fn end(&mut self, operation: Operation, others: u32, looks: bool, now: Instant) {
        self.counted += u64::from(self.counts_ended && operation != Operation::Flush);
        if self.stage == Stage::Issues && looks && self.is_enough() {
            self.wait();
        }
        if self.stage == Stage::Waits && others == 0 {
            let until = now + self.time;
            self.stage = Stage::Pauses { until };
            self.since = Some(until);
        }
    }

    fn is_enough(&self) -> bool {
        self.blocks.is_some_and(|blocks| self.counted >= self.counted_before + blocks)
    }

    const fn wait(&mut self) {
        self.counted_before = self.counted;
        self.stage = Stage::Waits;
    }
}
