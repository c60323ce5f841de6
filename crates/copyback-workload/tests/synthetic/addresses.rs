//! Where requests go: uniform, hot and cold, sequential, within the footprint.

use copyback_config::quantity::{Share, Size};
use copyback_config::{AddressDistribution, RequestSize, SyntheticWorkload};
use copyback_workload::synthetic::Generator;
use copyback_workload::{Operation, Request};
use proptest::prelude::*;

use crate::support::{
    GIB, UNIT, assert_near, assert_uniform, generate, generate_on, single_pages, space,
};

const PAGES: u64 = 1000;

fn counts(requests: &[Request]) -> Vec<u64> {
    let mut counts = vec![0; PAGES as usize];
    for request in requests {
        counts[(request.offset / UNIT) as usize] += 1;
    }
    counts
}

#[test]
fn uniform_requests_reach_every_page_alike() {
    assert_uniform(&counts(&generate_on(PAGES * UNIT, &single_pages(1_000_000), 1)));
}

#[test]
fn hot_pages_get_their_share() {
    let (requests, pages) = (Share(0.8), Share(0.2));
    let address = AddressDistribution::HotCold { requests, pages, scattered: false };
    let config = SyntheticWorkload { address, ..single_pages(1_000_000) };
    let counts = counts(&generate_on(PAGES * UNIT, &config, 2));
    let (hot, cold) = counts.split_at(200);
    assert_uniform(hot);
    assert_uniform(cold);
    assert_near(hot.iter().sum::<u64>() as f64, 800_000.0, (1e6_f64 * 0.8 * 0.2).sqrt());
}

#[test]
fn hot_and_cold_may_be_everything_or_nothing() {
    for (requests, pages) in [(0.0, 0.2), (1.0, 0.2), (0.8, 0.0), (0.8, 1.0)] {
        let address = AddressDistribution::HotCold {
            requests: Share(requests),
            pages: Share(pages),
            scattered: false,
        };
        let config = SyntheticWorkload { address, ..single_pages(10_000) };
        let generated = generate_on(PAGES * UNIT, &config, 3);
        let hot = generated.iter().filter(|r| r.offset < 200 * UNIT).count();
        match (requests, pages) {
            (0.0, _) => assert_eq!(hot, 0),
            (1.0, _) => assert_eq!(hot, 10_000),
            _ => assert_near(hot as f64, 2000.0, 40.0),
        }
    }
}

#[test]
fn runs_go_on_where_the_last_of_their_kind_ended() {
    let config = SyntheticWorkload { sequential_share: Share(1.0), ..SyntheticWorkload::default() };
    let mut next = [None; 2];
    for request in generate(&config, 4) {
        let next = &mut next[usize::from(request.operation == Operation::Read)];
        if let Some(next) = next.filter(|next| next + request.length <= GIB) {
            assert_eq!(request.offset, next);
        } else if next.is_some() {
            assert_eq!(request.offset, 0, "wraps");
        }
        *next = Some(request.offset + request.length);
    }
}

#[test]
fn the_sequential_share_is_met() {
    let config = SyntheticWorkload { requests: 200_000.into(), ..SyntheticWorkload::default() };
    let mut next = [None; 2];
    let mut sequential = 0;
    for request in generate_on(64 * GIB, &config, 5) {
        let next = &mut next[usize::from(request.operation == Operation::Read)];
        sequential += u64::from(*next == Some(request.offset));
        *next = Some(request.offset + request.length);
    }
    assert_near(sequential as f64, 80_000.0, (200_000_f64 * 0.4 * 0.6).sqrt());
}

#[test]
fn offset_and_footprint_bound_the_addresses() {
    let config =
        SyntheticWorkload { offset: Share(0.25), footprint: Share(0.5), ..single_pages(100_000) };
    let requests = generate_on(PAGES * UNIT, &config, 6);
    assert_eq!(requests.iter().map(|r| r.offset).min(), Some(250 * UNIT));
    assert_eq!(requests.iter().map(|r| r.offset).max(), Some(749 * UNIT));
}

