//! What does a controller that sleeps, or takes its time, add to the response of a request?

use copyback::config::Loader;
use copyback::{Simulation, Status};
use serde_json::Value;

/// One die; reads take 100 us and writes 300 us. Requests of a page, one every 10 ms.
const DRIVE: &str = r#"
audit = true
[ssd.geometry]
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 64
pages_per_block = 16
page_size = "4KiB"
[ssd.timing]
read = "100us"
program = "300us"
transfer_rate = "none"
[ssd.ftl]
over_provisioning = 0.5
[workload]
type = "synthetic"
requests = 400
request_size = "4KiB"
read_share = 0.0
inter_arrival = "10ms"
[precondition]
fill = 1.0
"#;

const SLEEPS: &str = r#"{ type = "sleeps", after = "10ms", time = "7us" }"#;

fn run(settings: &[(&str, &str)]) -> Value {
    let loader = Loader::new().toml(DRIVE, "drive.toml", None);
    let set = |loader: Loader, (key, value): &(&str, &str)| loader.set(key, value);
    let config =
        settings.iter().fold(loader, set).load().unwrap_or_else(|faults| panic!("{faults}"));
    let mut simulation = Simulation::new(&config, None).expect("nothing to read");
    while simulation.advance(1 << 20).expect("no invariant breaks") == Status::Running {}
    simulation.summary().expect("it has run").to_json()
}

fn response(summary: &Value, which: &str) -> f64 {
    let pointer = format!("/response_us/all/{which}");
    summary.pointer(&pointer).and_then(Value::as_f64).expect("there are requests")
}

/// Requests whose delay has these times, at the shares 0, 0.5 and 1.
fn delay(sizes: &[(&str, [&str; 3])]) -> String {
    let row = |(size, [least, middle, most]): &(&str, [&str; 3])| {
        format!(r#"{{ size = "{size}", times = ["{least}", "{middle}", "{most}"] }}"#)
    };
    let rows: Vec<_> = sizes.iter().map(row).collect();
    let rows = rows.join(", ");
    format!(r#"{{ type = "by_size", probabilities = [0, 0.5, 1], rows = [{rows}] }}"#)
}

#[test]
fn a_drive_that_sleeps_wakes_up_after_so_long_and_not_before() {
    // A write takes 300 us, so that a drive is idle for the rest of the time between two.
    for (gap, woken) in [("10299us", false), ("10300us", true)] {
        let settings = [("ssd.controller.wake_up", SLEEPS), ("workload.inter_arrival", gap)];
        let summary = run(&settings);
        assert_eq!(response(&summary, "max"), if woken { 307.0 } else { 300.0 }, "{gap}");
    }
}

#[test]
fn a_delay_is_that_of_the_size_and_of_writes_only() {
    let fixed = delay(&[("4KiB", ["40us"; 3]), ("16KiB", ["160us"; 3])]);
    for (size, read_share, us) in
        [("4KiB", "0.0", 340.0), ("4KiB", "1.0", 100.0), ("8KiB", "0.0", 680.0)]
    {
        let settings = [
            ("ssd.controller.write_delay", fixed.as_str()),
            ("workload.request_size", size),
            ("workload.read_share", read_share),
        ];
        assert_eq!(response(&run(&settings), "max"), us, "{size}, {read_share}");
    }
}

#[test]
fn drawn_delays_have_the_quantiles_that_are_configured_and_follow_from_the_seed() {
    let drawn = delay(&[("4KiB", ["0us", "100us", "1100us"])]);
    let of_seed = |seed| run(&[("ssd.controller.write_delay", drawn.as_str()), ("seed", seed)]);
    let (one, other) = (of_seed("1"), of_seed("2"));
    assert_eq!(response(&one, "mean"), response(&of_seed("1"), "mean"));
    assert_ne!(response(&one, "mean"), response(&other, "mean"));
    for summary in [one, other] {
        // Of 400 draws: half of them below 100 us, a mean of (50 + 600) / 2 us; four standard errors.
        let (median, mean) = (response(&summary, "p50"), response(&summary, "mean"));
        assert!((360.0..600.0).contains(&median), "{median}");
        assert!((mean - 625.0).abs() < 80.0, "{mean}");
        assert!(response(&summary, "max") < 1400.0);
    }
}

#[test]
fn delays_that_make_no_sense_are_told() {
    let told = |value: &str| {
        let loader = Loader::new().toml(DRIVE, "drive.toml", None);
        loader.set("ssd.controller.write_delay", value).load().unwrap_err().to_string()
    };
    let shares = delay(&[("4KiB", ["0us"; 3])]).replace("0, 0.5, 1]", "0, 0.5, 0.9]");
    assert!(told(&shares).contains("probabilities: found others; allowed: from 0 to 1"));
    let sizes = delay(&[("8KiB", ["0us"; 3]), ("4KiB", ["0us"; 3])]);
    assert!(told(&sizes).contains("rows: found sizes out of order"));
    let times = delay(&[("8KiB", ["2us", "1us", "3us"])]);
    assert!(told(&times).contains("rows.0.times: found 3, or some out of order; allowed: 3"));
    let hours = delay(&[("8KiB", ["1us", "2us", "2h"])]);
    assert!(told(&hours).contains("rows.0.times.2: found 2h; allowed: at most 1min"));
}
