//! Each block once a pass, as with fio's random map. What fio does was seen in the requests that fio 3.33 logs (`write_iolog`).

use std::collections::BTreeMap;

use copyback_config::quantity::{Share, Size};
use copyback_config::{AddressDistribution, RequestCount, RequestSize, SyntheticWorkload};
use copyback_workload::synthetic::Generator;
use copyback_workload::{Operation, Request};
use proptest::prelude::*;

use crate::support::{UNIT, assert_near, generate_on, single_pages, space};

/// Not a power of two: the permutation is of another number of places than there are blocks.
const BLOCKS: u64 = 1000;

fn map(passes: u64, repeats: bool) -> SyntheticWorkload {
    SyntheticWorkload {
        address: AddressDistribution::RandomMap { repeats },
        read_share: Share(0.5),
        ..single_pages(passes * BLOCKS)
    }
}

fn generate(config: &SyntheticWorkload) -> Vec<Request> {
    generate_on(BLOCKS * UNIT, config, 5)
}

/// Sizes of 1 to 16 blocks: fio's `bssplit=4k/50:64k/50` and the like.
fn mixed(sizes: &[u64], passes: u64, repeats: bool) -> SyntheticWorkload {
    SyntheticWorkload {
        requests: RequestCount::Unlimited,
        io_size: Some(Size(passes * BLOCKS * UNIT)),
        request_size: RequestSize::Histogram {
            sizes: sizes.iter().map(|blocks| Size(blocks * UNIT)).collect(),
            weights: vec![1.0; sizes.len()],
        },
        alignment: Some(Size(UNIT)),
        ..map(0, repeats)
    }
}

/// The requests pass by pass: each ends as its bytes are those of the footprint.
fn passes(requests: &[Request], bytes: u64) -> Vec<Vec<(Operation, u64, u64)>> {
    let mut passes = vec![Vec::new()];
    let mut asked = 0;
    for request in requests {
        if asked == bytes {
            passes.push(Vec::new());
            asked = 0;
        }
        asked += request.length;
        let pass = passes.last_mut().expect("one at least");
        pass.push((request.operation, request.offset, request.length));
    }
    passes
}

/// How often each block of a pass was asked for.
fn times_each(pass: &[(Operation, u64, u64)]) -> BTreeMap<u64, u64> {
    let mut times = BTreeMap::new();
    for (_, offset, length) in pass {
        for block in offset / UNIT..(offset + length).div_ceil(UNIT) {
            *times.entry(block).or_default() += 1;
        }
    }
    times
}

#[track_caller]
fn assert_each_once(pass: &[(Operation, u64, u64)], blocks: u64) {
    let once = (0..blocks).map(|block| (block, 1)).collect();
    assert_eq!(times_each(pass), once);
}

/// Reads and writes share the map.
#[test]
fn each_block_comes_once_a_pass_whatever_the_operation() {
    for repeats in [true, false] {
        let passes = passes(&generate(&map(4, repeats)), BLOCKS * UNIT);
        assert_eq!(passes.len(), 4);
        for pass in &passes {
            assert_eq!(pass.len() as u64, BLOCKS);
            assert_each_once(pass, BLOCKS);
            let reads = pass.iter().filter(|(kind, ..)| *kind == Operation::Read).count();
            assert_near(reads as f64, 500.0, 250.0_f64.sqrt());
            assert!(!repeats || *pass == passes[0]);
        }
        assert_eq!(passes[1] == passes[0], repeats);
    }
}

/// fio without `norandommap` covers all; with it, 1 - 1/e of a pass.
#[test]
fn without_a_map_a_pass_leaves_blocks_out() {
    let uniform = SyntheticWorkload { address: AddressDistribution::Uniform, ..map(1, true) };
    let found = times_each(&passes(&generate(&uniform), u64::MAX)[0]).len() as f64;
    // The number of empty boxes of n has a variance of n (1 / e - 2 / e^2).
    let e = std::f64::consts::E;
    assert_near(found, 1000.0 * (1.0 - 1.0 / e), (1000.0 * (1.0 / e - 2.0 / (e * e))).sqrt());
}

/// Requests are cut at what the pass has had: small ones are many at its end.
#[test]
fn sizes_that_differ_are_cut_at_what_was_covered() {
    for repeats in [true, false] {
        let config = mixed(&[1, 16], 3, repeats);
        let passes = passes(&generate(&config), BLOCKS * UNIT);
        assert_eq!(passes.len(), 3);
        for pass in &passes {
            assert_each_once(pass, BLOCKS);
            assert!(pass.iter().all(|(.., length)| *length <= 16 * UNIT));
            // Without cuts it would be 1000 / 8.5 = 118.
            assert!(pass.len() > 150, "{}", pass.len());
        }
        assert_eq!(passes[1] == passes[0], repeats);
    }
}

