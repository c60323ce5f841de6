//! Named random streams. Every stream is derived from the run's seed and a stable name such as
//! `ssd/0/gc/victim`, so that adding a stream, or reordering constructors, changes no other stream.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
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
