//! What the configuration does to a trace: scale, limit, wrap; and what is noted on the way.

use copyback_config::quantity::Size;
use copyback_config::units::Instant;
use copyback_config::{BeyondDevice, TraceFormat, TraceWorkload};
use copyback_workload::{Operation, Request};

use crate::support::{GIB, config, drain, open_bytes, read};

const THREE: &str = "0,0,512,r,5\n1,8,1024,w,5.000000002\n0,16,512,R,7.5\n";

fn arrivals(requests: &[Request]) -> Vec<u64> {
    requests.iter().map(|request| request.arrival.as_ns()).collect()
}

#[test]
fn requests_are_exact() {
    let request = |ns, operation, offset, length| Request {
        arrival: Instant::from_ns(ns),
        operation,
        offset,
        length,
        measured: None,
        hint: None,
    };
    let expected = [
        request(0, Operation::Read, 0, 512),
        request(2, Operation::Write, 4096, 1024),
        request(2_500_000_000, Operation::Read, 8192, 512),
    ];
    assert_eq!(read(THREE).unwrap(), expected);
}

#[test]
fn a_long_week_keeps_its_nanoseconds() {
    let trace = "0,0,512,r,0.000000001\n0,0,512,r,604800.000000002\n";
    assert_eq!(arrivals(&read(trace).unwrap()), [0, 604_800_000_000_001]);
}

#[test]
fn time_is_scaled() {
    let config = TraceWorkload { time_scale: 0.5, ..config("x") };
    let requests = drain(&mut open_bytes(THREE.as_bytes(), &config).unwrap()).unwrap();
    assert_eq!(arrivals(&requests), [0, 1, 1_250_000_000]);
}

#[test]
fn a_limit_ends_the_trace_and_hides_what_follows() {
    let config = TraceWorkload { limit: Some(2), ..config("x") };
    let trace = format!("{}rubbish\n", THREE.replace("0,16,512,R,7.5\n", ""));
    let mut source = open_bytes(trace.as_bytes(), &config).unwrap();
    assert_eq!(drain(&mut source).unwrap().len(), 2);
    assert_eq!(source.next_request().unwrap(), None, "stays at its end");
    assert_eq!(source.consumed(), 1.0);
}

#[test]
fn the_limit_may_exceed_the_trace() {
    let config = TraceWorkload { limit: Some(100), ..config("x") };
    let mut source = open_bytes(THREE.as_bytes(), &config).unwrap();
    assert_eq!(drain(&mut source).unwrap().len(), 3);
}

#[test]
fn addresses_wrap_on_request_and_are_noted() {
    let config = TraceWorkload { beyond_device: BeyondDevice::Wrap, ..config("x.spc") };
    let last = GIB / 512 - 1;
    let trace = format!("0,{last},1024,w,0\n0,{},512,w,0\n0,8,512,w,0\n", 5 * GIB / 512 + 3);
    let mut source = open_bytes(trace.as_bytes(), &config).unwrap();
    let offsets: Vec<_> = drain(&mut source).unwrap().iter().map(|r| r.offset).collect();
    assert_eq!(offsets, [GIB - 1024, 3 * 512, 8 * 512]);
    assert_eq!(source.notes(), ["x.spc: 2 requests beyond the device were wrapped"]);
}

#[test]
fn small_inversions_are_held_and_noted() {
    let trace = "0,0,512,r,1\n0,0,512,r,2\n\n0,0,512,r,1.75\n0,0,512,r,1.5\n0,0,512,r,2.5\n";
    let mut source = open_bytes(trace.as_bytes(), &config("x.spc")).unwrap();
    let times = arrivals(&drain(&mut source).unwrap());
    assert_eq!(times, [0, 1_000_000_000, 1_000_000_000, 1_000_000_000, 1_500_000_000]);
    let note = "x.spc: 2 requests have a time before an earlier line's (the first at line 4, by at \
                most 0.5 s); such a time counts as that line's";
    assert_eq!(source.notes(), [note]);
}

#[test]
fn devices_share_the_space_and_are_noted() {
    let mut source = open_bytes(THREE.as_bytes(), &config("x.spc")).unwrap();
    drain(&mut source).unwrap();
    assert_eq!(source.notes(), ["x.spc: its 2 devices share one address space"]);
}

#[test]
fn blkreplay_carries_discards_and_flushes() {
    let trace = "0 ; 8 ; 8 ; D\n0 ; 0 ; 0 ; FN\n0 ; 8 ; 8 ; FWS\n";
    let requests = read(trace).unwrap();
    let of = |r: &Request| (r.operation, r.offset, r.length);
    assert_eq!(
        requests.iter().map(of).collect::<Vec<_>>(),
        [(Operation::Trim, 4096, 4096), (Operation::Flush, 0, 0), (Operation::Write, 4096, 4096)]
    );
}

#[test]
fn a_named_format_overrides_detection() {
    let config = TraceWorkload {
        format: Some(TraceFormat::Disksim { size_unit: Size(512), time_unit: None }),
        ..config("x")
    };
    let trace = b"0 0 303567 7 0\n26214000 1 55590 6 0\n";
    assert!(open_bytes(trace, &TraceWorkload { format: None, ..config.clone() }).is_err());
    let requests = drain(&mut open_bytes(trace, &config).unwrap()).unwrap();
    assert_eq!(arrivals(&requests), [0, 26_214_000_000_000]);
}

#[test]
fn consumed_grows_to_one() {
    let trace = "0,0,512,r,5\n".repeat(200_000);
    let mut source = open_bytes(trace.as_bytes(), &config("x")).unwrap();
    let mut before = source.consumed();
    assert!(before < 0.5);
    while source.next_request().unwrap().is_some() {
        assert!(source.consumed() >= before);
        before = source.consumed();
    }
    assert_eq!(before, 1.0);
}
