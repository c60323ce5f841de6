//! A part of a trace, at another pace, again and again, somewhere else on the device.

use std::collections::{BTreeMap, BTreeSet};

use copyback_config::quantity::{Size, Time};
use copyback_config::{BeyondDevice, DeviceLayout, DeviceName, TraceFormat, TraceWorkload};
use copyback_workload::trace::TraceSource;
use copyback_workload::{InputError, Operation, Request};
use proptest::prelude::*;

use crate::support::{GIB, Scratch, config, drain, open_bytes};

const SECOND: u64 = 1_000_000_000;

/// ASUs 0, 1 and 2 in turn, a request each second, sector by sector.
fn spc(count: u64) -> String {
    (0..count).map(|i| format!("{},{i},512,w,{}\n", i % 3, 5 + i)).collect()
}

fn seconds(seconds: u64) -> Option<Time> {
    Some(Time::from_ns(seconds * SECOND))
}

fn devices(names: &[&str]) -> Vec<DeviceName> {
    names.iter().map(|name| DeviceName((*name).to_owned())).collect()
}

/// Arrival in seconds, and sector.
fn shaped(text: &str, config: &TraceWorkload) -> Result<Vec<(u64, u64)>, InputError> {
    let requests = drain(&mut open_bytes(text.as_bytes(), config)?)?;
    Ok(requests.iter().map(|r| (r.arrival.as_ns() / SECOND, r.offset / 512)).collect())
}

/// The same from a file, which can be read again.
fn from_file(text: &str, config: TraceWorkload) -> Result<Vec<Request>, InputError> {
    let file = Scratch::file("x.spc", text.as_bytes());
    let mut source = TraceSource::open(&TraceWorkload { path: file.0.clone(), ..config }, GIB)?;
    drain(&mut source)
}

fn problem<T: std::fmt::Debug>(outcome: Result<T, InputError>) -> String {
    outcome.unwrap_err().to_string()
}

#[test]
fn devices_are_chosen_and_keep_their_times() {
    let config = TraceWorkload { devices: devices(&["2", "0"]), ..config("x.spc") };
    assert_eq!(shaped(&spc(7), &config).unwrap(), [(0, 0), (2, 2), (3, 3), (5, 5), (6, 6)]);
    let one = TraceWorkload { devices: devices(&["0x2"]), ..config };
    assert_eq!(shaped(&spc(7), &one).unwrap(), [(2, 2), (5, 5)]);
}

#[test]
fn devices_have_names() {
    let chosen = |text: &str, names: &[&str]| {
        let config = TraceWorkload { devices: devices(names), ..config("x") };
        shaped(text, &config).map(|requests| requests.iter().map(|r| r.1).collect::<Vec<_>>())
    };
    let msr = "10,hm,0,Read,0,512,1\n10,hm,1,Read,512,512,1\n10,ts,1,Read,1024,512,1\n";
    assert_eq!(chosen(msr, &["hm_1"]).unwrap(), [1]);
    assert_eq!(chosen(msr, &["1"]).unwrap(), [1, 2]);
    let blkparse = "8,0 3 1 0.1 697 Q W 3 + 8 [x]\n8,16 3 2 0.2 697 Q W 4 + 8 [x]\n";
    assert_eq!(chosen(blkparse, &["8,16"]).unwrap(), [4]);
    let fio = "fio version 3 iolog\n0 /dev/a write 512 512\n0 /dev/b write 1024 512\n";
    assert_eq!(chosen(fio, &["/dev/b"]).unwrap(), [2]);
    assert_eq!(
        problem(chosen(blkparse, &["sda"])),
        "workload.devices: found \"sda\"; expected a device such as \"8,0\" (major,minor)"
    );
    assert_eq!(
        problem(chosen(msr, &["hm"])),
        "workload.devices: found \"hm\"; expected a disk's number, or host and disk such as \
         \"hm_0\""
    );
}

