//! Messages on their way between the controller and its drives.
//!
//! A message that is sent at an instant arrives `array.protocol.latency` later: with none, in another
//! round of the same instant.

use crate::checkpoint::Checkpointed;
use crate::config::{Coordination, Resolved};
use crate::drive::Drive;
use crate::engine::EventQueue;
use crate::ids::SsdId;
use crate::outside::Failed;
use crate::units::{Duration, Instant, earlier};

use super::coordination::supply::ExternalCoordinator;
use super::coordination::{Agent, Message, Order, Orders, Scheme, View, coordinator};
use super::members::Members;

/// Message or order, with its sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum Content {
    /// By a drive to the controller.
    ByDrive(Message),
    /// By the controller to a drive.
    ByController(Order),
}

impl Content {
    /// 0 runs short, 1 must collect, 2 done, 3 state, by a drive; 4 collect, 5 stop, 6 report, by the
    /// controller.
    pub const fn number(&self) -> u8 {
        match self {
            Self::ByDrive(Message::RunsShort { .. }) => 0,
            Self::ByDrive(Message::MustCollect) => 1,
            Self::ByDrive(Message::Done { .. }) => 2,
            Self::ByDrive(Message::State(_)) => 3,
            Self::ByController(Order::Collect(_)) => 4,
            Self::ByController(Order::Stop) => 5,
            Self::ByController(Order::Report) => 6,
        }
    }
}

/// A message and its times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub struct SentMessage {
    /// When it was sent.
    pub sent: Instant,
    /// When it arrived, or will.
    pub arrives: Instant,
    /// Place of the drive that sent it or gets it: the drive's number, unless a spare has taken it.
    pub device: SsdId,
    /// Content of the message.
    pub content: Content,
}

/// Instants at which the coordinator alone acts, one after the other, before requests that wait meanwhile are given
/// up: more than any round of windows has, and few enough to be over in seconds.
const MOST_IDLE_INSTANTS: u32 = 1_000_000;

/// The controller's coordinator, the drives' agents, and what they have sent one another.
#[derive(Debug, Checkpointed)]
pub struct Protocol {
    coordinator: Scheme,
    /// Agent of the drive of each place; none of a drive that does not speak, and of a place without one.
    agents: Vec<Option<Agent>>,
    /// Places whose drives do not speak.
    silent: Vec<SsdId>,
    latency: Duration,
    under_way: EventQueue<SentMessage>,
    is_busy: bool,
    /// The last instants, one after the other, that left no drive with anything to do.
    idle_instants: u32,
    log: Option<Vec<SentMessage>>,
    orders: Orders,
    messages: Vec<Message>,
}

impl Protocol {
    /// The protocol of a checked configuration; none if nothing is coordinated.
    pub fn new(config: &Resolved) -> Option<Self> {
        let array = &config.array;
        if array.coordination == Coordination::Uncoordinated {
            return None;
        }
        let silent: Vec<_> =
            array.protocol.silent.iter().map(|drive| SsdId(*drive as u16)).collect();
        let agent = |place| (!silent.contains(&SsdId(place as u16))).then(Agent::default);
        Some(Self {
            coordinator: coordinator(config),
            agents: (0..array.devices).map(agent).collect(),
            silent,
            latency: array.protocol.latency.0,
            under_way: EventQueue::default(),
            is_busy: false,
            idle_instants: 0,
            log: config.metrics.messages.then(Vec::new),
            orders: Vec::new(),
            messages: Vec::new(),
        })
    }

    /// Takes the coordinator, if it comes from outside.
    ///
    /// # Errors
    /// If it can't begin, or go on with what a checkpoint told of it.
    pub fn supply(&mut self, policy: Box<dyn ExternalCoordinator>) -> Result<(), Failed> {
        self.coordinator.supply(policy)
    }

    /// Reason why an external coordinator is no longer called, if it has failed.
    pub fn policy_failed(&self) -> Option<Failed> {
        self.coordinator.failed()
    }

    /// When something arrives, or the coordinator wants to be woken, next.
    pub fn next_time(&self) -> Option<Instant> {
        earlier(self.under_way.next_time(), self.coordinator.next_wake())
    }

