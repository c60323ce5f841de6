//! A coordinator from outside of this crate. It is told only what it wants to be told. If it fails, it is told nothing
//! more, and each drive collects when it must until the loop that advances the run ends it.

use crate::checkpoint::{Checkpointed, Loaded, Reader, Writer};
use crate::config;
use crate::ids::SsdId;
use crate::outside::Failed;
use crate::units::Instant;

use super::supply::{ExternalCoordinator, Hooks, News};
use super::{Coordinator, Message, Orders, View};

/// Orders at one instant, for each drive, after which a coordinator is taken to go round in circles: a drive that has
/// nothing to gain answers at once.
const MOST_ORDERS: usize = 1000;

/// The scheme.
#[derive(Debug)]
pub struct External {
    /// Name in the configuration.
    name: String,
    drives: usize,
    policy: Option<Policy>,
    failed: Option<Failed>,
    wake_at: Option<Instant>,
    /// When it was told something last, and how many orders it has given since that instant began.
    given: (Instant, usize),
    /// Memory to be restored once the policy is there.
    memory: Option<Vec<u8>>,
}

#[derive(Debug)]
struct Policy {
    hooks: Hooks,
    asked: Box<dyn ExternalCoordinator>,
}

impl External {
    pub(super) fn new(name: &str, drives: usize) -> Self {
        Self {
            name: name.to_owned(),
            drives,
            policy: None,
            failed: None,
            wake_at: None,
            given: (Instant::START, 0),
            memory: None,
        }
    }

    /// Tells it something. Only the first failure counts.
    fn notify(&mut self, news: News, view: &View, orders: &mut Orders) {
        if self.failed.is_some() {
            return;
        }
        let before = orders.len();
        if let Err(failed) = self.try_notify(news, view, orders) {
            orders.truncate(before);
            self.wake_at = None;
            self.failed = Some(failed);
        }
    }

    fn try_notify(&mut self, news: News, view: &View, orders: &mut Orders) -> Result<(), Failed> {
        let Some(Policy { asked, .. }) = &mut self.policy else {
            return Err(Failed::not_supplied("array.coordination"));
        };
        let before = orders.len();
        asked.notify(news, view, orders)?;
        self.wake_at = asked.wake_at()?;
        self.count(orders.len() - before, view.now)
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
        self.policy.as_ref().is_none_or(|policy| hook(&policy.hooks))
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

    fn supply(&mut self, mut asked: Box<dyn ExternalCoordinator>) -> Result<(), Failed> {
        if let Some(memory) = self.memory.take() {
            asked.remember(&memory)?;
        }
        self.wake_at = asked.wake_at()?;
        self.policy = Some(Policy { hooks: asked.hooks(), asked });
        Ok(())
    }

    fn failed(&self) -> Option<&Failed> {
        self.failed.as_ref()
    }
}

/// Saves the memory alone: the caller that resumes a run supplies the coordinator again.
impl Checkpointed for External {
    fn keep(&self, out: &mut Writer<'_>) {
        let memory = match (&self.policy, &self.memory) {
            (Some(policy), _) => policy.asked.memory(),
            (None, memory) => Ok(memory.clone().unwrap_or_default()),
        };
        let memory = memory.unwrap_or_else(|failed| {
            out.fail(&failed);
            Vec::new()
        });
        memory.keep(out);
        self.given.keep(out);
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        let memory = Some(Vec::load(from)?);
        let given = <(Instant, usize)>::load(from)?;
        let array = &from.config().array;
        let config::Coordination::Python { policy, .. } = &array.coordination else {
            return Err(from.unknown_variant());
        };
        Ok(Self { memory, given, ..Self::new(policy, array.devices as usize) })
    }
}
