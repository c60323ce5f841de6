//! A coordinator from outside of this crate. It is told only what it wants to be told. If it fails, it is told nothing
//! more, and each drive collects when it must until the loop that advances the run ends it.

use crate::checkpoint::Checkpointed;
use crate::ids::SsdId;
use crate::outside::{Failed, Slot};
use crate::units::Instant;

use super::supply::{ExternalCoordinator, Hooks, News};
use super::{Coordinator, Message, Orders, View};

/// Orders at one instant, for each drive, after which a coordinator is taken to go round in circles: a drive that has
/// nothing to gain answers at once.
const MOST_ORDERS: usize = 1000;

/// The scheme.
#[derive(Debug, Checkpointed)]
pub struct External {
    /// Name in the configuration.
    name: String,
    drives: usize,
    slot: Slot<dyn ExternalCoordinator>,
    wake_at: Option<Instant>,
    /// When it was told something last, and how many orders it has given since that instant began.
    given: (Instant, usize),
}

impl External {
    pub(super) fn new(name: &str, drives: usize) -> Self {
        Self {
            name: name.to_owned(),
            drives,
            slot: Slot::default(),
            wake_at: None,
            given: (Instant::START, 0),
        }
    }

    /// Tells it something.
    fn notify(&mut self, news: News, view: &View, orders: &mut Orders) {
        let before = orders.len();
        let wake_at = self.slot.ask(|policy| {
            policy.notify(news, view, orders)?;
            policy.wake_at()
        });
        let wake_at = wake_at.and_then(|wake_at| {
            let counted = self.count(orders.len() - before, view.now);
            self.slot.noted(counted.map(|()| wake_at))
        });
        if wake_at.is_none() {
            orders.truncate(before);
        }
        self.wake_at = wake_at.flatten();
    }

    /// Refuses one that orders without end at one instant.
    fn count(&mut self, orders: usize, now: Instant) -> Result<(), Failed> {
        let (since, given) = self.given;
        let given = orders + if since == now { given } else { 0 };
        self.given = (now, given);
        if given <= MOST_ORDERS * self.drives {
            return Ok(());
        }
        Err(Failed(format!(
            "array.coordination.policy: {}: found {given} orders at one instant, {now:?}: a drive that can gain nothing \
             answers at once; allowed: not to order again what was just answered",
            self.name
        )))
    }

    fn wants(&self, hook: impl Fn(&Hooks) -> bool) -> bool {
        self.slot.policy().is_none_or(|policy| hook(&policy.hooks()))
    }
}

impl Coordinator for External {
    fn received(&mut self, device: SsdId, message: Message, view: &View, orders: &mut Orders) {
        self.notify(News::Received(device, message), view, orders);
    }

    fn next_wake(&self) -> Option<Instant> {
        self.wake_at
    }

    fn wake(&mut self, now: Instant, view: &View, orders: &mut Orders) {
        if self.wake_at.is_some_and(|at| at <= now) {
            self.notify(News::Wake, view, orders);
        }
    }

    fn became_busy(&mut self, _: Instant, view: &View, orders: &mut Orders) {
        if self.wants(|hooks| hooks.became_busy) {
            self.notify(News::BecameBusy, view, orders);
        }
    }

    fn became_quiet(&mut self, _: Instant, view: &View, orders: &mut Orders) {
        if self.wants(|hooks| hooks.became_quiet) {
            self.notify(News::BecameQuiet, view, orders);
        }
    }

    fn sent(&mut self, device: SsdId, bytes: u64, view: &View) {
        if self.wants(|hooks| hooks.sent) {
            self.notify(News::Sent(device, bytes), view, &mut Orders::new());
        }
    }

    fn instant_ends(&mut self, view: &View, orders: &mut Orders) {
        if self.wants(|hooks| hooks.instant_ends) {
            self.notify(News::InstantEnds, view, orders);
        }
    }

    fn supply(&mut self, policy: Box<dyn ExternalCoordinator>) -> Result<(), Failed> {
        self.slot.install(policy)?;
        self.wake_at = self.slot.ask(|policy| policy.wake_at()).flatten();
        self.slot.failed().map_or(Ok(()), Err)
    }

    fn failed(&self) -> Option<Failed> {
        self.slot.failed()
    }
}
