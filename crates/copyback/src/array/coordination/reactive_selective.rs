//! Reactive selective (section 4.3.1 of the paper): drives that run short enrol, and collect together
//! with the first that must.
//!
//! ```text
//!  drive 2 ── RunsShort ────► controller          (below T_soft: enrolled)
//!  drive 0 ── RunsShort ────► controller
//!  drive 0 ── MustCollect ──► controller ── Collect ──► drives 0, 2     (below T_hard: coordinates)
//! ```

use crate::checkpoint::Checkpointed;
use crate::collector::permit::Asked;
use crate::ids::SsdId;

use super::members::Members;
use super::{Coordinator, Message, Orders, View};

/// The scheme.
#[derive(Debug, Checkpointed)]
pub struct ReactiveSelective {
    members: Members,
    asked: Asked,
}

impl ReactiveSelective {
    pub(super) const fn new(members: Members, asked: Asked) -> Self {
        Self { members, asked }
    }

    /// Tells those enrolled to collect.
    pub(super) fn force_enrolled(&mut self, asked: Asked, orders: &mut Orders) {
        let enrolled = self.members.enrolled();
        self.members.force(&enrolled, asked, orders);
    }
}

impl Coordinator for ReactiveSelective {
    fn received(&mut self, device: SsdId, message: Message, _: &View, orders: &mut Orders) {
        match message {
            Message::RunsShort { .. } => {
                self.members.enrol(device);
            }
            Message::MustCollect => {
                if self.members.enrol(device) {
                    self.force_enrolled(self.asked, orders);
                }
            }
            // A drive that was interrupted, or had nothing to gain, stays enrolled.
            Message::Done { runs_short } => self.members.done(device, runs_short),
            Message::State(_) => {}
        }
    }
}
