//! Does a drive in another simulator's event loop do what it does in a run of its own?

use copyback::config::{Config, Loader};
use copyback::embedded::{Ask, Completion, Embedded, PageEvent};
use copyback::metrics::RequestColumns;
use copyback::units::Instant;
use copyback::workload::Operation;
use copyback::{Simulation, Status};

/// A small drive that collects, with a queue that no request waits outside of.
fn config(settings: &[(&str, &str)]) -> Config {
    let small = [
        ("audit", "true"),
        ("metrics.requests", "true"),
        ("ssd.geometry.channels", "2"),
        ("ssd.geometry.blocks_per_plane", "32"),
        ("ssd.geometry.pages_per_block", "16"),
        ("ssd.ftl.over_provisioning", "0.25"),
        ("host.queue_depth", "65535"),
        ("array.queue_depth", "65535"),
        ("workload.requests", "3000"),
        ("workload.request_size", "{ type = \"exponential\", mean = \"8KiB\" }"),
        ("workload.inter_arrival", "{ type = \"exponential\", mean = \"900us\" }"),
    ];
    let loader = small
        .iter()
        .chain(settings)
        .fold(Loader::new(), |loader, (key, value)| loader.set(key, value));
    loader.load().unwrap_or_else(|faults| panic!("{faults}"))
}

fn run(config: &Config) -> RequestColumns {
    let mut simulation = Simulation::new(config, None).unwrap();
    while simulation.advance(100_000).unwrap() == Status::Running {}
    simulation.take_requests()
}

fn operation(number: u8) -> Operation {
    Operation::ALL[usize::from(number)]
}

/// What was asked in a run, by order of arrival.
fn asked(columns: &RequestColumns) -> Vec<(Instant, u64, Ask)> {
    let mut asked: Vec<_> = (0..columns.len())
        .map(|row| {
            let ask = Ask {
                operation: operation(columns.operation[row]),
                offset: columns.offset[row],
                length: columns.bytes[row],
                hint: None,
            };
            (Instant::from_ns(columns.arrival_ns[row]), row as u64, ask)
        })
        .collect();
    asked.sort_by_key(|(at, ..)| *at);
    asked
}

/// Serves them in an event loop that hands each in as its time comes.
fn serve(config: &Config, asked: &[(Instant, u64, Ask)]) -> Vec<Completion> {
    serve_on(Embedded::new(config).unwrap(), asked)
}

fn serve_on(mut drive: Embedded, asked: &[(Instant, u64, Ask)]) -> Vec<Completion> {
    let (mut left, mut completed) = (asked.iter().peekable(), Vec::new());
    loop {
        let arrival = left.peek().map(|(at, ..)| *at);
        let Some(now) = [arrival, drive.next_time()].into_iter().flatten().min() else { break };
        while let Some((at, tag, ask)) = left.next_if(|(at, ..)| *at == now) {
            drive.submit(*at, *tag, *ask).unwrap();
        }
        drive.advance_to(now).unwrap();
        assert_eq!(drive.now(), now);
        completed.extend(std::iter::from_fn(|| drive.take_completed()));
    }
    assert_eq!(drive.outstanding(), 0);
    completed
}

fn is_as_in_a_run(settings: &[(&str, &str)]) {
    compare(settings, |config| Embedded::new(config).unwrap());
}

/// As those of a run that waits for places, too.
fn waits_as_in_a_run(settings: &[(&str, &str)]) {
    compare(settings, |config| {
        let mut drive = Embedded::new(config).unwrap();
        drive.wait_outside(config);
        drive
    });
}

fn compare(settings: &[(&str, &str)], make: impl Fn(&Config) -> Embedded) {
    let config = config(settings);
    let columns = run(&config);
    let completed = serve_on(make(&config), &asked(&columns));
    assert_eq!(completed.len(), columns.len());
    for done in &completed {
        let row = done.tag as usize;
        let took = (done.at - done.arrival).as_ns();
        assert_eq!(took, columns.response_ns[row], "request {row} of {settings:?}");
    }
    assert!(completed.is_sorted_by_key(|done| done.at), "in order of time");
}

#[test]
fn every_response_is_that_of_a_run() {
    is_as_in_a_run(&[]);
    is_as_in_a_run(&[("ssd.gc.copyback", "false"), ("ssd.timing.register", "double")]);
    is_as_in_a_run(&[("ssd.gc.preemption", "semi_preemptive"), ("ssd.gc.width", "blind")]);
    let pipelined = "{ type = \"semi_preemptive\", pipeline = true, pipeline_order = \"joins\" }";
    is_as_in_a_run(&[("ssd.gc.copyback", "false"), ("ssd.gc.preemption", pipelined)]);
    is_as_in_a_run(&[("ssd.buffer.capacity", "64KiB"), ("host.link_rate", "100MB/s")]);
    is_as_in_a_run(&[("ssd.ftl.allocation", "dynamic"), ("workload.trim_share", "0.1")]);
    is_as_in_a_run(&[("ssd.ftl.mapping", "{ type = \"demand_paged\", cache = \"1KiB\" }")]);
}

