//! A whole run: a prepared device, a host, and the loop over instants that drives them.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use crate::array::SentMessage;
use crate::array::coordination::supply::{self, ArraySupplier, ExternalCoordinator};
use crate::checkpoint::Checkpointed;
use crate::config::{Config, Resolved};
use crate::executor::Executor;
use crate::foresight;
use crate::host::Host;
use crate::metrics::{
    CollectionColumns, CommandColumns, Devices, DieColumns, FlowColumns, Ledger, RequestColumns,
    SeriesColumns, Slowest, Timeline,
};
use crate::outlined::Outlined;
use crate::outside::{Failed, NoSupplier};
use crate::precondition::Preparation;
use crate::progress::{Phase, Progress};
use crate::resume::{self, Found, Identity};
use crate::run::{Run, Summary};
use crate::sanity;
use crate::state;
use crate::told::Told;
use crate::units::Instant;
use crate::{Error, Status};

/// A simulation. Call [`advance`](Self::advance) until it is done, then ask for results.
pub struct Simulation {
    config: Resolved,
    /// Until the run starts.
    preparation: Option<Outlined<Waiting>>,
    run: Option<Outlined<Run>>,
    /// The coordinator of an array, if it comes from outside, until the run starts.
    coordinator: Option<Box<dyn ExternalCoordinator>>,
    /// Executor of jobs side by side, if there is one.
    executor: Option<Arc<dyn Executor>>,
    /// Known if it is to be kept.
    identity: Option<Identity>,
    /// Whether requests are yet to be read again, up to where the run was interrupted.
    is_behind: bool,
}

/// Devices that are being prepared, and the host that waits for them.
#[derive(Checkpointed)]
struct Waiting {
    devices: Preparation,
    host: Host,
}

/// Response times of one class of requests, for plots: microseconds, and the share of requests that
/// take no longer.
pub type Distribution = Vec<(f64, f64)>;

/// Prefixes of the names of distributions: of simulated response times, of measured ones, and of the excess of
/// the simulated ones over a bound. A [class](Responses::classes) follows.
const KINDS: [&str; 3] = ["", "measured_", "excess_"];

impl Simulation {
    /// A run of a checked configuration, on new devices or on those saved in the file `state`.
    ///
    /// # Errors
    /// If the trace cannot be read, the state file is damaged or of another device, or a new drive has too
    /// many bad blocks.
    pub fn new(config: &Config, state: Option<&Path>) -> Result<Self, Error> {
        Self::with_policies(config, state, &NoSupplier)
    }

    /// Creates a simulation as [`new`](Self::new) does, with policies that this crate does not have.
    ///
    /// # Errors
    /// As there, and if the supplier has not got a policy that the configuration names.
    pub fn with_policies(
        config: &Config,
        state: Option<&Path>,
        supplier: &dyn ArraySupplier,
    ) -> Result<Self, Error> {
        // The workload first: a missing trace should not cost a preconditioning.
        let config = config.resolve();
        let host = Host::new(&config)?;
        let mut devices = match state {
            Some(path) => state::load(&config, path)?,
            None => Preparation::new(&config),
        };
        devices.supply(&config, supplier).map_err(input_error)?;
        check_writable(&devices)?;
        let mut simulation = Self::of(config, devices, host)?;
        let coordinator = supply::coordinator(&simulation.config, supplier);
        simulation.coordinator = coordinator.map_err(input_error)?;
        Ok(simulation)
    }

    /// A run of the checked configuration `config` on devices that were prepared for it.
    ///
    /// # Errors
    /// If the trace cannot be read.
    pub fn on(config: &Resolved, devices: Preparation) -> Result<Self, Error> {
        Self::of(config.clone(), devices, Host::new(config)?)
    }

    fn of(config: Resolved, mut devices: Preparation, host: Host) -> Result<Self, Error> {
        if let Some(future) = foresight::of_workload(&config)? {
            devices.foresee(future);
        }
        let preparation = Some(Outlined::new(Waiting { devices, host }));
        Ok(Self {
            config,
            preparation,
            run: None,
            coordinator: None,
            identity: None,
            is_behind: false,
            executor: None,
        })
    }

