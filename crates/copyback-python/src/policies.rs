//! Policies written in Python. The functions of `copyback.policies.bridge` make and check them; this
//! carries questions to them and answers back.

use std::sync::{Arc, Mutex, PoisonError};

use copyback::array::coordination::supply::{ArraySupplier, ExternalCoordinator, Facts};
use copyback::ids::DieId;
use copyback::placement::supply::{
    BlockState as PlacedBlock, ExternalPlacement, PlacementSupplier,
};
use copyback::rng::{self, Stream};
use copyback::scheduler::when::supply::{DieView, ExternalSchedule, Supplier};
use copyback::scheduler::when::{Admitted, Point};
use copyback::victim::Shape;
use copyback::victim::supply::{Device, ExternalVictims, Failed, VictimSupplier};
use numpy::{Element, PyArray1, PyArrayMethods, PyReadwriteArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::coordinator::Coordinator;
use crate::placement::Placement;
use crate::victims::Victims;

/// Exception that Python has raised in a policy, for the caller of the run: it may be a signal's.
#[derive(Debug, Clone, Default)]
pub struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// The exception, if there was one, else `error`.
    pub fn or(&self, error: PyErr) -> PyErr {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or(error)
    }

    /// Keeps what was raised.
    pub(crate) fn keep<T>(&self, outcome: PyResult<T>) -> Result<T, Failed> {
        outcome.map_err(|error| {
            let failed = Failed(error.to_string());
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            failed
        })
    }
}

/// The functions that make the policies of a run.
#[derive(Debug)]
pub struct Policies {
    makers: Makers,
    raised: Raised,
}

/// Constructors of policies of each kind, by the key of the configuration that names them. Made by
/// `bridge.Suppliers`.
#[derive(Debug, Default, FromPyObject)]
pub struct Makers {
    victims: Option<Py<PyAny>>,
    schedule: Option<Py<PyAny>>,
    placement: Option<Py<PyAny>>,
    coordinator: Option<Py<PyAny>>,
}

impl Policies {
    pub fn new(makers: Option<Makers>, raised: Raised) -> Self {
        Self { makers: makers.unwrap_or_default(), raised }
    }
}

impl VictimSupplier for Policies {
    fn victims(
        &self,
        device: Device,
        shape: Shape,
        random: Stream,
    ) -> Result<Box<dyn ExternalVictims>, Failed> {
        let make =
            self.makers.victims.as_ref().ok_or_else(|| Failed::not_supplied("ssd.gc.victim"))?;
        let raised = self.raised.clone();
        let made = Python::attach(|py| Victims::new(py, make, device, shape, random, raised));
        Ok(Box::new(self.raised.keep(made)?))
    }
}

impl Supplier for Policies {
    fn schedule(
        &self,
        device: Device,
        random: Stream,
    ) -> Result<Box<dyn ExternalSchedule>, Failed> {
        let make = self.makers.schedule.as_ref();
        let make = make.ok_or_else(|| Failed::not_supplied("ssd.gc.preemption"))?;
        let made = Python::attach(|py| {
            let hooks = make.call1(py, (facts(device), rng::seed_for_others(random)))?;
            Ok(Schedule { user: hooks.extract(py)?, raised: self.raised.clone() })
        });
        Ok(Box::new(self.raised.keep(made)?))
    }
}

impl PlacementSupplier for Policies {
    fn placement(
        &self,
        device: Device,
        blocks: &[PlacedBlock],
        random: Stream,
    ) -> Result<Box<dyn ExternalPlacement>, Failed> {
        let make = self.makers.placement.as_ref();
        let make = make.ok_or_else(|| Failed::not_supplied("ssd.ftl.placement"))?;
        let make = Python::attach(|py| make.clone_ref(py));
        Ok(Box::new(Placement::new(make, device, blocks, random, self.raised.clone())?))
    }
}

impl ArraySupplier for Policies {
    fn coordinator(
        &self,
        array: &Facts,
        random: Stream,
    ) -> Result<Box<dyn ExternalCoordinator>, Failed> {
        let make = self.makers.coordinator.as_ref();
        let make = make.ok_or_else(|| Failed::not_supplied("array.coordination"))?;
        let raised = self.raised.clone();
        let made = Python::attach(|py| Coordinator::new(py, make, array, random, raised));
        Ok(Box::new(self.raised.keep(made)?))
    }
}

/// Saves the state of a policy, for a file.
pub(crate) fn saved_memory(py: Python<'_>, state: &Py<PyAny>) -> PyResult<Vec<u8>> {
    let state = state.call0(py)?;
    Ok(state.bind(py).cast::<PyBytes>()?.as_bytes().to_vec())
}

/// Tells a policy what a file holds of it.
pub(crate) fn restore_memory(py: Python<'_>, restore: &Py<PyAny>, memory: &[u8]) -> PyResult<()> {
    restore.call1(py, (PyBytes::new(py, memory),)).map(|_| ())
}

/// In the order in which `copyback.policies.Device` names them.
pub(crate) const fn facts(device: Device) -> (u16, usize, u32, u32, u32, usize) {
    let Device { id, dies, planes_per_die, blocks_per_plane, pages_per_block, logical_pages } =
        device;
    (id.0, dies, planes_per_die, blocks_per_plane, pages_per_block, logical_pages)
}

/// A column of numbers that Python owns, to be written.
pub fn open<'py, T: Element>(
    py: Python<'py>,
    column: &Py<PyArray1<T>>,
) -> PyResult<PyReadwriteArray1<'py, T>> {
    Ok(column.bind(py).try_readwrite()?)
}

/// A schedule.
#[derive(Debug)]
struct Schedule {
    user: ScheduleMethods,
    raised: Raised,
}

/// The methods that are called. Named as in `bridge.CalledSchedule`.
#[derive(Debug, FromPyObject)]
struct ScheduleMethods {
    admitted: Py<PyAny>,
    plane_to_collect: Option<Py<PyAny>>,
    state: Py<PyAny>,
    restore: Py<PyAny>,
}

impl ExternalSchedule for Schedule {
    fn plane_to_collect(&mut self, die: DieId, to_collect: u32) -> Result<Option<u32>, Failed> {
        let Some(hook) = &self.user.plane_to_collect else { return Ok(None) };
        let asked = Python::attach(|py| hook.call1(py, (die.0, to_collect))?.extract(py));
        self.raised.keep(asked).map(Some)
    }

    fn admitted(&mut self, view: &DieView) -> Result<Admitted, Failed> {
        let question = (
            view.die.0,
            view.point == Point::BeforeWrite,
            view.outlook.now.as_ns(),
            view.outlook.waiting_reads,
            view.outlook.waiting_writes,
            view.outlook.free_blocks,
            view.outlook.pages_left,
            view.steps,
            view.situation.below_hard,
            view.situation.write_finds_no_block,
        );
        let asked = Python::attach(|py| self.user.admitted.call1(py, question)?.extract(py));
        let (reads, writes) = self.raised.keep(asked)?;
        Ok(Admitted { reads, writes })
    }

    fn memory(&self) -> Result<Vec<u8>, Failed> {
        self.raised.keep(Python::attach(|py| saved_memory(py, &self.user.state)))
    }

    fn remember(&mut self, memory: &[u8]) -> Result<(), Failed> {
        self.raised.keep(Python::attach(|py| restore_memory(py, &self.user.restore, memory)))
    }
}
