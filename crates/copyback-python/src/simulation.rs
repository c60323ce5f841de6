//! A run, advanced step by step; columns go to Python as NumPy arrays without a copy.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use copyback::metrics::{CollectionColumns, CommandColumns, FlowColumns};
use copyback::precondition;
use copyback::ssd::Part;
use copyback::state;
use copyback::{Phase, Status, simulation};
use numpy::{Element, IntoPyArray};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::config::Config;
use crate::error;
use crate::policies::{Makers, Policies, Raised};
use crate::threads::Threads;

const PRECONDITION: &str = "precondition";

/// Threads that prepare devices, unless more are asked for.
const ONE: NonZeroUsize = NonZeroUsize::MIN;

/// One run, advanced step by step.
#[pyclass(module = "copyback._core")]
pub struct Simulation {
    run: Exclusive,
    raised: Raised,
}

/// Makes `Sync` of what is `Send`. Its lock is never taken: every method borrows exclusively.
type Exclusive = Mutex<simulation::Simulation>;

/// Progress of a run.
#[pyclass(frozen, get_all, module = "copyback._core")]
pub struct Progress {
    pub phase: &'static str,
    pub fraction: f64,
    pub simulated_ns: u64,
    pub requests: u64,
    pub page_operations: u64,
}

/// Description of a checkpoint's run.
#[pyclass(frozen, get_all, module = "copyback._core")]
pub struct Found {
    pub is_preparing: bool,
    pub simulated_ns: u64,
    pub requests: u64,
    pub note: String,
}

#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(signature = (config, state=None, policies=None, threads=ONE))]
    fn new(
        py: Python<'_>,
        config: &Config,
        state: Option<PathBuf>,
        policies: Option<Makers>,
        threads: NonZeroUsize,
    ) -> PyResult<Self> {
        let raised = Raised::default();
        let policies = Policies::new(policies, raised.clone());
        let made = error::run(py, || {
            simulation::Simulation::with_policies(&config.0, state.as_deref(), &policies)
        });
        match made {
            Ok(mut simulation) => {
                simulation.work_on(Arc::new(Threads::new(threads, &config.0)));
                Ok(Self { run: Mutex::new(simulation), raised })
            }
            Err(error) => Err(raised.or(error)),
        }
    }

    #[staticmethod]
    #[pyo3(signature = (config, path, policies=None, threads=ONE))]
    fn resume(
        py: Python<'_>,
        config: &Config,
        path: PathBuf,
        policies: Option<Makers>,
        threads: NonZeroUsize,
    ) -> PyResult<(Self, Found)> {
        let raised = Raised::default();
        let policies = Policies::new(policies, raised.clone());
        let resumed = error::run(py, || {
            simulation::Simulation::resume_with_policies(&config.0, &path, &policies)
        });
        let (mut simulation, found) = resumed.map_err(|error| raised.or(error))?;
        simulation.work_on(Arc::new(Threads::new(threads, &config.0)));
        let copyback::Found { is_preparing, simulated_ns, requests, note } = found;
        let found = Found { is_preparing, simulated_ns, requests, note };
        Ok((Self { run: Mutex::new(simulation), raised }, found))
    }

    fn keep(&mut self, py: Python<'_>) -> PyResult<()> {
        let inner = self.inner();
        error::run(py, || inner.keep())
    }

    fn write_checkpoint(&mut self, py: Python<'_>, path: PathBuf, note: &str) -> PyResult<()> {
        let inner = self.inner();
        let written = error::run(py, move || inner.write_checkpoint(&path, note));
        written.map_err(|error| self.raised.or(error))
    }

    fn advance(&mut self, py: Python<'_>, events: u64) -> PyResult<bool> {
        let inner = self.inner();
        match error::run(py, || inner.advance(events)) {
            Ok(status) => Ok(matches!(status, Status::Done)),
            Err(error) => Err(self.raised.or(error)),
        }
    }

    fn is_prepared(&mut self) -> bool {
        self.inner().is_prepared()
    }

    fn save_prepared(&mut self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let inner = self.inner();
        let saved = error::run(py, move || inner.save_prepared(&path));
        saved.map_err(|error| self.raised.or(error))
    }

    fn progress(&mut self) -> Progress {
        let now = self.inner().progress();
        Progress {
            phase: match now.phase {
                Phase::Precondition => PRECONDITION,
                Phase::Run => "run",
            },
            fraction: now.fraction,
            simulated_ns: now.simulated.as_ns(),
            requests: now.requests,
            page_operations: now.page_operations,
        }
    }

    fn take_requests<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows = self.inner().take_requests();
        let columns = Columns::new(py);
        columns.add("arrival_ns", rows.arrival_ns)?;
        columns.add("response_ns", rows.response_ns)?;
        columns.add("measured_response_ns", rows.measured_ns)?;
        columns.add("is_unmeasured", rows.is_unmeasured)?;
        columns.add("operation", rows.operation)?;
        columns.add("offset", rows.offset)?;
        columns.add("bytes", rows.bytes)?;
        columns.add("flow", rows.flow)?;
        if self.inner().is_array() {
            columns.add("device", rows.device)?;
        }
        for (part, values) in Part::ALL.iter().zip(rows.parts_ns) {
            columns.add(&format!("{}_ns", part.name()), values)?;
        }
        Ok(columns.0)
    }

    fn take_collections<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let CollectionColumns { device, begin_ns, end_ns } = self.inner().take_collections();
        let columns = Columns::new(py);
        columns.add("device", device)?;
        columns.add("begin_ns", begin_ns)?;
        columns.add("end_ns", end_ns)?;
        Ok(columns.0)
    }

    fn take_commands<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows: CommandColumns = self.inner().take_commands();
        let columns = Columns::new(py);
        columns.add("device", rows.device)?;
        columns.add("arrival_ns", rows.arrival_ns)?;
        columns.add("response_ns", rows.response_ns)?;
        columns.add("host_queue_ns", rows.host_queue_ns)?;
        columns.add("operation", rows.operation)?;
        columns.add("offset", rows.offset)?;
        columns.add("bytes", rows.bytes)?;
        Ok(columns.0)
    }

    fn take_messages<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let letters = self.inner().take_messages();
        let columns = Columns::new(py);
        let sent = letters.iter().map(|letter| letter.sent.as_ns()).collect();
        let arrives = letters.iter().map(|letter| letter.arrives.as_ns()).collect();
        columns.add::<u64>("sent_ns", sent)?;
        columns.add::<u64>("arrives_ns", arrives)?;
        columns.add("device", letters.iter().map(|letter| letter.device.0).collect())?;
        columns.add("message", letters.iter().map(|letter| letter.content.number()).collect())?;
        Ok(columns.0)
    }

    fn take_latency_log<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.inner().take_latency_log())
    }

    fn take_timeline<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.inner().take_timeline())
    }

    fn slowest(&mut self) -> Option<String> {
        self.inner().slowest().map(|requests| requests.to_string())
    }

    fn dies<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows = self.inner().dies();
        let columns = Columns::new(py);
        columns.add("device", rows.device)?;
        columns.add("die", rows.die)?;
        columns.add("start_s", rows.start_s)?;
        columns.add("end_s", rows.end_s)?;
        columns.add("collecting_us", rows.collecting_us)?;
        columns.add("serving_us", rows.serving_us)?;
        columns.add("free_blocks", rows.free_blocks)?;
        Ok(columns.0)
    }

    fn series<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = Columns::new(py);
        for (name, values) in self.inner().series() {
            columns.add(&name, values)?;
        }
        Ok(columns.0)
    }

    fn flow_series<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let FlowColumns { flow, served } = self.inner().flow_series();
        let columns = Columns::new(py);
        columns.add("flow", flow)?;
        for (name, values) in FlowColumns::NAMES.iter().zip(served) {
            columns.add(name, values)?;
        }
        Ok(columns.0)
    }

    fn summary(&mut self) -> Option<String> {
        self.inner().summary().map(|summary| summary.to_json().to_string())
    }

    fn distributions<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let curves = PyDict::new(py);
        for (operation, points) in self.inner().distributions() {
            let (values, fractions): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
            curves.set_item(operation, (values.into_pyarray(py), fractions.into_pyarray(py)))?;
        }
        Ok(curves)
    }
}

