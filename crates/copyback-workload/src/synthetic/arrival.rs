//! When requests arrive.

use super::bursts::{MOST_PERIODS_A_GAP, OnOff};
use super::times::Times;
use crate::InputError;
use crate::rng::Stream;
use copyback_config::units::{Duration, Instant};
use copyback_config::{Bursts, SyntheticWorkload};

/// Draws arrivals.
pub struct Arrivals {
    gaps: Gaps,
    /// Factor that times are multiplied by, if not 1.
    scale: Option<f64>,
    /// The next arrival in nanoseconds, before that.
    next: Result<u64, NoArrival>,
}

/// Reason why a request has no arrival time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoArrival {
    /// Arrival time beyond the end of the clock.
    BeyondTheClock,
    /// Before it lie more bursts, and quiet between them, than can be gone through.
    TooManyPeriods,
}

impl NoArrival {
    /// The key that is at fault, `times` if it is the one that says when requests come, and what is wrong with it,
    /// where request `number` is concerned.
    pub fn problem(self, times: &'static str, number: u64) -> (&'static str, String) {
        match self {
            Self::BeyondTheClock => (
                times,
                format!(
                    "request {number} would arrive more than 292 years after the start, where the clock ends; \
                     allowed: shorter times, or fewer requests"
                ),
            ),
            Self::TooManyPeriods => (
                "bursts",
                format!(
                    "request {number} would arrive after more than {MOST_PERIODS_A_GAP} bursts without any; \
                     allowed: longer bursts, or shorter times between arrivals"
                ),
            ),
        }
    }
}

enum Gaps {
    /// All at once: a closed loop paces itself.
    None,
    Steady(Times),
    Bursts(Box<OnOff>),
}

impl Arrivals {
    /// Arrivals as configured at `key`, the first at time zero. `stream` gives the random stream of a part.
    ///
    /// # Errors
    /// If a distribution names a file that cannot be read or makes no sense.
    pub fn new(
        config: &SyntheticWorkload,
        key: &str,
        stream: &impl Fn(&str) -> Stream,
    ) -> Result<Self, InputError> {
        let within = match &config.inter_arrival {
            Some(gap) if config.iodepth.is_none() => {
                Some(Times::new(gap, &format!("{key}.inter_arrival"), stream("arrival"))?)
            }
            _ => None,
        };
        let gaps = match (within, &config.bursts) {
            (None, _) => Gaps::None,
            (Some(within), Bursts::None) => Gaps::Steady(within),
            (Some(within), Bursts::OnOff { on, off, background }) => {
                let times = |times, part: &str| {
                    let key = format!("{key}.bursts.{part}");
                    Times::new(times, &key, stream(&format!("bursts/{part}")))
                };
                let background = background.as_ref().map(|times_of| times(times_of, "background"));
                let (on, off) = (times(on, "on")?, times(off, "off")?);
                Gaps::Bursts(Box::new(OnOff::new(on, off, within, background.transpose()?)))
            }
        };
        let scale = Some(config.time_scale).filter(|scale| *scale != 1.0);
        Ok(Self { gaps, scale, next: Ok(0) })
    }

    /// The next arrival.
    ///
    /// # Errors
    /// If there is no time for it.
    #[inline]
    pub fn draw(&mut self) -> Result<Instant, NoArrival> {
        let drawn_ns = self.next?;
        let gap = match &mut self.gaps {
            Gaps::None => Some(Duration::ZERO),
            Gaps::Steady(times) => Some(times.draw()),
            Gaps::Bursts(bursts) => bursts.gap(),
        };
        // What is wrong with the time of a request that nobody asks for is no fault.
        self.next = match gap.map(|gap| drawn_ns.checked_add(gap.as_ns())) {
            Some(Some(next_ns)) => Ok(next_ns),
            Some(None) => Err(NoArrival::BeyondTheClock),
            None => Err(NoArrival::TooManyPeriods),
        };
        // The cast of what is too large for it gives the largest number.
        let ns = self.scale.map_or(drawn_ns, |scale| (drawn_ns as f64 * scale) as u64);
        let arrival = Instant::from_ns(ns);
        if arrival <= Instant::END { Ok(arrival) } else { Err(NoArrival::BeyondTheClock) }
    }
}
