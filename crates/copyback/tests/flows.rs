//! When flows start and end, how fast they ask, and which of their requests are measured: to the
//! nanosecond, on a drive of one die whose reads take 100 us and everything else no time.

use copyback::config::Loader;
use copyback::metrics::RequestColumns;
use copyback::ssd::Part;
use copyback::{Simulation, Status};
use serde_json::Value;

const DRIVE: &str = r#"
    audit = true
    metrics.requests = true
    precondition = { fill = 1.0, overwrites = 0.0 }
    [ssd.geometry]
    channels = 1
    chips_per_channel = 1
    dies_per_chip = 1
    planes_per_die = 1
    blocks_per_plane = 64
    pages_per_block = 64
    page_size = "4KiB"
    [ssd.timing]
    read = "100us"
    program = "200us"
    erase = "1ms"
    transfer_rate = "none"
    [host]
    queues = 8
    queue_depth = 32
    "#;

/// A closed loop of one read at a time, without end, unless `keys` say otherwise.
fn reads(keys: &str) -> String {
    format!(
        "{{ type = \"synthetic\", requests = \"unlimited\", request_size = \"4KiB\", iodepth = 1, \
         read_share = 1.0, sequential_share = 1.0, {keys} }}"
    )
}

fn flows(flows: &[String]) -> String {
    format!("workload = {{ type = \"flows\", flows = [{}] }}\n{DRIVE}", flows.join(", "))
}

fn alone(keys: &str) -> String {
    format!("workload = {}\n{DRIVE}", reads(keys))
}

fn simulation(text: &str) -> Simulation {
    let config = Loader::new().toml(text, "test", None).load();
    Simulation::new(&config.unwrap_or_else(|faults| panic!("{faults}")), None).expect("it starts")
}

fn run(text: &str) -> (Value, RequestColumns) {
    let mut simulation = simulation(text);
    while simulation.advance(1 << 20).expect("no invariant breaks") == Status::Running {}
    let requests = simulation.take_requests();
    (simulation.summary().expect("it has run").to_json(), requests)
}

/// Arrivals of the requests of `flow`, in microseconds.
fn arrivals_us(requests: &RequestColumns, flow: u16) -> Vec<u64> {
    let rows = requests.arrival_ns.iter().zip(&requests.flow);
    rows.filter(|(_, of)| **of == flow).map(|(arrival, _)| arrival / 1000).collect()
}

fn faults(text: &str) -> String {
    Loader::new().toml(text, "test", None).load().expect_err("it makes no sense").to_string()
}

#[test]
fn a_closed_loop_lasts_for_its_duration() {
    let (summary, requests) = run(&alone("duration = \"1ms\""));
    assert_eq!(arrivals_us(&requests, 0), (0..10).map(|n| n * 100).collect::<Vec<_>>());
    assert_eq!(summary["throughput"]["simulated_s"], 0.001);
    // Whichever comes first.
    let (summary, _) = run(&alone("duration = \"1ms\"").replace("\"unlimited\"", "3"));
    assert_eq!(summary["requests"]["count"], 3);
}

#[test]
fn so_does_an_open_loop() {
    let text = alone("duration = \"1ms\", inter_arrival = \"300us\"").replace("iodepth = 1, ", "");
    assert_eq!(arrivals_us(&run(&text).1, 0), [0, 300, 600, 900]);
}

#[test]
fn a_flow_starts_at_its_time() {
    let open = reads("starts_at = \"2ms\", duration = \"1ms\", inter_arrival = \"400us\"")
        .replace("iodepth = 1, ", "");
    let closed = reads("starts_at = \"4ms\", duration = \"250us\"");
    let (summary, requests) = run(&flows(&[open, closed]));
    assert_eq!(arrivals_us(&requests, 0), [2000, 2400, 2800]);
    assert_eq!(arrivals_us(&requests, 1), [4000, 4100, 4200]);
    // From 2 ms to the end at 2.9, and from 4 ms to that at 4.3.
    let throughput = &summary["throughput"];
    assert_eq!(throughput["simulated_s"], 0.0043);
    assert_eq!(throughput["measured_s"], 0.0012);
    assert_eq!(throughput["measured_from_s"], 0.002);
    assert_eq!(throughput["iops"], 5000.0);
}

