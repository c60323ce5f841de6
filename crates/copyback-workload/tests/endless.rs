//! Writes and trims of a workload without end.

use copyback_config::{Config, Loader};
use copyback_workload::{AddressSpace, Draws, Endless, Operation, Request, Source};

fn config(text: &str) -> Config {
    let drive = "[ssd.geometry]\nblocks_per_plane = 32\n";
    Loader::new().toml(&format!("{drive}{text}"), "test.toml", None).load().expect(text)
}

fn take(config: &Config, requests: usize) -> Vec<Request> {
    let mut endless = Endless::open(&config.resolve()).expect("a workload that can be opened");
    (0..requests).map(|_| endless.take().expect("a workload that writes")).collect()
}

/// A trace of blkreplay: time, sector, sectors, operation.
fn trace(rows: &[(&str, u64, u64, char)]) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("room for a file");
    let text: String = rows
        .iter()
        .map(|(at, sector, sectors, kind)| format!("{at} ; {sector} ; {sectors} ; {kind}\n"))
        .collect();
    let path = folder.path().join("trace.load");
    std::fs::write(&path, text).expect("room for a file");
    let key = format!("path = {:?}\nformat = \"blkreplay\"\n", path.to_str().expect("plain text"));
    (folder, key)
}

#[test]
fn a_trace_begins_anew_and_only_its_writes_are_taken() {
    let rows = [("0.0", 0, 8, 'W'), ("0.1", 64, 8, 'R'), ("0.2", 128, 8, 'W')];
    let (_folder, key) = trace(&rows);
    let config = config(&format!("[workload]\ntype = \"trace\"\n{key}"));
    let offsets: Vec<_> = take(&config, 5).iter().map(|request| request.offset / 512).collect();
    assert_eq!(offsets, [0, 128, 0, 128, 0]);
}

#[test]
fn a_trace_that_only_reads_is_told() {
    let (_folder, key) = trace(&[("0.0", 0, 8, 'R'), ("0.1", 64, 8, 'R')]);
    let config = config(&format!("[workload]\ntype = \"trace\"\n{key}"));
    let fault =
        Endless::open(&config.resolve()).and_then(|mut endless| endless.take()).unwrap_err();
    assert_eq!(fault.place, "precondition.addresses");
    assert!(fault.problem.contains("writes nothing"), "{fault}");
}

#[test]
fn a_generator_has_no_end_and_draws_of_its_own_to_the_same_hot_pages() {
    let text = "[workload]\nrequests = 3\nrequest_size = \"4KiB\"\nread_share = 0.0\n\
                sequential_share = 0.0\niodepth = 1\naddress = { type = \"zipf\", theta = 0.99 }\n";
    let config = config(text);
    let prepared = take(&config, 50_000);
    let space = AddressSpace::of(&config.resolve());
    let flow = config.workload.flows()[0].without_end();
    let mut source =
        Source::open(&flow, 0, "workload", space, config.seed, Draws::OfRun).expect("a source");
    let of_run: Vec<_> =
        (0..50_000).map(|_| source.next_request().unwrap().expect("no end")).collect();
    assert!(prepared.iter().all(|request| request.operation == Operation::Write));
    assert!(prepared[..10].iter().zip(&of_run).any(|(one, other)| one.offset != other.offset));
    assert_eq!(hottest(&prepared), hottest(&of_run));
}

fn hottest(requests: &[Request]) -> u64 {
    let mut counts = std::collections::BTreeMap::<u64, u64>::new();
    requests.iter().for_each(|request| *counts.entry(request.offset).or_default() += 1);
    *counts.iter().max_by_key(|(_, count)| **count).expect("requests").0
}

#[test]
fn open_loops_are_merged_by_arrival_and_others_take_turns() {
    let flow = |more: &str| {
        format!(
            "[[workload.flows]]\ntype = \"synthetic\"\nread_share = 0.0\nrequest_size = \"4KiB\"\n{more}\n"
        )
    };
    let fast = flow("footprint = 0.25\ninter_arrival = \"1ms\"");
    let slow = flow("footprint = 0.25\noffset = 0.5\ninter_arrival = \"3ms\"");
    let both = config(&format!("[workload]\ntype = \"flows\"\n{fast}{slow}"));
    let is_slow = |both: &Config, request: &Request| request.offset >= both.resolve().bytes / 2;
    let slow_of = |config: &Config, requests: usize| {
        take(config, requests).iter().filter(|request| is_slow(config, request)).count()
    };
    assert_eq!(slow_of(&both, 4_000), 1_000);
    let closed = flow("footprint = 0.25\noffset = 0.5\niodepth = 4");
    let mixed = config(&format!("[workload]\ntype = \"flows\"\n{fast}{closed}"));
    assert_eq!(slow_of(&mixed, 4_000), 2_000);
}