#[test]
fn devices_that_are_not_there_are_told() {
    let wanted = TraceWorkload { devices: devices(&["1", "7"]), ..config("x.spc") };
    let mut source = open_bytes(spc(5).as_bytes(), &wanted).unwrap();
    drain(&mut source).unwrap();
    assert_eq!(source.notes(), ["x.spc: no request is for device \"7\""]);
    let none = TraceWorkload { devices: devices(&["7"]), ..wanted };
    assert_eq!(
        problem(shaped(&spc(5), &none)),
        "x.spc: found 5 requests, none of which workload.devices, from, until and duration let \
         through; expected at least one"
    );
}

#[test]
fn a_window_is_cut_out() {
    let window = TraceWorkload { from: seconds(2), until: seconds(5), ..config("x") };
    assert_eq!(shaped(&spc(9), &window).unwrap(), [(0, 2), (1, 3), (2, 4)]);
    let slower = TraceWorkload { time_scale: 3.0, limit: Some(2), ..window };
    assert_eq!(shaped(&spc(9), &slower).unwrap(), [(0, 2), (3, 3)]);
    let rubbish = spc(6) + "rubbish\n";
    let before = TraceWorkload { until: seconds(5), ..config("x") };
    assert_eq!(shaped(&rubbish, &before).unwrap().len(), 5, "what follows is not looked at");
}

#[test]
fn devices_lie_one_after_the_other() {
    let layout = DeviceLayout::Concatenate { size: None };
    let two =
        TraceWorkload { devices: devices(&["2", "0"]), device_layout: layout, ..config("x.spc") };
    let half = GIB / 2 / 512;
    let expected = [(0, half), (2, 2), (3, half + 3), (5, 5)];
    assert_eq!(shaped(&spc(6), &two).unwrap(), expected);
    let sized = DeviceLayout::Concatenate { size: Some(Size(512 * 100)) };
    let all = TraceWorkload { device_layout: sized, ..config("x.spc") };
    let mut source = open_bytes(spc(4).as_bytes(), &all).unwrap();
    let sectors: Vec<_> = drain(&mut source).unwrap().iter().map(|r| r.offset / 512).collect();
    assert_eq!(sectors, [0, 101, 202, 3]);
    assert_eq!(source.notes(), [] as [String; 0], "they share nothing");
}

#[test]
fn devices_that_do_not_fit_are_refused() {
    let sized = |size| DeviceLayout::Concatenate { size: Some(Size(size)) };
    let small = TraceWorkload {
        device_layout: sized(512 * 2),
        beyond_device: BeyondDevice::Refuse,
        ..config("x.spc")
    };
    assert_eq!(
        problem(shaped(&spc(4), &small)),
        "x.spc:3: offset: found bytes 1024 to 1536; expected them within the device's 1024 \
         (workload.beyond_device = \"wrap\" folds them, \"compact\" closes the gaps)"
    );
    let wrapped = TraceWorkload { beyond_device: BeyondDevice::Wrap, ..small };
    assert_eq!(shaped(&spc(4), &wrapped).unwrap()[3], (3, 1));
    let half = TraceWorkload { device_layout: sized(GIB / 2), ..config("x.spc") };
    assert_eq!(
        problem(shaped(&spc(4), &half)),
        "x.spc:3: device: found one more than the 2 for which workload.device_layout has room; \
         expected a smaller size, more drives, or a list in workload.devices"
    );
    let listed = TraceWorkload { devices: devices(&["0", "1", "2"]), ..half };
    assert_eq!(
        problem(shaped(&spc(4), &listed)),
        "workload.device_layout.size: found 512MiB for each of 3 devices; expected at most the \
         1GiB of the simulated one in all, and 1MiB for each"
    );
}

fn compact(extent: u64) -> TraceWorkload {
    let extent = Size(extent);
    TraceWorkload { beyond_device: BeyondDevice::Compact { extent }, ..config("x.spc") }
}

