//! Configurations, presets and the schema.

use std::path::PathBuf;
use std::str::FromStr;

use copyback::config::quantity::{Rate, Size, Time};
use copyback::config::{self, Coordination, Loader, Placement, Preemption, VictimPolicy, schema};
use pyo3::prelude::*;
use serde_json::{Map, Value};

use crate::error::InputError;

/// A checked configuration, with every default filled in.
#[pyclass(frozen, module = "copyback._core")]
pub struct Config(pub config::Resolved);

#[pymethods]
impl Config {
    #[staticmethod]
    #[pyo3(signature = (toml=None, name=None, directory=None, json=None, preset=None, settings=None))]
    fn load(
        toml: Option<&str>,
        name: Option<&str>,
        directory: Option<PathBuf>,
        json: Option<&str>,
        preset: Option<&str>,
        settings: Option<Vec<(String, String)>>,
    ) -> PyResult<Self> {
        let mut loader = Loader::new().preset(preset);
        if let Some(text) = toml {
            loader = loader.toml(text, name.unwrap_or("configuration"), directory.as_deref());
        }
        if let Some(text) = json {
            loader = loader.json(text);
        }
        for (key, value) in settings.unwrap_or_default() {
            loader = loader.set(&key, &value);
        }
        let loaded = loader.load().map_err(|faults| InputError::new_err(faults.to_string()))?;
        Ok(Self(loaded.resolve()))
    }

    fn to_toml(&self) -> String {
        self.0.to_toml()
    }

    fn to_json(&self) -> String {
        self.0.to_json()
    }

    #[getter]
    fn digest(&self) -> String {
        self.0.digest()
    }

    #[getter]
    fn state_digest(&self) -> PyResult<String> {
        copyback::state::fingerprint(&self.0)
            .map_err(|fault| InputError::new_err(fault.to_string()))
    }

    #[getter]
    fn prepared_name(&self) -> Option<String> {
        copyback::state::name_to_keep(&self.0)
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed
    }

    #[getter]
    fn drive_digest(&self) -> String {
        drive_digest(&self.0)
    }

    #[getter]
    fn victim_policy(&self) -> Option<(String, String)> {
        match &self.0.ssd.gc.victim {
            VictimPolicy::Python { policy, parameters } => Some(named(policy, parameters)),
            _ => None,
        }
    }

    #[getter]
    fn schedule_policy(&self) -> Option<(String, String)> {
        match &self.0.ssd.gc.preemption {
            Preemption::Python { policy, parameters, .. } => Some(named(policy, parameters)),
            _ => None,
        }
    }

    #[getter]
    fn placement_policy(&self) -> Option<(String, String)> {
        match &self.0.ssd.ftl.placement {
            Placement::Python { policy, parameters, .. } => Some(named(policy, parameters)),
            _ => None,
        }
    }

    #[getter]
    fn coordination_policy(&self) -> Option<(String, String)> {
        match &self.0.array.coordination {
            Coordination::Python { policy, parameters } => Some(named(policy, parameters)),
            _ => None,
        }
    }

    #[getter]
    fn capacity_bytes(&self) -> u64 {
        self.0.bytes
    }

    #[getter]
    fn memory_bytes(&self) -> u64 {
        // The cast of what is too large for it gives the largest number.
        self.0.estimate().memory as u64
    }

    #[getter]
    fn announcement(&self) -> Option<String> {
        self.0.estimate().announcement()
    }

    #[getter]
    fn keeps_requests(&self) -> bool {
        self.0.metrics.requests
    }

    #[getter]
    fn keeps_latency_log(&self) -> bool {
        self.0.metrics.histogram_interval.is_some()
    }

    #[getter]
    fn keeps_collections(&self) -> bool {
        self.0.metrics.collections && self.0.array.devices > 1
    }

    #[getter]
    fn keeps_commands(&self) -> bool {
        self.0.metrics.commands && self.0.array.devices > 1
    }

    #[getter]
    fn writes_timeline(&self) -> bool {
        self.0.metrics.timeline.is_some()
    }

    #[getter]
    fn keeps_messages(&self) -> bool {
        self.0.metrics.messages && self.0.array.devices > 1
    }
}

/// A digest of all that decides how the drive, or the array, answers given requests.
fn drive_digest(config: &config::Config) -> String {
    let mut drive = config.clone();
    let fresh = config::Config::default();
    (drive.workload, drive.stop, drive.metrics, drive.audit) =
        (fresh.workload, fresh.stop, fresh.metrics, false);
    drive.digest()
}

/// A policy written in Python, and its parameters as JSON.
fn named(policy: &str, parameters: &Map<String, Value>) -> (String, String) {
    (policy.to_owned(), Value::from(parameters.clone()).to_string())
}

type Preset = (&'static str, &'static str, &'static str);

/// Name, summary and TOML of every drive that `preset` may name.
#[pyfunction]
pub fn presets() -> Vec<Preset> {
    listed(config::presets::devices())
}

/// Name, summary and TOML of every workload that `workload.preset` may name.
#[pyfunction]
pub fn workload_presets() -> Vec<Preset> {
    listed(config::presets::workloads())
}

fn listed(presets: &[config::presets::Preset]) -> Vec<Preset> {
    presets.iter().map(|preset| (preset.name, preset.summary, preset.text)).collect()
}

/// Key, name and meaning of every named choice.
#[pyfunction]
pub fn policies() -> Vec<(String, String, String)> {
    let choices = schema::policies().into_iter();
    choices.map(|policy| (policy.key, policy.name, policy.meaning)).collect()
}

/// The JSON schema of a configuration.
#[pyfunction]
pub fn json_schema() -> String {
    schema::json_schema()
}

/// A time as a configuration has it, in nanoseconds.
#[pyfunction]
pub fn time_ns(text: &str) -> PyResult<u64> {
    quantity(text).map(|Time(time)| time.as_ns())
}

/// A size as a configuration has it, in bytes.
#[pyfunction]
pub fn size_bytes(text: &str) -> PyResult<u64> {
    quantity(text).map(|Size(bytes)| bytes)
}

/// A rate as a configuration has it, in bytes a second; `None` if it is not limited.
#[pyfunction]
pub fn rate_bytes_per_s(text: &str) -> PyResult<Option<u64>> {
    quantity(text).map(|rate| match rate {
        Rate::None => None,
        Rate::BytesPerSecond(bytes) => Some(bytes),
    })
}

fn quantity<T: FromStr<Err = String>>(text: &str) -> PyResult<T> {
    text.parse().map_err(|fault| InputError::new_err(format!("found \"{text}\"; {fault}")))
}

/// The JSON schema of a summary.
#[pyfunction]
pub fn summary_schema() -> String {
    copyback::summary_schema()
}

/// The JSON schema of the statistics of a workload.
#[pyfunction]
pub fn statistics_schema() -> String {
    copyback::statistics::statistics_schema()
}

/// The reference page of every configuration key.
#[pyfunction]
pub fn reference_markdown() -> String {
    schema::reference_markdown()
}
