//! Schedules written in Python.

use copyback::ids::DieId;
use copyback::outside::{Device, Failed};
use copyback::scheduler::when::supply::{DieView, ExternalSchedule};
use copyback::scheduler::when::{Admitted, Point};
use pyo3::prelude::*;

use crate::policies::{Called, InPython, Making, facts};

/// The methods that are called. Named as in `bridge.CalledSchedule`.
#[derive(Debug, FromPyObject)]
struct Schedule {
    admitted: Py<PyAny>,
    plane_to_collect: Option<Py<PyAny>>,
}

impl InPython for dyn ExternalSchedule {
    fn made(py: Python<'_>, making: &Making, device: Device) -> PyResult<Box<Self>> {
        Ok(Box::new(making.call(py, facts(device), (), |methods: Schedule| methods)?))
    }
}

impl ExternalSchedule for Called<Schedule> {
    fn plane_to_collect(&mut self, die: DieId, to_collect: u32) -> Result<Option<u32>, Failed> {
        self.in_python(|py, Schedule { plane_to_collect, .. }| {
            let Some(hook) = plane_to_collect else { return Ok(None) };
            hook.call1(py, (die.0, to_collect))?.extract(py).map(Some)
        })
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
        let (reads, writes) =
            self.in_python(|py, schedule| schedule.admitted.call1(py, question)?.extract(py))?;
        Ok(Admitted { reads, writes })
    }
}
