//! Response times by operation.

use std::borrow::Cow;

use crate::workload::Operation;

use super::LatencyStats;

/// Response times of the requests that move data.
#[derive(Debug, Default)]
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

    /// Each class under its name in `summary.json`.
    pub fn classes(&self) -> [(&'static str, Cow<'_, LatencyStats>); 3] {
        [
            ("all", Cow::Owned(self.all())),
            ("read", Cow::Borrowed(&self.reads)),
            ("write", Cow::Borrowed(&self.writes)),
        ]
    }
}
