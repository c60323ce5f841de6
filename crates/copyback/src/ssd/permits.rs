//! Permits: what others may ask of a drive's collections, and what they are told about them.

use crate::collector::permit::{Asked, Until};

use super::Ssd;

/// Status of a drive: its free space and its collections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Status {
    /// Planes with fewer free blocks than the register threshold. A plane that is being collected
    /// counts as it did before, here and in what follows.
    pub below_register: u32,
    /// Number of times that a plane has fallen below it, those that were so at the start included.
    pub crossings: u64,
    /// Planes with fewer free blocks than the soft threshold.
    pub short: u32,
    /// Number of times that a plane has fallen below it, those that were so at the start included.
    pub shortages: u64,
    /// Fewest free blocks of a plane.
    pub free_blocks_min: u32,
    /// Bytes that can be written before a plane has fewer free blocks than the soft threshold, if they go to all
    /// planes alike.
    pub writable: u64,
    /// Whether a die collects just now.
    pub collecting: bool,
    /// Whether planes are left that were asked for.
    pub asked: bool,
}

impl Ssd {
    /// Asks for collections beyond what the drive needs itself, in place of what was asked before.
    /// They begin when it next [arbitrates](Self::arbitrate), unless it is read-only.
    pub fn ask_to_collect(&mut self, asked: Asked) {
        if self.backend.condition.is_read_only() {
            return;
        }
        let serves = self.serves_host();
        let Self { backend, collector, .. } = self;
        collector.permits.ask(asked, backend.ftl.space().free_blocks_by_plane());
        if asked.until == Until::ReserveFull && serves {
            collector.permits.request_came();
        }
        if collector.permits.any() {
            backend.flash.wake_all();
        }
    }

    /// Asks for nothing any more. Collections that have begun are finished.
    pub fn stop_asking(&mut self) {
        self.backend.has_changed = true;
        self.collector.permits.withdraw();
    }

    /// Status of the drive. Costs next to nothing. A drive that is read-only needs no space.
    pub fn status(&self) -> Status {
        if self.backend.condition.is_read_only() {
            return Status { collecting: self.is_collecting(), ..Status::default() };
        }
        let ftl = &self.backend.ftl;
        let watermarks =
            ftl.space().watermarks().expect("a drive watches its watermarks from the start");
        let block = u64::from(ftl.limits().data_pages()) * u64::from(ftl.geometry().page_size);
        Status {
            below_register: watermarks.below_register(),
            crossings: watermarks.crossings(),
            short: watermarks.short(),
            shortages: watermarks.shortages(),
            free_blocks_min: watermarks.least(),
            writable: watermarks.blocks_above_soft() * block,
            collecting: self.is_collecting(),
            asked: self.collector.permits.any(),
        }
    }
}