#[test]
fn a_compact_footprint_is_dense_and_keeps_requests_whole() {
    let config = compact(4096);
    let text = "0,8000000000,4096,w,0\n1,8000000000,4096,r,0\n0,80,512,w,0\n0,7999999992,8192,w,0\n\
                0,16,512,w,0\n";
    let sectors = |config: &TraceWorkload| -> Vec<u64> {
        shaped(text, config).unwrap().iter().map(|r| r.1).collect()
    };
    assert_eq!(sectors(&config), [24, 24, 8, 16, 0]);
    let apart =
        TraceWorkload { device_layout: DeviceLayout::Concatenate { size: None }, ..config.clone() };
    assert_eq!(sectors(&apart), [24, 32, 8, 16, 0]);
    let mut source = open_bytes(text.as_bytes(), &config).unwrap();
    let lengths: Vec<_> = drain(&mut source).unwrap().iter().map(|r| r.length).collect();
    assert_eq!(lengths, [4096, 4096, 512, 8192, 512]);
    assert_eq!(
        source.notes(),
        [
            "x.spc: 4 extents of 4KiB are touched, and lie one after the other in order of address",
            "x.spc: its 2 devices share one address space"
        ]
    );
}

#[test]
fn a_footprint_beyond_the_device_is_refused() {
    let text = "0,0,512,w,0\n0,99999999,512,w,0\n0,0,512,w,0\n0,7999999999,512,w,0\n";
    assert_eq!(
        problem(shaped(text, &compact(GIB / 2))),
        "x.spc: footprint: found addresses up to 3.7 TiB with more touched, in extents of 512MiB, \
         than the 1.0 GiB that there are for them; expected a larger drive, a part of the trace \
         (workload.limit, until, devices), or workload.beyond_device = \"wrap\""
    );
    let part = TraceWorkload { limit: Some(3), ..compact(GIB / 2) };
    assert_eq!(shaped(text, &part).unwrap().len(), 3, "what is not replayed needs no room");
}

#[test]
fn trims_touch_nothing() {
    let text = "0 ; 0 ; 80 ; D\n1 ; 16 ; 8 ; W\n2 ; 0 ; 80 ; D\n3 ; 0 ; 0 ; FN\n4 ; 0 ; 8 ; R\n\
                5 ; 100 ; 8 ; D\n";
    let mut source = open_bytes(text.as_bytes(), &compact(4096)).unwrap();
    let requests = drain(&mut source).unwrap();
    let found: Vec<_> = requests.iter().map(|r| (r.operation, r.offset, r.length)).collect();
    assert_eq!(
        found,
        [
            (Operation::Trim, 0, 8192),
            (Operation::Write, 4096, 4096),
            (Operation::Trim, 0, 8192),
            (Operation::Flush, 0, 0),
            (Operation::Read, 0, 4096)
        ]
    );
    assert_eq!(source.notes()[1], "x.spc: 1 trims of what nothing else touches were left out");
}

#[test]
fn by_default_a_trace_fits_itself_and_says_so() {
    let far = "0,2097144,8192,w,0\n0,0,4096,r,1\n0,8000000000,4096,w,2\n";
    let mut source = open_bytes(far.as_bytes(), &config("x.spc")).unwrap();
    let requests = drain(&mut source).unwrap();
    let found: Vec<_> = requests.iter().map(|r| (r.offset, r.length)).collect();
    let mib = 1 << 20;
    assert_eq!(found, [(2 * mib - 4096, 8192), (0, 4096), (3 * mib, 4096)]);
    assert_eq!(
        source.notes(),
        [
            "x.spc: its addresses reach 3.7 TiB, beyond the 1.0 GiB that there are for them; so they \
          were moved: 4 extents of 1MiB are touched, and lie one after the other in order of address \
          (workload.beyond_device = \"refuse\" ends the run instead, \"wrap\" folds them)"
        ]
    );
    let near = "0,2097144,4096,w,0\n0,8,4096,r,1\n";
    let mut source = open_bytes(near.as_bytes(), &config("x.spc")).unwrap();
    let found: Vec<_> = drain(&mut source).unwrap().iter().map(|r| r.offset).collect();
    assert_eq!((found, source.notes()), (vec![GIB - 4096, 4096], Vec::new()), "as they are");
}