#[test]
fn footprints_without_a_unit_are_refused() {
    let fault = |config: &SyntheticWorkload, capacity| {
        Generator::new(config, space(capacity), 0, "w", "workload")
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    let small = SyntheticWorkload { footprint: Share(0.0), ..SyntheticWorkload::default() };
    assert_eq!(
        fault(&small, GIB),
        "workload.footprint: found 0 bytes; expected at least one unit of 4096 bytes before the \
         device ends"
    );
    let behind = SyntheticWorkload { offset: Share(1.0), ..SyntheticWorkload::default() };
    assert!(fault(&behind, GIB).starts_with("workload.footprint: found 0 bytes"));
    for alignment in [0, 8192] {
        let config =
            SyntheticWorkload { alignment: Some(Size(alignment)), ..SyntheticWorkload::default() };
        assert_eq!(
            fault(&config, 4096),
            format!(
                "workload.alignment: found {alignment} bytes; expected 1 byte to the device's 4096"
            )
        );
    }
}

#[test]
fn a_size_beyond_the_footprint_is_refused_by_its_own_key() {
    let fault = |config: &SyntheticWorkload| {
        Generator::new(config, space(8192), 0, "w", "workload").map(|_| ()).unwrap_err().to_string()
    };
    let large = RequestSize::Fixed(Size(1 << 40));
    let config = SyntheticWorkload { request_size: large.clone(), ..SyntheticWorkload::default() };
    assert_eq!(
        fault(&config),
        "workload.request_size: found 1099511627776 bytes; expected 1 byte to the device's 8192"
    );
    let aligned = SyntheticWorkload { alignment: Some(Size(4096)), ..config };
    assert_eq!(
        fault(&aligned),
        "workload.request_size: found 1099511627776 bytes; expected at most the footprint's 8192 on \
         this device"
    );
    let request_size = RequestSize::ByOperation {
        read: Box::new(RequestSize::Fixed(Size(8192))),
        write: Box::new(large),
    };
    let config = SyntheticWorkload { request_size, ..SyntheticWorkload::default() };
    assert!(fault(&config).starts_with("workload.request_size.write: found 1099511627776 bytes"));
}

#[test]
fn sizes_that_are_cut_to_the_footprint_are_told() {
    let sizes = vec![Size(4096), Size(1 << 20)];
    let request_size = RequestSize::Histogram { sizes, weights: vec![1.0, 1.0] };
    let config =
        SyntheticWorkload { request_size, requests: 1000.into(), ..SyntheticWorkload::default() };
    let mut generator = Generator::new(&config, space(8192), 0, "w", "workload").unwrap();
    assert!(generator.notes().is_empty());
    let mut cut = 0;
    while let Some(request) = generator.next_request().unwrap() {
        cut += u64::from(request.length == 8192);
    }
    assert!((400..600).contains(&cut));
    assert_eq!(
        generator.notes(),
        [format!(
            "workload.request_size: {cut} requests were drawn larger than the footprint and cut to \
             its 8192 bytes"
        )]
    );
}

fn address(kind: i32, (requests, pages): (f64, f64), scattered: bool) -> AddressDistribution {
    match kind {
        0 => AddressDistribution::Uniform,
        1 => AddressDistribution::HotCold {
            requests: Share(requests),
            pages: Share(pages),
            scattered: false,
        },
        2 => AddressDistribution::Zoned {
            requests: vec![Share(requests), Share(1.0 - requests)],
            pages: vec![Share(pages), Share(1.0 - pages)],
            scattered: false,
        },
        3 => AddressDistribution::Zipf { theta: 3.0 * requests, scattered, ranks: None },
        _ => AddressDistribution::Pareto { h: pages.clamp(0.01, 0.99), scattered },
    }
}

proptest! {
    #[test]
    fn requests_stay_aligned_and_within_the_footprint(
        capacity in 1_u64..1 << 40,
        alignment in 1_u64..100_000,
        size in 0_u64..1 << 30,
        exponential: bool,
        kind in 0..5,
        skew in (0.0..=1.0, 0.0..=1.0),
        scattered: bool,
        shares in [0.0..=1.0, 0.0..=1.0, 0.0..=1.0],
        seed: u64,
    ) {
        let [offset, footprint, sequential] = shares;
        let size = Size(size);
        let config = SyntheticWorkload {
            requests: 200.into(),
            alignment: Some(Size(alignment)),
            request_size: if exponential {
                RequestSize::Exponential { mean: size }
            } else {
                RequestSize::Fixed(size)
            },
            address: address(kind, skew, scattered),
            offset: Share(offset),
            footprint: Share(footprint),
            sequential_share: Share(sequential),
            ..SyntheticWorkload::default()
        };
        let Ok(mut generator) = Generator::new(&config, space(capacity), seed, "w", "workload") else { return Ok(()) };
        let first = (capacity as f64 * offset) as u64 / alignment * alignment;
        while let Some(request) = generator.next_request().unwrap() {
            prop_assert!(request.length > 0);
            prop_assert_eq!(request.length % alignment, 0);
            prop_assert_eq!(request.offset % alignment, 0);
            prop_assert!(request.offset + alignment >= first);
            prop_assert!(request.offset + request.length <= capacity);
        }
        prop_assert_eq!(generator.consumed(), 1.0);
    }
}
