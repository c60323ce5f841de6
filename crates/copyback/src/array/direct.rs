//! One drive needs no tasks: a request is one command of it, from its first byte to its last.
//!
//! What arrays need besides (plans, phases, locks, messages) is passed over then. Who looks at the way of requests
//! sees them as [tasks](super::tasks), of one drive, too.

use crate::config::{Config, Coordination, Rebuild};
use crate::drive::{Command, Ended};
use crate::ids::{RequestId, SsdId, TaskId};
use crate::ssd::Parts;
use crate::units::Duration;
use crate::workload::{Operation, Request};

use super::{Array, FinishedRequest};

/// Whether requests may go to the drive without tasks: there is but one, and nobody looks on.
pub(super) fn is_possible(config: &Config) -> bool {
    let array = &config.array;
    array.devices == 1
        && array.failed.is_empty()
        && array.coordination == Coordination::Uncoordinated
        && !array.reads_around_gc
        && array.rebuild == Rebuild::None
        && !config.metrics.needs_journal()
}

impl Array {
    /// Hands a request to the only drive.
    #[inline(always)]
    pub(super) fn hand_in_directly(&mut self, id: RequestId, request: &Request, late: Duration) {
        let Request { operation, hint, .. } = *request;
        let (offset, length) = match operation {
            // It has no bytes.
            Operation::Flush => (0, 0),
            // It has ended at once.
            _ if request.length == 0 => {
                self.outstanding -= 1;
                return self.finished.push_back(finished(id, Parts::default(), false));
            }
            _ => (request.offset, request.length),
        };
        let command = Command { task: TaskId(id.0), operation, offset, length, hint, late };
        self.drives[0].submit(command, self.now);
        self.touched.insert(0);
    }

    /// Whether requests have ended in the only drive that nobody has taken yet.
    #[inline]
    pub(super) fn has_ended_directly(&self) -> bool {
        self.is_direct && self.drives[0].has_ended()
    }

    /// Takes a request that has ended in the only drive.
    #[inline(always)]
    pub(super) fn take_finished_directly(&mut self) -> Option<FinishedRequest> {
        let Ended { command, parts, rejected } = self.drives[0].take_first_ended()?;
        self.outstanding -= 1;
        Some(finished(RequestId(command.task.0), parts, rejected))
    }
}

#[inline(always)]
fn finished(request: RequestId, parts: Parts, rejected: bool) -> FinishedRequest {
    FinishedRequest { request, parts, device: SsdId::default(), rejected }
}
