//! Baseline of the drives' counts when the first request was measured: the summary reports what came after.

use crate::checkpoint::Checkpointed;
use crate::config::{Resolved, quantity::Time};
use crate::drive::Drive;
use crate::ids::SsdId;
use crate::less::Less;
use crate::ssd::{Counters, PlaneUse};
use crate::units::{Instant, TotalTime};

/// Baseline of the drives' account.
#[derive(Debug, Checkpointed)]
pub enum Baseline {
    /// With the run: no flow has a ramp.
    Start,
    /// Before the first measured request.
    Ahead,
    /// Counts of each drive at that time.
    Taken(Vec<Mark>),
}

/// Counts of a drive at an instant.
#[derive(Debug, Clone, Copy, Default, Less, Checkpointed)]
pub struct Mark {
    /// Flash operations and collections.
    pub counters: Counters,
    /// Die time spent collecting.
    pub collecting: TotalTime,
    /// Use of the planes' time.
    pub planes: PlaneUse,
}

impl Baseline {
    /// Creates the baseline of a run.
    pub fn of(config: &Resolved) -> Self {
        let has_ramp = config.workload.flows().iter().any(|flow| flow.ramp() > Time::default());
        if has_ramp { Self::Ahead } else { Self::Start }
    }

    /// Whether it is known.
    pub const fn is_taken(&self) -> bool {
        !matches!(self, Self::Ahead)
    }

    /// The account of `drives` begins at `now`, and so does theirs of idle time.
    pub fn take(&mut self, drives: &mut [Drive], now: Instant) {
        drives.iter_mut().for_each(|drive| drive.ssd.backend_mut().observer.begin_measuring(now));
        *self = Self::Taken(drives.iter().map(|drive| Mark::of(drive, now)).collect());
    }

    /// Counts of a drive by `now` since the baseline; of a run that was never measured, all.
    pub fn since(&self, id: SsdId, drive: &Drive, now: Instant) -> Mark {
        let mark = Mark::of(drive, now);
        match self {
            Self::Taken(earlier) => mark.less(earlier[id.index()]),
            Self::Start | Self::Ahead => mark,
        }
    }
}

impl Mark {
    fn of(drive: &Drive, now: Instant) -> Self {
        Self {
            counters: drive.ssd.counters(),
            collecting: drive.ssd.backend().observer.collecting_until(now),
            planes: drive.ssd.backend().observer.plane_use(now),
        }
    }
}
