//! Staggered windows: drives take turns, so that at any time all but one are predictable (the NVMe
//! predictable latency mode; Li et al., IODA, SOSP 2021).
//!
//! ```text
//!  time     0        window    2 window   3 window
//!  drive 0  │ Collect │ Stop    │          │ Collect
//!  drive 1  │         │ Collect │ Stop     │
//!  drive 2  │         │         │ Collect  │ Stop
//! ```
//!
//! In its window a drive collects up to the target, so that it need not in the others' (if its window
//! comes round often enough). With a guard it is told to stop so much before the end, as a collection that has begun
//! is finished. Whose window it is follows from the time alone. Drives that do not speak
//! the protocol have windows too, in which nobody is told anything. When nothing has been requested
//! for a whole round, nothing can have changed, and the next request begins the windows anew.

use crate::checkpoint::Checkpointed;
use crate::collector::permit::Asked;
use crate::ids::SsdId;
use crate::units::{Duration, Instant};

use super::members::Members;
use super::{Coordinator, Message, Order, Orders, View};

/// The scheme.
#[derive(Debug, Checkpointed)]
pub struct Staggered {
    members: Members,
    asked: Asked,
    window: Duration,
    /// Time before the end of a window at which its drive is told to stop.
    guard: Duration,
    /// The next start of a window, or of a guard, unless the array sleeps.
    next: Option<Instant>,
    /// The drive that has been told to collect and not to stop.
    current: Option<SsdId>,
    quiet_since: Option<Instant>,
}

/// The drive whose window it is at `now`: it follows from the time alone.
pub(in crate::array) fn whose_window(now: Instant, window: Duration, drives: u64) -> SsdId {
    SsdId::from_index((now.as_ns() / window.as_ns() % drives) as usize)
}

impl Staggered {
    pub(super) const fn new(
        members: Members,
        asked: Asked,
        (window, guard): (Duration, Duration),
    ) -> Self {
        let (next, quiet_since) = (Some(Instant::START), Some(Instant::START));
        Self { members, asked, window, guard, next, current: None, quiet_since }
    }

    /// Whether every drive has had a whole window since the last request.
    fn is_asleep(&self, now: Instant) -> bool {
        let round = self.window.as_ns().saturating_mul(self.members.count() as u64 + 1);
        self.quiet_since.is_some_and(|since| now.saturating_since(since).as_ns() >= round)
    }
}

impl Coordinator for Staggered {
    fn received(&mut self, device: SsdId, message: Message, _: &View, _: &mut Orders) {
        if let Message::Done { .. } = message {
            self.members.done(device, false);
        }
    }

    fn next_wake(&self) -> Option<Instant> {
        self.next
    }

    /// A window may begin.
    fn wake(&mut self, now: Instant, _: &View, orders: &mut Orders) {
        if self.next.is_none_or(|next| now < next) {
            return;
        }
        if let Some(last) = self.current.take() {
            orders.push((last, Order::Stop));
        }
        if self.is_asleep(now) {
            self.next = None;
            return;
        }
        let end = now.next_multiple(self.window);
        if self.guard > Duration::ZERO && end - now <= self.guard {
            self.next = Some(end);
            return;
        }
        let device = whose_window(now, self.window, self.members.count() as u64);
        if self.members.speaks(device) {
            self.members.force(&[device], self.asked, orders);
            self.current = Some(device);
        }
        self.next = Some(end.before(self.guard));
    }

    fn became_busy(&mut self, now: Instant, _: &View, _: &mut Orders) {
        self.quiet_since = None;
        self.next.get_or_insert(now.next_multiple(self.window));
    }

    fn became_quiet(&mut self, now: Instant, _: &View, _: &mut Orders) {
        self.quiet_since = Some(now);
    }
}
