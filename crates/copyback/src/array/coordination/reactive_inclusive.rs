//! Reactive inclusive (section 4.3.1 of the paper): a drive that runs short makes all drives collect.
//!
//! ```text
//!  drive 2 ── RunsShort ──► controller ── Collect ──► drives 0, 1, 2, 3
//! ```
//!
//! A drive that has been told so is not told again before it is done: several that run short within
//! the latency of a message begin one round, not several. The controller may [delay](super::delay) a
//! round, until a drive must collect.

use crate::checkpoint::Checkpointed;
use crate::collector::permit::Asked;
use crate::ids::SsdId;

use super::delay::Delay;
use super::members::Members;
use super::{Coordinator, Message, Orders, View};

/// The scheme.
#[derive(Debug, Checkpointed)]
pub struct ReactiveInclusive {
    members: Members,
    asked: Asked,
    delay: Delay,
}

impl ReactiveInclusive {
    pub(super) const fn new(members: Members, asked: Asked, delay: Delay) -> Self {
        Self { members, asked, delay }
    }

    fn begin(&mut self, orders: &mut Orders) {
        self.delay.round_begins();
        let all = self.members.not_collecting();
        self.members.force(&all, self.asked, orders);
    }

    /// Begins a round if a drive runs short and is waited for no longer.
    fn begin_unless_delayed(&mut self, view: &View, orders: &mut Orders) {
        let (short, speak) = (self.members.enrolled().len(), self.members.speaking().len());
        if short > 0 && self.delay.is_over(short, speak, view) {
            self.begin(orders);
        }
    }
}

impl Coordinator for ReactiveInclusive {
    fn received(&mut self, device: SsdId, message: Message, view: &View, orders: &mut Orders) {
        match message {
            Message::RunsShort { writable } => {
                if self.members.enrol(device) {
                    self.delay.runs_short(device, writable);
                    self.begin_unless_delayed(view, orders);
                }
            }
            // It has run short before, unless nothing could be gained then.
            Message::MustCollect => {
                if self.members.enrol(device) {
                    self.begin(orders);
                }
            }
            Message::Done { .. } => self.members.done(device, false),
            Message::State(_) => {}
        }
    }

    fn sent(&mut self, device: SsdId, bytes: u64, _: &View) {
        self.delay.sent(device, bytes);
    }

    fn instant_ends(&mut self, view: &View, orders: &mut Orders) {
        self.begin_unless_delayed(view, orders);
    }
}
