//! Skewed addresses: zoned, Zipf, Pareto, and how ranks are scattered.

use copyback_config::quantity::Share;
use copyback_config::{AddressDistribution, SyntheticWorkload};

use crate::support::{UNIT, assert_near, assert_shares, generate_on, single_pages};

const REQUESTS: u64 = 1_000_000;

/// Requests to each of the `pages` of a device, the most popular first if they are scattered.
fn counts(address: AddressDistribution, pages: u64, seed: u64) -> Vec<u64> {
    let config = SyntheticWorkload { address, ..single_pages(REQUESTS) };
    let mut counts = vec![0; pages as usize];
    for request in generate_on(pages * UNIT, &config, seed) {
        counts[(request.offset / UNIT) as usize] += 1;
    }
    counts
}

fn shares(values: &[f64]) -> Vec<Share> {
    values.iter().copied().map(Share).collect()
}

/// `requests` of all requests go to a page of probability `p`.
fn assert_share(requests: u64, p: f64) {
    let all = REQUESTS as f64;
    assert_near(requests as f64, all * p, (all * p * (1.0 - p)).sqrt());
}

#[test]
fn zones_get_their_shares() {
    // The example of fio's documentation for random_distribution=zoned:60/10:30/20:8/30:2/40.
    let requests = [0.6, 0.3, 0.08, 0.02];
    let zones = AddressDistribution::Zoned {
        requests: shares(&requests),
        pages: shares(&[0.1, 0.2, 0.3, 0.4]),
        scattered: false,
    };
    let counts = counts(zones, 1000, 1);
    let sizes = [100, 200, 300, 400];
    let mut rest = counts.as_slice();
    let mut expected = Vec::new();
    for (share, size) in requests.into_iter().zip(sizes) {
        let (zone, others) = rest.split_at(size);
        assert_share(zone.iter().sum(), share);
        expected.extend(vec![share / size as f64; size]);
        rest = others;
    }
    assert_shares(&counts, &expected);
}

#[test]
fn zones_too_small_for_a_page_leave_their_requests_to_the_others() {
    let zones = |requests: &[f64], pages: &[f64]| AddressDistribution::Zoned {
        requests: shares(requests),
        pages: shares(pages),
        scattered: false,
    };
    let lost = counts(zones(&[0.5, 0.5], &[0.01, 0.99]), 10, 2);
    assert_shares(&lost, &[0.1; 10]);
    let all_lost = counts(zones(&[1.0, 0.0], &[0.01, 0.99]), 10, 2);
    assert_shares(&all_lost, &[0.1; 10]);
}

/// The share of the requests that rank r gets is r^-theta over the sum of all such.
#[test]
fn zipf_ranks_have_the_frequencies_of_the_formula() {
    for theta in [0.0, 0.5, 0.99, 1.0, 1.2, 2.0] {
        let pages = 100_u32;
        let weights: Vec<f64> = (1..=pages).map(|rank| f64::from(rank).powf(-theta)).collect();
        let sum: f64 = weights.iter().sum();
        let expected: Vec<_> = weights.iter().map(|weight| weight / sum).collect();
        let zipf = AddressDistribution::Zipf { theta, scattered: false, ranks: None };
        assert_shares(&counts(zipf, pages.into(), 3), &expected);
    }
}

/// The first rank of 2^32 gets 1 / H of the requests, where H is the generalised harmonic number, by
/// the Euler and Maclaurin formula.
#[test]
fn zipf_holds_for_four_billion_pages() {
    let (theta, pages) = (0.9_f64, 1_u64 << 32);
    let zipf = AddressDistribution::Zipf { theta, scattered: false, ranks: None };
    let config = SyntheticWorkload { address: zipf, ..single_pages(REQUESTS) };
    let requests = generate_on(pages * UNIT, &config, 4);
    let head: f64 = (1..1000).map(|rank| f64::from(rank).powf(-theta)).sum();
    let (a, n) = (1000_f64, pages as f64);
    let integral = (n.powf(1.0 - theta) - a.powf(1.0 - theta)) / (1.0 - theta);
    let sum = head + integral + (a.powf(-theta) + n.powf(-theta)) / 2.0;
    let to = |rank: u64| requests.iter().filter(|r| r.offset == rank * UNIT).count() as u64;
    for rank in [0, 1, 9] {
        assert_share(to(rank), ((rank + 1) as f64).powf(-theta) / sum);
    }
    let beyond = requests.iter().filter(|r| r.offset >= pages / 2 * UNIT).count() as u64;
    let half = n / 2.0;
    assert_share(beyond, (n.powf(1.0 - theta) - half.powf(1.0 - theta)) / (1.0 - theta) / sum);
}

