//! Victim policies written in Python, and the arrays of blocks that they look at.

use copyback::ids::{BlockId, PlaneId};
use copyback::outside::{Device, Failed};
use copyback::victim::Shape;
use copyback::victim::supply::{BlockState, ExternalVictims};
use numpy::{Element, PyArray1};
use pyo3::prelude::*;

use crate::policies::{Called, InPython, Making, facts, open};

/// A victim policy, and the arrays that it looks at. Python owns them and sees them read-only.
#[derive(Debug)]
struct Victims {
    user: User,
    columns: Columns,
    /// Valid pages that a block which is not closed stands for.
    pages_per_block: u16,
}

/// The methods that are called. Named as in `bridge.CalledVictims`.
#[derive(Debug, FromPyObject)]
struct User {
    choose: Py<PyAny>,
}

#[derive(Debug)]
struct Columns {
    closed: Py<PyArray1<bool>>,
    valid_pages: Py<PyArray1<u16>>,
    erase_count: Py<PyArray1<u32>>,
    closed_at: Py<PyArray1<u64>>,
    changed_at: Py<PyArray1<u64>>,
}

impl InPython for dyn ExternalVictims {
    fn made(
        py: Python<'_>,
        making: &Making,
        (device, shape): (Device, Shape),
    ) -> PyResult<Box<Self>> {
        let columns = Columns::new(py, shape);
        let (pages_per_block, arrays) = (shape.pages_per_block, columns.all(py));
        let around = |user| Victims { user, columns, pages_per_block };
        Ok(Box::new(making.call(py, facts(device), arrays, around)?))
    }
}

impl Victims {
    fn ask(
        &self,
        py: Python<'_>,
        plane: PlaneId,
        clock: u64,
        changed: &[BlockState],
    ) -> PyResult<BlockId> {
        self.columns.update(py, changed, self.pages_per_block)?;
        self.user.choose.call1(py, (plane.0, clock))?.extract(py).map(BlockId)
    }
}

impl ExternalVictims for Called<Victims> {
    fn choose(
        &mut self,
        plane: PlaneId,
        clock: u64,
        changed: &[BlockState],
    ) -> Result<BlockId, Failed> {
        self.in_python(|py, victims| victims.ask(py, plane, clock, changed))
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
