//! When each flow was measured: throughput is by the time in which any was.

use crate::checkpoint::Checkpointed;
use crate::config::{Flow, Resolved, quantity::Time};
use crate::host::Completion;
use crate::units::{Duration, Instant};

/// The time in which each flow was measured.
#[derive(Debug, Default, Checkpointed)]
pub struct Spans {
    /// By flow: from the end of its ramp to its last completion, if it had any.
    flows: Vec<Option<(Instant, Instant)>>,
}

impl Spans {
    /// Spans of a run, unless all of its flows are measured from its start.
    pub fn of(config: &Resolved) -> Option<Self> {
        let begins_late = |flow: &Flow| {
            flow.starts_at() > Time::default()
                || flow.ramp() > Time::default()
                || !flow.starts_after().is_empty()
        };
        config.workload.flows().iter().any(begins_late).then(Self::default)
    }

    /// A request that is measured has been completed at `now`.
    pub fn completed(&mut self, completion: &Completion, now: Instant) {
        let flow = completion.flow.index();
        if flow >= self.flows.len() {
            self.flows.resize(flow + 1, None);
        }
        self.flows[flow] = Some((completion.measured_from, now));
    }

    /// When the first flow was measured, if any was.
    pub fn first(&self) -> Option<Instant> {
        self.flows.iter().flatten().map(|(begin, _)| *begin).min()
    }

    /// Time in which at least one flow was measured.
    pub fn together(&self) -> Duration {
        let mut spans: Vec<_> = self.flows.iter().copied().flatten().collect();
        spans.sort_unstable();
        let mut until = Instant::START;
        let mut together = Duration::ZERO;
        for (begin, end) in spans {
            together += end.saturating_since(begin.max(until));
            until = until.max(end);
        }
        together
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_counts_once_however_many_flows_are_measured() {
        let at = Instant::from_ns;
        let spans = |flows: &[Option<(u64, u64)>]| Spans {
            flows: flows.iter().map(|span| span.map(|(a, b)| (at(a), at(b)))).collect(),
        };
        let together = |flows: &[_]| spans(flows).together().as_ns();
        assert_eq!(together(&[None]), 0);
        assert_eq!(together(&[Some((10, 30)), None, Some((5, 20)), Some((40, 45))]), 30);
        assert_eq!(together(&[Some((0, 30)), Some((10, 20))]), 30);
    }
}
