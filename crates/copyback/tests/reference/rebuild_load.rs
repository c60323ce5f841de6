//! Reads beside a rebuild against queueing theory: the drive that is copied has one die that takes 50 us, and nothing
//! else takes any time.

use super::support::{config, number, one_die, run};

const READ_US: f64 = 50.0;
/// Pages that a step copies, and the time from one step to the next.
const STEP: (f64, f64) = (2.0, 2_000.0);
/// How long reads come, in us: less than the rebuild takes.
const LASTS_US: f64 = 20e6;

/// Mean response of Poisson reads, in us, that keep the copied drive of RAID-1 busy for the share `load`, and whether the
/// rebuild lasted as long as they did.
fn response(load: f64) -> (f64, bool) {
    let gap = READ_US * 1_000.0 / load;
    let requests = LASTS_US * load / READ_US;
    let simulation = run(&config(&format!(
        r#"
        seed = 3
        [array]
        layout = "raid1"
        devices = 2
        mirror_reads = "first"
        failed = [1]
        rebuild = {{ type = "rate", rate = "4096000B/s", unit = "8KiB" }}
        queue_depth = 65536
        {drive}
        "#,
        drive = one_die(2048, requests as u64, gap),
    )));
    let summary = simulation.summary().expect("it has run").to_json();
    let is_rebuilding = number(&summary, "/array/drives_missing") == 1.0;
    (number(&summary, "/response_us/all/mean"), is_rebuilding)
}

/// Mean response of the first of two classes in a queue with one server (M/G/1, after Pollaczek and Khinchine): the wait is
/// that of all work, and the rebuild's pages come in steps.
fn two_classes(load: f64) -> f64 {
    let (pages, every) = STEP;
    let step = pages * READ_US;
    let rebuild = step / every;
    // Rates times the second moments of what a read and a step bring.
    let moments = load / READ_US * READ_US.powi(2) + step.powi(2) / every;
    READ_US + moments / (2.0 * (1.0 - load - rebuild))
}

#[test]
fn reads_beside_a_rebuild_are_the_first_class_of_two() {
    for load in [0.2, 0.5, 0.7] {
        let (found, is_rebuilding) = response(load);
        let expected = two_classes(load);
        println!("load {load}: {found} us, two classes {expected}");
        assert!(is_rebuilding, "the rebuild ended before the reads");
        assert!((found / expected - 1.0).abs() < 0.05, "{found}, not {expected}");
    }
}
