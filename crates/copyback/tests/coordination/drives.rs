//! Random drives, requests, schemes and latencies: nothing is lost, nobody waits for ever, and the
//! protocol never talks in circles.

use copyback::collector::permit::{Asked, Until};
use copyback::config::{Config, Loader};
use copyback::rng::{Stream, stream};
use copyback::units::Instant;
use rand::RngExt;

use crate::array::{Array, Operation, Request};

const CASES: u64 = 300;
const REQUESTS: usize = 300;

const SCHEMES: [&str; 8] = [
    "\"uncoordinated\"",
    "\"reactive_inclusive\"",
    "{ type = \"reactive_inclusive\", regardless = false }",
    "\"reactive_selective\"",
    "{ type = \"proactive_idle\", check = \"100us\", idle = \"1ms\" }",
    "{ type = \"proactive_soft_limit\", period = \"1ms\", quorum = 0.4 }",
    "{ type = \"proactive_soft_limit\", period = \"3ms\", quorum = 0.0, outstanding = 9 }",
    "{ type = \"staggered\", window = \"2ms\" }",
];
const VICTIMS: [&str; 6] =
    ["\"greedy\"", "\"rga\"", "\"random\"", "\"random+\"", "\"fifo\"", "\"cost_benefit\""];
const LATENCIES: [&str; 4] = ["0s", "0s", "20us", "5ms"];

fn of<'a>(random: &mut Stream, choices: &[&'a str]) -> &'a str {
    choices[random.random_range(0..choices.len())]
}

fn config(random: &mut Stream) -> Config {
    let wide = random.random_bool(0.3);
    let yields = random.random_bool(0.4);
    let semi = "{ type = \"semi_preemptive\", merge = true, reorder = true, pipeline = true }";
    let settings = [
        ("audit", "true"),
        ("array.layout", "\"jbod\""),
        ("array.devices", "3"),
        ("array.coordination", of(random, &SCHEMES)),
        ("array.protocol.latency", of(random, &LATENCIES)),
        ("array.protocol.silent", of(random, &["[]", "[]", "[1]"])),
        ("array.protocol.register_margin", "{ blocks = 1 }"),
        ("array.protocol.target_margin", of(random, &["{ blocks = 1 }", "{ blocks = 2 }"])),
        ("ssd.geometry.channels", of(random, &["1", "2"])),
        ("ssd.geometry.chips_per_channel", "1"),
        ("ssd.geometry.blocks_per_plane", "16"),
        ("ssd.geometry.pages_per_block", "4"),
        ("ssd.commands.multi_plane", if wide { "true" } else { "false" }),
        ("ssd.commands.suspend", of(random, &["\"none\"", "\"program_erase\""])),
        ("ssd.ftl.over_provisioning", of(random, &["0.5", "0.6"])),
        ("ssd.ftl.allocation", of(random, &["\"CWDP\"", "\"PCWD\"", "\"dynamic\""])),
        ("ssd.ftl.placement", of(random, &["\"one_class\"", "\"host_and_gc_apart\""])),
        ("ssd.gc.soft_threshold", "{ blocks = 2 }"),
        ("ssd.gc.victim", of(random, &VICTIMS)),
        ("ssd.gc.preemption", if yields { semi } else { "\"none\"" }),
        (
            "ssd.gc.width",
            if wide { of(random, &["\"blind\"", "\"threshold\""]) } else { "\"serial\"" },
        ),
        ("ssd.gc.copyback", of(random, &["true", "false"])),
        ("ssd.gc.zero_cost", of(random, &["false", "false", "false", "true"])),
        ("ssd.wear.static_threshold", of(random, &["0", "3"])),
    ];
    let loader = settings.iter().fold(Loader::new(), |loader, (key, value)| loader.set(key, value));
    loader.load().unwrap_or_else(|faults| panic!("{faults}"))
}

fn requests(random: &mut Stream, config: &Config) -> Vec<Request> {
    let pages = config.resolve().drive.capacity.logical_pages as u32;
    let hot = (pages / 4).max(1);
    let mut ns = 0;
    let mut request = || {
        let long = random.random_bool(0.02);
        ns += random.random_range(0..if long { 20_000_000 } else { 300_000 });
        let operation = match random.random_range(0..20) {
            0..4 => Operation::Read,
            4 => Operation::Trim,
            5 => Operation::WritePart,
            _ => Operation::Write,
        };
        let below = if random.random_bool(0.7) { hot } else { pages };
        let lpn = random.random_range(0..below);
        Request { at: Instant::from_ns(ns), device: random.random_range(0..3), lpn, operation }
    };
    (0..REQUESTS).map(|_| request()).collect()
}

fn replayed() -> Option<u64> {
    std::env::var("COPYBACK_COORDINATION_REPLAY").ok().and_then(|text| text.parse().ok())
}

/// Whoever fails is named by its number.
fn each(name: &str, mut examine: impl FnMut(&mut Stream)) {
    for number in replayed().map_or(0..CASES, |number| number..number + 1) {
        let run = || examine(&mut stream(number, name));
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err() {
            panic!("{name}: COPYBACK_COORDINATION_REPLAY={number} replays it");
        }
    }
}

