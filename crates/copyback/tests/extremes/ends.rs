//! Runs that would have no end, or not within anybody's time and memory: one line says which key is at fault.

use copyback::config::Loader;
use copyback::{Simulation, Status};

use crate::judge::{BASE, Judge};

/// What becomes of these settings, over those of a tiny drive.
fn outcome(settings: &[(&str, &str)]) -> Result<serde_json::Value, String> {
    let base = Loader::new().toml(BASE, "base.toml", None);
    let loader = settings.iter().fold(base, |loader, (key, value)| loader.set(key, value));
    let config = loader.load().map_err(|faults| faults.to_string())?;
    let mut simulation = Simulation::new(&config, None).map_err(|error| error.to_string())?;
    for _ in 0..1000 {
        match simulation.advance(1000).map_err(|error| error.to_string())? {
            Status::Done => return Ok(simulation.summary().expect("it has run").to_json()),
            Status::Running => {}
        }
    }
    panic!("a million instants are not enough for {settings:?}");
}

fn refused(settings: &[(&str, &str)]) -> String {
    let text = outcome(settings).expect_err("this has no end");
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

#[test]
fn arrivals_after_the_end_of_the_clock_are_refused_by_their_key() {
    let expected = "workload.inter_arrival: request 4 would arrive more than 292 years after the start, where the \
                    clock ends; allowed: shorter times, or fewer requests";
    assert_eq!(refused(&[("workload.inter_arrival", "36500d")]), expected);
    let flow = "{ type = 'synthetic', requests = 9, inter_arrival = '36500d' }";
    let flows = format!("{{ type = 'flows', flows = [{flow}] }}");
    let told = refused(&[("workload", &flows)]);
    assert!(told.starts_with("workload.flows.0.inter_arrival: request 4 "), "{told}");
}

#[test]
fn a_run_that_goes_on_after_the_end_of_the_clock_is_refused_by_what_it_waits_for() {
    let slow = [
        ("host.link_rate", "1B/s"),
        ("workload.request_size", "1536KiB"),
        ("workload.requests", "10_000"),
        // Pages that were never written touch no flash.
        ("workload.read_share", "1"),
        ("precondition.fill", "0"),
    ];
    let told = refused(&slow);
    assert!(
        told.starts_with("host.link_rate: the run waits for this when the clock ends, 292 years"),
        "{told}"
    );
    // 1.5 MiB take 18 days.
    assert!(told.contains("with 58"), "{told}");
}

#[test]
fn latencies_are_no_longer_than_a_minute() {
    let told = refused(&[("ssd.timing.program", "36500d")]);
    assert_eq!(told, "--set ssd.timing.program: found 36500d; allowed: at most 1min");
    let told = refused(&[("ssd.timing.read", "['25us', '2h']")]);
    assert_eq!(told, "--set ssd.timing.read.1: found 2h; allowed: at most 1min");
}

#[test]
fn queues_are_as_many_as_an_interface_has_and_cost_nothing_unless_used() {
    let told = refused(&[("host.queues", "4294967295")]);
    assert_eq!(told, "--set host.queues: found 4294967295; allowed: 1 to 65535");
    let many = outcome(&[("host.queues", "65535"), ("host.queue_depth", "65536")]);
    assert_eq!(many.expect("they are allowed")["requests"]["count"], 50);
}

#[test]
fn flows_are_counted_before_they_are_looked_at() {
    let flow = "[[workload.flows]]\ntype = 'synthetic'\nrequests = 1\ninter_arrival = '1ms'\n";
    let text = format!("[workload]\ntype = 'flows'\n{}", flow.repeat(66_000));
    let told =
        Loader::new().toml(&text, "flows.toml", None).load().expect_err("there are too many");
    let expected = "flows.toml:3: workload.flows: found a list of 66000; allowed: 1 to 4096";
    assert_eq!(told.to_string(), expected);
}

#[test]
fn a_trace_that_is_over_at_once_is_not_repeated_for_an_hour() {
    let judge = Judge::new();
    let trace = format!("{:?}", judge.trace());
    let scale = ("workload.time_scale", "1e-5");
    let settings = [("workload.type", "trace"), ("workload.path", &trace), scale];
    let told = refused(&[&settings[..], &[("workload.duration", "1h")]].concat());
    let expected = "found requests that are over after 3ns, so that workload.duration starts the trace more than \
                    10000000 times; expected a longer trace, or a shorter duration";
    assert!(told.ends_with(expected), "{told}");
    let short = [&settings[..], &[("workload.duration", "300ns")]].concat();
    assert_eq!(outcome(&short).expect("100 rounds")["requests"]["count"], 300);
}

#[test]
fn cuts_a_nanosecond_apart_come_to_an_end() {
    let cuts = "{ type = 'random', count = 2000, mean_interval = '1ns' }";
    let summary = outcome(&[("ssd.power.cuts", cuts)]).expect("they are few enough");
    assert_eq!(summary["power_loss"]["cuts"], 2000);
    let many = "{ type = 'random', count = 4000000000, mean_interval = '1ns' }";
    let told = refused(&[("ssd.power.cuts", many)]);
    assert_eq!(told, "--set ssd.power.cuts.count: found 4000000000; allowed: 1 to 100000");
}

#[test]
fn a_controller_does_not_look_round_more_often_than_each_microsecond() {
    let array = [("array.layout", "raid0"), ("array.devices", "2")];
    let window = ("array.coordination", "{ type = 'staggered', window = '1ns' }");
    let told = refused(&[&array[..], &[window]].concat());
    assert_eq!(told, "--set array.coordination.window: found 1ns; allowed: 1us or more");
}
