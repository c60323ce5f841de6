//! Sizes of generated requests, in units of the alignment.

use rand_distr::{Distribution, Exp1, weighted::WeightedAliasIndex};

use crate::rng::Stream;
use copyback_config::RequestSize;

/// Draws sizes, the same for all operations or not.
pub enum Sizes {
    /// One distribution.
    Alike(Draws),
    /// One of all but reads, and one of reads.
    ByOperation([Box<Draws>; 2]),
}

/// The name of the random stream of all sizes, or of those of all but reads, and of reads.
const STREAM: &str = "size";
const STREAMS: [&str; 2] = ["size/write", "size/read"];

impl Sizes {
    /// Sizes of the distribution, rounded up to units of `alignment` bytes, at most `most` units.
    /// `stream` gives the random stream of a part.
    pub fn new(
        size: &RequestSize,
        alignment: u64,
        most: u64,
        stream: &impl Fn(&str) -> Stream,
    ) -> Self {
        let draws = |size, part: &str| Draws::new(size, alignment, most, stream(part));
        match size {
            RequestSize::ByOperation { read, write } => {
                let [other, of_reads] = STREAMS;
                Self::ByOperation([Box::new(draws(write, other)), Box::new(draws(read, of_reads))])
            }
            alike => Self::Alike(draws(alike, STREAM)),
        }
    }

    /// Draws from the beginning of the streams that `stream` gives.
    pub fn reseed(&mut self, stream: &impl Fn(&str) -> Stream) {
        match self {
            Self::Alike(draws) => draws.stream = stream(STREAM),
            Self::ByOperation(draws) => {
                for (draws, part) in draws.iter_mut().zip(STREAMS) {
                    draws.stream = stream(part);
                }
            }
        }
    }

    /// The next size: at least one unit, at most the footprint.
    #[inline]
    pub fn draw(&mut self, is_read: bool) -> u64 {
        match self {
            Self::Alike(draws) => draws.draw(),
            Self::ByOperation(draws) => draws[usize::from(is_read)].draw(),
        }
    }

    /// Draws so far that were larger than the footprint, and were cut to it.
    pub fn cut(&self) -> u64 {
        match self {
            Self::Alike(draws) => draws.cut,
            Self::ByOperation(draws) => draws.iter().map(|draws| draws.cut).sum(),
        }
    }
}

/// Draws sizes of one distribution.
pub struct Draws {
    distribution: Units,
    /// Units in the footprint: no request is larger.
    most: u64,
    /// Draws that were larger.
    cut: u64,
    stream: Stream,
}

enum Units {
    Fixed(u64),
    Exponential { mean: f64 },
    Histogram { sizes: Vec<u64>, which: Box<WeightedAliasIndex<f64>> },
}

impl Draws {
    fn new(size: &RequestSize, alignment: u64, most: u64, stream: Stream) -> Self {
        let distribution = match size {
            RequestSize::Fixed(size) => Units::Fixed(size.0.div_ceil(alignment)),
            RequestSize::Exponential { mean } => {
                Units::Exponential { mean: mean.0 as f64 / alignment as f64 }
            }
            RequestSize::Histogram { sizes, weights } => Units::Histogram {
                sizes: sizes.iter().map(|size| size.0.div_ceil(alignment)).collect(),
                which: Box::new(
                    WeightedAliasIndex::new(weights.clone()).expect("checked: weights of sizes"),
                ),
            },
            RequestSize::ByOperation { .. } => unreachable!("checked: operations are told once"),
        };
        Self { distribution, most, cut: 0, stream }
    }

    #[inline]
    fn draw(&mut self) -> u64 {
        let units = match &self.distribution {
            Units::Fixed(units) => *units,
            Units::Exponential { mean } => {
                let draw: f64 = Exp1.sample(&mut self.stream);
                (draw * mean).ceil() as u64
            }
            Units::Histogram { sizes, which } => sizes[which.sample(&mut self.stream)],
        };
        self.cut += u64::from(units > self.most);
        units.clamp(1, self.most)
    }
}
