//! Rounds until what the run reports has settled (`workload.requests`).

use schemars::JsonSchema;
use serde::Serialize;

use crate::checkpoint::Checkpointed;
use crate::config::{Flow, Resolved};
use crate::metrics::Finding;

/// Findings that a longer run may not have.
const PASSING: [Finding; 3] =
    [Finding::PerhapsOverload, Finding::NothingCollected, Finding::Unsettled];

/// Rounds of a run that ends when what it reports has settled.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SettledSummary {
    /// Whether a longer run would not change the verdict.
    pub reached: bool,
    /// Rounds that have ended.
    pub rounds: u64,
    /// Most rounds that there could be.
    pub most_rounds: u32,
    /// Requests of a round.
    pub round: u64,
}

/// Rounds of a run that ends when what it reports has settled.
#[derive(Debug, Checkpointed)]
pub struct SettledRounds {
    round: u64,
    most_rounds: u32,
    /// Reads, writes, trims and flushes that were completed and measured.
    completed: u64,
    has_settled: bool,
}

impl SettledRounds {
    /// The rounds of a checked configuration, if a flow has any: those of the flow with the shortest.
    pub fn of(config: &Resolved) -> Option<Self> {
        let flows = config.workload.flows();
        let rounds = flows.iter().filter_map(Flow::rounds);
        let (round, most_rounds) = rounds.min()?;
        Some(Self { round, most_rounds, completed: 0, has_settled: false })
    }

    /// Counts a completed request. Returns whether that ends a round.
    pub const fn completed(&mut self) -> bool {
        self.completed += 1;
        self.completed.is_multiple_of(self.round) && !self.has_settled
    }

    /// Ends a round after which the run would have these findings. Returns whether that ends the run.
    pub fn end_round(&mut self, findings: &[Finding]) -> bool {
        self.has_settled = !findings.iter().any(|found| PASSING.contains(found));
        self.has_settled
    }

    /// Summary of the rounds for `summary.json`.
    pub const fn summary(&self) -> SettledSummary {
        SettledSummary {
            reached: self.has_settled,
            rounds: self.completed / self.round,
            most_rounds: self.most_rounds,
            round: self.round,
        }
    }

    /// Note for the user where the run ended at its bound.
    pub fn note(&self) -> Option<String> {
        let Self { round, most_rounds, .. } = *self;
        (!self.has_settled && self.completed >= round.saturating_mul(most_rounds.into())).then(|| {
            format!(
                "workload.requests: the run ended after {most_rounds} rounds of {round} requests, the most that are \
                 allowed (most_rounds), and had not settled"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_go_on_until_no_finding_is_one_that_passes() {
        let mut rounds =
            SettledRounds { round: 2, most_rounds: 3, completed: 0, has_settled: false };
        assert_eq!([false, true, false, true], [(); 4].map(|()| rounds.completed()));
        assert!(!rounds.end_round(&[Finding::Stalls, Finding::Unsettled]));
        assert_eq!(rounds.note(), None);
        assert_eq!([false, true], [(); 2].map(|()| rounds.completed()));
        assert!(!rounds.end_round(&[Finding::NothingCollected]));
        assert!(rounds.note().is_some_and(|note| note.contains("3 rounds of 2 requests")));
        assert!(rounds.end_round(&[Finding::Stalls]));
        let summary = rounds.summary();
        assert!(summary.reached && summary.rounds == 3 && rounds.note().is_none());
    }
}
