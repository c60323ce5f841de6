//! Response times by operation.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

use crate::checkpoint::Checkpointed;
use crate::workload::Operation;

use super::latency::{LatencyStats, ResponseSummary};

/// Response times by operation, in microseconds.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ResponsesSummary {
    /// Reads and writes.
    pub all: ResponseSummary,
    /// Reads.
    pub read: ResponseSummary,
    /// Writes.
    pub write: ResponseSummary,
    /// Flushes, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush: Option<ResponseSummary>,
    /// Trims, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim: Option<ResponseSummary>,
}

/// Response times of requests, by operation.
#[derive(Debug, Default, Checkpointed)]
pub struct Responses {
    /// Operation of the first that moved data.
    first: Option<Operation>,
    /// Reads.
    pub reads: LatencyStats,
    /// Writes.
    pub writes: LatencyStats,
    without_data: Option<Box<WithoutData>>,
}

/// Response times of requests that move no data.
#[derive(Debug, Default, Checkpointed)]
struct WithoutData {
    flushes: LatencyStats,
    trims: LatencyStats,
}

impl Responses {
    /// Adds a response time to the classes of `operation`.
    pub(super) fn add(&mut self, operation: Operation, record: impl FnOnce(&mut LatencyStats)) {
        let class = match operation {
            Operation::Read => &mut self.reads,
            Operation::Write => &mut self.writes,
            Operation::Flush => {
                return record(&mut self.without_data.get_or_insert_default().flushes);
            }
            Operation::Trim => return record(&mut self.without_data.get_or_insert_default().trims),
        };
        self.first.get_or_insert(operation);
        record(class);
    }

    /// Number of reads and writes.
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

    /// Flushes, if there were any.
    pub fn flushes(&self) -> Option<&LatencyStats> {
        self.without_data.as_ref().map(|of| &of.flushes).filter(|flushes| flushes.count() > 0)
    }

    /// Trims, if there were any.
    pub fn trims(&self) -> Option<&LatencyStats> {
        self.without_data.as_ref().map(|of| &of.trims).filter(|trims| trims.count() > 0)
    }

    /// Classes by name: reads and writes together, reads, and writes; flushes and trims, if there were any.
    pub fn classes(&self) -> Vec<(&'static str, Cow<'_, LatencyStats>)> {
        let of_data = [
            ("all", Cow::Owned(self.all())),
            ("read", Cow::Borrowed(&self.reads)),
            ("write", Cow::Borrowed(&self.writes)),
        ];
        let others = [("flush", self.flushes()), ("trim", self.trims())];
        let others = others.into_iter().filter_map(|(name, of)| Some((name, Cow::Borrowed(of?))));
        of_data.into_iter().chain(others).collect()
    }

    /// Numbers for `summary.json`.
    pub fn summary(&self) -> ResponsesSummary {
        ResponsesSummary {
            all: self.all().summary(),
            read: self.reads.summary(),
            write: self.writes.summary(),
            flush: self.flushes().map(LatencyStats::summary),
            trim: self.trims().map(LatencyStats::summary),
        }
    }
}