    /// Goes on with the run of `config` that [`write_checkpoint`](Self::write_checkpoint) has written to `path`. Says
    /// how far that had come.
    ///
    /// # Errors
    /// If the file can't be read or is damaged; if it is of another configuration, of another version of this
    /// program, or of a run with another trace; as [`keep`](Self::keep).
    pub fn resume(config: &Config, path: &Path) -> Result<(Self, Found), Error> {
        Self::resume_with_policies(config, path, &NoSupplier)
    }

    /// Resumes a run as [`resume`](Self::resume) does, with policies that this crate does not have.
    ///
    /// # Errors
    /// As there, and if the supplier has not got one that the configuration names.
    pub fn resume_with_policies(
        config: &Config,
        path: &Path,
        supplier: &dyn ArraySupplier,
    ) -> Result<(Self, Found), Error> {
        let config = config.resolve();
        let identity = Identity::of(&config)?;
        let ((preparation, run), found) = resume::read(path, &config, &identity, |from| {
            Ok(match bool::load(from)? {
                true => (None, Some(Checkpointed::load(from)?)),
                false => (Some(Checkpointed::load(from)?), None),
            })
        })?;
        let identity = Some(identity);
        let (executor, is_behind) = (None, true);
        let coordinator = None;
        let mut resumed =
            Self { config, preparation, run, coordinator, executor, identity, is_behind };
        resumed.supply_again(supplier).map_err(input_error)?;
        Ok((resumed, found))
    }

    /// Takes the policies from outside that a checkpoint tells of.
    fn supply_again(&mut self, supplier: &dyn ArraySupplier) -> Result<(), Failed> {
        if let Some(waiting) = &mut self.preparation {
            waiting.devices.supply(&self.config, supplier)?;
        }
        let coordinator = supply::coordinator(&self.config, supplier)?;
        match (&mut self.run, coordinator) {
            (Some(run), Some(coordinator)) => run.supply_coordinator(coordinator)?,
            (_, coordinator) => self.coordinator = coordinator,
        }
        match &mut self.run {
            Some(run) => run.supply_again(&self.config, supplier),
            None => Ok(()),
        }
    }

    /// Gets ready to be kept in checkpoints.
    ///
    /// # Errors
    /// If a trace can't be read again.
    pub fn keep(&mut self) -> Result<(), Error> {
        self.identity = Some(Identity::of(&self.config)?);
        Ok(())
    }

    /// Writes the run, as it stands, to a file that [`resume`](Self::resume) goes on from, and a note for the caller.
    /// The file is whole or untouched.
    ///
    /// # Errors
    /// If it can't be written; as [`keep`](Self::keep), unless that was called.
    pub fn write_checkpoint(&self, path: &Path, note: &str) -> Result<(), Error> {
        let identity = match &self.identity {
            Some(identity) => identity.clone(),
            None => Identity::of(&self.config)?,
        };
        resume::write(path, &identity, Found::new(&self.progress(), note), |out| {
            self.run.is_some().keep(out);
            if let Some(run) = &self.run {
                run.keep(out);
            } else if let Some(waiting) = &self.preparation {
                waiting.keep(out);
            }
        })
    }

    /// Works on as many devices at a time as `executor` does jobs: while they are prepared, and in the run where
    /// they have nothing to do with each other. That changes no result. To be called before the first advance.
    pub fn work_on(&mut self, executor: Arc<dyn Executor>) {
        if let Some(waiting) = &mut self.preparation {
            waiting.devices.prepare_on(executor.clone());
        }
        if let Some(run) = &mut self.run {
            run.go_ahead_on(&self.config, executor.clone());
        }
        self.executor = Some(executor);
    }

