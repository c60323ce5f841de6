//! Span of a flow: when it begins, which of its requests are measured, and when it ends.

use crate::checkpoint::Checkpointed;
use crate::config::Flow as FlowConfig;
use crate::ids::FlowId;
use crate::units::{Duration, Instant};

/// Span of time of a flow.
#[derive(Checkpointed)]
pub(super) struct Span {
    stage: Stage,
    /// Requests that arrive so soon after its start are not measured.
    ramp: Duration,
    /// Duration, unless the source of the flow ends it.
    duration: Option<Duration>,
}

/// Whether a flow has begun.
#[derive(Checkpointed)]
enum Stage {
    /// Waiting for these flows to end.
    Waiting { awaited: Vec<FlowId>, earliest: Instant },
    /// Started, or due to start at a known time.
    Begun { start: Instant },
}

impl Span {
    /// The span of the flow of `config`; `is_endless` if nothing but its source ends it.
    pub fn new(config: &FlowConfig, is_endless: bool) -> Self {
        let earliest = Instant::START + config.starts_at().0;
        let awaited: Vec<_> =
            config.starts_after().iter().map(|flow| FlowId::from_index((*flow).into())).collect();
        let stage = match awaited.is_empty() {
            true => Stage::Begun { start: earliest },
            false => Stage::Waiting { awaited, earliest },
        };
        let duration = config.duration().filter(|_| !is_endless).map(|duration| duration.0);
        Self { stage, ramp: config.ramp().0, duration }
    }

    /// Whether it waits for no other flow.
    pub const fn has_begun(&self) -> bool {
        matches!(self.stage, Stage::Begun { .. })
    }

    /// The flows that it waits for.
    pub fn awaited(&self) -> &[FlowId] {
        match &self.stage {
            Stage::Waiting { awaited, .. } => awaited,
            Stage::Begun { .. } => &[],
        }
    }

    /// The flows that it waits for have ended.
    pub fn begin(&mut self, now: Instant) {
        if let Stage::Waiting { earliest, .. } = self.stage {
            self.stage = Stage::Begun { start: earliest.max(now) };
        }
    }

    /// When it starts, if it has begun.
    #[inline(always)]
    pub const fn start(&self) -> Option<Instant> {
        match self.stage {
            Stage::Waiting { .. } => None,
            Stage::Begun { start } => Some(start),
        }
    }

    /// When requests are measured that arrive from then on, if it has begun.
    pub fn measured_from(&self) -> Option<Instant> {
        self.start().map(|start| start + self.ramp)
    }

    /// When it ends, if it has begun and its source does not end it.
    #[inline(always)]
    pub fn end(&self) -> Option<Instant> {
        let duration = self.duration?;
        Some(self.start()? + duration)
    }

    /// Share of its duration that has passed, if that is known.
    pub fn passed(&self, now: Instant) -> Option<f64> {
        let duration = self.duration?;
        let since = self.start().map_or(Duration::ZERO, |start| now.saturating_since(start));
        Some((since.as_secs_f64() / duration.as_secs_f64()).min(1.0))
    }
}
