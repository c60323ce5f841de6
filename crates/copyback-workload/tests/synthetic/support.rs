//! Generated requests, and the sums that tests check on them.

use copyback_config::quantity::{Share, Size};
use copyback_config::units::Instant;
use copyback_config::{RequestSize, SyntheticWorkload};
use copyback_workload::AddressSpace;
use copyback_workload::Request;
use copyback_workload::synthetic::Generator;

pub const GIB: u64 = 1 << 30;
pub const UNIT: u64 = 4096;

/// Every request of a workload on a device of `capacity` bytes.
pub fn generate_on(capacity: u64, config: &SyntheticWorkload, seed: u64) -> Vec<Request> {
    let mut generator =
        Generator::new(config, space(capacity), seed, "workload/0", "workload").unwrap();
    std::iter::from_fn(|| generator.next_request().unwrap()).collect()
}

/// How many requests come before the one whose time is a fault, and what is said of it.
pub fn until_fault(config: &SyntheticWorkload) -> (u64, String) {
    let mut generator = Generator::new(config, space(GIB), 7, "w", "workload.flows.2").unwrap();
    let mut count = 0;
    loop {
        match generator.next_request() {
            Ok(Some(request)) => assert!(request.arrival <= Instant::END),
            Ok(None) => panic!("no request is a fault"),
            Err(fault) => return (count, fault.to_string()),
        }
        count += 1;
    }
}

/// Every request of a workload on a device of 1 GiB.
pub fn generate(config: &SyntheticWorkload, seed: u64) -> Vec<Request> {
    generate_on(GIB, config, seed)
}

/// Single pages at random, with nothing sequential.
pub fn single_pages(requests: u64) -> SyntheticWorkload {
    SyntheticWorkload {
        requests: requests.into(),
        request_size: RequestSize::Fixed(Size(UNIT)),
        sequential_share: Share(0.0),
        ..SyntheticWorkload::default()
    }
}

/// Mean and variance.
pub fn moments(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    for value in values {
        count += 1.0;
        let from_old = value - mean;
        mean += from_old / count;
        squares += from_old * (value - mean);
    }
    (mean, squares / (count - 1.0))
}

/// Whether `found` is within `sigmas` standard errors of `expected`.
#[track_caller]
pub fn assert_near(found: f64, expected: f64, standard_error: f64) {
    let sigmas = (found - expected).abs() / standard_error;
    assert!(sigmas <= 5.0, "found {found}, expected {expected}: {sigmas:.1} standard errors");
}

/// Whether counts that should all be alike pass a chi-square test.
#[track_caller]
pub fn assert_uniform(counts: &[u64]) {
    assert_shares(counts, &vec![1.0 / counts.len() as f64; counts.len()]);
}

/// Whether counts pass a chi-square test against probabilities that sum to 1.
#[track_caller]
pub fn assert_shares(counts: &[u64], expected: &[f64]) {
    let all = counts.iter().sum::<u64>() as f64;
    let cells = counts.iter().zip(expected);
    let chi2: f64 = cells.map(|(&n, p)| (n as f64 - all * p).powi(2) / (all * p)).sum();
    let freedom = counts.len() as f64 - 1.0;
    assert_near(chi2, freedom, (2.0 * freedom).sqrt());
}

/// A device of `bytes` with pages of 4 KiB.
pub fn space(bytes: u64) -> AddressSpace {
    AddressSpace { bytes, page_size: 4096, drive: None }
}
