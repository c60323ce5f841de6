//! When the power fails.

use std::collections::VecDeque;

use rand::RngExt;

use crate::checkpoint::Checkpointed;
use crate::config::{Cuts, Resolved};
use crate::rng::{self, Stream};
use crate::units::{Duration, Instant};

/// The cuts to come.
#[derive(Checkpointed)]
pub enum CutTimes {
    /// At these times.
    At(VecDeque<Instant>),
    /// At random.
    Random {
        /// Number of cuts that are left.
        left: u32,
        /// Mean time from one to the next.
        mean: Duration,
        /// Random stream of the times.
        random: Stream,
    },
    /// When it is said.
    OnCommand,
}

impl CutTimes {
    /// The cuts of a checked configuration, if there are any.
    pub fn new(config: &Resolved) -> Option<Self> {
        match &config.ssd.power.cuts {
            Cuts::None => None,
            Cuts::OnCommand => Some(Self::OnCommand),
            Cuts::At { times } => {
                Some(Self::At(times.iter().map(|time| Instant::START + time.0).collect()))
            }
            Cuts::Random { count, mean_interval } => Some(Self::Random {
                left: *count,
                mean: mean_interval.0,
                random: rng::stream(config.seed, "power/cuts"),
            }),
        }
    }

    /// Takes the next cut, which is later than `now`, when the last one was, or the run began. One that would
    /// come after the end of the clock never comes.
    pub fn next_after(&mut self, now: Instant) -> Option<Instant> {
        match self {
            Self::At(times) => times.pop_front(),
            Self::OnCommand => None,
            Self::Random { left, mean, random } => {
                *left = left.checked_sub(1)?;
                let share: f64 = random.random_range(0.0..1.0);
                let seconds = -mean.as_secs_f64() * (1.0 - share).ln();
                now.checked_add(Duration::from_secs_f64(seconds).max(Duration::from_ns(1)))
            }
        }
    }
}