#[test]
fn requests_that_wait_for_a_place_do_so_as_in_a_run() {
    let tight = [("workload.inter_arrival", "{ type = \"exponential\", mean = \"300us\" }")];
    for depth in ["1", "4", "32"] {
        let settings = [&tight[..], &[("host.queue_depth", depth)]].concat();
        waits_as_in_a_run(&settings);
        waits_as_in_a_run(&[&settings[..], &[("workload.flush_share", "0.1")]].concat());
        let buffer = [("ssd.buffer.capacity", "64KiB"), ("workload.flush_share", "0.1")];
        waits_as_in_a_run(&[&settings[..], &buffer].concat());
    }
    let array = [
        ("array.devices", "3"),
        ("array.layout", "raid5"),
        ("array.stripe", "16KiB"),
        ("array.queue_depth", "2"),
    ];
    waits_as_in_a_run(&[&tight[..], &array].concat());
}

#[test]
fn a_drive_that_has_much_to_collect_begins_with_what_arrives_at_once() {
    let at_once = [("workload.requests", "200"), ("workload.inter_arrival", "1ns")];
    let full = [
        ("precondition.overwrites", "0.5"),
        ("ssd.gc.soft_threshold", "0.2"),
        ("ssd.ftl.over_provisioning", "0.35"),
    ];
    waits_as_in_a_run(&[&at_once[..], &full].concat());
}

#[test]
fn every_response_of_an_array_is_that_of_a_run() {
    let raid5 = [("array.devices", "4"), ("array.layout", "raid5"), ("array.stripe", "16KiB")];
    is_as_in_a_run(&raid5);
    is_as_in_a_run(&[&raid5[..], &[("array.coordination", "reactive_inclusive")]].concat());
}

#[test]
fn how_far_the_clock_is_moved_at_a_time_makes_no_difference() {
    let config = config(&[]);
    let asked = asked(&run(&config));
    let stepwise = serve(&config, &asked);
    let mut drive = Embedded::new(&config).unwrap();
    for (at, tag, ask) in &asked {
        drive.submit(*at, *tag, *ask).unwrap();
    }
    drive.advance_to(Instant::from_ns(1 << 50)).unwrap();
    let at_once: Vec<_> = std::iter::from_fn(|| drive.take_completed()).collect();
    assert_eq!(at_once, stepwise);
}

#[test]
fn collections_show_in_what_it_counts_and_in_what_is_late() {
    let config = config(&[]);
    let asked = asked(&run(&config));
    let mut drive = Embedded::new(&config).unwrap();
    assert_eq!(drive.counters().collections, 0, "preparation is not counted");
    for (at, tag, ask) in &asked {
        drive.submit(*at, *tag, *ask).unwrap();
    }
    drive.advance_to(Instant::from_ns(1 << 50)).unwrap();
    assert!(drive.counters().collections > 100);
    let late = std::iter::from_fn(|| drive.take_completed()).filter(|done| done.late.as_ns() > 0);
    assert!(late.count() > 100);
}

const READ: Ask = Ask { operation: Operation::Read, offset: 0, length: 4096, hint: None };

#[test]
fn time_does_not_go_back() {
    let mut drive = Embedded::new(&config(&[])).unwrap();
    drive.advance_to(Instant::from_ns(50)).unwrap();
    let past = drive.submit(Instant::from_ns(49), 3, READ).unwrap_err().to_string();
    assert_eq!(
        past,
        "request 3: found 49 ns; allowed: at 50 ns or later, as time does not go back"
    );
    assert!(drive.advance_to(Instant::from_ns(49)).is_err());
    drive.submit(Instant::from_ns(80), 4, READ).unwrap();
    assert!(drive.submit(Instant::from_ns(70), 5, READ).is_err());
    drive.submit(Instant::from_ns(80), 6, READ).unwrap();
    assert_eq!(drive.outstanding(), 2);
}

#[test]
fn what_lies_beyond_the_drive_is_refused() {
    let mut drive = Embedded::new(&config(&[])).unwrap();
    let capacity = drive.capacity();
    let at = Instant::START;
    drive.submit(at, 0, Ask { offset: capacity - 4096, ..READ }).unwrap();
    for (offset, length) in [(capacity - 4095, 4096), (u64::MAX, 2)] {
        let refused = drive.submit(at, 1, Ask { offset, length, ..READ }).unwrap_err().to_string();
        assert!(refused.starts_with("request 1: found"), "{refused}");
    }
    drive
        .submit(at, 2, Ask { operation: Operation::Flush, offset: 0, length: 0, hint: None })
        .unwrap();
    drive.advance_to(Instant::from_ns(1 << 40)).unwrap();
    assert_eq!(std::iter::from_fn(|| drive.take_completed()).count(), 2);
}

