//! When the requests of a closed loop are due that asks for no more than a rate.

use super::arrival::NoArrival;
use super::mix::Mix;
use super::times::Times;
use crate::rng::Stream;
use crate::{InputError, Operation};
use copyback_config::quantity::Rate;
use copyback_config::units::Instant;
use copyback_config::{RateLimit, SyntheticWorkload};

const NS_PER_SECOND: u128 = 1_000_000_000;

/// The limits of a generator.
pub struct Limits {
    clocks: Clocks,
    /// Factor that times are multiplied by.
    scale: f64,
}

enum Clocks {
    Alike(Clock),
    /// One of all but reads, and one of reads.
    ByOperation([Clock; 2]),
}

/// When the next request is due, and what that takes.
struct Clock {
    next_ns: u64,
    spacing: Spacing,
}

enum Spacing {
    Requests(Times),
    /// Limit in bytes; the remainder of the last division is carried on, in billionths of a byte.
    Bytes {
        per_second: u64,
        carried: u128,
    },
}

impl Limits {
    /// The limits that `config` sets, if any. `stream` gives the random stream of a part.
    ///
    /// # Errors
    /// If a distribution names a file that cannot be read or makes no sense.
    pub fn new(
        config: &SyntheticWorkload,
        key: &str,
        stream: &impl Fn(&str) -> Stream,
    ) -> Result<Option<Self>, InputError> {
        let clock = |limit: &RateLimit, part: &str| Clock::new(limit, key, stream(part));
        let clocks = match &config.rate {
            RateLimit::None => return Ok(None),
            RateLimit::ByOperation { read, write } => {
                Clocks::ByOperation([clock(write, "rate/write")?, clock(read, "rate/read")?])
            }
            alike => Clocks::Alike(clock(alike, "rate")?),
        };
        Ok(Some(Self { clocks, scale: config.time_scale }))
    }

    /// Picks the operation of the next request: where reads and others have a limit each, that of the two which
    /// is due first.
    pub fn operation(&self, mix: &mut Mix) -> Operation {
        let Clocks::ByOperation([others, reads]) = &self.clocks else { return mix.draw() };
        if !mix.is_mixed() || reads.next_ns == others.next_ns {
            return mix.draw();
        }
        if reads.next_ns < others.next_ns { Operation::Read } else { mix.draw_other() }
    }

    /// When a request of `bytes` is due; the next is due later by what that takes.
    ///
    /// # Errors
    /// If the clock ends before it is.
    pub fn due(&mut self, operation: Operation, bytes: u64) -> Result<Instant, NoArrival> {
        let clock = match &mut self.clocks {
            Clocks::Alike(clock) => clock,
            Clocks::ByOperation(clocks) => &mut clocks[usize::from(operation == Operation::Read)],
        };
        let due_ns = clock.next_ns;
        clock.next_ns = due_ns.saturating_add(clock.spacing.takes_ns(bytes));
        // The cast of what is too large for it gives the largest number.
        let scaled = if self.scale == 1.0 { due_ns } else { (due_ns as f64 * self.scale) as u64 };
        let due = Instant::from_ns(scaled);
        if due <= Instant::END { Ok(due) } else { Err(NoArrival::BeyondTheClock) }
    }
}

impl Clock {
    fn new(limit: &RateLimit, key: &str, stream: Stream) -> Result<Self, InputError> {
        let spacing = match limit {
            RateLimit::Requests { gap } => {
                Spacing::Requests(Times::new(gap, &format!("{key}.rate.gap"), stream)?)
            }
            RateLimit::Bytes { per_second: Rate::BytesPerSecond(per_second) } => {
                Spacing::Bytes { per_second: *per_second, carried: 0 }
            }
            RateLimit::Bytes { per_second: Rate::None }
            | RateLimit::None
            | RateLimit::ByOperation { .. } => unreachable!("checked: each limit is one"),
        };
        Ok(Self { next_ns: 0, spacing })
    }
}

impl Spacing {
    /// Time that a request of `bytes` takes at this limit, in nanoseconds.
    fn takes_ns(&mut self, bytes: u64) -> u64 {
        match self {
            Self::Requests(gaps) => gaps.draw().as_ns(),
            Self::Bytes { per_second, carried } => {
                let left = u128::from(bytes) * NS_PER_SECOND + *carried;
                *carried = left % u128::from(*per_second);
                u64::try_from(left / u128::from(*per_second)).unwrap_or(u64::MAX)
            }
        }
    }
}
