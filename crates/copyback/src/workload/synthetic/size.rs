//! How large requests are, in units of the alignment.

use rand_distr::{Distribution, Exp1};

use crate::config::RequestSize;
use crate::rng::Stream;

/// Draws sizes.
pub struct Sizes {
    distribution: Units,
    /// Units in the footprint: no request is larger.
    most: u64,
    stream: Stream,
}

enum Units {
    Fixed(u64),
    Exponential { mean: f64 },
}

impl Sizes {
    /// Sizes of the distribution, rounded up to units of `alignment` bytes.
    pub fn new(size: RequestSize, alignment: u64, most: u64, stream: Stream) -> Self {
        let distribution = match size {
            RequestSize::Fixed(size) => Units::Fixed(size.0.div_ceil(alignment)),
            RequestSize::Exponential { mean } => {
                Units::Exponential { mean: mean.0 as f64 / alignment as f64 }
            }
        };
        Self { distribution, most, stream }
    }

    /// The next size: at least one unit, at most the footprint.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        let units = match self.distribution {
            Units::Fixed(units) => units,
            Units::Exponential { mean } => {
                let draw: f64 = Exp1.sample(&mut self.stream);
                (draw * mean).ceil() as u64
            }
        };
        units.clamp(1, self.most)
    }
}
