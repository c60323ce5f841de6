//! Reactive inclusive (section 4.3.1 of the paper): a drive that runs short makes all drives collect.
//!
//! ```text
//!  drive 2 ── RunsShort ──► controller ── Collect ──► drives 0, 1, 2, 3
//! ```
//!
//! A drive that has been told so is not told again before it is done: several that run short within
//! the latency of a message begin one round, not several.

use crate::collector::permit::Asked;
use crate::ids::SsdId;

use super::members::Members;
use super::{Coordinator, Message, Orders, View};

/// The scheme.
#[derive(Debug)]
pub struct ReactiveInclusive {
    members: Members,
    asked: Asked,
}

impl ReactiveInclusive {
    pub(super) const fn new(members: Members, asked: Asked) -> Self {
        Self { members, asked }
    }
}

impl Coordinator for ReactiveInclusive {
    fn heard(&mut self, device: SsdId, message: Message, _: &View, orders: &mut Orders) {
        match message {
            // One that must collect has run short before, unless nothing could be gained then.
            Message::RunsShort | Message::MustCollect => {
                if self.members.enrol(device) {
                    let all = self.members.not_collecting();
                    self.members.force(&all, self.asked, orders);
                }
            }
            Message::Done { .. } => self.members.done(device, false),
            Message::State(_) => {}
        }
    }
}
