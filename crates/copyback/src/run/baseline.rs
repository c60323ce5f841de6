//! What the drives had done when the first request was measured: the summary tells what came after.

use crate::checkpoint::Checkpointed;
use crate::config::{Config, quantity::Time};
use crate::drive::Drive;
use crate::ids::SsdId;
use crate::less::Less;
use crate::ssd::{Counters, PlaneUse};
use crate::units::{Instant, TotalTime};

/// Where the account of the drives begins.
#[derive(Debug, Checkpointed)]
pub enum Baseline {
    /// With the run: no flow has a ramp.
    Start,
    /// Nothing has been measured yet.
    Ahead,
    /// What each drive had done by then.
    Taken(Vec<Mark>),
}

/// What a drive had done.
#[derive(Debug, Clone, Copy, Default, Less, Checkpointed)]
pub struct Mark {
    /// Flash operations and collections.
    pub counters: Counters,
    /// Die time spent collecting.
    pub collecting: TotalTime,
    /// How the planes' time was used.
    pub planes: PlaneUse,
}

impl Baseline {
    /// That of a run.
    pub fn of(config: &Config) -> Self {
        let has_ramp = config.workload.flows().iter().any(|flow| flow.ramp() > Time::default());
        if has_ramp { Self::Ahead } else { Self::Start }
    }

    /// Whether it is known.
    pub const fn is_taken(&self) -> bool {
        !matches!(self, Self::Ahead)
    }

    /// The account of `drives` begins at `now`, and so does theirs of idle time.
    pub fn take(&mut self, drives: &mut [Drive], now: Instant) {
        drives.iter_mut().for_each(|drive| drive.ssd.begin_measuring(now));
        *self = Self::Taken(drives.iter().map(|drive| Mark::of(drive, now)).collect());
    }

    /// What a drive has done by `now` since then; of a run that was never measured, all.
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
