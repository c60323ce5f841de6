//! The random streams of a generator, and whether each pass over its map is drawn from them anew.

use crate::rng::{Stream, stream};
use copyback_config::AddressDistribution;

/// Names of random streams, and what becomes of them with each pass.
pub struct Passes {
    seed: u64,
    /// Name of the workload, such as `workload/0`.
    name: String,
    repeats: bool,
}

impl Passes {
    /// Passes over the map of `address`, if it is one.
    pub fn new(address: &AddressDistribution, seed: u64, name: &str) -> Self {
        let repeats = matches!(address, AddressDistribution::RandomMap { repeats: true });
        Self { seed, name: name.to_owned(), repeats }
    }

    /// The random stream of a part, from its beginning.
    pub fn stream(&self, part: &str) -> Stream {
        stream(self.seed, &format!("{}/{part}", self.name))
    }

    /// Streams to draw a pass from anew, if each pass is drawn like the first.
    pub fn repeated(&self) -> Option<&Self> {
        self.repeats.then_some(self)
    }
}