#[test]
fn a_placement_that_has_to_know_the_future_is_refused() {
    let refused = Embedded::new(&config(&[("ssd.ftl.placement", "oracle")])).err().unwrap();
    assert!(refused.to_string().contains("knows all requests beforehand"), "{refused}");
}

/// Serves them as `serve_on`, and cuts the power on command at these times.
fn serve_with_cuts(
    config: &Config,
    asked: &[(Instant, u64, Ask)],
    cuts: &[u64],
) -> Vec<Completion> {
    let mut drive = Embedded::new(config).unwrap();
    drive.wait_outside(config);
    drive.record_page_events().unwrap();
    let (mut left, mut completed) = (asked.iter().peekable(), Vec::new());
    let mut cuts = cuts.iter().map(|at| Instant::from_ns(*at)).peekable();
    let mut told = 0;
    loop {
        let arrival = left.peek().map(|(at, ..)| *at);
        let next = [arrival, drive.next_time(), cuts.peek().copied()];
        let Some(now) = next.into_iter().flatten().min() else { break };
        while let Some((at, tag, ask)) = left.next_if(|(at, ..)| *at == now) {
            drive.submit(*at, *tag, *ask).unwrap();
        }
        match cuts.next_if_eq(&now) {
            Some(at) => drive.cut_power(at).unwrap(),
            None => drive.advance_to(now).unwrap(),
        }
        completed.extend(std::iter::from_fn(|| drive.take_completed()));
        let events = std::iter::from_fn(|| drive.take_page_event());
        told += events.filter(|event| matches!(event, PageEvent::PowerFailed(_))).count() as u64;
    }
    assert_eq!(drive.power_loss().unwrap().cuts, told);
    completed
}

#[test]
fn a_cut_on_command_is_one_that_was_planned() {
    let cuts = [1_000_000, 1_000_001, 40_000_000, 41_234_567, 900_000_000];
    let times: Vec<_> = cuts.iter().map(|at| format!("'{at}ns'")).collect();
    let planned = format!("{{ type = 'at', times = [{}] }}", times.join(", "));
    for more in [
        &[("ssd.power.protection", "none")][..],
        &[("ssd.power.protection", "none"), ("ssd.buffer.capacity", "64KiB")],
        &[("ssd.buffer.capacity", "64KiB"), ("host.queue_depth", "4")],
        &[("ssd.power.protection", "none"), ("ssd.ftl.mapping", "log_block")],
    ] {
        let common =
            [&[("workload.flush_share", "0.05"), ("workload.trim_share", "0.05")], more].concat();
        let columns = run(&config(&[&common[..], &[("ssd.power.cuts", &planned)]].concat()));
        let on_command = config(&[&common[..], &[("ssd.power.cuts", "on_command")]].concat());
        let completed = serve_with_cuts(&on_command, &asked(&columns), &cuts);
        assert_eq!(completed.len(), columns.len());
        for done in &completed {
            let (row, took) = (done.tag as usize, (done.at - done.arrival).as_ns());
            assert_eq!(took, columns.response_ns[row], "request {row} of {more:?}");
        }
    }
}

#[test]
fn what_is_not_to_be_cut_on_command_is_refused() {
    let mut drive = Embedded::new(&config(&[])).unwrap();
    let told = drive.cut_power(Instant::from_ns(1)).unwrap_err().to_string();
    assert!(told.contains("once the clock runs"), "{told}");
    drive.advance_to(Instant::from_ns(1)).unwrap();
    let told = drive.cut_power(Instant::from_ns(1)).unwrap_err().to_string();
    assert!(told.contains("later than 1 ns"), "{told}");
    let told = drive.cut_power(Instant::from_ns(2)).unwrap_err().to_string();
    assert!(told.contains("ssd.power.cuts"), "{told}");
}

#[test]
fn a_flush_that_is_ignored_takes_no_time_and_loses_what_it_promised() {
    let settings = [
        ("ssd.power.protection", "none"),
        ("ssd.power.cuts", "on_command"),
        ("ssd.buffer.capacity", "64KiB"),
    ];
    let lost = |flush| {
        let mut drive = Embedded::new(&config(&[&settings[..], &[flush]].concat())).unwrap();
        let ask = |operation| Ask { operation, offset: 0, length: 4096, hint: None };
        for (at, operation) in [(0, Operation::Write), (1_000_000, Operation::Flush)] {
            drive.submit(Instant::from_ns(at), at, ask(operation)).unwrap();
        }
        while drive.outstanding() > 0 {
            drive.advance_to(drive.next_time().unwrap()).unwrap();
        }
        let took: Vec<_> = std::iter::from_fn(|| drive.take_completed()).collect();
        let flush = took[1].at - took[1].arrival;
        drive.cut_power(Instant::from_ns(drive.now().as_ns() + 1)).unwrap();
        (flush.as_ns() > 0, drive.power_loss().unwrap().flushed_pages_lost)
    };
    assert_eq!(lost(("ssd.power.flush", "honoured")), (true, 0));
    assert_eq!(lost(("ssd.power.flush", "ignored")), (false, 1));
}
