//! Proactive soft limit (section 4.3.2 of the paper, which describes it and does not evaluate it): the
//! controller asks all drives for their state now and then, and lets those that run short collect
//! together when enough of them do and few requests are in the array.
//!
//! ```text
//!  every period   controller ── Report ──► all drives
//!                 controller ◄── State ─── all drives
//!  at the moment  controller ── Collect ─► those below the register threshold
//! ```
//!
//! The moment is looked for when all have answered, before the next question, and when the array
//! becomes quiet. As nothing changes without requests, nobody is asked a second time while there are
//! none.

use crate::checkpoint::Checkpointed;
use crate::collector::permit::Asked;
use crate::ids::SsdId;
use crate::units::{Duration, Instant};

use super::members::Members;
use super::{Coordinator, Message, Order, Orders, View};

/// When drives collect.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct Moment {
    /// Share of the drives that must run short.
    pub quorum: f64,
    /// Most requests in the array.
    pub outstanding: u32,
}

/// The scheme.
#[derive(Debug, Checkpointed)]
pub struct ProactiveSoftLimit {
    members: Members,
    asked: Asked,
    period: Duration,
    moment: Moment,
    /// The next question, if one is worth while.
    next: Option<Instant>,
    is_busy: bool,
    /// Drives that have not answered the last question.
    awaited: Vec<SsdId>,
}

impl ProactiveSoftLimit {
    pub(super) const fn new(
        members: Members,
        asked: Asked,
        period: Duration,
        moment: Moment,
    ) -> Self {
        let next = Some(Instant::START);
        Self { members, asked, period, moment, next, is_busy: false, awaited: Vec::new() }
    }

    /// Lets those that run short collect, if the moment is right.
    fn act(&mut self, view: &View, orders: &mut Orders) {
        let short = self.members.enrolled();
        let all = self.members.speaking().len();
        let enough = short.len() as f64 >= self.moment.quorum * all as f64;
        if enough && view.outstanding <= self.moment.outstanding {
            self.members.force(&short, self.asked, orders);
        }
    }
}

impl Coordinator for ProactiveSoftLimit {
    fn received(&mut self, device: SsdId, message: Message, view: &View, orders: &mut Orders) {
        match message {
            Message::State(report) => {
                self.members.stands(device, report.below_register > 0);
                self.awaited.retain(|awaited| *awaited != device);
                if self.awaited.is_empty() {
                    self.act(view, orders);
                }
            }
            Message::Done { runs_short } => self.members.done(device, runs_short),
            // What the controller wants to know it asks.
            Message::RunsShort { .. } | Message::MustCollect => {}
        }
    }

    fn next_wake(&self) -> Option<Instant> {
        self.next
    }

    /// Asks the drives if it is time to.
    fn wake(&mut self, now: Instant, view: &View, orders: &mut Orders) {
        if self.next.is_none_or(|next| now < next) {
            return;
        }
        if !self.awaited.is_empty() {
            // Late answers: what is known must do.
            self.act(view, orders);
        }
        self.awaited = self.members.speaking();
        orders.extend(self.awaited.iter().map(|device| (*device, Order::Report)));
        self.next = self.is_busy.then(|| now.next_multiple(self.period));
    }

    fn became_busy(&mut self, now: Instant, _: &View, _: &mut Orders) {
        self.is_busy = true;
        self.next.get_or_insert(now.next_multiple(self.period));
    }

    fn became_quiet(&mut self, _: Instant, view: &View, orders: &mut Orders) {
        self.is_busy = false;
        if self.awaited.is_empty() {
            self.act(view, orders);
        }
    }
}
