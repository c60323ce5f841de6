//! A drive that is served to real programs: prepared step by step, then served by a thread of its own.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use copyback::config::{self, Coordination};
use copyback::embedded::Embedded;
use copyback::outside::NoSupplier;
use copyback::precondition::Preparation;
use copyback::workload::Handle;
use copyback::{Error, simulation, state};
use copyback_serve::{Address, Data, Door, Export, Exports, LogColumns, Parts, Shared, Slower};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::config::Config;
use crate::error::{self, InputError};
use crate::simulation::Progress;

/// A drive that is prepared, then served.
#[pyclass(frozen, module = "copyback._core")]
pub struct Server {
    config: config::Resolved,
    stage: Mutex<Stage>,
    shared: Mutex<Option<Arc<Shared>>>,
}

enum Stage {
    Preparing(Box<Preparation>),
    Open(Box<copyback_serve::Server>),
    Over,
}

#[pymethods]
impl Server {
    /// A drive to be prepared, or a saved one.
    #[new]
    #[pyo3(signature = (config, state=None))]
    fn new(py: Python<'_>, config: &Config, state: Option<PathBuf>) -> PyResult<Self> {
        let config = config.0.clone();
        let devices = error::run(py, || {
            check(&config)?;
            let mut devices = match state {
                Some(path) => state::load(&config, &path)?,
                None => Preparation::new(&config),
            };
            // Policies in Python would hold the clock up.
            devices.supply(&config, &NoSupplier).map_err(simulation::input_error)?;
            simulation::check_writable(&devices)?;
            Ok(devices)
        })?;
        let stage = Mutex::new(Stage::Preparing(Box::new(devices)));
        Ok(Self { config, stage, shared: Mutex::new(None) })
    }

    /// Goes on preparing; whether that is done.
    fn advance(&self, py: Python<'_>, writes: u64) -> PyResult<bool> {
        error::run(py, || match &mut *self.stage() {
            Stage::Preparing(devices) => {
                devices.advance(writes);
                simulation::check_writable(devices)?;
                Ok(devices.is_done())
            }
            Stage::Open(_) | Stage::Over => Ok(true),
        })
    }

    fn progress(&self) -> Progress {
        let (fraction, page_operations) = match &*self.stage() {
            Stage::Preparing(devices) => (devices.fraction(), devices.pages_written()),
            Stage::Open(_) | Stage::Over => (1.0, 0),
        };
        Progress { phase: "precondition", fraction, simulated_ns: 0, requests: 0, page_operations }
    }

    /// Opens the doors, once the drive is prepared.
    #[pyo3(signature = (address, control, data, slower, exports, keeps_log, is_watched=false))]
    #[allow(clippy::too_many_arguments)]
    fn open(
        &self,
        py: Python<'_>,
        address: &str,
        control: Option<PathBuf>,
        data: Option<PathBuf>,
        slower: f64,
        exports: Vec<(String, u64, u64, Option<u16>)>,
        keeps_log: bool,
        is_watched: bool,
    ) -> PyResult<String> {
        let address = address_of(address)?;
        error::run(py, || {
            let mut stage = self.stage();
            let Stage::Preparing(devices) = std::mem::replace(&mut *stage, Stage::Over) else {
                return Err(Error::Internal("a server is opened once".to_owned()));
            };
            let slower = Slower::new(slower).ok_or_else(|| {
                Error::Input(format!("--slower: found {slower}; allowed: 0.001 to 1000000"))
            })?;
            let capacity = self.config.bytes;
            let exports = Exports::new(exports.into_iter().map(export).collect(), capacity)
                .map_err(Error::Input)?;
            let data = match data {
                Some(path) => Data::in_file(&path, capacity).map_err(Error::Input)?,
                None => Data::in_memory(),
            };
            let door = Door::open(&address).map_err(Error::Input)?;
            let control = control.map(|path| Door::open(&Address::Unix(path)));
            let control = control.transpose().map_err(Error::Input)?;
            let drive = Embedded::on(&self.config, *devices)?;
            let parts =
                Parts { drive, data, exports, slower, door, control, keeps_log, is_watched };
            let server = copyback_serve::Server::new(&self.config, parts)?;
            *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = Some(server.shared());
            let uri = server.uri();
            *stage = Stage::Open(Box::new(server));
            Ok(uri)
        })
    }

