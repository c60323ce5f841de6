//! Random flows before queues of few places: who is admitted when, whatever the drive does.

use std::collections::BTreeMap;

use super::*;
use crate::array::FinishedRequest;
use crate::config::Loader;
use crate::ids::SsdId;
use crate::outcome::Outcome;
use crate::ssd::{Part, Parts};
use crate::units::Duration;

/// Flows through two queues of three places: closed loops deeper than that, a limited one, and an open one.
const FLOWS: &str = r#"
    host = { queues = 2, queue_depth = 3 }
    [workload]
    type = "flows"
    flows = [
        { type = "synthetic", requests = 300, request_size = "4KiB", iodepth = 9 },
        { type = "synthetic", requests = 300, request_size = "4KiB", iodepth = 4 },
        { type = "synthetic", requests = 300, request_size = "4KiB", iodepth = 9 },
        { type = "synthetic", requests = 300, request_size = "4KiB", inter_arrival = "70ns" },
        { type = "synthetic", requests = 300, request_size = "4KiB", iodepth = 8,
          rate = { type = "requests", gap = "50ns" } },
    ]
    "#;

/// An admitted request: its queue, flow, arrival and end.
type Row = (usize, usize, Instant, Instant);

/// Admits everything; each request takes a time that a simple congruence draws from `seed`.
fn run(mut seed: u64) -> Vec<Row> {
    let config = Loader::new().toml(FLOWS, "test", None).load().expect("it makes sense").resolve();
    let mut host = Host::new(&config).expect("it starts");
    let mut ends: BTreeMap<(Instant, usize), Row> = BTreeMap::new();
    let (mut now, mut rows) = (Instant::START, Vec::new());
    loop {
        while let Some(admitted) = host.admit(now).expect("no fault") {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let end = now + Duration::from_ns(1 + (seed >> 33) % 200);
            let flow = host.requests[admitted.id.index()].flow.index();
            let row = (host.flows[flow].queue, flow, admitted.request.arrival, end);
            ends.insert((end, admitted.id.index()), row);
            rows.push(row);
        }
        let next_end = ends.first_key_value().map(|((end, _), _)| *end);
        let Some(next) = [next_end, host.next_arrival()].into_iter().flatten().min() else {
            break;
        };
        now = next;
        host.arrive(now);
        while let Some(((end, id), _)) = ends.first_key_value().map(|(key, row)| (*key, *row))
            && end == now
        {
            ends.remove(&(end, id));
            let parts = Parts::default();
            let finished = FinishedRequest {
                request: RequestId::from_index(id),
                parts,
                device: SsdId(0),
                outcome: Outcome::Done,
            };
            host.leave(&finished, now);
        }
    }
    assert!(host.is_done());
    rows
}

#[test]
fn nobody_is_admitted_before_an_earlier_arrival_of_the_same_queue() {
    for seed in 0..50 {
        let mut last = [Instant::START; 2];
        let rows = run(seed);
        assert_eq!(rows.len(), 1500);
        for (queue, flow, arrival, _) in rows {
            assert!(arrival >= last[queue], "seed {seed}: flow {flow} at {arrival:?}");
            last[queue] = arrival;
        }
    }
}

#[test]
fn equal_arrivals_of_a_queue_take_turns() {
    // Both loops of the first queue, and the limited one's first request, arrive at the start.
    let first: Vec<usize> =
        run(1).iter().filter(|row| row.0 == 0).map(|row| row.1).take(10).collect();
    assert_eq!(first, [0, 2, 4, 0, 2, 0, 2, 0, 2, 0]);
}

#[test]
fn a_closed_loop_has_as_many_requests_under_way_as_it_is_deep() {
    for seed in 0..50 {
        let rows = run(seed);
        for (flow, iodepth) in [(0, 9), (1, 4), (2, 9)] {
            let own = rows.iter().filter(|row| row.1 == flow);
            let (arrivals, mut ends): (Vec<_>, Vec<_>) = own.map(|row| (row.2, row.3)).unzip();
            ends.sort_unstable();
            assert_eq!(arrivals[..iodepth], vec![Instant::START; iodepth]);
            assert_eq!(arrivals[iodepth..], ends[..ends.len() - iodepth], "seed {seed}");
        }
    }
}

#[test]
fn a_wait_outside_the_device_is_time_of_the_host_s_queue() {
    let config = Loader::new().toml(FLOWS, "test", None).load().expect("it makes sense").resolve();
    let mut host = Host::new(&config).expect("it starts");
    let admit = |host: &mut Host, ns| host.admit(Instant::from_ns(ns)).expect("no fault");
    let admitted: Vec<_> = std::iter::from_fn(|| admit(&mut host, 0)).collect();
    assert_eq!(admitted.len(), 6, "both queues are full");
    let finished = |request| FinishedRequest {
        request,
        parts: Parts::default(),
        device: SsdId(0),
        outcome: Outcome::Done,
    };
    host.leave(&finished(admitted[0].id), Instant::from_ns(40));
    let waited = admit(&mut host, 40).expect("a place is free");
    let completion = host.leave(&finished(waited.id), Instant::from_ns(40));
    assert_eq!(completion.response, Duration::from_ns(40));
    assert_eq!(completion.parts[Part::HostQueue], Duration::from_ns(40));
}
