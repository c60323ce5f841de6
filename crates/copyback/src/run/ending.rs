//! End of a run before its requests'.

use crate::checkpoint::Checkpointed;
use crate::config::{Resolved, Stop};
use crate::host::Completion;
use crate::units::Instant;

use super::stop::{Rule, SettledRounds, SteadyStateSummary};

/// Reasons for which a run ends before its requests do.
#[derive(Checkpointed)]
pub(super) struct Ending {
    /// The rule, if there is one.
    pub rule: Option<Rule>,
    /// Whether it ends when a drive becomes read-only.
    pub at_read_only: bool,
    /// Requests that had arrived and waited to enter the array when the run ended.
    pub unserved: u64,
}

impl Ending {
    /// Of a run of a checked configuration.
    pub fn of(config: &Resolved) -> Self {
        Self { rule: Rule::of(config), at_read_only: config.ends_at_read_only(), unserved: 0 }
    }

    /// When the round under way ends, if that is known beforehand.
    pub fn due(&self) -> Option<Instant> {
        self.rule.as_ref()?.due()
    }

    /// Counts a completed request, if it counts. Returns whether that ends a round.
    pub fn completed(&mut self, completion: &Completion) -> bool {
        self.rule.as_mut().is_some_and(|rule| rule.completed(completion))
    }

    /// A drive takes no writes any more, so that no further round tells anything.
    pub fn read_only(&mut self) {
        if let Some(rule) = &mut self.rule {
            rule.end_at_read_only();
        }
    }

    /// Share of the rounds that there may be.
    pub fn fraction(&self) -> f64 {
        self.rule.as_ref().map_or(0.0, Rule::fraction)
    }

    /// Requests that were not served, if the run could end before them.
    pub fn unserved(&self, config: &Resolved) -> Option<u64> {
        (config.stop != Stop::None || self.rule.is_some()).then_some(self.unserved)
    }

    /// Summary of rounds that are to be steady.
    pub fn steady(&self) -> Option<SteadyStateSummary> {
        self.rule.as_ref()?.steady()
    }

    /// Rounds until the run has settled.
    pub fn settled(&self) -> Option<&SettledRounds> {
        self.rule.as_ref()?.settled()
    }
}
