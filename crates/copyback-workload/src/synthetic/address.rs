//! Start addresses of random requests, in units of the alignment from the start of the footprint.
//!
//! Hot pages lie together, at the start of the footprint, unless they are to be scattered. Static
//! allocation orders that spread consecutive pages over channels and planes (CWDP and the like)
//! spread them evenly; an order that keeps neighbours on one plane does not. The ranks of skewed
//! distributions are scattered unless asked otherwise.

use rand_distr::{Distribution, Zipf, weighted::WeightedAliasIndex};

use super::draw::{Chance, below, fraction};
use super::random_map::RandomMap;
use super::scatter::Scatter;
use crate::InputError;
use crate::rng::Stream;
use copyback_config::AddressDistribution;
use copyback_config::quantity::Share;

/// Draws addresses.
pub struct Addresses {
    distribution: Starts,
    /// Places of the units, if they do not lie in order.
    scatter: Option<Scatter>,
    units: u64,
    stream: Stream,
}

enum Starts {
    Uniform,
    Map(Box<RandomMap>),
    HotCold { hot: Chance, hot_units: u64 },
    Zoned(Box<Zones>),
    Ranked(Rank),
}

impl Addresses {
    /// Addresses of the distribution in a footprint of `units` for requests which are all of one unit, or differ; `scatter`
    /// decides which are hot.
    pub fn new(
        address: &AddressDistribution,
        units: u64,
        is_of_units: bool,
        mut stream: Stream,
        mut scatter: Stream,
    ) -> Self {
        let distribution = match *address {
            AddressDistribution::RandomMap { .. } => {
                Starts::Map(Box::new(RandomMap::new(units, is_of_units, &mut stream)))
            }
            // What is written goes where its writer is.
            AddressDistribution::Uniform | AddressDistribution::Logs { .. } => Starts::Uniform,
            AddressDistribution::HotCold { requests, pages, .. } => {
                let hot_units = (units as f64 * pages.0).round() as u64;
                Starts::HotCold { hot: Chance::new(requests.0), hot_units: hot_units.min(units) }
            }
            AddressDistribution::Zoned { ref requests, ref pages, .. } => {
                Starts::Zoned(Box::new(Zones::new(requests, pages, units)))
            }
            AddressDistribution::Zipf { theta, ranks, .. } => {
                Starts::Ranked(Rank::zipf(theta, ranks.unwrap_or(units)))
            }
            AddressDistribution::Pareto { h, .. } => Starts::Ranked(Rank::pareto(h)),
        };
        let scatter = is_scattered(address).then(|| Scatter::new(units, &mut scatter));
        Self { distribution, scatter, units, stream }
    }

    /// Units in the footprint.
    pub const fn units(&self) -> u64 {
        self.units
    }

    /// Whether each unit has had its request, if that is what they are drawn by.
    #[inline]
    pub fn are_covered(&self) -> bool {
        matches!(&self.distribution, Starts::Map(map) if map.is_covered())
    }

    /// Begins to cover the units anew: drawn from `stream`, or else from where draws have come to.
    pub fn begin(&mut self, stream: Option<Stream>) {
        if let Some(stream) = stream {
            self.stream = stream;
        }
        if let Starts::Map(map) = &mut self.distribution {
            map.begin(&mut self.stream);
        }
    }

    /// First unit and length of a request of `length` units, all of it within the footprint: less than asked for where a
    /// map has less room.
    #[inline]
    pub fn draw(&mut self, length: u64) -> (u64, u64) {
        match &mut self.distribution {
            Starts::Map(map) => map.draw(length, &mut self.stream),
            _ => {
                let start = self.start(length);
                let place = self.scatter.as_ref().map_or(start, |scatter| scatter.place(start));
                (place.min(self.units - length), length)
            }
        }
    }