impl Simulation {
    fn inner(&mut self) -> &mut simulation::Simulation {
        self.run.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Devices that are prepared to be saved, and not run.
#[pyclass(module = "copyback._core")]
pub struct Preparation {
    config: copyback::config::Resolved,
    /// Prepared devices, behind a lock: Python may share them between threads, and a policy written in Python
    /// can't be.
    devices: Mutex<precondition::Preparation>,
    raised: Raised,
}

#[pymethods]
impl Preparation {
    #[new]
    #[pyo3(signature = (config, policies=None, threads=ONE))]
    fn new(
        py: Python<'_>,
        config: &Config,
        policies: Option<Makers>,
        threads: NonZeroUsize,
    ) -> PyResult<Self> {
        let config = config.0.clone();
        let raised = Raised::default();
        let policies = Policies::new(policies, raised.clone());
        let made = error::run(py, || {
            let mut devices = precondition::Preparation::new(&config);
            devices.supply_to_be_saved(&policies).map_err(simulation::input_error)?;
            simulation::check_writable(&devices)?;
            Ok(devices)
        });
        let mut devices = made.map_err(|error| raised.or(error))?;
        devices.prepare_on(Arc::new(Threads::new(threads, &config)));
        Ok(Self { config, devices: Mutex::new(devices), raised })
    }

    fn advance(&mut self, py: Python<'_>, writes: u64) -> PyResult<bool> {
        let devices = self.devices.get_mut().unwrap_or_else(PoisonError::into_inner);
        let done = error::run(py, || {
            devices.advance(writes);
            simulation::check_policies(devices)?;
            simulation::check_writable(devices)?;
            Ok(devices.is_done())
        });
        done.map_err(|error| self.raised.or(error))
    }

    fn progress(&mut self) -> Progress {
        let devices = self.devices.get_mut().unwrap_or_else(PoisonError::into_inner);
        Progress {
            phase: PRECONDITION,
            fraction: devices.fraction(),
            simulated_ns: 0,
            requests: 0,
            page_operations: devices.pages_written(),
        }
    }

    fn save(&mut self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let devices = self.devices.get_mut().unwrap_or_else(PoisonError::into_inner);
        let config = &self.config;
        let saved = error::run(py, move || state::save(config, devices, &path));
        saved.map_err(|error| self.raised.or(error))
    }
}

/// A dictionary of arrays, one a column.
struct Columns<'py>(Bound<'py, PyDict>);

impl<'py> Columns<'py> {
    fn new(py: Python<'py>) -> Self {
        Self(PyDict::new(py))
    }

    fn add<T: Element>(&self, name: &str, values: Vec<T>) -> PyResult<()> {
        self.0.set_item(name, values.into_pyarray(self.0.py()))
    }
}