#[test]
fn smaller_extents_are_tried_where_larger_ones_have_no_room() {
    let scattered: String =
        (0..5000).map(|i| format!("0,{},4096,w,{i}\n", i * 4096 + 64)).collect();
    let mut source = open_bytes(scattered.as_bytes(), &config("x.spc")).unwrap();
    assert_eq!(drain(&mut source).unwrap().len(), 5000);
    assert!(source.notes()[0].contains("5000 extents of 128KiB are touched"));
    let fewer = TraceWorkload { limit: Some(100), ..config("x.spc") };
    let mut source = open_bytes(scattered.as_bytes(), &fewer).unwrap();
    assert_eq!((drain(&mut source).unwrap().len(), source.notes()), (100, Vec::new()));
}

#[test]
fn regions_are_fitted_each_in_its_own() {
    let layout = DeviceLayout::Concatenate { size: Some(Size(GIB / 2)) };
    let config = TraceWorkload { device_layout: layout, ..config("x.spc") };
    let text = "3,8000000000,4096,w,0\n1,8000000000,4096,r,0\n3,0,4096,w,1\n";
    let requests = drain(&mut open_bytes(text.as_bytes(), &config).unwrap()).unwrap();
    let found: Vec<_> = requests.iter().map(|r| r.offset).collect();
    let within = 8_000_000_000 * 512 % (1 << 20);
    assert_eq!(found, [(1 << 20) + within, GIB / 2 + within, 0]);
}

#[test]
fn a_damaged_row_is_known_before_the_first_request() {
    let text = format!("{}0,0,x,w,9\n", spc(3));
    let fault = problem(open_bytes(text.as_bytes(), &config("x.spc")).map(|_| ()));
    assert_eq!(fault, "x.spc:4: size: found \"x\"; expected a whole number of bytes");
}

#[test]
fn a_trace_is_repeated_for_a_time() {
    let config = TraceWorkload { duration: seconds(8), ..config("x") };
    let requests = from_file(&spc(3), config.clone()).unwrap();
    let found: Vec<_> =
        requests.iter().map(|r| (r.arrival.as_ns() / SECOND, r.offset / 512)).collect();
    let expected = [(0, 0), (1, 1), (2, 2), (3, 0), (4, 1), (5, 2), (6, 0), (7, 1)];
    assert_eq!(found, expected);
    assert_eq!(from_file(&spc(30), config).unwrap().len(), 8, "or cut");
}

#[test]
fn a_trace_that_takes_no_time_is_not_repeated() {
    let config = TraceWorkload { duration: seconds(8), ..config("x") };
    let text = "0,0,512,w,5\n0,1,512,w,5\n";
    let fault = problem(from_file(text, config.clone()));
    assert!(
        fault.ends_with(
            "found requests that all arrive at once; expected some that workload.duration can \
             repeat"
        ),
        "{fault}"
    );
    let file = Scratch::path("x.spc");
    let status = std::process::Command::new("mkfifo").arg(&file.0).status().unwrap();
    assert!(status.success());
    let path = file.0.clone();
    let writer = std::thread::spawn(move || std::fs::write(path, spc(3)));
    let fifo = TraceWorkload { path: file.0.clone(), ..config };
    let fault = problem(TraceSource::open(&fifo, GIB).map(|_| ()));
    assert!(fault.ends_with("which a pipe can't; expected a file"), "{fault}");
    let _ = writer.join();
}

