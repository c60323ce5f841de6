//! Policies written in Python. The functions of `copyback.policies.bridge` make and check them; this
//! carries questions to them and answers back.

use std::sync::{Arc, Mutex, PoisonError};

use copyback::ids::{BlockId, DieId, PlaneId};
use copyback::placement::supply::{
    BlockState as PlacedBlock, ExternalPlacement, PlacementSupplier,
};
use copyback::rng::{self, Stream};
use copyback::scheduler::when::supply::{DieView, ExternalSchedule, Supplier};
use copyback::scheduler::when::{Admitted, Point};
use copyback::victim::Shape;
use copyback::victim::supply::{BlockState, Device, ExternalVictims, Failed, VictimSupplier};
use numpy::{Element, PyArray1, PyArrayMethods, PyReadwriteArray1};
use pyo3::prelude::*;

use crate::placement::Placement;

/// What Python has raised in a policy, for whoever started the run: it may be a signal's exception.
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
    victims: Option<Py<PyAny>>,
    schedule: Option<Py<PyAny>>,
    placement: Option<Py<PyAny>>,
    raised: Raised,
}

impl Policies {
    pub const fn new(
        victims: Option<Py<PyAny>>,
        schedule: Option<Py<PyAny>>,
        placement: Option<Py<PyAny>>,
        raised: Raised,
    ) -> Self {
        Self { victims, schedule, placement, raised }
    }
}

impl VictimSupplier for Policies {
    fn victims(
        &self,
        device: Device,
        shape: Shape,
        random: Stream,
    ) -> Result<Box<dyn ExternalVictims>, Failed> {
        let make = self.victims.as_ref().ok_or_else(|| Failed::not_supplied("ssd.gc.victim"))?;
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
        let make = self.schedule.as_ref();
        let make = make.ok_or_else(|| Failed::not_supplied("ssd.gc.preemption"))?;
        let made = Python::attach(|py| {
            let hooks = make.call1(py, (facts(device), rng::seed_for_others(random)))?;
            let (admitted, plane_to_collect) = hooks.extract(py)?;
            Ok(Schedule { admitted, plane_to_collect, raised: self.raised.clone() })
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
        let make = self.placement.as_ref();
        let make = make.ok_or_else(|| Failed::not_supplied("ssd.ftl.placement"))?;
        let make = Python::attach(|py| make.clone_ref(py));
        Ok(Box::new(Placement::new(make, device, blocks, random, self.raised.clone())?))
    }
}

/// In the order in which `copyback.policies.Device` names them.
pub(crate) const fn facts(device: Device) -> (u16, usize, u32, u32, u32, usize) {
    let Device { id, dies, planes_per_die, blocks_per_plane, pages_per_block, logical_pages } =
        device;
    (id.0, dies, planes_per_die, blocks_per_plane, pages_per_block, logical_pages)
}

/// A victim policy, and the arrays that it looks at. Python owns them and sees them read-only.
#[derive(Debug)]
struct Victims {
    choose: Py<PyAny>,
    columns: Columns,
    /// Valid pages that a block which is not closed stands for.
    pages_per_block: u16,
    raised: Raised,
}

#[derive(Debug)]
struct Columns {
    closed: Py<PyArray1<bool>>,
    valid_pages: Py<PyArray1<u16>>,
    erase_count: Py<PyArray1<u32>>,
    closed_at: Py<PyArray1<u64>>,
    changed_at: Py<PyArray1<u64>>,
}

impl Victims {
    fn new(
        py: Python<'_>,
        make: &Py<PyAny>,
        device: Device,
        shape: Shape,
        random: Stream,
        raised: Raised,
    ) -> PyResult<Self> {
        let pages_per_block = shape.pages_per_block;
        let columns = Columns::new(py, shape);
        let choose =
            make.call1(py, (facts(device), rng::seed_for_others(random), columns.all(py)))?;
        Ok(Self { choose, columns, pages_per_block, raised })
    }

    fn ask(
        &self,
        py: Python<'_>,
        plane: PlaneId,
        clock: u64,
        changed: &[BlockState],
    ) -> PyResult<BlockId> {
        self.columns.update(py, changed, self.pages_per_block)?;
        self.choose.call1(py, (plane.0, clock))?.extract(py).map(BlockId)
    }
}

impl ExternalVictims for Victims {
    fn choose(
        &mut self,
        plane: PlaneId,
        clock: u64,
        changed: &[BlockState],
    ) -> Result<BlockId, Failed> {
        self.raised.keep(Python::attach(|py| self.ask(py, plane, clock, changed)))
    }
}

impl Columns {
    fn new(py: Python<'_>, shape: Shape) -> Self {
        fn zeros<T: Element>(py: Python<'_>, blocks: usize) -> Py<PyArray1<T>> {
            PyArray1::zeros(py, blocks, false).unbind()
        }
        let full = vec![shape.pages_per_block; shape.blocks];
        Self {
            closed: zeros(py, shape.blocks),
            valid_pages: PyArray1::from_vec(py, full).unbind(),
            erase_count: zeros(py, shape.blocks),
            closed_at: zeros(py, shape.blocks),
            changed_at: zeros(py, shape.blocks),
        }
    }

    /// In the order in which `copyback.policies.bridge` names them.
    fn all<'py>(&self, py: Python<'py>) -> [Bound<'py, PyAny>; 5] {
        [
            self.closed.bind(py).clone().into_any(),
            self.valid_pages.bind(py).clone().into_any(),
            self.erase_count.bind(py).clone().into_any(),
            self.closed_at.bind(py).clone().into_any(),
            self.changed_at.bind(py).clone().into_any(),
        ]
    }

    fn update(&self, py: Python<'_>, changed: &[BlockState], full: u16) -> PyResult<()> {
        let (mut closed, mut valid_pages) = (open(py, &self.closed)?, open(py, &self.valid_pages)?);
        let mut erase_count = open(py, &self.erase_count)?;
        let mut closed_at = open(py, &self.closed_at)?;
        let mut changed_at = open(py, &self.changed_at)?;
        let (closed, valid_pages) = (closed.as_slice_mut()?, valid_pages.as_slice_mut()?);
        let erase_count = erase_count.as_slice_mut()?;
        let (closed_at, changed_at) = (closed_at.as_slice_mut()?, changed_at.as_slice_mut()?);
        for state in changed {
            let block = state.block.index();
            closed[block] = state.closed.is_some();
            valid_pages[block] = state.closed.map_or(full, |now| now.valid_pages);
            if let Some(now) = state.closed {
                erase_count[block] = now.erase_count;
                closed_at[block] = now.closed_at;
                changed_at[block] = now.changed_at;
            }
        }
        Ok(())
    }
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
    admitted: Py<PyAny>,
    plane_to_collect: Option<Py<PyAny>>,
    raised: Raised,
}

impl ExternalSchedule for Schedule {
    fn plane_to_collect(&mut self, die: DieId, to_collect: u32) -> Result<Option<u32>, Failed> {
        let Some(hook) = &self.plane_to_collect else { return Ok(None) };
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
        let asked = Python::attach(|py| self.admitted.call1(py, question)?.extract(py));
        let (reads, writes) = self.raised.keep(asked)?;
        Ok(Admitted { reads, writes })
    }
}
