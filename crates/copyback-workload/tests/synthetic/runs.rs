//! Which requests follow others, and where; flushes between them.

use copyback_config::quantity::{Share, Size};
use copyback_config::{RequestSize, Skip, SyntheticWorkload};
use copyback_workload::synthetic::Generator;
use copyback_workload::{Operation, Request};

use crate::support::{UNIT, generate_on, single_pages, space};

fn in_order(requests: u64, sequential_skip: Skip) -> SyntheticWorkload {
    let sequential_share = Share(1.0);
    let read_share = Share(1.0);
    SyntheticWorkload { sequential_share, read_share, sequential_skip, ..single_pages(requests) }
}

fn starts(requests: &[Request]) -> Vec<u64> {
    requests.iter().map(|request| request.offset / UNIT).collect()
}

/// The holes of fio's `rw=read:8k` with `bs=4k`.
#[test]
fn what_lies_between_is_passed_over() {
    let skip = Skip::Forward { bytes: Size(2 * UNIT), every: None };
    let requests = generate_on(10 * UNIT, &in_order(6, skip), 1);
    assert_eq!(starts(&requests), [0, 3, 6, 9, 0, 3]);
}

/// The zones of fio's `zonemode=strided`.
#[test]
fn some_may_be_asked_for_before_some_is_passed_over() {
    let skip = Skip::Forward { bytes: Size(3 * UNIT), every: Some(Size(2 * UNIT)) };
    let requests = generate_on(10 * UNIT, &in_order(7, skip), 1);
    assert_eq!(starts(&requests), [0, 1, 5, 6, 0, 1, 5]);
}

/// fio's `rw=read:-8k` with `bs=4k`: from the end, the last block apart, as its first step leaves it out.
#[test]
fn requests_go_backwards() {
    let skip = Skip::Backward { bytes: Size(2 * UNIT) };
    let requests = generate_on(6 * UNIT, &in_order(7, skip), 1);
    assert_eq!(starts(&requests), [4, 3, 2, 1, 0, 4, 3]);
}

#[test]
fn a_random_start_is_followed_by_the_rest_of_a_run() {
    let config = SyntheticWorkload { sequential_run: Some(4), ..in_order(4000, Skip::None) };
    let requests = generate_on(1 << 30, &config, 2);
    let starts = starts(&requests);
    for run in starts.chunks(4) {
        assert!(run.windows(2).all(|pair| pair[1] == pair[0] + 1 || pair[1] == 0), "{run:?}");
    }
    let mut firsts: Vec<_> = starts.iter().step_by(4).collect();
    firsts.sort_unstable();
    firsts.dedup();
    assert!(firsts.len() > 950, "a thousand of 262,144 places, {} apart", firsts.len());
}

#[test]
fn a_flush_follows_so_many_writes_and_is_beside_the_requests() {
    let read_share = Share(0.5);
    let config =
        SyntheticWorkload { flush_every: Some(3), read_share, ..in_order(1000, Skip::None) };
    let requests = generate_on(1 << 30, &config, 3);
    let flushes = requests.iter().filter(|r| r.operation == Operation::Flush).count();
    let writes = requests.iter().filter(|r| r.operation == Operation::Write).count();
    assert_eq!(requests.len() - flushes, 1000);
    assert_eq!(flushes, writes / 3);
    let mut since = 0;
    for request in &requests {
        match request.operation {
            Operation::Write => since += 1,
            Operation::Flush => assert_eq!(std::mem::take(&mut since), 3),
            _ => {}
        }
    }
}

#[test]
fn a_trim_of_the_same_bytes_comes_before_each_write() {
    let config = SyntheticWorkload {
        trim_before_write: true,
        flush_every: Some(2),
        read_share: Share(0.0),
        ..in_order(4, Skip::None)
    };
    let requests = generate_on(1 << 30, &config, 3);
    use Operation::{Flush, Trim, Write};
    let operations: Vec<_> = requests.iter().map(|request| request.operation).collect();
    assert_eq!(operations, [Trim, Write, Trim, Write, Flush, Trim, Write, Trim, Write, Flush]);
    let of = |kind| {
        let requests = requests.iter().filter(move |request| request.operation == kind);
        requests.map(|request| (request.offset, request.length)).collect::<Vec<_>>()
    };
    assert_eq!(of(Trim), of(Write));
}

/// The sizes of JESD219: requests of 512 bytes that start at multiples of 4 KiB.
#[test]
fn sizes_may_be_parts_of_the_alignment() {
    let request_size = RequestSize::Histogram {
        sizes: [512, 4096, 5120].map(Size).to_vec(),
        weights: vec![1.0; 3],
    };
    let config = SyntheticWorkload {
        request_size,
        alignment: Some(Size(4096)),
        size_alignment: Some(Size(512)),
        ..in_order(3000, Skip::None)
    };
    let requests = generate_on(1 << 30, &config, 4);
    assert!(requests.iter().all(|r| r.offset % 4096 == 0 && [512, 4096, 5120].contains(&r.length)));
    // One behind the other: the next begins at the next multiple.
    for pair in requests.windows(2) {
        assert_eq!(pair[1].offset, (pair[0].offset + pair[0].length).next_multiple_of(4096));
    }
}

#[test]
fn what_does_not_fit_the_alignment_is_refused() {
    let skip = Skip::Forward { bytes: Size(512), every: None };
    let fault = |config| match Generator::new(&config, space(1 << 20), 1, "workload/0", "workload")
    {
        Ok(_) => panic!("it makes no sense"),
        Err(fault) => fault.to_string(),
    };
    assert_eq!(
        fault(in_order(1, skip)),
        "workload.sequential_skip.bytes: found 512 bytes; expected a multiple of the alignment, 4096"
    );
    let config = SyntheticWorkload { size_alignment: Some(Size(8192)), ..in_order(1, Skip::None) };
    assert_eq!(
        fault(config),
        "workload.size_alignment: found 8192 bytes; expected a part of the alignment, 4096"
    );
}
