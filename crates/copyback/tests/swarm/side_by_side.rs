//! Drives of an array that go ahead side by side give what they give together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use copyback::Simulation;
use copyback::config::quantity::Time;
use copyback::config::{
    Array, Config, ConsistencyPolicy, Coordination, Failures, Idle, Layout, Loader, Metrics,
    ReadsAroundGc, Rebuild, Scrub, Workload,
};
use copyback::executor::{Executor, Job};

use crate::draw::Case;
use crate::run;

/// Does jobs the last one first, each on a thread of its own, and counts how often it is asked.
#[derive(Debug, Default)]
struct Backwards {
    asked: AtomicUsize,
}

impl Executor for Backwards {
    fn width(&self) -> usize {
        3
    }

    fn run(&self, jobs: Vec<Job<'_>>) {
        self.asked.fetch_add(1, Ordering::Relaxed);
        std::thread::scope(|scope| {
            for job in jobs.into_iter().rev() {
                scope.spawn(job);
            }
        });
    }
}

/// Runs the array of a case without what couples its drives. Returns whether they have gone ahead.
pub fn changes_nothing(case: &Case) -> Result<bool, String> {
    let Some(config) = uncoupled(&case.config) else { return Ok(false) };
    let first = run::run(&config, None, 1 << 20)?;
    let executor = Arc::new(Backwards::default());
    let mut simulation =
        Simulation::on(&config.resolve(), run::prepared(&config)).map_err(|e| e.to_string())?;
    simulation.work_on(executor.clone());
    let second = run::run_to_end(simulation, run::other_steps(case))?;
    run::same("the run with drives side by side", &first, &second)?;
    Ok(executor.asked.load(Ordering::Relaxed) > 0)
}

/// That array, with rows that are long enough for a drive to go ahead within one; `None` if its host waits for
/// answers.
fn uncoupled(config: &Config) -> Option<Config> {
    let (Workload::Trace(_) | Workload::Synthetic(_)) = config.workload else { return None };
    let is_open = config.workload.flows().iter().all(|flow| flow.iodepth().is_none());
    let layout = match config.array.layout {
        Layout::Jbod => Layout::Jbod,
        _ => Layout::Raid0,
    };
    let array = Array {
        layout,
        queue_depth: 4096,
        copies: None,
        arrangement: None,
        mirror_reads: None,
        failed: Vec::new(),
        failures: Failures::None,
        spares: 0,
        slow: Vec::new(),
        scrub: Scrub::None,
        consistency_policy: ConsistencyPolicy::default(),
        rebuild: Rebuild::None,
        reads_around_gc: ReadsAroundGc::Fixed(false),
        coordination: Coordination::Uncoordinated,
        ..config.array.clone()
    };
    let metrics = Metrics {
        interval: Some(Time::from_ns(1_000_000_000)),
        timeline: None,
        slowest: None,
        ..config.metrics.clone()
    };
    let mut config = Config { array, metrics, ..config.clone() };
    if config.ssd.gc.idle.entries() > 0 {
        config.ssd.gc.idle = Idle::None;
    }
    let makes_sense = Loader::new().toml(&config.to_toml(), "uncoupled.toml", None).load().is_ok();
    (is_open && makes_sense).then_some(config)
}
