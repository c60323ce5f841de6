//! Bursts and the quiet between them.

use copyback_config::quantity::Time;
use copyback_config::units::Duration;
use copyback_config::{Bursts, SyntheticWorkload, TimeDistribution};

use crate::support::{assert_near, generate, moments, single_pages, until_fault};

const SECOND: u64 = 1_000_000_000;

fn time(ns: u64) -> Time {
    Time(Duration::from_ns(ns))
}

fn fixed(ns: u64) -> TimeDistribution {
    TimeDistribution::Fixed(time(ns))
}

fn exponential(ns: u64) -> TimeDistribution {
    TimeDistribution::Exponential { mean: time(ns) }
}

fn arrivals(requests: u64, within: TimeDistribution, bursts: Bursts, seed: u64) -> Vec<u64> {
    let inter_arrival = Some(within);
    let config = SyntheticWorkload { inter_arrival, bursts, ..single_pages(requests) };
    generate(&config, seed).iter().map(|request| request.arrival.as_ns()).collect()
}

fn quiet(on: TimeDistribution, off: TimeDistribution) -> Bursts {
    Bursts::OnOff { on, off, background: None }
}

/// Arrivals every 0.3 s within bursts of 1 s, 9 s apart: the clock of the bursts stands still in
/// between, so 0.2 s of a gap pass at the end of the first burst and 0.1 s in the second.
#[test]
fn fixed_bursts_are_exact() {
    let found = arrivals(8, fixed(300_000_000), quiet(fixed(SECOND), fixed(9 * SECOND)), 1);
    let expected = [0, 300, 600, 900, 10_200, 10_500, 10_800, 20_100];
    assert_eq!(found, expected.map(|ms| ms * 1_000_000));
}

#[test]
fn fixed_quiet_has_its_own_arrivals() {
    let bursts = Bursts::OnOff {
        on: fixed(SECOND),
        off: fixed(9 * SECOND),
        background: Some(fixed(4 * SECOND)),
    };
    let found = arrivals(7, fixed(400_000_000), bursts, 1);
    // 0.2 s of a gap of the burst, and 1 s of one of the quiet, are left over to the next.
    let expected = [0, 400, 800, 5000, 9000, 10_200, 10_600];
    assert_eq!(found, expected.map(|ms| ms * 1_000_000));
}

/// Poisson arrivals in bursts of fixed length: the number in each is Poisson, of mean and variance
/// on / gap.
#[test]
fn the_arrivals_of_each_burst_are_poisson() {
    let (on, cycle, mean) = (SECOND, 10 * SECOND, 20.0);
    let bursts = quiet(fixed(on), fixed(cycle - on));
    let arrivals = arrivals(400_000, exponential(SECOND / 20), bursts, 2);
    let mut counts = vec![0_f64; (arrivals.last().unwrap() / cycle) as usize];
    for arrival in &arrivals {
        assert!(arrival % cycle <= on, "no request in the quiet");
        if let Some(count) = counts.get_mut((arrival / cycle) as usize) {
            *count += 1.0;
        }
    }
    // The first burst starts with the first arrival; the others wherever the clock stands.
    let bursts = (counts.len() - 1) as f64;
    let (found, variance) = moments(counts.into_iter().skip(1));
    assert_near(found, mean, (mean / bursts).sqrt());
    // The fourth central moment of a Poisson distribution is mean + 3 mean^2.
    assert_near(variance, mean, ((mean + 2.0 * mean * mean) / bursts).sqrt());
}

/// With exponential periods, gaps of the process are either within a burst or contain the quiet: a
/// burst ends before the next arrival with probability gap / (gap + on).
#[test]
fn the_idle_share_is_met() {
    let (gap, on, off) = (SECOND / 1000, SECOND / 10, 5 * SECOND);
    let requests = 400_000;
    let bursts = quiet(exponential(on), exponential(off));
    let arrivals = arrivals(requests, exponential(gap), bursts, 3);
    let gaps: Vec<_> = arrivals.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
    // Half a second tells them apart: e^-500 of the gaps, and 10% of the quiet, are on the wrong side.
    let idle: Vec<_> = gaps.iter().copied().filter(|gap| *gap > 0.5e9).collect();
    let ends = 1.0 / 101.0;
    let seen = (-0.1_f64).exp();
    let expected = requests as f64 * ends * seen;
    // Bursts end independently, each before some arrival: 1 in 100, now and then two before one.
    assert_near(idle.len() as f64, expected, expected.sqrt());
    let (mean, _) = moments(idle.iter().copied());
    // An exponential beyond 0.5 s has no memory; two quiet periods in a row are 1% of them.
    assert_near(mean, 5.5e9 + 0.01 * 5e9, 5e9 / (idle.len() as f64).sqrt());
    let total = *arrivals.last().unwrap() as f64;
    let cycles = requests as f64 / 100.0;
    let span = requests as f64 * gap as f64 * (on + off) as f64 / on as f64;
    assert_near(total, span, 2_f64.sqrt() * off as f64 * cycles.sqrt());
}

#[test]
fn background_arrivals_keep_their_rate() {
    let bursts = Bursts::OnOff {
        on: fixed(SECOND),
        off: fixed(9 * SECOND),
        background: Some(exponential(SECOND)),
    };
    let arrivals = arrivals(290_000, exponential(SECOND / 20), bursts, 4);
    let cycles = (arrivals.last().unwrap() / (10 * SECOND)) as f64;
    let busy = arrivals.iter().filter(|arrival| *arrival % (10 * SECOND) <= SECOND).count() as f64;
    let quiet = arrivals.len() as f64 - busy;
    assert_near(busy, 20.0 * cycles, (20.0 * cycles).sqrt() + 20.0);
    assert_near(quiet, 9.0 * cycles, (9.0 * cycles).sqrt() + 9.0);
}

/// A Pareto of shape just above 1 draws years now and then, among bursts of a millisecond.
#[test]
fn a_gap_of_years_among_short_bursts_is_refused() {
    let gaps = TimeDistribution::Pareto { mean: time(SECOND), shape: 1.001 };
    let bursts = quiet(fixed(1_000), fixed(1_000));
    let config = SyntheticWorkload { inter_arrival: Some(gaps), bursts, ..single_pages(2000) };
    let (requests, fault) = until_fault(&config);
    assert!(requests > 1, "{requests}");
    let expected = format!(
        "workload.flows.2.bursts: request {} would arrive after more than 1048576 bursts without any; \
         allowed: longer bursts, or shorter times between arrivals",
        requests + 1
    );
    assert_eq!(fault, expected);
}

/// Periods of no length end all the same; the quiet between two bursts may end after the clock.
#[test]
fn absurd_bursts_are_gone_through_or_refused() {
    for (on, off) in [(1, 0), (0, 1), (u64::MAX, u64::MAX)] {
        let bursts = quiet(exponential(on.max(1)), fixed(off));
        let found = arrivals(100, fixed(100), bursts, 5);
        assert!(found.is_sorted(), "{on} {off}");
    }
    let inter_arrival = Some(fixed(100));
    let bursts = quiet(exponential(1), fixed(u64::MAX));
    let config = SyntheticWorkload { inter_arrival, bursts, ..single_pages(100) };
    assert!(until_fault(&config).1.contains("the clock ends"), "{:?}", until_fault(&config));
}