    /// Serves until it is told to end.
    fn serve(&self, py: Python<'_>) -> PyResult<()> {
        error::run(py, || {
            let stage = std::mem::replace(&mut *self.stage(), Stage::Over);
            match stage {
                Stage::Open(mut server) => server.run(),
                Stage::Preparing(_) | Stage::Over => {
                    Err(Error::Internal("a server is opened before it serves".to_owned()))
                }
            }
        })
    }

    /// Tells the server to end.
    fn end(&self) {
        if let Some(shared) = self.shared() {
            shared.end();
        }
    }

    /// The rows of the log since the last call, batch by batch.
    fn take_log<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let rows = self.shared().map(|shared| shared.take_rows()).unwrap_or_default();
        rows.into_iter().map(|rows| columns(py, rows)).collect()
    }

    /// The lines for the user since the last call.
    fn take_lines(&self) -> Vec<String> {
        self.shared().map(|shared| shared.take_lines()).unwrap_or_default()
    }

    /// All cuts of power, as JSON.
    fn cuts(&self) -> String {
        self.shared().map_or_else(|| "[]".to_owned(), |shared| shared.cuts().to_string())
    }

    /// Takes the rows of the live view since the last call, one for each interval, as JSON.
    fn take_watched(&self) -> String {
        self.shared().map_or_else(|| "[]".to_owned(), |shared| shared.take_watched().to_string())
    }

    /// State of the drive, as JSON.
    fn status(&self) -> String {
        self.shared().map_or_else(|| "null".to_owned(), |shared| shared.status().to_string())
    }
}

impl Server {
    fn stage(&self) -> std::sync::MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shared(&self) -> Option<Arc<Shared>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Refuses drives that know what is asked before it is.
fn check(config: &config::Config) -> Result<(), Error> {
    if let Coordination::Python { .. } = config.array.coordination {
        return Err(Error::Input(
            "array.coordination: found a policy in Python; allowed: the others, in an array that is served"
                .to_owned(),
        ));
    }
    if config.ssd.gc.idle.entries() > 0 {
        return Err(Error::Input(
            "ssd.gc.idle: found one that looks ahead to requests that have not arrived; allowed: another, in a \
             drive that is served"
                .to_owned(),
        ));
    }
    Ok(())
}

fn address_of(text: &str) -> PyResult<Address> {
    if let Some(path) = text.strip_prefix("unix:") {
        return Ok(Address::Unix(path.into()));
    }
    let address = text.strip_prefix("tcp:").and_then(|at| at.parse::<SocketAddr>().ok());
    address.map(Address::Tcp).ok_or_else(|| {
        InputError::new_err(format!(
            "--nbd {text}: found no address; allowed: unix:PATH or tcp:ADDRESS:PORT"
        ))
    })
}

fn export((name, offset, length, handle): (String, u64, u64, Option<u16>)) -> Export {
    Export { name, offset, length, handle: handle.map(Handle) }
}

fn columns(py: Python<'_>, rows: LogColumns) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    columns.set_item("arrival_ns", rows.arrival_ns.into_pyarray(py))?;
    columns.set_item("operation", rows.operation.into_pyarray(py))?;
    columns.set_item("offset", rows.offset.into_pyarray(py))?;
    columns.set_item("bytes", rows.bytes.into_pyarray(py))?;
    columns.set_item("response_ns", rows.response_ns.into_pyarray(py))?;
    columns.set_item("unseen_ns", rows.unseen_ns.into_pyarray(py))?;
    let (handle, has_handle) = parts(&rows.handle);
    columns.set_item("handle", handle.into_pyarray(py))?;
    columns.set_item("has_handle", has_handle.into_pyarray(py))?;
    let (seen, was_seen) = parts(&rows.seen_response_ns);
    columns.set_item("measured_response_ns", seen.into_pyarray(py))?;
    columns.set_item("was_seen", was_seen.into_pyarray(py))?;
    Ok(columns)
}

/// Values, zero where there are none, and where there are some.
fn parts<T: Copy + Default>(values: &[Option<T>]) -> (Vec<T>, Vec<bool>) {
    (
        values.iter().map(|value| value.unwrap_or_default()).collect(),
        values.iter().map(Option::is_some).collect(),
    )
}
