//! Named random streams. Every stream is derived from the run's seed and a stable name such as
//! `ssd/0/gc/victim`, so that adding a stream, or reordering constructors, changes no other stream.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The generator behind every random choice of a simulation.
pub type Stream = Xoshiro256PlusPlus;

/// The stream called `name` of a run with this `seed`.
pub fn stream(seed: u64, name: &str) -> Stream {
    Stream::seed_from_u64(xxh3_64_with_seed(name.as_bytes(), seed))
}

/// The seed of a generator that is not ours, such as one of NumPy's, in place of `random`.
pub fn seed_for_others(mut random: Stream) -> [u64; 4] {
    std::array::from_fn(|_| random.next_u64())
}

/// Random choices that are not drawn in turn: each follows from what it is about, and from nothing else.
#[derive(Debug, Serialize, Deserialize)]
pub struct Lot(u64);

impl Lot {
    /// The choices called `name` of a run with this `seed`.
    pub fn new(seed: u64, name: &str) -> Self {
        Self(xxh3_64_with_seed(name.as_bytes(), seed))
    }

    /// The choice about these numbers: evenly from 0 to below 1.
    pub fn share(&self, about: [u32; 3]) -> f64 {
        let mut bytes = [0; 12];
        for (part, number) in bytes.chunks_exact_mut(4).zip(about) {
            part.copy_from_slice(&number.to_le_bytes());
        }
        // As many bits as a double has.
        (xxh3_64_with_seed(&bytes, self.0) >> 11) as f64 / (1_u64 << 53) as f64
    }
}