#[test]
fn the_request_that_reaches_io_size_is_the_last() {
    let requests = generate_on(BLOCKS * UNIT, &single_pages(1000), 1);
    assert_eq!(requests.len(), 1000);
    for (bytes, count) in [(1, 1), (UNIT, 1), (UNIT + 1, 2), (100 * UNIT, 100), (2000 * UNIT, 1000)]
    {
        let config = SyntheticWorkload { io_size: Some(Size(bytes)), ..single_pages(1000) };
        assert_eq!(generate_on(BLOCKS * UNIT, &config, 1), requests[..count], "{bytes}");
    }
}

/// fio marks neither the sequential requests of `percentage_random` nor those of `rw=randwrite:8`, nor goes by the map for them.
#[test]
fn sequential_requests_go_by_no_map() {
    let runs = SyntheticWorkload { sequential_run: Some(8), ..map(8, true) };
    let starts: Vec<_> = generate(&runs).iter().step_by(8).map(|request| request.offset).collect();
    let mut sorted = starts.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len() as u64, BLOCKS);
}

#[test]
fn a_trim_and_the_write_after_it_are_one() {
    let config =
        SyntheticWorkload { trim_before_write: true, read_share: Share(0.0), ..map(1, true) };
    let requests = generate(&config);
    let of = |operation| {
        let some = requests.iter().filter(move |request| request.operation == operation);
        some.map(|request| request.offset).collect::<Vec<_>>()
    };
    let (trims, writes) = (of(Operation::Trim), of(Operation::Write));
    assert_eq!(trims, writes);
    let pass: Vec<_> = writes.iter().map(|offset| (Operation::Write, *offset, UNIT)).collect();
    assert_each_once(&pass, BLOCKS);
}

#[test]
fn jobs_have_orders_of_their_own() {
    let order = |name: &str| {
        let space = space(BLOCKS * UNIT);
        let mut generator = Generator::new(&map(1, true), space, 5, name, "workload").unwrap();
        let requests = std::iter::from_fn(|| generator.next_request().unwrap());
        requests.map(|request| request.offset / UNIT).collect::<Vec<_>>()
    };
    let (first, second) = (order("workload/0"), order("workload/1"));
    // Two random permutations agree in one place on average.
    assert!(first.iter().zip(&second).filter(|(a, b)| a == b).count() < 8);
}

/// Orders are random: the places of neighbours are a third of the footprint apart on average.
#[test]
fn a_pass_is_in_random_order() {
    for config in [map(1, true), mixed(&[1, 1], 1, true)] {
        let requests = generate(&config);
        let gaps = requests.windows(2).map(|pair| pair[0].offset.abs_diff(pair[1].offset) / UNIT);
        let mean = gaps.sum::<u64>() as f64 / (requests.len() - 1) as f64;
        assert_near(mean, 1000.0 / 3.0, 1000.0 / 18_f64.sqrt() / 1000_f64.sqrt());
    }
}

#[test]
fn a_map_that_no_memory_holds_is_refused() {
    let config = mixed(&[1, 16], 1, true);
    let space = space((1 << 35) * UNIT + UNIT);
    let fault = Generator::new(&config, space, 5, "workload/0", "workload").err();
    let fault = fault.expect("too many").to_string();
    assert!(fault.starts_with("workload.address: found a map of 34359738369 blocks"), "{fault}");
    // A permutation needs no table.
    let config = SyntheticWorkload { requests: 10.into(), ..map(1, true) };
    assert_eq!(generate_on((1 << 50) * UNIT, &config, 5).len(), 10);
}

proptest! {
    /// Whatever the sizes, the footprint and the operations.
    #[test]
    fn each_block_comes_once_a_pass(
        blocks in 1_u64..400,
        first in 1_u64..40,
        second in 1_u64..40,
        reads in 0.0_f64..=1.0,
        repeats: bool,
        seed: u64,
    ) {
        let config = SyntheticWorkload {
            read_share: Share(reads),
            io_size: Some(Size(2 * blocks * UNIT)),
            ..mixed(&[first, second], 1, repeats)
        };
        let passes = passes(&generate_on(blocks * UNIT, &config, seed), blocks * UNIT);
        prop_assert_eq!(passes.len(), 2);
        for pass in &passes {
            assert_each_once(pass, blocks);
        }
    }
}
