//! One seed and one name give one stream of requests, on every machine.

use copyback_config::quantity::{Share, Time};
use copyback_config::{AddressDistribution, SyntheticWorkload, TimeDistribution};
use copyback_workload::Request;
use copyback_workload::synthetic::Generator;

use crate::support::{GIB, generate, space};

fn defaults() -> SyntheticWorkload {
    let mean = Time::from_us(3000);
    let inter_arrival = Some(TimeDistribution::Exponential { mean });
    SyntheticWorkload { requests: 1000.into(), inter_arrival, ..SyntheticWorkload::default() }
}

fn column<T>(config: &SyntheticWorkload, of: impl Fn(&Request) -> T) -> Vec<T> {
    generate(config, 7).iter().map(of).collect()
}

#[test]
fn the_same_seed_gives_the_same_requests() {
    assert_eq!(generate(&defaults(), 1), generate(&defaults(), 1));
    assert_ne!(generate(&defaults(), 1), generate(&defaults(), 2));
}

#[test]
fn another_name_gives_other_requests() {
    let first = |name| {
        let mut generator = Generator::new(&defaults(), space(GIB), 1, name, "workload").unwrap();
        generator.next_request().unwrap()
    };
    assert_eq!(first("workload/0"), first("workload/0"));
    assert_ne!(first("workload/0"), first("workload/1"));
}

#[test]
fn one_distribution_changes_no_draw_of_another() {
    let reads = SyntheticWorkload { read_share: Share(0.9), ..defaults() };
    assert_eq!(column(&reads, |r| r.arrival), column(&defaults(), |r| r.arrival));
    assert_eq!(column(&reads, |r| r.length), column(&defaults(), |r| r.length));
    let (requests, pages) = (Share(0.8), Share(0.2));
    let hot = AddressDistribution::HotCold { requests, pages, scattered: false };
    let hot = SyntheticWorkload { address: hot, ..defaults() };
    assert_eq!(column(&hot, |r| r.operation), column(&defaults(), |r| r.operation));
    assert_eq!(column(&hot, |r| r.length), column(&defaults(), |r| r.length));
    let inter_arrival = Some(TimeDistribution::Fixed(Time::from_us(1)));
    let paced = SyntheticWorkload { inter_arrival, ..defaults() };
    assert_eq!(column(&paced, |r| r.offset), column(&defaults(), |r| r.offset));
}

/// Pinned from the first version that had generators: a change here changes every result that
/// anyone has published with a seed.
#[test]
fn the_stream_of_seed_0_is_pinned() {
    let found: Vec<_> = generate(&SyntheticWorkload { requests: 4.into(), ..defaults() }, 0)
        .iter()
        .map(|r| format!("{} {:?} {} {}", r.arrival.as_ns(), r.operation, r.offset, r.length))
        .collect();
    let expected = [
        "0 Read 759730176 20480",
        "3523813 Write 0 61440",
        "6924431 Write 61440 49152",
        "10442408 Write 707325952 16384",
    ];
    assert_eq!(found, expected);
}
