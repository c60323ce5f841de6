//! Runs a configuration as far as it promises to be short, and judges what comes of it.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use copyback::config::{Config, Loader};
use copyback::{Error, Simulation, Status};
use tempfile::NamedTempFile;

use crate::keys::Setting;

/// A drive of 96 blocks in two planes, and a few requests.
pub const BASE: &str = "
    audit = true
    [ssd.geometry]
    channels = 2
    chips_per_channel = 1
    dies_per_chip = 1
    planes_per_die = 2
    blocks_per_plane = 24
    pages_per_block = 8
    [ssd.ftl]
    over_provisioning = 0.5
    [ssd.gc]
    soft_threshold = { blocks = 4 }
    hard_threshold = { blocks = 1 }
    [workload]
    type = 'synthetic'
    requests = 50
    request_size = '4KiB'
    inter_arrival = '1ms'
    [precondition]
    fill = 0.9
    overwrites = 1
";

/// A trace of three requests, 100 us apart.
const TRACE: &str = "\
128166372000000000,hm,0,Write,0,4096,10
128166372000001000,hm,0,Read,8192,4096,10
128166372000002000,hm,0,Write,12288,8192,10
";

/// Steps of work and bytes of memory up to which a run is carried out to its end.
const SHORT: f64 = 300_000.0;
const SMALL: f64 = 3e8;
/// Of a longer one so many are begun.
const STRETCH: u64 = 2_000;
/// Instants that a step of work may take: collections copy many pages for one of the host.
const INSTANTS_A_STEP: u64 = 400;

/// What came of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is refused, before the run or in it.
    Refused,
    /// It says itself that it would take long, or much memory.
    Announced,
    /// It has run to its end.
    Result,
}

/// Judges configurations.
pub struct Judge {
    trace: NamedTempFile,
}

impl Judge {
    /// With a trace of its own.
    pub fn new() -> Self {
        let trace = NamedTempFile::new().expect("there is room for files");
        fs::write(&trace, TRACE).expect("the file is ours");
        Self { trace }
    }

    /// Where the trace is.
    pub fn trace(&self) -> &Path {
        self.trace.path()
    }

    /// What comes of these settings; if that is neither a result nor a refusal, what it is, and the settings.
    pub fn of(&self, settings: &[Vec<Setting>]) -> Result<Verdict, String> {
        let settings = settings.concat();
        let judged = catch_unwind(AssertUnwindSafe(|| self.try_settings(&settings)));
        judged.map_err(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
            let set = settings.iter().map(|(key, value)| format!("--set '{key}={value}'"));
            let set = set.collect::<Vec<_>>().join(" ");
            format!("{}\n    {set}", text.unwrap_or_default())
        })
    }

    fn try_settings(&self, settings: &[Setting]) -> Verdict {
        let trace = format!("{:?}", self.trace.path());
        let value = |value: &str| if value == "TRACE" { trace.clone() } else { value.to_owned() };
        let base = Loader::new().toml(BASE, "base.toml", None);
        let set = |loader: Loader, (key, text): &Setting| loader.set(key, &value(text));
        match settings.iter().fold(base, set).load() {
            Ok(config) => run(&config),
            Err(faults) => {
                assert_clear(&faults.to_string());
                Verdict::Refused
            }
        }
    }
}

fn run(config: &Config) -> Verdict {
    let estimate = config.resolve().estimate();
    if estimate.memory > SMALL {
        return Verdict::Announced;
    }
    let mut simulation = match Simulation::new(config, None) {
        Ok(simulation) => simulation,
        Err(error) => return refused(&error),
    };
    let is_short = estimate.steps() <= SHORT;
    let budget = if is_short { (estimate.steps() as u64 + 100) * INSTANTS_A_STEP } else { STRETCH };
    let mut spent = 0;
    while spent < budget {
        match simulation.advance(1_000) {
            Ok(Status::Done) => {
                simulation.summary();
                return Verdict::Result;
            }
            Ok(Status::Running) => spent += 1_000,
            Err(error) => return refused(&error),
        }
    }
    assert!(!is_short, "after {spent} instants no end of what was estimated at {estimate:?}");
    Verdict::Announced
}

fn refused(error: &Error) -> Verdict {
    match error {
        Error::Input(text) => assert_clear(text),
        Error::Internal(problem) | Error::Machine(problem) => panic!("{problem}"),
    }
    Verdict::Refused
}

fn assert_clear(text: &str) {
    assert!(!text.is_empty(), "a refusal without a fault");
    for line in text.lines() {
        assert!(line.chars().count() < 1000 && !line.contains(char::is_control), "{line:?}");
        let says_what_to_do =
            ["allowed", "expected", "choose", "is missing"].iter().any(|word| line.contains(word));
        assert!(says_what_to_do, "{line}");
    }
}
