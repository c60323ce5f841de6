//! How large requests are.

use copyback_config::quantity::Size;
use copyback_config::{RequestSize, SyntheticWorkload};

use copyback_workload::{Operation, Request};

use crate::support::{GIB, UNIT, assert_near, assert_shares, generate, generate_on, moments};

fn sized(request_size: RequestSize) -> SyntheticWorkload {
    SyntheticWorkload { requests: 400_000.into(), request_size, ..SyntheticWorkload::default() }
}

/// An exponential rounded up to units is geometric: with p = 1 - exp(-unit / mean), its mean is
/// 1 / p units and its variance (1 - p) / p^2. The default mean of 32 KiB becomes 34.09 KiB.
#[test]
fn exponential_sizes_are_geometric_in_units() {
    let sizes = generate_on(64 * GIB, &sized(RequestSize::Exponential { mean: Size(32 << 10) }), 1);
    let (mean, variance) = moments(sizes.iter().map(|r| (r.length / UNIT) as f64));
    let p = 1.0 - (-4.0_f64 / 32.0).exp();
    let root = (sizes.len() as f64).sqrt();
    assert_near(mean, 1.0 / p, (1.0 - p).sqrt() / p / root);
    let expected = (1.0 - p) / (p * p);
    let fourth = expected * expected * (9.0 + p * p / (1.0 - p));
    assert_near(variance, expected, (fourth - expected * expected).sqrt() / root);
    let single = sizes.iter().filter(|r| r.length == UNIT).count() as f64;
    assert_near(single / sizes.len() as f64, p, (p * (1.0 - p)).sqrt() / root);
}

#[test]
fn fixed_sizes_are_rounded_up_to_units() {
    for (size, length) in [(0, 4096), (1, 4096), (4096, 4096), (4097, 8192), (6 << 10, 8192)] {
        let sized = sized(RequestSize::Fixed(Size(size)));
        let requests = generate(&SyntheticWorkload { alignment: Some(Size(UNIT)), ..sized }, 2);
        assert!(requests.iter().all(|request| request.length == length), "{size}");
    }
}

#[test]
fn sizes_end_at_the_footprint() {
    let requests = generate_on(10 * UNIT, &sized(RequestSize::Exponential { mean: Size(GIB) }), 3);
    assert!(requests.iter().all(|request| request.length <= 10 * UNIT));
    let sizes = vec![Size(u64::MAX)];
    let huge = sized(RequestSize::Histogram { sizes, weights: vec![1.0] });
    let huge = SyntheticWorkload { alignment: Some(Size(UNIT)), ..huge };
    let requests = generate_on(10 * UNIT, &huge, 3);
    assert!(requests.iter().all(|request| (request.offset, request.length) == (0, 10 * UNIT)));
}

#[test]
fn histograms_have_their_shares() {
    let (sizes, weights) = ([4, 8, 64, 6], [5.0, 3.0, 2.0, 0.0]);
    let size = RequestSize::Histogram {
        sizes: sizes.map(|kib| Size(kib << 10)).to_vec(),
        weights: weights.to_vec(),
    };
    let requests = generate_on(64 * GIB, &sized(size), 4);
    let of = |kib: u64| requests.iter().filter(|r| r.length == kib << 10).count() as u64;
    assert_shares(&[of(4), of(8), of(64)], &[0.5, 0.3, 0.2]);
    assert_eq!(of(4) + of(8) + of(64), 400_000);
}

#[test]
fn histograms_are_rounded_up_to_units() {
    let size = RequestSize::Histogram { sizes: vec![Size(512), Size(5000)], weights: vec![1.0; 2] };
    let requests = generate(&sized(size), 5);
    assert!(requests.iter().all(|r| [UNIT, 2 * UNIT].contains(&r.length)));
}

#[test]
fn reads_and_writes_have_sizes_of_their_own() {
    let size = RequestSize::ByOperation {
        read: Box::new(RequestSize::Fixed(Size(64 << 10))),
        write: Box::new(RequestSize::Exponential { mean: Size(16 << 10) }),
    };
    let requests = generate_on(64 * GIB, &sized(size), 6);
    let (reads, writes): (Vec<Request>, Vec<Request>) =
        requests.into_iter().partition(|r| r.operation == Operation::Read);
    assert!(reads.iter().all(|r| r.length == 64 << 10));
    let (mean, variance) = moments(writes.iter().map(|r| (r.length / UNIT) as f64));
    let p = 1.0 - (-0.25_f64).exp();
    assert_near(mean, 1.0 / p, (variance / writes.len() as f64).sqrt());
}
