//! Whole runs from bytes, for a fuzzer: they choose a configuration and a workload, which are run with every invariant
//! audited, and checked.

use std::fs;
use std::path::Path;

use rand::Rng;

use copyback::rng::stream;

use crate::check::{check, check_array, equal};
use crate::draw::{Case, Kind};
use crate::features::FEATURES;
use crate::pool::Failure;
use crate::run::{self, Outcome};
use crate::{array, faults, power, rain};

/// Bytes that choose the kind of case, and the number that all else follows from which the rest don't choose.
const HEAD: usize = 9;
/// Bytes of which all choices of nearly every case can be made.
const CHOICES: usize = 800;

/// What there was in a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ran {
    pub collections: u64,
    pub host_pages: u64,
    /// How many of the [features](FEATURES) acted.
    pub features: usize,
}

impl Ran {
    /// Whether enough was going on for the run to say something.
    pub const fn counts(&self) -> bool {
        self.collections >= 1 && self.host_pages >= 1_000 && self.features >= 2
    }
}

/// Random bytes.
pub fn bytes(number: u64) -> Vec<u8> {
    let mut bytes = vec![0; HEAD + CHOICES];
    stream(number, "swarm/bytes").fill_bytes(&mut bytes);
    bytes
}

/// What the fuzzer has found worth keeping.
pub fn saved() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/whole");
    let files = fs::read_dir(folder).expect("the target has a corpus");
    files.map(|file| fs::read(file.expect("a file").path()).expect("it can be read")).collect()
}

fn case(bytes: &[u8]) -> (Kind, Case) {
    let mut head = [0; HEAD];
    let given = bytes.len().min(HEAD);
    head[..given].copy_from_slice(&bytes[..given]);
    let [kind, number @ ..] = head;
    let kind = Kind::ALL[usize::from(kind) % Kind::ALL.len()];
    (kind, Case::made(u64::from_le_bytes(number), kind, &bytes[given..]))
}

/// Runs what `bytes` choose, and checks it.
pub fn examine(bytes: &[u8]) -> Result<Ran, String> {
    let (kind, case) = case(bytes);
    case.write_traces();
    let outcome = match run::run(&case.config, None, 1 << 20) {
        Ok(outcome) => outcome,
        Err(problem) if is_refused_on_the_way(&problem) => return Ok(Ran::default()),
        Err(problem) => return Err(problem),
    };
    match kind {
        Kind::Drive => check(&case, &outcome)?,
        Kind::Lines => {
            check(&case, &outcome)?;
            rain::reads_of_stripes(&case.config, &outcome)?;
        }
        Kind::Array => {
            check_array(&case, &outcome)?;
            array::check(&case.config, &outcome)?;
        }
        Kind::Cuts => {
            check_array(&case, &outcome)?;
            equal("durable pages lost", &power::count(&outcome, "durable_pages_lost"), &0)?;
        }
        Kind::Faults => faults::check(&case, &outcome)?,
    }
    Ok(ran(&case, &outcome))
}

/// Whether a run can rightly not be finished: too few blocks are good, its series has too many rows, or it takes too long.
fn is_refused_on_the_way(problem: &str) -> bool {
    faults::is_dead_before_the_run(problem)
        || problem.starts_with(run::TOO_LONG)
        || problem.starts_with("metrics.interval: gives more rows than are kept")
}

fn ran(case: &Case, outcome: &Outcome) -> Ran {
    let page = case.config.ssd.geometry.page_size.0;
    let pages = |bytes: &u64| bytes.div_ceil(page);
    Ran {
        collections: outcome.number("/gc/collections"),
        host_pages: outcome.requests.bytes.iter().map(pages).sum(),
        features: FEATURES.iter().filter(|(.., has)| has(&case.config, outcome)).count(),
    }
}

/// What a human needs to look into a failure.
pub fn failure(bytes: &[u8], problem: String) -> Failure {
    let description = format!("{problem}\n{}", case(bytes).1.config.to_toml());
    Failure { problem, description }
}
