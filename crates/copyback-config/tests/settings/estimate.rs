//! How long runs take, by what they are asked for.

use copyback_config::{Config, Loader};

fn config(text: &str) -> Config {
    Loader::new().toml(text, "x.toml", None).load().expect("it makes sense")
}

fn refused(text: &str) -> String {
    let faults = Loader::new().toml(text, "x.toml", None).load().expect_err("it is too much");
    faults.to_string()
}

#[test]
fn the_defaults_are_a_moment() {
    let estimate = Config::default().resolve().estimate();
    assert_eq!(estimate.requests, Some(100_000.0));
    // Of 524,288 pages 85%, as many of each plane, are filled and overwritten; 100,000 requests of 8 pages.
    assert_eq!(estimate.steps(), 2.0 * 445_632.0 + 800_000.0);
    assert_eq!(estimate.announcement(), None);
}

#[test]
fn what_takes_hours_is_announced_by_the_key_that_asks_for_most() {
    let told =
        |text: &str| config(text).resolve().estimate().announcement().expect("it takes hours");
    let many = "workload = { type = 'synthetic', requests = 100_000_000_000, iodepth = 1, \
                request_size = '4KiB' }";
    let expected =
        "workload.requests: this run takes hours or more: up to 1e11 page operations of requests";
    assert_eq!(told(many), expected);
    let again = "precondition.overwrites = 1000\nssd.geometry.blocks_per_plane = 100_000";
    assert!(told(again).starts_with("precondition.overwrites: "), "{}", told(again));
}

#[test]
fn what_nobody_could_wait_for_is_refused_with_its_key() {
    let large = "workload = { type = 'synthetic', requests = 1_000_000_000_000, iodepth = 1, \
                 request_size = '1MiB' }";
    let expected = "x.toml:1: workload.requests: found about 3e14 page operations of requests; allowed: at \
                    most 1e13";
    assert_eq!(refused(large), expected);
    let cuts = "ssd.power.cuts = { type = 'random', count = 100_000, mean_interval = '1ns' }\n\
                ssd.geometry.blocks_per_plane = 100_000\n";
    assert!(refused(cuts).contains("ssd.power.cuts: found about 1e13 pages"), "{}", refused(cuts));
    // A cut of an array looks at the pages of all its drives.
    let array = format!("{cuts}array.layout = 'raid5'\narray.devices = 10\n");
    assert!(
        refused(&array).contains("ssd.power.cuts: found about 1e14 pages"),
        "{}",
        refused(&array)
    );
}

#[test]
fn requests_without_end_are_counted_by_what_stops_them() {
    let stopped = |round: &str| {
        config(&format!(
            "stop = {{ type = 'steady_state', round = {round}, most_rounds = 50 }}\n\
             [workload]\ntype = 'synthetic'\nrequests = 'unlimited'\ninter_arrival = '1ms'"
        ))
    };
    assert_eq!(stopped("300").resolve().estimate().requests, Some(15_000.0));
    assert_eq!(stopped("'2s'").resolve().estimate().requests, Some(100_000.0));
    assert_eq!(
        config("workload = { type = 'trace', path = 'x' }").resolve().estimate().requests,
        None
    );
}