#[test]
fn random_arrays_lose_nothing_and_end() {
    let (mut forced, mut idle, mut orders) = ([0; 3], 0, 0);
    each("arrays", |random| {
        let config = config(random);
        let requests = requests(random, &config);
        let mut array = Array::new(&config, requests.clone());
        assert_eq!(array.run(|_| ()), REQUESTS);
        let mut again = Array::new(&config, requests);
        again.run(|_| ());
        assert_eq!(array.log, again.log);
        for (device, forced) in forced.iter_mut().enumerate() {
            let counters = array.ssd(device).counters();
            *forced += counters.forced;
            idle += counters.idle;
            let speaks = !config.array.protocol.silent.contains(&(device as u32));
            assert!(speaks || counters.forced + counters.idle == 0, "a silent drive obeys");
        }
        orders += array.log.len();
    });
    let met = forced.iter().all(|forced| *forced > 1000) && idle > 100;
    assert!(
        met || replayed().is_some(),
        "{forced:?} blocks forced, {idle} in idle time, {orders} orders"
    );
}

#[test]
fn drives_that_are_asked_and_stopped_at_random_lose_nothing_and_end() {
    each("pests", |random| {
        let config = config(random);
        let mut array = Array::new(&config, requests(random, &config));
        let mut left = 400;
        let ended = array.run(|array| {
            if left == 0 || !random.random_bool(0.2) {
                return;
            }
            left -= 1;
            let until = match random.random_bool(0.5) {
                true => Until::Target(random.random_range(0..9)),
                false => Until::ReserveFull,
            };
            let asked = Asked { regardless: random.random_bool(0.3), ..Asked::until(until) };
            let asked = random.random_bool(0.7).then_some(asked);
            array.interfere(random.random_range(0..3), asked);
        });
        assert_eq!(ended, REQUESTS);
    });
}

/// Three drives of one die that are written to without a break.
fn written(coordination: &str, changes: &[(&str, &str)]) -> Array {
    let base = [
        ("audit", "true"),
        ("array.layout", "\"jbod\""),
        ("array.devices", "3"),
        ("array.coordination", coordination),
        ("array.protocol.register_margin", "{ blocks = 3 }"),
        ("array.protocol.target_margin", "{ blocks = 5 }"),
        ("ssd.geometry.channels", "1"),
        ("ssd.geometry.chips_per_channel", "1"),
        ("ssd.geometry.planes_per_die", "1"),
        ("ssd.geometry.blocks_per_plane", "32"),
        ("ssd.geometry.pages_per_block", "16"),
        ("ssd.ftl.over_provisioning", "0.4"),
        ("ssd.gc.soft_threshold", "{ blocks = 3 }"),
    ];
    let loader = Loader::new();
    let loader = base.iter().chain(changes).fold(loader, |loader, (k, v)| loader.set(k, v));
    let config = loader.load().expect("a valid array");
    let mut random = stream(7, "written");
    let pages = config.resolve().drive.capacity.logical_pages as u32;
    let request = |index: u64| Request {
        at: Instant::from_ns(index * 500_000),
        device: random.random_range(0..3),
        lpn: random.random_range(0..pages),
        operation: Operation::Write,
    };
    let requests: Vec<_> = (0..6_000).map(request).collect();
    let mut array = Array::new(&config, requests);
    assert_eq!(array.run(|_| ()), 6_000);
    array
}

/// Of the time in which a drive collects, the share in which all three and just one do.
fn overlap(array: &Array) -> (f64, f64) {
    let times: Vec<f64> = array.overlap.iter().map(|time| time.as_secs_f64()).collect();
    let any: f64 = times[1..].iter().sum();
    (times[3] / any, times[1] / any)
}

#[test]
fn global_collections_coincide_and_staggered_ones_do_not() {
    let (alone_all, alone_one) = overlap(&written("\"uncoordinated\"", &[]));
    let (inclusive_all, _) = overlap(&written("\"reactive_inclusive\"", &[]));
    let (selective_all, _) = overlap(&written("\"reactive_selective\"", &[]));
    let staggered = "{ type = \"staggered\", window = \"20ms\" }";
    let (_, staggered_one) = overlap(&written(staggered, &[]));
    println!("{alone_all} {inclusive_all} {selective_all}; {alone_one} {staggered_one}");
    assert!(alone_all < 0.05);
    assert!(inclusive_all > 0.4 && selective_all > 0.5);
    assert!(staggered_one > 0.9 && staggered_one > alone_one);
}

#[test]
fn a_drive_that_fills_faster_than_its_window_comes_collects_by_itself() {
    let array = written("{ type = \"staggered\", window = \"10s\" }", &[]);
    let counters = [0, 1, 2].map(|device| array.ssd(device).counters());
    assert!(counters.iter().all(|counters| counters.collections - counters.forced > 50));
    assert!(counters[1].forced == 0, "its window has not come");
}

#[test]
fn a_silent_drive_collects_when_it_must_and_the_others_as_they_are_told() {
    let silent = [("array.protocol.silent", "[1]")];
    let array = written("\"reactive_inclusive\"", &silent);
    let counters = [0, 1, 2].map(|device| array.ssd(device).counters());
    assert!(counters[0].forced > 50 && counters[2].forced > 50);
    assert!(counters[1].forced == 0 && counters[1].collections > 50);
}

#[test]
fn a_controller_that_answers_too_late_keeps_nobody_waiting() {
    let late = [("array.protocol.latency", "400ms")];
    let array = written("\"reactive_selective\"", &late);
    let counters = [0, 1, 2].map(|device| array.ssd(device).counters());
    assert!(counters.iter().all(|counters| counters.collections > 2 * counters.forced));
}