#[test]
fn a_flow_starts_after_those_that_it_waits_for_and_not_before_its_time() {
    let (_, requests) = run(&flows(&[
        reads("duration = \"250us\""),
        reads("starts_after = [0], duration = \"100us\""),
        reads("starts_after = [0, 1], starts_at = \"1ms\", duration = \"100us\""),
        reads("starts_after = [2], starts_at = \"1us\", duration = \"100us\""),
    ]));
    // The last read of the first flow arrives at 200 us, before its end, and takes 100.
    assert_eq!(arrivals_us(&requests, 0), [0, 100, 200]);
    assert_eq!(arrivals_us(&requests, 1), [300]);
    assert_eq!(arrivals_us(&requests, 2), [1000]);
    assert_eq!(arrivals_us(&requests, 3), [1100]);
}

#[test]
fn a_flow_that_idles_until_its_end_is_waited_for() {
    let limited = "duration = \"1500us\", rate = { type = \"requests\", gap = \"1ms\" }";
    let (_, requests) =
        run(&flows(&[reads(limited), reads("starts_after = [0], duration = \"100us\"")]));
    assert_eq!(arrivals_us(&requests, 0), [0, 1000]);
    assert_eq!(arrivals_us(&requests, 1), [1500]);
}

#[test]
fn a_limited_closed_loop_asks_as_its_requests_are_due() {
    let limit = |gap: &str| {
        format!("duration = \"1ms\", rate = {{ type = \"requests\", gap = \"{gap}\" }}")
    };
    assert_eq!(arrivals_us(&run(&alone(&limit("300us"))).1, 0), [0, 300, 600, 900]);
    // The drive is slower than the limit: it decides, and nobody waits outside.
    let (summary, requests) = run(&alone(&limit("50us")));
    assert_eq!(arrivals_us(&requests, 0), (0..10).map(|n| n * 100).collect::<Vec<_>>());
    assert_eq!(summary["response_us"]["all"]["max"], 100.0);
}

#[test]
fn what_falls_behind_a_limit_is_caught_up_with() {
    // The read due at 300 us waits until 400 behind the other flow's second, so that the one due at 450
    // comes at its end; the next is in time again.
    let hindered = reads("duration = \"1ms\", rate = { type = \"requests\", gap = \"150us\" }");
    let other = reads("").replace("\"unlimited\"", "2");
    let (_, requests) = run(&flows(&[hindered, other]));
    assert_eq!(arrivals_us(&requests, 1), [0, 200]);
    assert_eq!(arrivals_us(&requests, 0), [0, 150, 300, 500, 600, 750, 900]);
    // Due each 150 us, and in turn with the other flow's until that has had its four at 700: the one due at
    // 450 ends at 800, those due at 600, 750, 900 and 1,050 follow at once, the next is in time again.
    let slow = reads("duration = \"1400us\", rate = { type = \"requests\", gap = \"150us\" }");
    let (_, requests) = run(&flows(&[reads("").replace("\"unlimited\"", "4"), slow]));
    let expected = [0, 200, 400, 600, 800, 900, 1000, 1100, 1200, 1350];
    assert_eq!(arrivals_us(&requests, 1), expected);
}

#[test]
fn bytes_a_second_limit_by_the_size_of_requests() {
    // 4,096 bytes at 10 MB/s are 409.6 us; rounding adds no drift.
    let limit = "duration = \"10ms\", rate = { type = \"bytes\", per_second = \"10MB/s\" }";
    let (_, requests) = run(&alone(limit));
    let expected: Vec<_> = (0..25).map(|n| n * 409_600).collect();
    assert_eq!(requests.arrival_ns, expected);
}

#[test]
fn reads_and_writes_have_limits_of_their_own() {
    let limit = "duration = \"6ms\", rate = { type = \"by_operation\", \
                 read = { type = \"requests\", gap = \"1ms\" }, \
                 write = { type = \"requests\", gap = \"3ms\" } }";
    let text = alone(limit).replace("read_share = 1.0", "read_share = 0.5");
    let (summary, requests) = run(&text);
    assert_eq!(summary["requests"]["reads"], 6);
    assert_eq!(summary["requests"]["writes"], 2);
    let mut arrivals = arrivals_us(&requests, 0);
    arrivals.retain(|arrival| arrival % 1000 == 0);
    assert_eq!(arrivals.len(), 6, "a read each millisecond but where a write came first");
}

