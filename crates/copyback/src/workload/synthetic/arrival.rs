//! When requests arrive.

use super::bursts::OnOff;
use super::times::{END_OF_TIME_NS, Times};
use crate::config::{Bursts, SyntheticWorkload};
use crate::rng::Stream;
use crate::units::{Duration, Instant};
use crate::workload::InputError;

/// Draws arrivals.
pub struct Arrivals {
    gaps: Gaps,
    /// What times are multiplied by, if not by 1.
    scale: Option<f64>,
    /// Before that.
    next: Instant,
}

enum Gaps {
    /// All at once: a closed loop paces itself.
    None,
    Steady(Times),
    Bursts(Box<OnOff>),
}

impl Arrivals {
    /// Arrivals as configured, the first at time zero. `stream` gives the random stream of a part.
    ///
    /// # Errors
    /// If a distribution names a file that cannot be read or makes no sense.
    pub fn new(
        config: &SyntheticWorkload,
        stream: &impl Fn(&str) -> Stream,
    ) -> Result<Self, InputError> {
        let within = match &config.inter_arrival {
            Some(gap) if config.iodepth.is_none() => {
                Some(Times::new(gap, "workload.inter_arrival", stream("arrival"))?)
            }
            _ => None,
        };
        let gaps = match (within, &config.bursts) {
            (None, _) => Gaps::None,
            (Some(within), Bursts::None) => Gaps::Steady(within),
            (Some(within), Bursts::OnOff { on, off, background }) => {
                let times = |times, part: &str| {
                    let key = format!("workload.bursts.{part}");
                    Times::new(times, &key, stream(&format!("bursts/{part}")))
                };
                let background = background.as_ref().map(|times_of| times(times_of, "background"));
                let (on, off) = (times(on, "on")?, times(off, "off")?);
                Gaps::Bursts(Box::new(OnOff::new(on, off, within, background.transpose()?)))
            }
        };
        let scale = Some(config.time_scale).filter(|scale| *scale != 1.0);
        Ok(Self { gaps, scale, next: Instant::START })
    }

    /// The next arrival.
    #[inline]
    pub fn draw(&mut self) -> Instant {
        let arrival = self.next;
        let gap = match &mut self.gaps {
            Gaps::None => Duration::ZERO,
            Gaps::Steady(times) => times.draw(),
            Gaps::Bursts(bursts) => bursts.gap(),
        };
        let next_ns = arrival.as_ns().saturating_add(gap.as_ns());
        self.next = Instant::from_ns(next_ns.min(END_OF_TIME_NS));
        self.scale.map_or(arrival, |scale| scaled(arrival, scale))
    }
}

fn scaled(arrival: Instant, scale: f64) -> Instant {
    Instant::from_ns(((arrival.as_ns() as f64 * scale) as u64).min(END_OF_TIME_NS))
}
