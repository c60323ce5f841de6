//! What a device has done in the measured run.

/// Counts of flash operations, in pages (erases in blocks), and of collections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Pages read over the channel, for the host or to be moved.
    pub reads: u64,
    /// Pages programmed over the channel, for the host or moved.
    pub programs: u64,
    /// Pages moved with the copyback command.
    pub copybacks: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Read commands that joined several planes.
    pub multi_plane_reads: u64,
    /// Program commands that joined several planes.
    pub multi_plane_programs: u64,
    /// Erase commands that joined several planes.
    pub multi_plane_erases: u64,
    /// Pages programmed for the host.
    pub host_programs: u64,
    /// Pages moved by collections and wear levelling.
    pub pages_moved: u64,
    /// Collections because space was short.
    pub collections: u64,
    /// Blocks emptied to level wear.
    pub levelling_runs: u64,
    /// Host reads of pages that hold no data; they touch no flash.
    pub unmapped_reads: u64,
    /// Pages trimmed that held data.
    pub trimmed: u64,
}

impl Counters {
    /// Page operations: pages read, programmed and erased blocks; a move counts as two.
    pub const fn page_operations(&self) -> u64 {
        self.reads + self.programs + 2 * self.copybacks + self.erases
    }

    /// (Host page programs + moved pages) / host page programs; `None` without host programs.
    pub fn write_amplification(&self) -> Option<f64> {
        let all = self.host_programs + self.pages_moved;
        (self.host_programs > 0).then(|| all as f64 / self.host_programs as f64)
    }
}
