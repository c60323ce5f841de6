//! Answers of a drive to another simulator: requests that have been served, and events of the data of pages.

use std::collections::VecDeque;

use crate::metrics::{LatencyStats, TailSummary};
use crate::outcome::Outcome;
use crate::ssd::Parts;
use crate::workload::Operation;

use super::{Completion, PageEvent, Serving};

/// Answers that wait to be taken, and counts of all.
#[derive(Default)]
pub(super) struct Answers {
    pub completed: VecDeque<Completion>,
    /// Events of the data of pages, if they are recorded.
    pub page_events: VecDeque<PageEvent>,
    /// Bytes of the writes that were served.
    written: u64,
    /// Response times of reads and writes.
    responses: LatencyStats,
}

impl Answers {
    /// Adds the completion of what was being served, and the parts of its response time.
    pub fn add(&mut self, serving: &Serving, completion: Completion, parts: &Parts) {
        if serving.operation == Operation::Write && completion.outcome != Outcome::Rejected {
            self.written += serving.length;
        }
        if matches!(serving.operation, Operation::Read | Operation::Write) {
            self.responses.record(completion.at - completion.arrival, parts);
        }
        self.completed.push_back(completion);
    }

    /// Bytes of the writes that were served.
    pub const fn written(&self) -> u64 {
        self.written
    }

    /// Tail of the response times of reads and writes; `None` if there are too few.
    pub fn tail(&self) -> Option<TailSummary> {
        TailSummary::of(&self.responses.bands())
    }
}
