//! One drive needs no tasks: a request is one command of it, from its first byte to its last.
//!
//! What arrays need besides (plans, phases, locks, messages) is passed over then. Who looks at the way of requests
//! sees them as [tasks](super::tasks), of one drive, too.

use crate::config::{Config, Coordination, Rebuild};
use crate::drive::Command;
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
            _ if request.length == 0 => return self.finish_directly(id, Parts::default(), false),
            _ => (request.offset, request.length),
        };
        let command = Command { task: TaskId(id.0), operation, offset, length, hint, late };
        self.drives[0].submit(command, self.now);
        self.touched.insert(0);
    }

    /// Takes the commands that have ended in the only drive.
    #[inline(never)]
    pub(super) fn take_ended_directly(&mut self) {
        let mut all = std::mem::take(&mut self.ended);
        self.drives[0].take_ended(&mut all);
        for ended in &all {
            self.finish_directly(RequestId(ended.command.task.0), ended.parts, ended.rejected);
        }
        self.ended = all;
    }

    #[inline(always)]
    fn finish_directly(&mut self, request: RequestId, parts: Parts, rejected: bool) {
        self.outstanding -= 1;
        let device = SsdId::default();
        self.finished.push_back(FinishedRequest { request, parts, device, rejected });
    }
}
