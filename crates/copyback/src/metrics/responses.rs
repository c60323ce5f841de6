//! Response times by operation.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

use crate::checkpoint::Checkpointed;
use crate::workload::Operation;

use super::latency::{LatencyStats, ResponseSummary};

/// Response times of reads and writes, together and apart, in microseconds.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ResponsesSummary {
    /// Reads and writes.
    pub all: ResponseSummary,
    /// Reads.
    pub read: ResponseSummary,
    /// Writes.
    pub write: ResponseSummary,
}

/// Response times of the requests that move data.
#[derive(Debug, Default, Checkpointed)]
pub struct Responses {
    /// What the first of them was.
    first: Option<Operation>,
    /// Reads.
    pub reads: LatencyStats,
    /// Writes.
    pub writes: LatencyStats,
}

impl Responses {
    /// Adds a response time to the classes of `operation`.
    pub(super) fn add(&mut self, operation: Operation, record: impl FnOnce(&mut LatencyStats)) {
        let class = match operation {
            Operation::Read => &mut self.reads,
            Operation::Write => &mut self.writes,
            Operation::Trim | Operation::Flush => return,
        };
        self.first.get_or_insert(operation);
        record(class);
    }

    /// How many there are.
    pub const fn count(&self) -> u64 {
        self.reads.count() + self.writes.count()
    }

    /// Reads and writes together.
    pub fn all(&self) -> LatencyStats {
        match self.first {
            Some(Operation::Read) => self.reads.merged(&self.writes),
            _ => self.writes.merged(&self.reads),
        }
    }

    /// Reads and writes together, reads, and writes.
    pub fn classes(&self) -> [Cow<'_, LatencyStats>; 3] {
        [Cow::Owned(self.all()), Cow::Borrowed(&self.reads), Cow::Borrowed(&self.writes)]
    }

    /// What `summary.json` says of them.
    pub fn summary(&self) -> ResponsesSummary {
        let [all, read, write] = self.classes().map(|class| class.summary());
        ResponsesSummary { all, read, write }
    }
}
