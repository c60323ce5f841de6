//! When requests arrive.

use rand_distr::{Distribution, Exp1};

use crate::config::InterArrival;
use crate::rng::Stream;
use crate::units::{Duration, Instant};

/// No request arrives later, however long the gaps: about 292 years, which leaves room for what
/// is added to an arrival.
const END_OF_TIME_NS: u64 = u64::MAX / 2;

/// Draws arrivals.
pub struct Arrivals {
    gaps: Gaps,
    next: Instant,
    stream: Stream,
}

enum Gaps {
    /// All at once: a closed loop paces itself.
    None,
    Fixed(Duration),
    /// What is cut off one gap is carried to the next, so that rounding adds no drift.
    Exponential {
        mean_ns: f64,
        carried_ns: f64,
    },
}

impl Arrivals {
    /// Arrivals with gaps of the distribution, the first at time zero.
    pub fn new(inter_arrival: Option<InterArrival>, stream: Stream) -> Self {
        let gaps = match inter_arrival {
            None => Gaps::None,
            Some(InterArrival::Fixed(gap)) => Gaps::Fixed(gap.0),
            Some(InterArrival::Exponential { mean }) => {
                Gaps::Exponential { mean_ns: mean.0.as_ns() as f64, carried_ns: 0.0 }
            }
        };
        Self { gaps, next: Instant::START, stream }
    }

    /// The next arrival.
    #[inline]
    pub fn draw(&mut self) -> Instant {
        let arrival = self.next;
        let next_ns = arrival.as_ns().saturating_add(self.gap().as_ns());
        self.next = Instant::from_ns(next_ns.min(END_OF_TIME_NS));
        arrival
    }

    #[inline]
    fn gap(&mut self) -> Duration {
        match &mut self.gaps {
            Gaps::None => Duration::ZERO,
            Gaps::Fixed(gap) => *gap,
            Gaps::Exponential { mean_ns, carried_ns } => {
                let draw: f64 = Exp1.sample(&mut self.stream);
                let exact_ns = draw * *mean_ns + *carried_ns;
                let whole_ns = exact_ns as u64;
                *carried_ns = exact_ns - whole_ns as f64;
                Duration::from_ns(whole_ns)
            }
        }
    }
}