/// Every request of a trace at once, shaped in the plainest way.
fn reference(rows: &[(u64, u64)], config: &TraceWorkload) -> Vec<(u64, u64)> {
    let first = rows[0].0;
    let ns = |time: Option<Time>| time.map(|time| time.0.as_ns());
    let from = ns(config.from).unwrap_or(0);
    let wanted: BTreeSet<u64> = config.devices.iter().map(|d| d.0.parse().unwrap()).collect();
    let scaled = |ns: u64| (ns as f64 * config.time_scale).round() as u64;
    let (mut piece, mut seen, mut latest, mut reached_end) = (Vec::new(), 0, 0, false);
    for (i, (time, device)) in rows.iter().enumerate() {
        if config.limit.is_some_and(|limit| piece.len() as u64 == limit) {
            break;
        }
        (seen, latest) = (i as u64, time - first);
        if ns(config.until).is_some_and(|until| latest >= until) {
            reached_end = true;
            break;
        }
        if latest >= from && (wanted.is_empty() || wanted.contains(device)) {
            piece.push((scaled(latest - from), i as u64));
        }
    }
    let length =
        if reached_end { ns(config.until).unwrap() } else { latest + latest / seen.max(1) };
    let length = scaled(length.saturating_sub(from));
    let Some(end) = ns(config.duration) else { return piece };
    let rounds = if piece.is_empty() || length == 0 { 1 } else { end / length + 1 };
    let repeated = (0..rounds)
        .flat_map(|round| piece.iter().map(move |(arrival, row)| (round * length + arrival, *row)));
    repeated.take_while(|(arrival, _)| *arrival < end).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn agrees_with_the_plainest_way(
        pauses in prop::collection::vec((0_u64..50, 0_u64..3), 1..30),
        from in prop::option::of(0_u64..300),
        window in prop::option::of(1_u64..500),
        limit in prop::option::of(1_u64..12),
        duration in prop::option::of(1_u64..3000),
        time_scale in prop::sample::select(vec![1.0, 0.5, 3.0]),
        wanted in prop::collection::btree_set(0_u64..3, 0..3),
    ) {
        let mut time = 1000;
        let rows: Vec<(u64, u64)> = pauses.iter().map(|(pause, device)| {
            time += pause;
            (time, *device)
        }).collect();
        let config = TraceWorkload {
            format: Some(TraceFormat::Ssdsim),
            from: from.map(Time::from_ns),
            until: window.map(|window| Time::from_ns(from.unwrap_or(0) + window)),
            limit,
            duration: duration.map(Time::from_ns),
            time_scale,
            devices: wanted.iter().map(|device| DeviceName(device.to_string())).collect(),
            ..config("x")
        };
        let text: String = rows
            .iter()
            .enumerate()
            .map(|(i, (time, device))| format!("{time} {device} {i} 1 0\n"))
            .collect();
        let expected = reference(&rows, &config);
        match from_file(&text, config) {
            Ok(found) => {
                let found: Vec<_> =
                    found.iter().map(|r| (r.arrival.as_ns(), r.offset / 512)).collect();
                prop_assert_eq!(found, expected);
            }
            Err(error) => {
                let error = error.to_string();
                let at_once = error.contains("all arrive at once");
                prop_assert!(expected.is_empty() || at_once, "{}", error);
                prop_assert!(!at_once || duration.is_some());
            }
        }
    }

    #[test]
    fn a_compact_trace_keeps_what_it_addresses(
        ranges in prop::collection::vec((0_u64..2000, 1_u64..200, 0_u64..2), 1..40),
    ) {
        let text: String = ranges
            .iter()
            .map(|(sector, sectors, device)| format!("0 {device} {sector}00 {sectors} 0\n"))
            .collect();
        let config = TraceWorkload {
            format: Some(TraceFormat::Ssdsim),
            device_layout: DeviceLayout::Concatenate { size: None },
            beyond_device: BeyondDevice::Compact { extent: Size(4096) },
            ..config("x")
        };
        let requests = drain(&mut open_bytes(text.as_bytes(), &config).unwrap()).unwrap();
        prop_assert_eq!(requests.len(), ranges.len());
        let mut places = BTreeMap::new();
        let mut taken = BTreeSet::new();
        for ((sector, sectors, device), request) in ranges.into_iter().zip(&requests) {
            prop_assert_eq!(request.length, sectors * 512);
            for i in 0..sectors {
                let (at, place) = (sector * 100 + i, request.offset / 512 + i);
                let known = *places.entry((device, at)).or_insert(place);
                prop_assert_eq!(known, place, "a sector stays where it is");
                prop_assert_eq!(place % 8, at % 8);
                taken.insert(place / 8);
            }
        }
        let distinct: BTreeSet<u64> = places.values().copied().collect();
        prop_assert_eq!(distinct.len(), places.len(), "no two sectors share a place");
        prop_assert_eq!(taken.last().copied(), Some(taken.len() as u64 - 1), "no gaps");
    }
}