    #[inline]
    fn start(&mut self, length: u64) -> u64 {
        debug_assert!(0 < length && length <= self.units);
        let (first, region) = match &self.distribution {
            Starts::Uniform | Starts::Map(_) => (0, self.units),
            Starts::HotCold { hot, hot_units } => {
                let is_hot = hot.draw(&mut self.stream);
                match (is_hot, self.units - hot_units) {
                    (true, _) if *hot_units > 0 => (0, *hot_units),
                    (_, 0) => (0, *hot_units),
                    (_, cold_units) => (*hot_units, cold_units),
                }
            }
            Starts::Zoned(zones) => zones.draw(&mut self.stream),
            Starts::Ranked(rank) => return rank.draw(self.units, &mut self.stream),
        };
        // A request longer than its region starts with it, or as late as the footprint allows.
        let starts = region.saturating_sub(length) + 1;
        (first + below(&mut self.stream, starts)).min(self.units - length)
    }
}

/// Whether units of the footprint lie scattered.
const fn is_scattered(address: &AddressDistribution) -> bool {
    match address {
        AddressDistribution::HotCold { scattered, .. }
        | AddressDistribution::Zoned { scattered, .. }
        | AddressDistribution::Zipf { scattered, .. }
        | AddressDistribution::Pareto { scattered, .. } => *scattered,
        AddressDistribution::Uniform
        | AddressDistribution::RandomMap { .. }
        | AddressDistribution::Logs { .. } => false,
    }
}

/// Refuses a distribution at `key` that has fewer ranks than the footprint has `units`.
pub fn check(address: &AddressDistribution, key: &str, units: u64) -> Result<(), InputError> {
    match address {
        AddressDistribution::Zipf { ranks: Some(ranks), .. } if *ranks < units => Err(InputError {
            place: format!("{key}.address.ranks"),
            problem: format!("found {ranks}; allowed: {units} or more, the pages of the footprint"),
        }),
        _ => Ok(()),
    }
}

/// Regions one after the other.
struct Zones {
    which: WeightedAliasIndex<f64>,
    /// First unit and units of each that has any.
    regions: Vec<(u64, u64)>,
}

impl Zones {
    fn new(requests: &[Share], pages: &[Share], units: u64) -> Self {
        let (mut weights, mut regions) = (Vec::new(), Vec::new());
        let (mut first, mut share) = (0, 0.0);
        for (requests, pages) in requests.iter().zip(pages) {
            share += pages.0;
            let end = ((units as f64 * share).round() as u64).clamp(first, units);
            if end > first {
                weights.push(requests.0.max(0.0));
                regions.push((first, end - first));
            }
            first = end;
        }
        // A footprint so small that all regions with requests were rounded away is one region.
        match WeightedAliasIndex::new(weights) {
            Ok(which) => Self { which, regions },
            Err(_) => Self { which: only_choice(), regions: vec![(0, units)] },
        }
    }

    fn draw(&self, stream: &mut Stream) -> (u64, u64) {
        self.regions[self.which.sample(stream)]
    }
}

fn only_choice() -> WeightedAliasIndex<f64> {
    WeightedAliasIndex::new(vec![1.0]).expect("one weight above zero is a distribution")
}

/// Draws ranks from 0, the hottest.
enum Rank {
    /// By rejection, in constant time for any number of ranks.
    Zipf { ranks: f64, drawn: Zipf<f64> },
    /// A uniform number to this power is the share of the ranks that are hotter.
    Pareto { power: f64 },
}

impl Rank {
    fn zipf(theta: f64, ranks: u64) -> Self {
        let ranks = ranks as f64;
        let drawn = Zipf::new(ranks, theta.max(0.0));
        Self::Zipf { ranks, drawn: drawn.expect("one rank or more, and an exponent of 0 or more") }
    }

    fn pareto(h: f64) -> Self {
        Self::Pareto { power: h.ln() / (1.0 - h).ln() }
    }

    #[inline]
    fn draw(&self, units: u64, stream: &mut Stream) -> u64 {
        let rank = match self {
            Self::Zipf { ranks, drawn } if *ranks == units as f64 => {
                drawn.sample(stream) as u64 - 1
            }
            Self::Zipf { ranks, drawn } => {
                ((drawn.sample(stream) - 1.0) * (units as f64 / ranks)) as u64
            }
            Self::Pareto { power } => (units as f64 * fraction(stream).powf(*power)) as u64,
        };
        rank.min(units - 1)
    }
}
