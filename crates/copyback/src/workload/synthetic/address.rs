//! Where random requests start, in units of the alignment from the start of the footprint.
//!
//! Hot pages lie together, at the start of the footprint. Static allocation orders that spread
//! consecutive pages over channels and planes (CWDP and the like) spread them evenly; an order
//! that keeps neighbours on one plane does not.

use super::draw::{Chance, below};
use crate::config::AddressDistribution;
use crate::rng::Stream;

/// Draws addresses.
pub struct Addresses {
    distribution: Starts,
    units: u64,
    stream: Stream,
}

enum Starts {
    Uniform,
    HotCold { hot: Chance, hot_units: u64 },
}

impl Addresses {
    /// Addresses of the distribution in a footprint of `units`.
    pub fn new(address: AddressDistribution, units: u64, stream: Stream) -> Self {
        let distribution = match address {
            AddressDistribution::Uniform => Starts::Uniform,
            AddressDistribution::HotCold { requests, pages } => {
                let hot_units = (units as f64 * pages.0).round() as u64;
                Starts::HotCold { hot: Chance::new(requests.0), hot_units: hot_units.min(units) }
            }
        };
        Self { distribution, units, stream }
    }

    /// Units in the footprint.
    pub fn units(&self) -> u64 {
        self.units
    }

    /// First unit of a request of `length` units, all of it within the footprint.
    #[inline]
    pub fn draw(&mut self, length: u64) -> u64 {
        debug_assert!(0 < length && length <= self.units);
        let (first, region) = match self.distribution {
            Starts::Uniform => (0, self.units),
            Starts::HotCold { hot, hot_units } => {
                let is_hot = hot.draw(&mut self.stream);
                match (is_hot, self.units - hot_units) {
                    (true, _) if hot_units > 0 => (0, hot_units),
                    (_, 0) => (0, hot_units),
                    (_, cold_units) => (hot_units, cold_units),
                }
            }
        };
        // A request longer than its region starts with it, or as late as the footprint allows.
        let starts = region.saturating_sub(length) + 1;
        (first + below(&mut self.stream, starts)).min(self.units - length)
    }
}
