//! Coordinators of arrays written in Python: carries what happens to them, and orders back.

use copyback::array::coordination::supply::{ExternalCoordinator, Facts, Hooks, News};
use copyback::array::coordination::{Message, Order, Orders, Report, View};
use copyback::collector::permit::{Asked, Until};
use copyback::ids::SsdId;
use copyback::outside::Failed;
use copyback::rng::{self, Stream};
use copyback::units::Instant;
use pyo3::prelude::*;

use crate::policies::{Raised, restore_memory, saved_memory};

/// A coordinator.
#[derive(Debug)]
pub struct Coordinator {
    user: User,
    raised: Raised,
}

/// The methods that are called. Named as in `coordinating.Called`; those that the class does not override are none.
#[derive(Debug, FromPyObject)]
struct User {
    heard: Py<PyAny>,
    wake: Py<PyAny>,
    became_busy: Option<Py<PyAny>>,
    became_quiet: Option<Py<PyAny>>,
    sent: Option<Py<PyAny>>,
    instant_ends: Option<Py<PyAny>>,
    wake_at: Py<PyAny>,
    state: Py<PyAny>,
    restore: Py<PyAny>,
}

/// An order as Python gives it: the drive, which of `coordinating.ORDERS` it is, and how far a collection goes.
type Given = (u16, u8, Option<u32>, bool, Option<u32>);

impl Coordinator {
    /// The one that `make` makes for `array`.
    pub fn new(
        py: Python<'_>,
        make: &Py<PyAny>,
        array: &Facts,
        random: Stream,
        raised: Raised,
    ) -> PyResult<Self> {
        let speaking: Vec<_> = array.speaking.iter().map(|drive| drive.0).collect();
        // In the order in which `copyback.policies.coordination.Array` names them.
        let facts = (
            array.drives,
            speaking,
            array.register_threshold,
            array.target,
            array.most_blocks,
            array.reserve,
            array.latency.as_ns(),
        );
        let made = make.call1(py, (facts, rng::seed_for_others(random)))?;
        Ok(Self { user: made.extract(py)?, raised })
    }

    fn notify_in(&self, py: Python<'_>, news: News, view: &View) -> PyResult<Vec<Given>> {
        let (now, outstanding) = (view.now.as_ns(), view.outstanding);
        let hook = |method: &Option<Py<PyAny>>| -> PyResult<Vec<Given>> {
            let Some(method) = method else { return Ok(Vec::new()) };
            method.call1(py, (now, outstanding))?.extract(py)
        };
        match news {
            News::Received(drive, message) => {
                let (kind, first, second) = numbers(message);
                let message = (drive.0, kind, first, second);
                self.user.heard.call1(py, (now, outstanding, message))?.extract(py)
            }
            News::Wake => self.user.wake.call1(py, (now, outstanding))?.extract(py),
            News::BecameBusy => hook(&self.user.became_busy),
            News::BecameQuiet => hook(&self.user.became_quiet),
            News::InstantEnds => hook(&self.user.instant_ends),
            News::Sent(drive, bytes) => {
                let Some(method) = &self.user.sent else { return Ok(Vec::new()) };
                method.call1(py, (drive.0, bytes)).map(|_| Vec::new())
            }
        }
    }
}

impl ExternalCoordinator for Coordinator {
    fn hooks(&self) -> Hooks {
        let User { became_busy, became_quiet, sent, instant_ends, .. } = &self.user;
        Hooks {
            became_busy: became_busy.is_some(),
            became_quiet: became_quiet.is_some(),
            sent: sent.is_some(),
            instant_ends: instant_ends.is_some(),
        }
    }

    fn notify(&mut self, news: News, view: &View, orders: &mut Orders) -> Result<(), Failed> {
        let given = self.raised.keep(Python::attach(|py| self.notify_in(py, news, view)))?;
        orders.extend(given.into_iter().map(order));
        Ok(())
    }

    fn wake_at(&self) -> Result<Option<Instant>, Failed> {
        let asked = Python::attach(|py| self.user.wake_at.call0(py)?.extract::<Option<u64>>(py));
        Ok(self.raised.keep(asked)?.map(Instant::from_ns))
    }

    fn memory(&self) -> Result<Vec<u8>, Failed> {
        self.raised.keep(Python::attach(|py| saved_memory(py, &self.user.state)))
    }

    fn remember(&mut self, memory: &[u8]) -> Result<(), Failed> {
        self.raised.keep(Python::attach(|py| restore_memory(py, &self.user.restore, memory)))
    }
}

/// Number of the message in `coordinating.MESSAGES`, and its values.
const fn numbers(message: Message) -> (u8, u64, u32) {
    match message {
        Message::RunsShort { writable } => (0, writable, 0),
        Message::MustCollect => (1, 0, 0),
        Message::Done { runs_short } => (2, runs_short as u64, 0),
        Message::State(Report { below_register, free_blocks_min }) => {
            (3, below_register as u64, free_blocks_min)
        }
    }
}

fn order((drive, kind, free_blocks, regardless, at_most): Given) -> (SsdId, Order) {
    let until = free_blocks.map_or(Until::ReserveFull, Until::Target);
    let order = match kind {
        0 => Order::Collect(Asked { until, regardless, at_most }),
        1 => Order::Stop,
        _ => Order::Report,
    };
    (SsdId(drive), order)
}
