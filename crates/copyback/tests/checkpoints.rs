//! Does a run under every scheme go on from a checkpoint as if nothing had been?

use copyback::array::coordination::supply::{ExternalCoordinator, Facts, Hooks, News};
use copyback::array::coordination::{Orders, View};
use copyback::config::{Config, Loader};
use copyback::metrics::RequestColumns;
use copyback::outside::{Device, Failed, Policy, Supply};
use copyback::placement::supply::ExternalPlacement;
use copyback::rng::Stream;
use copyback::scheduler::when::supply::{DieView, ExternalSchedule};
use copyback::scheduler::when::{Admitted, Point};
use copyback::units::Instant;
use copyback::victim::supply::ExternalVictims;
use copyback::{Simulation, Status};

/// Every schedule, as the configuration names it.
const SCHEDULES: &[&str] = &[
    "none",
    "semi_preemptive",
    "{ type = \"partial\", steps = 2 }",
    "paced",
    "{ type = \"python\", policy = \"outside\" }",
];

/// Every scheme of an array that is coordinated.
const COORDINATIONS: &[&str] = &[
    "reactive_inclusive",
    "reactive_selective",
    "proactive_idle",
    "proactive_soft_limit",
    "{ type = \"staggered\", window = \"5ms\" }",
    "{ type = \"staggered\", window = \"5ms\", guard = \"2ms\" }",
    "{ type = \"python\", policy = \"outside\" }",
];

/// Events before the checkpoint.
const BEFORE: u64 = 20_000;

/// Small drives that collect, and these keys changed.
fn config(settings: &[(&str, &str)]) -> Config {
    let small = [
        ("audit", "true"),
        ("metrics.requests", "true"),
        ("ssd.geometry.channels", "1"),
        ("ssd.geometry.blocks_per_plane", "32"),
        ("ssd.geometry.pages_per_block", "16"),
        ("ssd.ftl.over_provisioning", "0.25"),
        ("workload.requests", "6000"),
        ("workload.read_share", "0.5"),
        ("workload.inter_arrival", "{ type = \"exponential\", mean = \"400us\" }"),
    ];
    let loader = small
        .iter()
        .chain(settings)
        .fold(Loader::new(), |loader, (key, value)| loader.set(key, value));
    loader.load().unwrap_or_else(|faults| panic!("{settings:?}: {faults}"))
}

/// What the requests are that end when a run has come that far, with a checkpoint there or without one.
fn rest(config: &Config, is_interrupted: bool) -> RequestColumns {
    let mut simulation = Simulation::with_policies(config, None, &Outside).unwrap();
    assert_eq!(simulation.advance(BEFORE).unwrap(), Status::Running, "it is over too soon");
    simulation.take_requests();
    if is_interrupted {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.checkpoint");
        simulation.write_checkpoint(&path, "").unwrap();
        simulation = Simulation::resume_with_policies(config, &path, &Outside).unwrap().0;
    }
    while simulation.advance(100_000).unwrap() == Status::Running {}
    let summary = simulation.summary().expect("it has run");
    assert!(summary.drives.gc.collections > 0, "nothing was collected");
    simulation.take_requests()
}

fn goes_on(settings: &[(&str, &str)]) {
    let config = config(settings);
    assert_eq!(rest(&config, true), rest(&config, false), "{settings:?}");
}

#[test]
fn every_schedule_goes_on_from_a_checkpoint() {
    for schedule in SCHEDULES {
        goes_on(&[("ssd.gc.preemption", schedule)]);
    }
}

#[test]
fn every_coordination_goes_on_from_a_checkpoint() {
    for coordination in COORDINATIONS {
        goes_on(&[
            ("array.layout", "raid0"),
            ("array.devices", "3"),
            ("array.coordination", coordination),
        ]);
    }
}

#[test]
fn reads_around_collections_go_on() {
    for around in [
        "true",
        "windows",
        "{ type = \"fail_fast\", round_trip = \"40us\", several = \"random\" }",
        "{ type = \"fail_fast\", round_trip = \"40us\", several = \"longest_busy\" }",
    ] {
        goes_on(&[
            ("array.layout", "raid5"),
            ("array.devices", "4"),
            ("array.coordination", "{ type = \"staggered\", window = \"5ms\" }"),
            ("array.reads_around_gc", around),
        ]);
    }
}

/// Policies from outside: reads go first, and every drive that runs short is told nothing.
struct Outside;

#[derive(Debug)]
struct ReadsFirst;

impl Policy for ReadsFirst {
    fn memory(&self) -> Result<Vec<u8>, Failed> {
        Ok(Vec::new())
    }

    fn remember(&mut self, _: &[u8]) -> Result<(), Failed> {
        Ok(())
    }
}

impl ExternalSchedule for ReadsFirst {
    fn plane_to_collect(&mut self, _: copyback::ids::DieId, _: u32) -> Result<Option<u32>, Failed> {
        Ok(None)
    }

    fn admitted(&mut self, view: &DieView) -> Result<Admitted, Failed> {
        let reads = view.point == Point::BetweenMoves && !view.situation.below_hard;
        Ok(Admitted { reads, writes: false })
    }
}

#[derive(Debug)]
struct Silent;

impl Policy for Silent {
    fn memory(&self) -> Result<Vec<u8>, Failed> {
        Ok(Vec::new())
    }

    fn remember(&mut self, _: &[u8]) -> Result<(), Failed> {
        Ok(())
    }
}

impl ExternalCoordinator for Silent {
    fn hooks(&self) -> Hooks {
        Hooks { became_busy: false, became_quiet: false, sent: false, instant_ends: false }
    }

    fn notify(&mut self, _: News, _: &View, _: &mut Orders) -> Result<(), Failed> {
        Ok(())
    }

    fn wake_at(&mut self) -> Result<Option<Instant>, Failed> {
        Ok(None)
    }
}

impl Supply<dyn ExternalVictims> for Outside {}

impl Supply<dyn ExternalPlacement> for Outside {}

impl Supply<dyn ExternalSchedule> for Outside {
    fn supply(&self, _: Device, _: Stream) -> Result<Box<dyn ExternalSchedule>, Failed> {
        Ok(Box::new(ReadsFirst))
    }
}

impl Supply<dyn ExternalCoordinator> for Outside {
    fn supply(&self, _: &Facts, _: Stream) -> Result<Box<dyn ExternalCoordinator>, Failed> {
        Ok(Box::new(Silent))
    }
}
