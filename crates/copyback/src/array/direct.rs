//! Direct path: a request that is one piece of one drive needs no task and is a command from its first byte to
//! its last. All are, if there is but one drive; of an array, most small ones.
//!
//! What other requests of arrays need besides (plans, phases, locks, messages) is passed over then. Who looks at the way
//! of requests sees them as [tasks](super::tasks), too.

use crate::checkpoint::Checkpointed;
use crate::config::{Coordination, Cuts, Failures, Rebuild, Resolved, Scrub};
use crate::drive::{Command, Ended, Serves};
use crate::ids::{RequestId, SsdId};
use crate::outcome::Outcome;
use crate::ssd::Parts;
use crate::units::Duration;
use crate::workload::{Operation, Request};

use super::{Array, FinishedRequest};
use crate::layout::Piece;

/// Whether requests go to their drive without tasks.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub(super) struct Direct {
    /// Whether those that are one piece do.
    pub(super) is_possible: bool,
    /// Whether all do, as there is but one drive.
    pub(super) is_lone: bool,
}

impl Direct {
    /// The way of requests of a checked configuration.
    pub(super) fn new(config: &Resolved) -> Self {
        let is_possible = is_possible(config);
        Self { is_possible, is_lone: is_possible && config.array.devices == 1 }
    }
}

/// Whether every drive is there and left alone, and nobody looks on.
fn is_possible(config: &Resolved) -> bool {
    let array = &config.array;
    array.failed.is_empty()
        && array.failures == Failures::None
        && array.coordination == Coordination::Uncoordinated
        && array.reads_around_gc.is_off()
        && array.rebuild == Rebuild::None
        && array.scrub == Scrub::None
        && !config.metrics.needs_journal()
        && !(array.layout.is_redundant() && config.ssd.power.cuts != Cuts::None)
        && !array.consistency_policy.writes_ahead()
}

impl Array {
    /// Hands a request to its drive if it may go there without a task. Returns whether it has.
    #[inline]
    pub(super) fn hand_in_as_one(
        &mut self,
        id: RequestId,
        request: &Request,
        late: Duration,
    ) -> bool {
        let Request { operation, offset, length, hint, .. } = *request;
        if !self.direct.is_possible {
            return false;
        }
        let Some(piece) = self.layout.only_piece(operation, offset..offset + length) else {
            return false;
        };
        let Piece { device, operation, offset, length } = piece;
        let serves = Serves::Request(id);
        self.send(device, Command { serves, operation, offset, length, hint, late });
        true
    }

    /// Brings what `request`, which comes soon, is looked up by into the cache. It only saves time.
    #[inline]
    pub fn fetch(&self, request: &Request) {
        let Request { operation, offset, length, .. } = *request;
        if self.direct.is_lone {
            return self.drives[0].fetch(offset);
        }
        if self.direct.is_possible
            && let Some(piece) = self.layout.only_piece(operation, offset..offset + length)
        {
            self.drives[piece.device.index()].fetch(piece.offset);
        }
    }

    /// The only command of a request has ended, on `device`.
    #[inline]
    pub(super) fn ended_as_one(&mut self, request: RequestId, device: SsdId, ended: &Ended) {
        self.outbox.outstanding -= 1;
        self.outbox.finished.push_back(finished(request, device, ended));
    }

    /// Hands a request to the only drive.
    #[inline(always)]
    pub(super) fn hand_in_directly(&mut self, id: RequestId, request: &Request, late: Duration) {
        let Request { operation, hint, .. } = *request;
        let (offset, length) = match operation {
            // It has no bytes.
            Operation::Flush => (0, 0),
            // It has ended at once.
            _ if request.length == 0 => {
                self.outbox.outstanding -= 1;
                return self.outbox.finished.push_back(at_once(id));
            }
            _ => (request.offset, request.length),
        };
        let serves = Serves::Request(id);
        self.send(SsdId(0), Command { serves, operation, offset, length, hint, late });
    }

    /// Sends a command to its drive.
    #[inline(always)]
    pub(super) fn send(&mut self, device: SsdId, command: Command) {
        self.drives[device.index()].submit(command, self.clock.now);
        self.clock.touched.insert(device.index());
    }

    /// Whether requests have ended in the only drive that nobody has taken yet.
    #[inline]
    pub(super) fn has_ended_directly(&self) -> bool {
        self.direct.is_lone && self.drives[0].has_ended()
    }

    /// Takes a request that has ended in the only drive.
    #[inline(always)]
    pub(super) fn take_finished_directly(&mut self) -> Option<FinishedRequest> {
        let ended = self.drives[0].take_first_ended()?;
        self.outbox.outstanding -= 1;
        let Serves::Request(request) = ended.command.serves else {
            unreachable!("an only drive that is left alone has no tasks")
        };
        Some(finished(request, SsdId(0), &ended))
    }
}

/// A request that has nothing to do.
fn at_once(request: RequestId) -> FinishedRequest {
    let (device, parts) = (SsdId(0), Parts::default());
    FinishedRequest { request, parts, device, outcome: Outcome::Done }
}

#[inline(always)]
fn finished(request: RequestId, device: SsdId, ended: &Ended) -> FinishedRequest {
    let Ended { parts, outcome, .. } = *ended;
    FinishedRequest { request, parts, device, outcome }
}
