//! Quality of the sorting by a drive's placement.

use crate::ftl::{ClassTally, Ftl, HandleTally, ReclaimUnits, Takes, UnitReport};

/// Counts of the blocks of each class, on a drive or on several together.
#[derive(Debug, Clone)]
pub struct SortingReport {
    /// Blocks by class, since the run began.
    pub tally: ClassTally,
    /// Origins of the pages that each class takes.
    pub takes: Vec<Takes>,
    /// Pages that the host has written since then.
    pub host_pages: u64,
    /// RAM in which placements keep what they know of pages, in bytes.
    pub state_bytes: u64,
    /// Pages written with each placement handle, if the placement goes by handles.
    pub handles: Option<HandleTally>,
    /// Counts of their reclaim units.
    pub units: Option<UnitReport>,
    /// Bytes of a page.
    pub page_bytes: u64,
}

impl SortingReport {
    /// Quality of the placement's sorting, if there are several classes.
    pub fn of(ftl: &Ftl) -> Option<Self> {
        let streams = ftl.streams();
        let tally = streams.tally();
        (tally.classes().len() > 1).then(|| Self {
            tally: tally.clone(),
            handles: ReclaimUnits::of(ftl).handle_tally(),
            units: ReclaimUnits::of(ftl).report(),
            takes: streams.takes(),
            host_pages: streams.tallied_host_pages(),
            state_bytes: streams.placement_bytes() as u64,
            page_bytes: streams.page_bytes(),
        })
    }

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
