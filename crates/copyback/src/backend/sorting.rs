//! How well the placement of a drive has sorted pages.

use crate::ftl::{ClassTally, HandleTally, Takes, UnitReport};

use super::Backend;

/// What became of the blocks of each class, on a drive or on several together.
#[derive(Debug, Clone)]
pub struct SortingReport {
    /// Blocks by class, since the run began.
    pub tally: ClassTally,
    /// Whose pages each class takes.
    pub takes: Vec<Takes>,
    /// Pages that the host has written since then.
    pub host_pages: u64,
    /// RAM in which placements keep what they know of pages, in bytes.
    pub state_bytes: u64,
    /// What was written with each placement handle, if the placement goes by handles.
    pub handles: Option<HandleTally>,
    /// Their reclaim units.
    pub units: Option<UnitReport>,
    /// Bytes of a page.
    pub page_bytes: u64,
}

impl SortingReport {
    /// Adds that of another drive.
    pub fn add(&mut self, other: &Self) {
        self.tally += &other.tally;
        self.host_pages += other.host_pages;
        self.state_bytes += other.state_bytes;
        if let (Some(handles), Some(other)) = (&mut self.handles, &other.handles) {
            *handles += other;
        }
        if let (Some(units), Some(other)) = (&mut self.units, &other.units) {
            *units += other;
        }
    }
}

impl Backend {
    /// How well the placement has sorted, if there are several classes.
    pub fn sorting_report(&self) -> Option<SortingReport> {
        let tally = self.ftl.class_tally();
        (tally.classes().len() > 1).then(|| SortingReport {
            tally: tally.clone(),
            handles: self.ftl.reclaim_units().handle_tally(),
            units: self.ftl.reclaim_units().report(),
            takes: self.ftl.takes_of_classes(),
            host_pages: self.ftl.tallied_host_pages(),
            state_bytes: self.ftl.placement_bytes() as u64,
            page_bytes: self.ftl.page_bytes(),
        })
    }
}