    /// Works for a while: `budget` preconditioning writes, or instants of the run; before that, if it was resumed, as many
    /// requests that are read again.
    ///
    /// # Errors
    /// If the trace turns out to be malformed, a policy from outside has failed, a drive becomes read-only
    /// while it is prepared, or an audited invariant breaks; of an audited run, if its summary holds a number that cannot be.
    pub fn advance(&mut self, budget: u64) -> Result<Status, Error> {
        if self.is_behind {
            self.is_behind = self.catch_up(budget)?;
            return Ok(Status::Running);
        }
        if let Some(run) = &mut self.run {
            let status = run.advance(budget);
            let failed = run.policy_failed();
            let status = failed.map_or(status, |failed| Err(input_error(failed)))?;
            if self.config.audit && status == Status::Done {
                sanity::check(&run.summary(&self.config).to_json()).map_err(Error::Internal)?;
            }
            return Ok(status);
        }
        if let Some(waiting) =
            self.preparation.as_mut().filter(|waiting| !waiting.devices.is_done())
        {
            waiting.devices.advance(budget);
            check_policies(&waiting.devices)?;
            check_writable(&waiting.devices)?;
        } else if let Some(ready) = self.preparation.take() {
            let Waiting { devices, host } = ready.into_inner();
            let coordinator = self.coordinator.take();
            let mut run = Run::new(&self.config, devices.into_devices(), coordinator, host)?;
            if let Some(executor) = &self.executor {
                run.go_ahead_on(&self.config, executor.clone());
            }
            self.run = Some(Outlined::new(run));
        }
        Ok(Status::Running)
    }

    /// Whether the devices are prepared and the run has not begun: after a call of [`advance`](Self::advance) that ends with
    /// the preparation.
    pub fn is_prepared(&self) -> bool {
        self.preparation.as_ref().is_some_and(|waiting| waiting.devices.is_done())
    }

    /// Saves the devices, which [are prepared](Self::is_prepared), for other runs to start from.
    ///
    /// # Errors
    /// As [`state::save`].
    pub fn save_prepared(&self, path: &Path) -> Result<(), Error> {
        match &self.preparation {
            Some(waiting) if waiting.devices.is_done() => {
                state::save(&self.config, &waiting.devices, path)
            }
            _ => Err(Error::Internal("devices are saved that are not prepared".to_owned())),
        }
    }

    /// Reads up to `budget` requests again. Returns whether there are more.
    fn catch_up(&mut self, budget: u64) -> Result<bool, Error> {
        match (&mut self.run, &mut self.preparation) {
            (Some(run), _) => run.catch_up(budget),
            (None, Some(waiting)) => Ok(waiting.host.catch_up(budget)?),
            (None, None) => Ok(false),
        }
    }

    /// Progress of the simulation.
    pub fn progress(&self) -> Progress {
        if let Some(run) = &self.run {
            return run.progress();
        }
        let devices = self.preparation.as_ref().map(|preparation| &preparation.devices);
        Progress {
            phase: Phase::Precondition,
            fraction: devices.map_or(1.0, Preparation::fraction),
            simulated: Instant::START,
            requests: 0,
            page_operations: devices.map_or(0, Preparation::pages_written),
        }
    }

    /// Tells from now on what audited drives choose. To be called before the first advance.
    #[doc(hidden)]
    pub fn tell_choices(&mut self) {
        if let Some(waiting) = &mut self.preparation {
            waiting.devices.tell_choices();
        }
    }

    /// Takes what each drive has chosen since the last call, if that is told.
    #[doc(hidden)]
    pub fn take_told(&mut self) -> Vec<Vec<Told>> {
        if let Some(run) = &mut self.run {
            return run.take_told();
        }
        self.preparation.as_mut().map(|waiting| waiting.devices.take_told()).unwrap_or_default()
    }

    /// Whether there are several drives.
    pub fn is_array(&self) -> bool {
        self.config.array.devices > 1
    }

    /// The rows of the requests completed since the last call, if they are kept.
    pub fn take_requests(&mut self) -> RequestColumns {
        self.run.as_mut().map(|run| run.recorder.take_requests()).unwrap_or_default()
    }

    /// When each drive of an array collected, since the last call, if that is kept.
    pub fn take_collections(&mut self) -> CollectionColumns {
        let devices = self.run.as_mut().and_then(|run| run.recorder.devices.as_mut());
        devices.map(|devices| devices.overlap.take_intervals()).unwrap_or_default()
    }

    /// The commands that the controller sent to the drives of an array and that have ended since the
    /// last call, if they are kept.
    pub fn take_commands(&mut self) -> CommandColumns {
        let devices = self.run.as_mut().and_then(|run| run.recorder.devices.as_mut());
        devices.map(Devices::take_commands).unwrap_or_default()
    }

    /// Takes the messages between the controller of an array and its drives since the last call, if they are
    /// kept.
    pub fn take_messages(&mut self) -> Vec<SentMessage> {
        self.run.as_mut().map(|run| run.take_messages()).unwrap_or_default()
    }

