//! A whole run: a prepared device, a host, and the loop over instants that drives them.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::config::Config;
use crate::error::Error;
use crate::host::Host;
use crate::metrics::{LatencyStats, RequestColumns, SeriesColumns};
use crate::precondition::Preconditioner;
use crate::progress::{Phase, Progress, Status};
use crate::run::Run;
use crate::state;
use crate::units::Instant;

/// A simulation. Call [`advance`](Self::advance) until it is done, then ask for results.
pub struct Simulation {
    config: Config,
    /// Until the run starts.
    preparation: Option<Preparation>,
    run: Option<Box<Run>>,
}

/// A device that is being prepared, and the host that waits for it.
struct Preparation {
    device: Preconditioner,
    host: Host,
}

/// Response times of one class of requests, for plots: microseconds, and the share of requests that
/// take no longer.
pub type Distribution = Vec<(f64, f64)>;

/// Classes of requests that have a distribution, in the order of
/// [`Responses::classes`](crate::metrics::Responses::classes): simulated, then measured.
const CLASSES: [&str; 6] =
    ["all", "read", "write", "measured_all", "measured_read", "measured_write"];

impl Simulation {
    /// A run of a checked configuration, on a new device or on one saved in the file `state`.
    ///
    /// # Errors
    /// If the trace cannot be read, or the state file is damaged or of another device.
    pub fn new(config: &Config, state: Option<&Path>) -> Result<Self, Error> {
        // The workload first: a missing trace should not cost a preconditioning.
        let host = Host::new(config)?;
        let device = match state {
            Some(path) => state::load(config, path)?,
            None => Preconditioner::new(config),
        };
        Ok(Self::of(config, device, host))
    }

    /// A run of the checked configuration `config` on a device that was prepared for it.
    ///
    /// # Errors
    /// If the trace cannot be read.
    pub fn on(config: &Config, device: Preconditioner) -> Result<Self, Error> {
        Ok(Self::of(config, device, Host::new(config)?))
    }

    fn of(config: &Config, device: Preconditioner, host: Host) -> Self {
        let preparation = Some(Preparation { device, host });
        Self { config: config.clone(), preparation, run: None }
    }

    /// Works for a while: `budget` preconditioning writes, or instants of the run.
    ///
    /// # Errors
    /// If the trace turns out to be malformed, or an audited invariant breaks.
    pub fn advance(&mut self, budget: u64) -> Result<Status, Error> {
        if let Some(run) = &mut self.run {
            return run.advance(budget);
        }
        if let Some(preparation) = &mut self.preparation {
            preparation.device.advance(budget);
        }
        if let Some(Preparation { device, host }) =
            self.preparation.take_if(|preparation| preparation.device.is_done())
        {
            let first_order = device.pages_written();
            let run = Run::new(&self.config, device.ftl, first_order, host)?;
            self.run = Some(Box::new(run));
        }
        Ok(Status::Running)
    }

    /// How far the simulation has come.
    pub fn progress(&self) -> Progress {
        if let Some(run) = &self.run {
            return run.progress();
        }
        let device = self.preparation.as_ref().map(|preparation| &preparation.device);
        Progress {
            phase: Phase::Precondition,
            fraction: device.map_or(1.0, Preconditioner::fraction),
            simulated: Instant::START,
            requests: 0,
            page_operations: device.map_or(0, Preconditioner::pages_written),
        }
    }

    /// The rows of the requests completed since the last call, if they are kept.
    pub fn take_requests(&mut self) -> RequestColumns {
        self.run.as_mut().map(|run| run.recorder.take_requests()).unwrap_or_default()
    }

    /// The time series so far.
    pub fn series(&self) -> SeriesColumns {
        self.run.as_ref().map(|run| run.recorder.series.columns()).unwrap_or_default()
    }

    /// The distributions of response times so far, by class; those that the trace holds, if it
    /// holds any, are classes of their own.
    pub fn distributions(&self) -> Vec<(&'static str, Distribution)> {
        let Some(run) = &self.run else { return Vec::new() };
        let simulated = run.recorder.responses.classes().map(|(_, stats)| stats);
        let measured = run.recorder.measured.as_deref();
        let measured = measured.map(|responses| responses.classes().map(|(_, stats)| stats));
        let stats = simulated.into_iter().chain(measured.into_iter().flatten());
        CLASSES.into_iter().zip(stats.map(LatencyStats::distribution)).collect()
    }

    /// The summary of the run, with the keys of `summary.json`; those of `simulator` that tell of
    /// the machine are for the caller to add.
    pub fn summary(&self) -> Value {
        let mut summary = Map::new();
        summary.insert("schema".into(), json!(1));
        summary.insert("version".into(), json!(env!("CARGO_PKG_VERSION")));
        summary.insert("config_digest".into(), json!(self.config.digest()));
        summary.insert("seed".into(), json!(self.config.seed));
        if let Some(run) = &self.run {
            summary.extend(run.summary());
        }
        Value::Object(summary)
    }
}
