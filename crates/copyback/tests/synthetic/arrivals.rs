//! When requests arrive.

use copyback::config::quantity::Time;
use copyback::config::{InterArrival, SyntheticWorkload};
use copyback::units::Duration;
use copyback::workload::Request;

use crate::support::{assert_near, generate, moments, single_pages};

fn gaps(requests: &[Request]) -> Vec<f64> {
    let gap = |pair: &[Request]| (pair[1].arrival - pair[0].arrival).as_ns() as f64;
    requests.windows(2).map(gap).collect()
}

fn poisson(requests: u64, mean_ns: u64) -> SyntheticWorkload {
    let mean = Time(Duration::from_ns(mean_ns));
    let inter_arrival = Some(InterArrival::Exponential { mean });
    SyntheticWorkload { inter_arrival, ..single_pages(requests) }
}

#[test]
fn poisson_gaps_have_the_mean_and_spread_of_an_exponential() {
    let gaps = gaps(&generate(&poisson(400_001, 3_000_000), 1));
    let (mean, variance) = moments(gaps.iter().copied());
    let root = (gaps.len() as f64).sqrt();
    assert_near(mean, 3e6, 3e6 / root);
    // The fourth central moment of an exponential is 9 times its variance squared.
    assert_near(variance, 9e12, 9e12 * 8_f64.sqrt() / root);
}

/// Kolmogorov and Smirnov: a distance above 2 / sqrt(n) has a probability below 0.001.
#[test]
fn poisson_gaps_follow_an_exponential() {
    let mut gaps = gaps(&generate(&poisson(100_001, 3_000_000), 2));
    gaps.sort_by(f64::total_cmp);
    let count = gaps.len() as f64;
    let distance = gaps.iter().enumerate().map(|(i, gap)| {
        let expected = 1.0 - (-gap / 3e6).exp();
        (expected - i as f64 / count).abs()
    });
    assert!(distance.fold(0.0, f64::max) < 2.0 / count.sqrt());
}

#[test]
fn poisson_gaps_are_independent() {
    let gaps = gaps(&generate(&poisson(100_001, 3_000_000), 3));
    let products = gaps.windows(2).map(|pair| (pair[0] - 3e6) * (pair[1] - 3e6));
    let (covariance, _) = moments(products);
    assert_near(covariance / 9e12, 0.0, 1.0 / (gaps.len() as f64).sqrt());
}

/// Cutting each gap to whole nanoseconds would lose half of one each time: 5% at a mean of 10 ns.
#[test]
fn whole_nanoseconds_add_no_drift() {
    let requests = generate(&poisson(1_000_001, 10), 4);
    let end = requests.last().unwrap().arrival.as_ns();
    assert_near(end as f64, 1e7, 10.0 * 1000.0);
}

#[test]
fn fixed_gaps_are_exact() {
    let gap = Time(Duration::from_ns(12_345));
    let inter_arrival = Some(InterArrival::Fixed(gap));
    let config = SyntheticWorkload { inter_arrival, ..single_pages(1000) };
    for (i, request) in generate(&config, 5).iter().enumerate() {
        assert_eq!(request.arrival.as_ns(), 12_345 * i as u64);
    }
}

#[test]
fn a_closed_loop_has_no_arrival_times() {
    let no_gaps = SyntheticWorkload { inter_arrival: None, ..single_pages(100) };
    let depth = SyntheticWorkload { iodepth: Some(4), ..single_pages(100) };
    for config in [no_gaps, depth] {
        assert!(generate(&config, 6).iter().all(|request| request.arrival.as_ns() == 0));
    }
}

#[test]
fn absurd_gaps_stop_the_clock_instead_of_overflowing() {
    for inter_arrival in [
        InterArrival::Fixed(Time(Duration::from_ns(u64::MAX))),
        InterArrival::Exponential { mean: Time(Duration::from_ns(u64::MAX)) },
    ] {
        let config = SyntheticWorkload { inter_arrival: Some(inter_arrival), ..single_pages(1000) };
        assert!(generate(&config, 7).is_sorted_by_key(|request| request.arrival));
    }
}
