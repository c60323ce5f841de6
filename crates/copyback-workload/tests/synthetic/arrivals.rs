//! When requests arrive.

use copyback_config::quantity::Time;
use copyback_config::units::Duration;
use copyback_config::{SyntheticWorkload, TimeDistribution};
use copyback_workload::Request;
use copyback_workload::synthetic::Generator;
use tempfile::NamedTempFile;

use crate::support::{
    GIB, assert_near, assert_shares, generate, moments, single_pages, space, until_fault,
};

fn gaps(requests: &[Request]) -> Vec<f64> {
    let gap = |pair: &[Request]| (pair[1].arrival - pair[0].arrival).as_ns() as f64;
    requests.windows(2).map(gap).collect()
}

fn poisson(requests: u64, mean_ns: u64) -> SyntheticWorkload {
    let mean = Time(Duration::from_ns(mean_ns));
    let inter_arrival = Some(TimeDistribution::Exponential { mean });
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
    let inter_arrival = Some(TimeDistribution::Fixed(gap));
    let config = SyntheticWorkload { inter_arrival, ..single_pages(1000) };
    for (i, request) in generate(&config, 5).iter().enumerate() {
        assert_eq!(request.arrival.as_ns(), 12_345 * i as u64);
    }
}

#[test]
fn a_time_scale_multiplies_every_arrival() {
    let plain = generate(&poisson(1000, 3_000_000), 12);
    let fast = SyntheticWorkload { time_scale: 0.0625, ..poisson(1000, 3_000_000) };
    for (plain, fast) in plain.iter().zip(generate(&fast, 12)) {
        assert_eq!(fast.arrival.as_ns(), plain.arrival.as_ns() / 16);
        assert_eq!(fast.offset, plain.offset);
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
fn arrivals_beyond_the_end_of_the_clock_are_refused() {
    let century: Time = "36500d".parse().unwrap();
    let gap = Some(TimeDistribution::Fixed(century));
    let config = SyntheticWorkload { inter_arrival: gap, ..single_pages(1000) };
    let problem = "workload.flows.2.inter_arrival: request 4 would arrive more than 292 years after the \
                   start, where the clock ends; allowed: shorter times, or fewer requests";
    assert_eq!(until_fault(&config), (3, problem.to_owned()));
    // Those that arrive before the end are all there is.
    assert_eq!(generate(&SyntheticWorkload { requests: 3.into(), ..config.clone() }, 7).len(), 3);

    let scaled = SyntheticWorkload { time_scale: 2.0, ..config };
    assert_eq!(until_fault(&scaled).0, 2, "at 0 and at 200 years");
    let mean = TimeDistribution::Exponential { mean: century };
    let config = SyntheticWorkload { inter_arrival: Some(mean), ..single_pages(1000) };
    assert!(until_fault(&config).0 < 20);
    let absurd = TimeDistribution::Fixed(Time(Duration::from_ns(u64::MAX)));
    let config = SyntheticWorkload { inter_arrival: Some(absurd), ..single_pages(1000) };
    assert_eq!(until_fault(&config).0, 1);
}

fn drawn(times: TimeDistribution, seed: u64) -> Vec<f64> {
    let inter_arrival = Some(times);
    gaps(&generate(&SyntheticWorkload { inter_arrival, ..single_pages(400_001) }, seed))
}

/// A Pareto of shape a has the least value mean (a - 1) / a, and exceeds x with (least / x)^a.
#[test]
fn pareto_gaps_have_the_tail_of_the_formula() {
    let mean = Time::from_us(1000);
    let gaps = drawn(TimeDistribution::Pareto { mean, shape: 3.5 }, 8);
    let (found, variance) = moments(gaps.iter().copied());
    assert_near(found, 1e6, (variance / gaps.len() as f64).sqrt());
    let least = 1e6 * 2.5 / 3.5;
    assert!(gaps.iter().all(|gap| *gap > least - 1.0));
    for more in [1.0_f64, 2.0, 4.0] {
        let p = (1.0 + more).powf(-3.5);
        let beyond = gaps.iter().filter(|gap| **gap > least * (1.0 + more)).count() as f64;
        let count = gaps.len() as f64;
        assert_near(beyond, count * p, (count * p * (1.0 - p)).sqrt());
    }
}

#[test]
fn histogram_gaps_have_their_shares() {
    let us = [10, 200, 3000];
    let times = us.map(Time::from_us).to_vec();
    let gaps = drawn(TimeDistribution::Histogram { times, weights: vec![6.0, 3.0, 1.0] }, 9);
    let of = |us: u64| gaps.iter().filter(|gap| **gap == us as f64 * 1e3).count() as u64;
    assert_shares(&us.map(of), &[0.6, 0.3, 0.1]);
}

/// Each stretch between two quantiles is as likely as another, and uniform within.
#[test]
fn quantile_gaps_lie_between_the_quantiles() {
    let times = [0, 10, 20, 1000, 1000].map(Time::from_us).to_vec();
    let gaps = drawn(TimeDistribution::Quantiles { times }, 10);
    let within = |low: f64, high: f64| {
        gaps.iter().filter(|gap| (low * 1e3..high * 1e3).contains(*gap)).count() as u64
    };
    let counts = [
        within(0.0, 5.0),
        within(5.0, 10.0),
        within(10.0, 20.0),
        within(20.0, 510.0),
        within(510.0, 999.99),
        within(999.99, 1001.0),
    ];
    let tail = 0.25 * 0.01 / 980.0;
    assert_shares(&counts, &[0.125, 0.125, 0.25, 0.125, 0.125 - tail, 0.25 + tail]);
}

#[test]
fn empirical_gaps_are_those_of_the_file() {
    let path = NamedTempFile::new().unwrap().into_temp_path();
    std::fs::write(&path, "\u{feff}# measured\n10us,3\r\n\n2ms\n10us , 1\n").unwrap();
    let gaps = drawn(TimeDistribution::Empirical { path: path.to_path_buf() }, 11);
    let of = |ns: f64| gaps.iter().filter(|gap| **gap == ns).count() as u64;
    assert_shares(&[of(1e4), of(2e6)], &[0.8, 0.2]);
}

#[test]
fn files_that_make_no_sense_are_refused() {
    let path = NamedTempFile::new().unwrap().into_temp_path();
    let fault = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let inter_arrival = Some(TimeDistribution::Empirical { path: path.to_path_buf() });
        let config = SyntheticWorkload { inter_arrival, ..single_pages(1) };
        let fault =
            Generator::new(&config, space(GIB), 0, "w", "workload").map(|_| ()).unwrap_err();
        let text = fault.to_string();
        text.strip_prefix(&path.display().to_string()).expect("the file is named").to_owned()
    };
    let unit = "a time needs a unit (allowed: d, h, min, s, ms, us, ns)";
    let weight = "after the comma; allowed: a weight of 0 or more";
    let cases = [
        ("10us\n10\n", format!(":2: found \"10\"; {unit}")),
        ("10us,x", format!(":1: found \"x\" {weight}")),
        ("10us,-1", format!(":1: found \"-1\" {weight}")),
        ("10us,1,2", format!(":1: found \"1,2\" {weight}")),
        ("", ": found no time above 0; allowed: one with its unit a line, such as 25us".into()),
        (
            "0us\n",
            ": found no time above 0; allowed: one with its unit a line, such as 25us".into(),
        ),
    ];
    for (text, message) in cases {
        assert_eq!(fault(text), message, "{text:?}");
    }
    assert!(fault("1us,0").contains("one above 0"));
}
