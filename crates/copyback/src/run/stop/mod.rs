//! The rule that ends a run before its requests do.

mod settled;
mod steady;

use crate::checkpoint::Checkpointed;
use crate::config::{Resolved, Stop};
use crate::host::Completion;
use crate::metrics::Finding;
use crate::ssd::Counters;
use crate::units::Instant;

pub use settled::{SettledRounds, SettledSummary};
pub use steady::{SteadyRounds, SteadyStateSummary};

/// Rule that ends a run, and the rounds in which it is looked at.
#[derive(Debug, Checkpointed)]
pub enum Rule {
    /// The last rounds are steady.
    Steady(Box<SteadyRounds>),
    /// Verdict that a longer run would not change.
    Settled(SettledRounds),
}

impl Rule {
    /// The rule of a checked configuration, if it has one that needs rounds.
    pub fn of(config: &Resolved) -> Option<Self> {
        match &config.stop {
            Stop::SteadyState(rule) => {
                let rounds = SteadyRounds::new(rule, config.drive.pages.counted_size.0);
                Some(Self::Steady(Box::new(rounds)))
            }
            Stop::None | Stop::ReadOnly => SettledRounds::of(config).map(Self::Settled),
        }
    }

    /// When the round under way ends, if that is known beforehand.
    pub const fn due(&self) -> Option<Instant> {
        match self {
            Self::Steady(rounds) => rounds.due(),
            Self::Settled(_) => None,
        }
    }

    /// Counts a completed request, if it counts. Returns whether that ends a round.
    pub fn completed(&mut self, completion: &Completion) -> bool {
        match self {
            Self::Steady(rounds) => rounds.completed(completion),
            Self::Settled(rounds) => !completion.is_of_ramp() && rounds.completed(),
        }
    }

    /// Ends the round under way at `now`, when the drives have these counters and the run would have these findings.
    /// Returns when the run ends, if it does.
    pub fn end_round(
        &mut self,
        now: Instant,
        counters: impl FnOnce() -> Counters,
        findings: impl FnOnce() -> Vec<Finding>,
    ) -> Option<Instant> {
        match self {
            Self::Steady(rounds) => {
                rounds.end_round(now, &counters());
                rounds.ended_at()
            }
            Self::Settled(rounds) => rounds.end_round(&findings()).then_some(now),
        }
    }

    /// Ends every round that ends at or before `now`. Returns when the run ends, if it does.
    pub fn end_due(&mut self, now: Instant, counters: &Counters) -> Option<Instant> {
        match self {
            Self::Steady(rounds) => {
                rounds.end_due(now, counters);
                rounds.ended_at()
            }
            Self::Settled(_) => None,
        }
    }

    /// A drive takes no writes any more, so that no further round tells anything.
    pub fn end_at_read_only(&mut self) {
        if let Self::Steady(rounds) = self {
            rounds.end_at_read_only();
        }
    }

    /// Share of the rounds that there may be.
    pub fn fraction(&self) -> f64 {
        match self {
            Self::Steady(rounds) => rounds.fraction(),
            Self::Settled(_) => 0.0,
        }
    }

    /// Summary of rounds that are to be steady.
    pub fn steady(&self) -> Option<SteadyStateSummary> {
        match self {
            Self::Steady(rounds) => Some(rounds.summary()),
            Self::Settled(_) => None,
        }
    }

    /// Rounds until the run has settled.
    pub const fn settled(&self) -> Option<&SettledRounds> {
        match self {
            Self::Steady(_) => None,
            Self::Settled(rounds) => Some(rounds),
        }
    }
}
