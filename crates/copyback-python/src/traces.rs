//! Statistics of workloads, and workloads written out as traces, advanced step by step.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use copyback::workload::AddressSpace;
use copyback::workload::trace::{Dropped, Target};
use copyback::{Error, Status, convert, inputs, statistics};
use pyo3::prelude::*;

use crate::config::Config;
use crate::error;
use crate::simulation::Progress;

/// The addresses that a workload is for: those of the configured device, or any.
fn space(config: &Config, unlimited: bool) -> AddressSpace {
    let configured = AddressSpace::of(&config.0);
    match unlimited {
        true => AddressSpace { drive: configured.drive, ..AddressSpace::UNLIMITED },
        false => configured,
    }
}

fn progress(phase: &'static str, fraction: f64, requests: u64) -> Progress {
    Progress { phase, fraction, simulated_ns: 0, requests, page_operations: 0 }
}

/// The inputs of a workload, read for its device without simulating, advanced step by step.
#[pyclass(module = "copyback._core")]
pub struct InputCheck(Mutex<inputs::InputCheck>);

#[pymethods]
impl InputCheck {
    #[new]
    fn new(py: Python<'_>, config: &Config) -> PyResult<Self> {
        let check = error::run(py, || inputs::InputCheck::new(&config.0))?;
        Ok(Self(Mutex::new(check)))
    }

    fn advance(&mut self, py: Python<'_>, requests: u64) -> PyResult<bool> {
        let inner = self.inner();
        error::run(py, || inner.advance(requests)).map(|status| status == Status::Done)
    }

    fn progress(&mut self) -> Progress {
        let inner = self.inner();
        progress("read", inner.fraction(), inner.requests())
    }
}

impl InputCheck {
    fn inner(&mut self) -> &mut inputs::InputCheck {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The whole content of a file, plain or compressed.
#[pyfunction]
pub fn read_whole(py: Python<'_>, path: PathBuf) -> PyResult<Cow<'static, [u8]>> {
    Ok(py.detach(|| copyback::workload::trace::read_whole(&path))?.into())
}

/// Statistics of a workload, advanced step by step.
#[pyclass(module = "copyback._core")]
pub struct Survey(Mutex<statistics::Survey>);

#[pymethods]
impl Survey {
    #[new]
    fn new(py: Python<'_>, config: &Config, unlimited: bool) -> PyResult<Self> {
        let space = space(config, unlimited);
        let survey = error::run(py, || statistics::Survey::new(&config.0, space))?;
        Ok(Self(Mutex::new(survey)))
    }

    fn advance(&mut self, py: Python<'_>, requests: u64) -> PyResult<bool> {
        let inner = self.inner();
        error::run(py, || inner.advance(requests)).map(|status| status == Status::Done)
    }

    fn progress(&mut self) -> Progress {
        let inner = self.inner();
        progress("read", inner.fraction(), inner.requests())
    }

    fn summary(&mut self) -> String {
        serde_json::to_string(&self.inner().summary()).expect("statistics are plain data")
    }
}

impl Survey {
    fn inner(&mut self) -> &mut statistics::Survey {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A workload that is being written out as a trace, advanced step by step.
#[pyclass(module = "copyback._core")]
pub struct Conversion(Mutex<Option<convert::Conversion>>);

#[pymethods]
impl Conversion {
    #[new]
    #[pyo3(signature = (config, unlimited, output, named, to=None, drop_trims=false, drop_flushes=false))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        config: &Config,
        unlimited: bool,
        output: PathBuf,
        named: PathBuf,
        to: Option<&str>,
        drop_trims: bool,
        drop_flushes: bool,
    ) -> PyResult<Self> {
        let space = space(config, unlimited);
        let dropped = Dropped { trims: drop_trims, flushes: drop_flushes };
        let conversion = error::run(py, || {
            let target = target(&named, to)?;
            convert::Conversion::new(&config.0, space, &output, &target, dropped)
        })?;
        Ok(Self(Mutex::new(Some(conversion))))
    }

    fn advance(&mut self, py: Python<'_>, requests: u64) -> PyResult<bool> {
        let Some(inner) = self.inner() else { return Ok(true) };
        error::run(py, || inner.advance(requests)).map(|status| status == Status::Done)
    }

    fn progress(&mut self) -> Progress {
        let inner = self.inner().as_ref();
        let fraction = inner.map_or(1.0, convert::Conversion::fraction);
        progress("write", fraction, inner.map_or(0, convert::Conversion::requests))
    }

    fn finish(&mut self, py: Python<'_>) -> PyResult<Vec<String>> {
        let inner = self.inner().take();
        error::run(py, || inner.map_or_else(|| Ok(Vec::new()), convert::Conversion::finish))
    }
}

impl Conversion {
    fn inner(&mut self) -> &mut Option<convert::Conversion> {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

fn target(path: &std::path::Path, format: Option<&str>) -> Result<Target, Error> {
    Target::of(path, format)
        .map_err(|problem| Error::Input(format!("{}: {problem}", path.display())))
}

/// Refuses what no trace can be written as, before the work that would fill it.
#[pyfunction]
#[pyo3(signature = (path, to=None))]
pub fn trace_target(py: Python<'_>, path: PathBuf, to: Option<&str>) -> PyResult<&'static str> {
    error::run(py, || target(&path, to).map(|target| target.name()))
}

/// The formats that traces can be written in.
#[pyfunction]
pub fn writable_formats() -> Vec<&'static str> {
    Target::formats().collect()
}
