//! Coordinators of arrays written in Python: carries what happens to them, and orders back.

use copyback::array::coordination::supply::{ExternalCoordinator, Facts, Hooks, News};
use copyback::array::coordination::{Message, Order, Orders, Report, View};
use copyback::collector::permit::{Asked, Until};
use copyback::ids::SsdId;
use copyback::outside::Failed;
use copyback::units::Instant;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::policies::{Called, InPython, Making};

/// The methods that are called. Named as in `coordinating.Called`; those that the class does not override are none.
#[derive(Debug, FromPyObject)]
struct Coordinator {
    heard: Py<PyAny>,
    wake: Py<PyAny>,
    became_busy: Option<Py<PyAny>>,
    became_quiet: Option<Py<PyAny>>,
    sent: Option<Py<PyAny>>,
    instant_ends: Option<Py<PyAny>>,
    wake_at: Py<PyAny>,
}

/// An order as Python gives it: the drive, which of `coordinating.ORDERS` it is, and how far a collection goes.
type Given = (u16, u8, Option<u32>, bool, Option<u32>);

impl InPython for dyn ExternalCoordinator {
    fn made(py: Python<'_>, making: &Making, array: &Facts) -> PyResult<Box<Self>> {
        // In the order in which `copyback.policies.coordination.Array` names them.
        let facts = (
            array.drives,
            PyTuple::new(py, array.speaking.iter().map(|drive| drive.0))?,
            array.register_threshold,
            array.target,
            array.most_blocks,
            array.reserve,
            array.latency.as_ns(),
        );
        Ok(Box::new(making.call(py, facts, (), |methods: Coordinator| methods)?))
    }
}

impl Coordinator {
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
                self.heard.call1(py, (now, outstanding, message))?.extract(py)
            }
            News::Wake => self.wake.call1(py, (now, outstanding))?.extract(py),
            News::BecameBusy => hook(&self.became_busy),
            News::BecameQuiet => hook(&self.became_quiet),
            News::InstantEnds => hook(&self.instant_ends),
            News::Sent(drive, bytes) => {
                let Some(method) = &self.sent else { return Ok(Vec::new()) };
                method.call1(py, (drive.0, bytes)).map(|_| Vec::new())
            }
        }
    }
}

impl ExternalCoordinator for Called<Coordinator> {
    fn hooks(&self) -> Hooks {
        let Coordinator { became_busy, became_quiet, sent, instant_ends, .. } = &self.policy;
        Hooks {
            became_busy: became_busy.is_some(),
            became_quiet: became_quiet.is_some(),
            sent: sent.is_some(),
            instant_ends: instant_ends.is_some(),
        }
    }

    fn notify(&mut self, news: News, view: &View, orders: &mut Orders) -> Result<(), Failed> {
        let given = self.in_python(|py, coordinator| coordinator.notify_in(py, news, view))?;
        orders.extend(given.into_iter().map(order));
        Ok(())
    }

    fn wake_at(&mut self) -> Result<Option<Instant>, Failed> {
        let asked: Option<u64> =
            self.in_python(|py, coordinator| coordinator.wake_at.call0(py)?.extract(py))?;
        Ok(asked.map(Instant::from_ns))
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