#[test]
fn requests_of_the_ramp_are_simulated_and_not_measured() {
    let (summary, requests) = run(&alone("duration = \"1ms\", ramp = \"400us\""));
    assert_eq!(arrivals_us(&requests, 0), [400, 500, 600, 700, 800, 900]);
    assert_eq!(summary["requests"]["count"], 6);
    assert_eq!(summary["requests"]["of_ramp"], 4);
    assert_eq!(summary["requests"]["read_bytes"], 6 * 4096);
    assert_eq!(summary["response_us"]["read"]["count"], 6);
    assert_eq!(summary["flash"]["reads"], 6);
    assert_eq!(summary["throughput"]["simulated_s"], 0.001);
    assert_eq!(summary["throughput"]["measured_s"], 0.0006);
    assert_eq!(summary["throughput"]["iops"], 10_000.0);
    let notes = summary["notes"].to_string();
    assert!(
        notes.contains("4 requests of the ramp were simulated and are not measured"),
        "{notes}"
    );
}

#[test]
fn each_flow_has_a_ramp_of_its_own() {
    let (summary, requests) = run(&flows(&[
        reads("duration = \"300us\", ramp = \"200us\""),
        reads("starts_after = [0], duration = \"300us\", ramp = \"100us\""),
    ]));
    assert_eq!(arrivals_us(&requests, 0), [200]);
    assert_eq!(arrivals_us(&requests, 1), [400, 500]);
    assert_eq!(summary["throughput"]["measured_s"], 0.0003);
    // What the flash did in the second ramp comes after the first request that is measured.
    assert_eq!(summary["flash"]["reads"], 4);
}

#[test]
fn write_amplification_is_that_of_what_is_measured() {
    let text = alone("duration = \"1s\", ramp = \"300ms\"").replace(
        "read_share = 1.0, sequential_share = 1.0",
        "read_share = 0.0, sequential_share = 0.0",
    );
    let (summary, requests) = run(&text);
    let host = summary["flash"]["host_programs"].as_u64().expect("a number");
    // One may be under way as the ramp ends.
    assert!(host.abs_diff(requests.len() as u64) <= 1, "{host} {}", requests.len());
    let moved = summary["gc"]["pages_moved"].as_u64().expect("a number");
    assert!(moved > 0, "it collects");
    let expected = (host + moved) as f64 / host as f64;
    assert_eq!(summary["page_write_amplification"], expected);
    let erases = summary["flash"]["erases"].as_u64().expect("a number");
    // In a steady state each block that is erased is filled again: 64 pages, give or take what is open.
    assert!((erases * 64).abs_diff(host + moved) < 4 * 64, "{erases} {host} {moved}");
}

#[test]
fn a_loop_that_takes_no_time_is_refused_and_not_run_for_ever() {
    let text = alone("duration = \"1ms\"").replace("fill = 1.0", "fill = 0.0");
    let mut simulation = simulation(&text);
    let error = loop {
        match simulation.advance(1 << 20) {
            Ok(status) => assert_eq!(status, Status::Running, "it cannot end"),
            Err(error) => break error.to_string(),
        }
    };
    assert!(
        error.contains("workload.duration: found requests that take no simulated time"),
        "{error}"
    );
}

/// A closed loop of `depth` reads of one die, 100 us each, with pauses of 1 ms.
fn thinking(depth: u32, keys: &str) -> Vec<u64> {
    let pauses = format!("thinktime = {{ type = \"pause\", time = \"1ms\", {keys} }}");
    let text = alone(&pauses).replace("iodepth = 1", &format!("iodepth = {depth}"));
    arrivals_us(&run(&text.replace("\"unlimited\"", "60")).1, 0)
}

/// How many requests come between pauses, and the first arrivals after each.
fn batches(arrivals_us: &[u64]) -> (Vec<usize>, Vec<u64>) {
    let (mut counts, mut starts, mut last) = (Vec::new(), Vec::new(), None);
    for &arrival in arrivals_us {
        if last.is_none_or(|last| arrival >= last + 1000) {
            counts.push(0);
            starts.push(arrival);
        }
        *counts.last_mut().expect("one has begun") += 1;
        last = Some(arrival);
    }
    (counts, starts)
}

/// After so many that were issued it waits for all of them, then for its time.
#[test]
fn a_pause_begins_when_the_last_request_has_ended() {
    let (counts, starts) = batches(&thinking(4, "blocks = 4, blocks_type = \"issue\""));
    assert_eq!(counts, [4; 15]);
    // Four reads of one die take 400 us.
    assert_eq!(starts, (0..15).map(|batch| batch * 1400).collect::<Vec<_>>());
}

