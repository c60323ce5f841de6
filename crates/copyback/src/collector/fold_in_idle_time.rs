//! A drive that has had no command for a while folds what its cache of blocks in another cell mode holds
//! (`ssd.slc_cache.fold_after_idle`). A command stops that at the next operation of the flash; what is left goes on in
//! the next such time.

use crate::backend::Backend;
use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::event::{Agenda, Event};
use crate::idle::IdleDetector;
use crate::units::{Duration, Instant};

use super::Collector;
use super::lanes::Lanes;

/// Whether the drive has had no command for long enough.
#[derive(Debug, Checkpointed)]
pub struct FoldInIdleTime {
    detector: IdleDetector,
    is_quiet: bool,
    is_idle: bool,
    /// When the next look is on the agenda.
    look: Option<Instant>,
}

impl FoldInIdleTime {
    /// Creates folding for a checked configuration, if there is something to fold.
    pub fn new(config: &Resolved) -> Option<Box<Self>> {
        let wait = config.ssd.slc_cache.fold_after_idle.0;
        config.drive.slc.is_some().then(|| {
            Box::new(Self {
                detector: IdleDetector::new(Duration::from_ns(1), wait),
                is_quiet: true,
                is_idle: false,
                look: None,
            })
        })
    }

    /// Before work is looked for: whether the drive `is_busy`. Returns whether folding stops.
    pub fn note(&mut self, is_busy: bool, now: Instant) -> bool {
        if is_busy != self.is_quiet {
            return false;
        }
        self.is_quiet = !is_busy;
        if !is_busy {
            self.detector.became_quiet(now);
            return false;
        }
        self.detector.became_busy();
        std::mem::take(&mut self.is_idle)
    }

    /// After work has been looked for: plans the next look.
    pub fn plan_look(&mut self, now: Instant, agenda: &mut Agenda) {
        let next = self.detector.next_check().map(|next| next.max(now));
        if let Some(next) = next
            && self.look.is_none_or(|planned| next < planned)
        {
            self.look = Some(next);
            agenda.add(next, Event::IdleLook);
        }
    }

    /// A look that was on the agenda. The drive may have become busy since. Returns whether folding begins.
    pub fn look(&mut self, now: Instant) -> bool {
        self.look.take_if(|planned| *planned <= now);
        let begins = self.detector.check(now);
        self.is_idle |= begins;
        begins
    }
}

impl Collector {
    /// Whether the drive folds because it has had no command for long enough.
    pub(super) fn is_folding_in_idle_time(&self) -> bool {
        self.folds.as_ref().is_some_and(|folds| folds.is_idle)
    }

    /// Whether a collection that begins has no other reason but that the drive has no command.
    pub(super) fn folds_in_idle_time(&self, backend: &Backend, lanes: &Lanes) -> bool {
        let (plane, job) = (lanes.demanding(), &lanes.lanes[0].job);
        self.is_folding_in_idle_time()
            && !job.reason.is_for_data()
            && !backend.ftl.space().is_below_threshold(plane)
            && backend.ftl.blocks().is_slc(job.victim())
            && !backend
                .ftl
                .slc_pool()
                .is_some_and(|pool| pool.is_due_when_busy(backend.ftl.blocks(), plane))
    }
}