    /// Delivers the messages that arrive at `now`, and wakes the coordinator if it wants to be woken. Calls
    /// `touched` for each drive that gets an order.
    pub fn deliver(
        &mut self,
        drives: &mut [Drive],
        members: &Members,
        outstanding: u32,
        now: Instant,
        mut touched: impl FnMut(SsdId),
    ) {
        let view = View { now, outstanding };
        while let Some(SentMessage { device, content, .. }) = self.under_way.pop_at(now) {
            match content {
                Content::ByDrive(message) => {
                    self.coordinator.received(device, message, &view, &mut self.orders);
                }
                // A drive may have failed while the order was on its way.
                Content::ByController(order) if self.agents[device.index()].is_some() => {
                    let drive = members.drive(device);
                    self.carry_out(order, device, &mut drives[drive.index()], now);
                    touched(drive);
                }
                Content::ByController(_) => {}
            }
        }
        if self.coordinator.next_wake().is_some_and(|wake| wake <= now) {
            self.coordinator.wake(now, &view, &mut self.orders);
        }
        self.send_orders(now);
    }

    fn carry_out(&mut self, order: Order, device: SsdId, drive: &mut Drive, now: Instant) {
        let Some(agent) = &mut self.agents[device.index()] else { return };
        agent.received(order);
        match order {
            Order::Collect(asked) => drive.ask_to_collect(asked, now),
            Order::Stop => drive.stop_asking(now),
            Order::Report => {
                let answer = Agent::report(&drive.status(now));
                self.send(device, Content::ByDrive(answer), now);
            }
        }
    }

    /// The drive of `place` has failed. It says nothing any more; if it was told to collect, that has ended.
    pub fn lose(&mut self, place: SsdId, now: Instant) {
        let agent = self.agents[place.index()].take();
        if agent.is_some_and(|agent| agent.is_collecting()) {
            self.send(place, Content::ByDrive(Message::Done { runs_short: false }), now);
        }
    }

    /// A spare has taken `place`, and speaks, unless no drive does there.
    pub fn join(&mut self, place: SsdId) {
        if !self.silent.contains(&place) {
            self.agents[place.index()] = Some(Agent::default());
        }
    }

    /// At the end of an instant: what the drive of `device`, a place to which something has happened, has to say.
    pub fn watch(&mut self, device: SsdId, drive: &Drive, now: Instant) {
        let Some(agent) = &mut self.agents[device.index()] else { return };
        agent.watch(&drive.ssd.status(), &mut self.messages);
        for message in std::mem::take(&mut self.messages) {
            self.send(device, Content::ByDrive(message), now);
        }
    }

    /// Records that `bytes` have been sent to `device` to be written.
    pub fn note_sent(&mut self, device: SsdId, bytes: u64, outstanding: u32, now: Instant) {
        self.coordinator.sent(device, bytes, &View { now, outstanding });
    }

    /// At the end of an instant: how many requests are in the array.
    pub fn note_load(&mut self, outstanding: u32, now: Instant) {
        let (is_busy, view) = (outstanding > 0, View { now, outstanding });
        if is_busy != self.is_busy {
            self.is_busy = is_busy;
            match is_busy {
                true => self.coordinator.became_busy(now, &view, &mut self.orders),
                false => self.coordinator.became_quiet(now, &view, &mut self.orders),
            }
        }
        self.coordinator.instant_ends(&view, &mut self.orders);
        self.send_orders(now);
    }

    /// Whether something is still to happen in a drive: at the end of an instant, and as a request comes.
    pub const fn note_whether_drives_go_on(&mut self, go_on: bool) {
        self.idle_instants = if go_on { 0 } else { self.idle_instants.saturating_add(1) };
    }

    /// Whether the coordinator has been at work for so long, while nothing has happened in any drive, that nothing will.
    pub const fn is_livelocked(&self) -> bool {
        self.idle_instants >= MOST_IDLE_INSTANTS
    }

    fn send_orders(&mut self, now: Instant) {
        for (device, order) in std::mem::take(&mut self.orders) {
            self.send(device, Content::ByController(order), now);
        }
    }

    fn send(&mut self, device: SsdId, content: Content, now: Instant) {
        let sent = SentMessage { sent: now, arrives: now + self.latency, device, content };
        self.under_way.schedule(sent.arrives, 0, sent);
        if let Some(log) = &mut self.log {
            log.push(sent);
        }
    }

    /// Takes the messages since the last call, in order, if they are kept.
    pub fn take_log(&mut self) -> Vec<SentMessage> {
        self.log.as_mut().map(std::mem::take).unwrap_or_default()
    }
}