    /// The lines of the log of histograms since the last call, if one is kept.
    pub fn take_latency_log(&mut self) -> Vec<u8> {
        let log = self.run.as_mut().and_then(|run| run.recorder.latency_log.as_mut());
        log.map(|log| log.take()).unwrap_or_default()
    }

    /// The text of the timeline since the last call, if one is written: as a whole a document in the
    /// Chrome trace event format. While much of it waits to be taken, [`advance`](Self::advance) gets
    /// no further than one instant a call.
    pub fn take_timeline(&mut self) -> Vec<u8> {
        let watch = self.run.as_mut().and_then(|run| run.recorder.watch.as_mut());
        watch.and_then(|watch| watch.timeline.as_mut()).map(Timeline::take).unwrap_or_default()
    }

    /// The slowest requests, the slowest first, as in `slowest.json`; `None` unless they are kept.
    pub fn slowest(&self) -> Option<Value> {
        let watch = self.run.as_ref().and_then(|run| run.recorder.watch.as_ref());
        watch.and_then(|watch| watch.slowest.as_ref()).map(Slowest::to_json)
    }

    /// Activity of each die over time, once the run has ended.
    pub fn dies(&self) -> DieColumns {
        self.run.as_ref().map(|run| run.die_columns()).unwrap_or_default()
    }

    /// The time series so far.
    pub fn series(&self) -> SeriesColumns {
        self.run.as_ref().map(|run| run.recorder.series.columns()).unwrap_or_default()
    }

    /// Completions of each flow over time so far; empty unless there are several.
    pub fn flow_series(&self) -> FlowColumns {
        self.run.as_ref().map(|run| run.recorder.series.flow_columns()).unwrap_or_default()
    }

    /// The distributions of response times so far, by class; those that the trace holds, if it
    /// holds any, and what exceeds the bound of the configuration, if it has one, are classes of their
    /// own. Of several flows each has all of these too, under names that begin with `flow_0_`, `flow_1_` ...
    pub fn distributions(&self) -> Vec<(String, Distribution)> {
        let Some(run) = &self.run else { return Vec::new() };
        let whole = distributions("", &run.recorder.whole);
        let flows = run.recorder.flows.iter().enumerate();
        let of_flows =
            flows.flat_map(|(flow, ledger)| distributions(&format!("flow_{flow}_"), ledger));
        whole.into_iter().chain(of_flows).collect()
    }

    /// The summary of the run; those of `simulator` that tell of the machine are for the caller to add.
    /// `None` until the run starts.
    pub fn summary(&self) -> Option<Summary> {
        self.run.as_ref().map(|run| run.summary(&self.config))
    }
}

/// Refuses drives that can't be run as they take no writes any more, before or after their preparation, those
/// that have lost their victims, and those whose workload can't be read.
///
/// # Errors
/// Names the first one.
pub fn check_writable(devices: &Preparation) -> Result<(), Error> {
    if let Some(fault) = devices.fault() {
        return Err(fault.clone().into());
    }
    let problem = devices.read_only().or_else(|| devices.out_of_victims());
    problem.map_or(Ok(()), |problem| Err(Error::Input(problem)))
}

/// Refuses to go on with policies from outside that have failed.
///
/// # Errors
/// Says why the first one has.
pub fn check_policies(devices: &Preparation) -> Result<(), Error> {
    devices.policy_failed().map_or(Ok(()), |failed| Err(input_error(failed)))
}

/// A policy from outside that has failed is the user's to mend.
pub fn input_error(failed: Failed) -> Error {
    Error::Input(failed.0)
}

/// The distribution of each class of what was recorded of some requests.
fn distributions(prefix: &str, of: &Ledger) -> Vec<(String, Distribution)> {
    let excess = of.excess.as_ref().map(|excess| &excess.excess);
    let recorded = [Some(&of.responses), of.measured.as_deref(), excess];
    let known = KINDS.into_iter().zip(recorded).filter_map(|(kind, of)| Some((kind, of?)));
    let named = known.flat_map(|(kind, of)| {
        let classes = of.classes().into_iter();
        classes.map(move |(class, of)| (format!("{prefix}{kind}{class}"), of.distribution()))
    });
    named.collect()
}