/// A page of a small drive gets the requests of all ranks that it carries: theta 1 over a million ranks is a logarithm.
#[test]
fn a_page_carries_the_ranks_of_the_large_drive() {
    for (theta, pages) in [(1.0, 100), (0.8, 1000), (1.2, 7)] {
        let ranks = 1_000_000_u32;
        let weight = |rank: u32| f64::from(rank + 1).powf(-theta);
        let mut expected = vec![0.0; pages];
        for rank in 0..ranks {
            expected[(f64::from(rank) * (pages as f64 / f64::from(ranks))) as usize] +=
                weight(rank);
        }
        let sum: f64 = expected.iter().sum();
        expected.iter_mut().for_each(|share| *share /= sum);
        let ranks = Some(ranks.into());
        let zipf = AddressDistribution::Zipf { theta, scattered: false, ranks };
        assert_shares(&counts(zipf, pages as u64, 9), &expected);
    }
}

#[test]
fn scattered_pages_are_as_hot_as_those_in_order() {
    let (requests, pages) = (Share(0.9), Share(0.1));
    let hot_cold = |scattered| AddressDistribution::HotCold { requests, pages, scattered };
    let zoned = |scattered| AddressDistribution::Zoned {
        requests: shares(&[0.6, 0.4, 0.0]),
        pages: shares(&[0.2, 0.5, 0.3]),
        scattered,
    };
    for [plain, scattered] in [[hot_cold(false), hot_cold(true)], [zoned(false), zoned(true)]] {
        let (mut plain, mut scattered) = (counts(plain, 1000, 6), counts(scattered, 1000, 6));
        let hot = |counts: &[u64]| counts[..100].iter().sum::<u64>();
        assert!(hot(&scattered) < hot(&plain) / 2, "they do not lie together");
        plain.sort_unstable();
        scattered.sort_unstable();
        assert_eq!(plain, scattered);
    }
}

/// A share h of the pages gets 1 - h of the requests, and h^2 gets (1 - h)^2.
#[test]
fn pareto_is_self_similar() {
    for h in [0.1, 0.2, 0.5] {
        let pages = 10_000;
        let counts = counts(AddressDistribution::Pareto { h, scattered: false }, pages, 5);
        let to = |share: f64| counts[..(pages as f64 * share).round() as usize].iter().sum();
        assert_share(to(h), 1.0 - h);
        assert_share(to(h * h), (1.0 - h).powi(2));
    }
}

#[test]
fn scattering_moves_ranks_and_changes_no_frequency() {
    for (plain, scattered) in [
        (
            AddressDistribution::Zipf { theta: 1.2, scattered: false, ranks: None },
            AddressDistribution::Zipf { theta: 1.2, scattered: true, ranks: None },
        ),
        (
            AddressDistribution::Pareto { h: 0.2, scattered: false },
            AddressDistribution::Pareto { h: 0.2, scattered: true },
        ),
    ] {
        let (mut plain, mut scattered) = (counts(plain, 1000, 6), counts(scattered, 1000, 6));
        assert_ne!(plain, scattered);
        // The ten most popular pages are anywhere: their mean place is that of uniform ones.
        let mut places: Vec<_> = (0..1000).collect();
        places.sort_by_key(|&place: &usize| std::cmp::Reverse(scattered[place]));
        let mean = places[..10].iter().sum::<usize>() as f64 / 10.0;
        assert_near(mean, 499.5, 1000.0 / 12_f64.sqrt() / 10_f64.sqrt());
        plain.sort_unstable();
        scattered.sort_unstable();
        assert_eq!(plain, scattered, "one draw gives one rank, wherever that lies");
    }
}

/// Another seed makes other pages hot.
#[test]
fn the_seed_says_which_pages_are_hot() {
    let hottest = |seed| {
        let counts = counts(
            AddressDistribution::Zipf { theta: 1.2, scattered: true, ranks: None },
            1000,
            seed,
        );
        (0..1000).max_by_key(|&page| counts[page]).unwrap()
    };
    assert_eq!(hottest(7), hottest(7));
    assert_ne!(hottest(7), hottest(8));
}