/// The batches are those that fio 3.33 makes with io_uring and libaio: those that end while it waits count for the next pause.
#[test]
fn pauses_come_after_as_many_requests_as_in_fio() {
    for (depth, blocks, issued, completed) in [
        (4, 4, vec![4, 4, 4, 4], vec![7, 4, 4, 4]),
        (4, 1, vec![1, 1, 1, 1], vec![4, 1, 1, 1]),
        (16, 4, vec![4, 4, 4, 4], vec![19, 1, 18, 1]),
        (4, 16, vec![16, 16, 16], vec![19, 16, 16]),
        (8, 8, vec![8, 8, 8, 8], vec![15, 8, 8, 8]),
    ] {
        let counts = |keys: String| batches(&thinking(depth, &keys)).0;
        let by_issue = counts(format!("blocks = {blocks}, blocks_type = \"issue\""));
        assert_eq!(by_issue[..issued.len()], issued, "{depth} {blocks}");
        let by_end = counts(format!("blocks = {blocks}"));
        assert_eq!(by_end[..completed.len()], completed, "{depth} {blocks}");
    }
}

/// One block is the default; with `iotime`, time alone decides unless blocks are given, too.
#[test]
fn pauses_may_come_by_time() {
    assert_eq!(batches(&thinking(1, "")).0, [1; 60]);
    // The first request that is issued 250 us after the last pause is that at 300 us.
    let (counts, starts) = batches(&thinking(1, "iotime = \"250us\""));
    assert_eq!(counts, [4; 15]);
    assert_eq!(starts, (0..15).map(|batch| batch * 1400).collect::<Vec<_>>());
    assert_eq!(batches(&thinking(1, "iotime = \"250us\", blocks = 3")).0, [3; 20]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (text, fault) in [
        (alone(""), "workload.requests: found \"unlimited\"; allowed: a number, a duration"),
        (alone("duration = 0"), "workload.duration: found 0s; allowed: more than 0s"),
        (
            alone("duration = \"1s\", ramp = \"1s\""),
            "workload.ramp: found 1s; allowed: less than the duration, 1s",
        ),
        (alone("duration = \"1s\", starts_after = [0]"), "allowed: none, as no flow comes before"),
        (
            flows(&[reads("duration = \"1s\""), reads("duration = \"1s\", starts_after = [1]")]),
            "workload.flows.1.starts_after: found 1; allowed: the numbers of flows before this one",
        ),
        (
            flows(&[reads(""), reads("duration = \"1s\", starts_after = [0]")]),
            "workload.flows.1.starts_after: found 0, a flow without end",
        ),
        (
            alone("duration = \"1s\", rate = { type = \"bytes\", per_second = \"none\" }"),
            "workload.rate.per_second: found \"none\"; allowed: a rate such as",
        ),
        (
            alone("duration = \"1s\", rate = { type = \"requests\", gap = \"1ms\" }")
                .replace("iodepth = 1", "inter_arrival = \"1ms\""),
            "workload.rate: found a limit of an open loop",
        ),
        (
            alone(
                "duration = \"1s\", rate = { type = \"by_operation\", read = \"none\", \
                 write = { type = \"requests\", gap = \"1ms\" } }",
            ),
            "workload.rate.read: found \"none\" for one of both",
        ),
        (
            alone("duration = \"1s\", sequential_skip = { type = \"forward\", bytes = 100 }"),
            "workload.sequential_skip.bytes: found 100B; allowed: a multiple of 512B",
        ),
        (alone("duration = \"1s\", sequential_run = 0"), "workload.sequential_run: found 0"),
        (alone("duration = \"1s\", flush_every = 0"), "workload.flush_every: found 0"),
        (alone("duration = \"1s\", size_alignment = 100"), "workload.size_alignment: found 100B"),
        (alone("io_size = 0"), "workload.io_size: found 0B; allowed: 1B or more"),
        (
            alone("duration = \"1s\", thinktime = { type = \"pause\", time = 0 }"),
            "workload.thinktime.time: found 0s; allowed: more than 0s",
        ),
        (
            alone(
                "duration = \"1s\", thinktime = { type = \"pause\", time = \"1ms\", blocks = 0 }",
            ),
            "workload.thinktime.blocks: found 0",
        ),
        (
            alone("duration = \"1s\", thinktime = { type = \"pause\", time = \"1ms\" }")
                .replace("iodepth = 1", "inter_arrival = \"1ms\""),
            "workload.thinktime: found pauses in an open loop",
        ),
    ] {
        let found = faults(&text);
        assert!(found.contains(fault), "{fault}:\n{found}");
    }
}

/// Random reads of a closed loop on a drive of eight dies, for so long that the start no longer counts.
fn competing(iodepth: u32) -> String {
    reads("duration = \"6s\"")
        .replace("iodepth = 1,", &format!("iodepth = {iodepth},"))
        .replace("sequential_share = 1.0", "sequential_share = 0.0")
}

/// Closed loops of these depths before what `host` says. Returns of each flow its requests, and its throughput times its
/// mean response.
fn compete(depths: &[u32], host: &str) -> Vec<(f64, f64)> {
    let competing: Vec<_> = depths.iter().map(|iodepth| competing(*iodepth)).collect();
    let text = flows(&competing)
        .replace("chips_per_channel = 1", "chips_per_channel = 8")
        .replace("queues = 8\n    queue_depth = 32", host);
    let (summary, _) = run(&text.replace("metrics.requests = true", ""));
    let of = |flow: &Value| {
        let number = |pointer: &str| flow.pointer(pointer).and_then(Value::as_f64).expect(pointer);
        let count = number("/requests/count");
        (count, number("/throughput/iops") * number("/response_us/all/mean") / 1e6)
    };
    summary["flows"].as_array().expect("several").iter().map(of).collect()
}

const NCQ: &str = "interface = \"ncq\"";

#[test]
fn equal_closed_loops_get_equal_shares_wherever_they_wait() {
    for host in [
        NCQ,
        "queues = 1\n queue_depth = 16",
        "queues = 2\n queue_depth = 8",
        "queues = 2\n command_slots = 16",
        "queue_depth = 64\n [array]\n layout = \"raid0\"\n devices = 2\n queue_depth = 16",
    ] {
        let shares = compete(&[64, 64], host);
        let [first, second] = [shares[0].0, shares[1].0];
        assert!((first / second - 1.0).abs() < 0.02, "{host}: {first} and {second}");
    }
}

#[test]
fn throughput_times_response_is_the_depth_of_each_closed_loop() {
    // Little's law, with everything in it that a request waits for: places of the device's queue, too.
    let deep = [64; 64];
    for depths in [&[128][..], &[32, 4], &[4, 32], &[64, 64], &deep] {
        for (depth, (_, found)) in depths.iter().zip(compete(depths, NCQ)) {
            let depth = f64::from(*depth);
            assert!((found / depth - 1.0).abs() < 0.01, "{depths:?}: {found} of {depth}");
        }
    }
}

#[test]
fn command_slots_are_fetched_round_robin_by_queue() {
    // One slot; reads of 100 us. The first queue has many reads waiting as the second's only one comes: that takes its turn
    // as the slot comes free next, and not behind the many.
    let many = "sequential_share = 1.0, requests = 10, inter_arrival = \"1us\"";
    let one =
        "sequential_share = 1.0, requests = 1, inter_arrival = \"150us\", starts_at = \"150us\"";
    let flow = |keys: &str| {
        format!("{{ type = \"synthetic\", request_size = \"4KiB\", read_share = 1.0, {keys} }}")
    };
    let text = flows(&[flow(many), flow(one)])
        .replace("queues = 8\n    queue_depth = 32", "queues = 2\n command_slots = 1");
    let (_, requests) = run(&text);
    let second = requests.flow.iter().position(|flow| *flow == 1).expect("it was asked for");
    let arrival = requests.arrival_ns[second];
    let end = arrival + requests.response_ns[second];
    assert_eq!(end, (arrival / 100_000 + 2) * 100_000);
    // It has waited outside: the slot is the drive's, and not of its queue.
    let outside = requests.parts_ns[Part::HostQueue as usize][second];
    assert_eq!(outside, (arrival / 100_000 + 1) * 100_000 - arrival);
}

#[test]
fn below_its_low_watermark_a_full_drive_fetches_commands_again() {
    // Four slots, and one die whose reads take 100 us. All slots are taken at 0; two are left at 200 us.
    let reads = "sequential_share = 1.0, requests = 8, inter_arrival = \"1ns\"";
    let flow =
        format!("{{ type = \"synthetic\", request_size = \"4KiB\", read_share = 1.0, {reads} }}");
    let entered = |low: &str| {
        let host = format!("queues = 2\n command_slots = 4\n low_watermark = {low}");
        let text =
            flows(std::slice::from_ref(&flow)).replace("queues = 8\n    queue_depth = 32", &host);
        let (_, requests) = run(&text);
        let outside = &requests.parts_ns[Part::HostQueue as usize];
        let inside = requests.arrival_ns.iter().zip(outside).map(|(at, wait)| (at + wait) / 1000);
        let mut sorted: Vec<u64> = inside.collect();
        sorted.sort_unstable();
        sorted
    };
    assert_eq!(entered("1.0"), [0, 0, 0, 0, 100, 200, 300, 400]);
    assert_eq!(entered("0.5"), [0, 0, 0, 0, 200, 200, 400, 400]);
    assert_eq!(entered("0.0"), [0, 0, 0, 0, 400, 400, 400, 400]);
}

#[test]
fn what_has_arrived_before_the_end_of_an_open_loop_is_completed() {
    // Ten arrive within 1 ms; each takes 300 us of the only die.
    let text = alone("duration = \"1ms\", inter_arrival = \"100us\"")
        .replace("iodepth = 1, ", "")
        .replace("read = \"100us\"", "read = \"300us\"")
        .replace("queues = 8\n    queue_depth = 32", "queues = 1\n queue_depth = 2");
    let (summary, requests) = run(&text);
    assert_eq!(arrivals_us(&requests, 0), (0..10).map(|n| n * 100).collect::<Vec<_>>());
    assert_eq!(summary["throughput"]["simulated_s"], 0.003);
    // The last arrives at 900 us and is served from 2,700 to 3,000.
    assert_eq!(summary["response_us"]["all"]["max"], 2100.0);
}

#[test]
fn what_has_arrived_before_the_end_of_a_closed_loop_is_completed() {
    let text = alone("duration = \"250us\"")
        .replace("iodepth = 1,", "iodepth = 4,")
        .replace("queues = 8\n    queue_depth = 32", "queues = 1\n queue_depth = 1");
    let (_, requests) = run(&text);
    // Four at once; their places come free at 100 and 200 us.
    assert_eq!(arrivals_us(&requests, 0), [0, 0, 0, 0, 100, 200]);
}

/// A workload of reads with these keys, in no loop unless they say so.
fn of_reads(keys: &str) -> String {
    let has = |key: &str| keys.contains(key);
    let requests = if has("requests") { "" } else { "requests = \"unlimited\", " };
    format!(
        "workload = {{ type = \"synthetic\", {requests}request_size = \"4KiB\", read_share = 1.0, \
         sequential_share = 1.0, {keys} }}\n{DRIVE}"
    )
}

/// Requests that a rule leaves unserved, and those that were completed, where a queue takes so many.
fn unserved(keys: &str, round: &str, queue_depth: u32) -> (u64, u64) {
    let stop = format!(
        "stop = {{ type = \"steady_state\", round = {round}, window = 2, most_rounds = 2, slope = 1e-9, \
         excursion = 1e-9 }}\n"
    );
    let depth = format!("queue_depth = {queue_depth}");
    let (summary, requests) = run(&(stop + &of_reads(keys)).replace("queue_depth = 32", &depth));
    assert_eq!(summary["requests"]["count"], requests.len());
    let unserved = summary["requests"]["unserved"].as_u64().expect("a rule may end it");
    (unserved, requests.len() as u64)
}

#[test]
fn a_rule_that_ends_a_run_leaves_those_that_wait_outside_the_queue_unserved() {
    // A read is asked for every 9 us, and takes 100: as the tenth ends, at 1 ms, 112 have arrived.
    let open = "inter_arrival = \"9us\"";
    for (depth, completed) in [(1, 10), (4, 13), (32, 41), (1024, 112)] {
        let found = unserved(open, "5", depth);
        assert_eq!(found, (112 - completed, completed), "{depth} at once");
    }
    // By 1050 us there are 117, of which the eleventh is in the drive.
    assert_eq!(unserved(open, "\"525us\"", 1), (117 - 11, 11));
    // Of a closed loop of eight, four of which are in the drive, four wait: one has just ended.
    assert_eq!(unserved("iodepth = 8", "5", 4), (8 - 3 - 1, 10 + 3));
    assert_eq!(unserved("iodepth = 8", "5", 8), (0, 10 + 7));
    // The workload has ended before.
    assert_eq!(unserved("requests = 7, iodepth = 8", "5", 1), (0, 7));
    // Nothing that comes after its duration is waited for.
    let short = format!("{open}, duration = \"500us\"");
    assert_eq!(unserved(&short, "5", 1), (56 - 10, 10));
}

#[test]
fn a_run_that_no_rule_may_end_leaves_no_request_unserved() {
    let (summary, _) = run(&alone("duration = \"1ms\""));
    assert_eq!(summary["requests"].get("unserved"), None);
}
