//! How well the placement of a drive has sorted pages.

use crate::ftl::{ClassTally, HandleTally};

use super::Backend;

/// What became of the blocks of each class, on a drive or on several together.
#[derive(Debug, Clone)]
pub struct SortingReport {
    /// Blocks by class, since the run began.
    pub tally: ClassTally,
    /// RAM in which placements keep what they know of pages, in bytes.
    pub state_bytes: u64,
    /// What was written with each placement handle, if the placement goes by handles.
    pub handles: Option<HandleTally>,
    /// Pages of a block that hold data.
    pub pages_per_block: u32,
}

impl SortingReport {
    /// Adds that of another drive.
    pub fn add(&mut self, other: &Self) {
        self.tally += &other.tally;
        self.state_bytes += other.state_bytes;
        if let (Some(handles), Some(other)) = (&mut self.handles, &other.handles) {
            *handles += other;
        }
    }
}

impl Backend {
    /// How well the placement has sorted, if it has more than two classes or goes by handles.
    pub fn sorting_report(&self) -> Option<SortingReport> {
        let tally = self.ftl.class_tally();
        let handles = self.ftl.handle_tally().cloned();
        (tally.classes().len() > 2 || handles.is_some()).then(|| SortingReport {
            tally: tally.clone(),
            handles,
            state_bytes: self.ftl.placement_bytes() as u64,
            pages_per_block: self.ftl.data_pages_per_block(),
        })
    }
}
