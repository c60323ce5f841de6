//! Counts of a device in the measured run.

use derive_more::AddAssign;
use schemars::JsonSchema;
use serde::Serialize;

use crate::checkpoint::Checkpointed;
use crate::ftl::{BufferTally, ReclaimKind};
use crate::less::Less;
use crate::purpose::Reason;
use crate::units::TotalTime;

use super::pacing::PacingTally;

/// Counts of flash operations, in pages (erases in blocks), and of collections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, AddAssign, Less, Checkpointed)]
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
    /// Pages of those in blocks of the SLC cache.
    pub slc_programs: u64,
    /// Pages moved by collections and wear levelling.
    pub pages_moved: u64,
    /// Pages of parity programmed for lines.
    pub parity: u64,
    /// Pages of a lost die programmed elsewhere.
    pub rebuilt: u64,
    /// Pages programmed because programs failed: those that failed, and those copied to spare blocks.
    pub replacing: u64,
    /// Units of pages that were programmed with nothing in them, as somebody waited for the others.
    pub padding: u64,
    /// Summary pages, programmed as blocks were filled; in no other count.
    pub summary_pages: u64,
    /// Blocks collected for space.
    pub collections: u64,
    /// Blocks of those that the controller of an array asked for.
    pub forced: u64,
    /// Blocks that the controller asked for in idle time, and those that the drive began itself because it had no command.
    pub idle: u64,
    /// Blocks of those collected before a gap ended that the host had announced.
    pub look_ahead: u64,
    /// Blocks of those collected in long idle periods, for planes that would soon be short of space.
    pub compacted: u64,
    /// Blocks of those collected in idle time, deferred when the drive was busy.
    pub delayed: u64,
    /// Number of times that the collection of a plane short of space was deferred, or the merge of a group.
    pub put_off: u64,
    /// Of all collected, blocks of planes that joined the collection of another.
    pub joined: u64,
    /// Moves of pages, by their way.
    pub moves: Moves,
    /// Number of times that a collection that had begun yielded to the host.
    pub preemptions: u64,
    /// Reads served from the register of a collection.
    pub merged_reads: u64,
    /// Writes that took the place of the page in the register of a collection.
    pub merged_writes: u64,
    /// Operations of collections that overlapped one of the host.
    pub pipelined: u64,
    /// Reads served from the device's DRAM, where a collection had left the page.
    pub cached_reads: u64,
    /// Number of times that a read suspended a program or erase.
    pub suspends: u64,
    /// Die time in which writes waited for a free block although collections yield, or for room in a
    /// full buffer.
    pub stalled: TotalTime,
    /// Charges to writes where collections are paced.
    pub pacing: PacingTally,
    /// Blocks emptied to level wear.
    pub levelling_runs: u64,
    /// Blocks emptied because they had been read too often.
    pub read_reclaims: u64,
    /// Blocks emptied because their data had become too old.
    pub refreshes: u64,
    /// Merges by kind, where logical pages are bound to blocks.
    pub merges: Merges,
    /// Use of a buffer that takes writes before merges.
    pub nv_buffer: BufferTally,
    /// Counts of the mapping, where its table lies in flash.
    pub mapping: MappingCounters,
    /// Logical pages that commands read, wherever they lay.
    pub page_reads: u64,
    /// Pages of those that hold no data; they touch no flash.
    pub unmapped_reads: u64,
    /// Pages trimmed that held data.
    pub trimmed: u64,
    /// Reads of pages that were made up from others of their stripe as their die collected.
    pub reads_around: u64,
    /// Reads that were reconstructed because their page could not be corrected.
    pub reads_rebuilt: u64,
    /// Reads that could neither be corrected nor reconstructed.
    pub reads_lost: u64,
    /// Pages that collections could not correct, and that were made up.
    pub moves_rebuilt: u64,
    /// Pages read to make up others.
    pub stripe_reads: u64,
}

/// Counts of the host's page operations by the look-up in the mapping table, where that lies in flash.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, AddAssign, Less, Checkpointed)]
pub struct MappingCounters {
    /// Page operations whose mapping was in RAM.
    pub hits: u64,
    /// Operations that waited for it.
    pub misses: u64,
    /// Entries that left the cache.
    pub evictions: u64,
    /// Entries of those that had to be written back.
    pub dirty_evictions: u64,
    /// Translation pages read, to fetch entries or to be updated.
    pub reads: u64,
    /// Translation pages written.
    pub writes: u64,
}

impl MappingCounters {
    /// Share of page operations whose mapping was in RAM.
    pub fn hit_ratio(&self) -> Option<f64> {
        let all = self.hits + self.misses;
        (all > 0).then(|| self.hits as f64 / all as f64)
    }
}

/// Pages moved by collections, by how (Shahidi et al., SC 2016).
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, AddAssign, Less, Serialize, JsonSchema, Checkpointed,
)]
#[schemars(rename = "MovesSummary")]
pub struct Moves {
    /// Read together and programmed together.
    pub together: u64,
    /// Read one after the other and programmed together.
    pub paired: u64,
    /// Read and programmed alone, on the plane that needed space.
    pub single_demanding: u64,
    /// Read and programmed alone, on a plane that joined.
    pub single_other: u64,
    /// Read into the device's DRAM.
    pub cached: u64,
}

impl Moves {
    /// Counts a program of what these lanes carried; the demanding plane is lane 0.
    pub fn count(&mut self, lanes: &[usize], read_together: bool) {
        let kind = match (lanes, read_together) {
            ([0], _) => &mut self.single_demanding,
            ([_], _) => &mut self.single_other,
            (_, true) => &mut self.together,
            (_, false) => &mut self.paired,
        };
        *kind += lanes.len() as u64;
    }
}

/// Merges, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, AddAssign, Less, Checkpointed)]
pub struct Merges {
    /// An update block became the data block.
    pub switch: u64,
    /// The rest of a data block was copied behind an update block's pages.
    pub partial: u64,
    /// A logical block was copied to a fresh block.
    pub full: u64,
    /// A logical block was copied to a fresh block, with newer pages out of a buffer.
    pub cleanings: u64,
    /// A block of a buffer, in which nothing was valid, was erased.
    pub buffer_erases: u64,
    /// A superblock's blocks were compacted.
    pub compactions: u64,
}

impl Merges {
    /// Counts a block that was reclaimed.
    pub const fn count(&mut self, kind: ReclaimKind) {
        match kind {
            ReclaimKind::Collection => {}
            ReclaimKind::SwitchMerge => self.switch += 1,
            ReclaimKind::PartialMerge => self.partial += 1,
            ReclaimKind::FullMerge => self.full += 1,
            ReclaimKind::Cleaning => self.cleanings += 1,
            ReclaimKind::BufferErase => self.buffer_erases += 1,
            ReclaimKind::Compaction => self.compactions += 1,
        }
    }

    /// Each block stands for one of each of `planes` striped together.
    pub const fn striped(&mut self, planes: u64) {
        self.switch *= planes;
        self.partial *= planes;
        self.full *= planes;
        self.cleanings *= planes;
        self.buffer_erases *= planes;
        self.compactions *= planes;
    }
}

impl Counters {
    /// Counts collections of one block each that were begun for this reason.
    pub const fn count_collections(&mut self, reason: Reason, collections: u64) {
        self.collections += collections;
        match reason {
            Reason::Forced => self.forced += collections,
            Reason::Idle => self.idle += collections,
            Reason::LookAhead => {
                self.idle += collections;
                self.look_ahead += collections;
            }
            Reason::Compaction => {
                self.idle += collections;
                self.compacted += collections;
            }
            Reason::Delayed => {
                self.idle += collections;
                self.delayed += collections;
            }
            Reason::OnDemand | Reason::WearLevelling | Reason::ReadReclaim | Reason::Refresh => {}
        }
    }

    /// Scales these counts, with each block standing for one of each of `planes` striped together, and each
    /// page for `pages`.
    #[must_use]
    pub const fn striped(mut self, planes: u64, pages: u64) -> Self {
        if planes > 1 {
            self.multi_plane_erases = self.erases;
            self.erases *= planes;
            self.joined += self.collections * (planes - 1);
            self.collections *= planes;
            self.levelling_runs *= planes;
            self.read_reclaims *= planes;
            self.refreshes *= planes;
            self.merges.striped(planes);
            self.nv_buffer.striped(planes);
        }
        if pages > 1 {
            self.stripe_pages(pages);
        }
        self
    }

    const fn stripe_pages(&mut self, planes: u64) {
        self.multi_plane_reads = self.reads;
        self.multi_plane_programs = self.programs;
        self.reads *= planes;
        self.programs *= planes;
        self.copybacks *= planes;
        self.host_programs *= planes;
        self.slc_programs *= planes;
        self.pages_moved *= planes;
        self.replacing *= planes;
        self.parity *= planes;
        self.rebuilt *= planes;
        self.summary_pages *= planes;
        self.reads_around *= planes;
        self.reads_rebuilt *= planes;
        self.reads_lost *= planes;
        self.moves_rebuilt *= planes;
        self.stripe_reads *= planes;
        self.pacing.charged *= planes;
        self.mapping.reads *= planes;
        self.mapping.writes *= planes;
        self.moves.together = self.pages_moved;
        self.moves.single_demanding = 0;
    }

    /// Page operations: pages read, programmed and erased blocks; a move counts as two.
    pub const fn page_operations(&self) -> u64 {
        self.reads + self.programs + 2 * self.copybacks + self.erases
    }

    /// Pages written to flash: for the host, moved, of the mapping table, of parity, of a lost die, and because programs failed.
    pub const fn pages_written(&self) -> u64 {
        self.host_programs
            + self.pages_moved
            + self.mapping.writes
            + self.replacing
            + self.parity
            + self.rebuilt
    }

    /// Pages programmed, whatever is in them: those of [`pages_written`](Self::pages_written), and summary pages.
    pub const fn pages_programmed(&self) -> u64 {
        self.programs + self.copybacks + self.summary_pages
    }

    /// Pages written to flash / host page programs; `None` without host programs.
    pub fn page_write_amplification(&self) -> Option<f64> {
        let all = self.pages_written();
        (self.host_programs > 0).then(|| all as f64 / self.host_programs as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_write_amplification_is_all_pages_written_by_those_of_the_host() {
        let counters = Counters {
            host_programs: 100,
            pages_moved: 60,
            replacing: 10,
            mapping: MappingCounters { writes: 30, ..MappingCounters::default() },
            ..Counters::default()
        };
        assert_eq!(counters.page_write_amplification(), Some(2.0));
        assert_eq!(Counters::default().page_write_amplification(), None);
    }

    #[test]
    fn what_is_striped_counts_once_for_each_of_its_planes() {
        let counted = Counters {
            erases: 2,
            collections: 3,
            levelling_runs: 4,
            read_reclaims: 5,
            refreshes: 6,
            merges: Merges { switch: 7, partial: 8, full: 9, ..Merges::default() },
            reads: 10,
            programs: 20,
            copybacks: 30,
            host_programs: 40,
            pages_moved: 50,
            replacing: 60,
            summary_pages: 65,
            parity: 70,
            rebuilt: 80,
            reads_around: 90,
            reads_rebuilt: 100,
            reads_lost: 110,
            moves_rebuilt: 120,
            stripe_reads: 130,
            mapping: MappingCounters { reads: 140, writes: 150, ..MappingCounters::default() },
            ..Counters::default()
        };
        let pages_alone = Counters {
            multi_plane_reads: 10,
            multi_plane_programs: 20,
            reads: 20,
            programs: 40,
            copybacks: 60,
            host_programs: 80,
            pages_moved: 100,
            replacing: 120,
            summary_pages: 130,
            parity: 140,
            rebuilt: 160,
            reads_around: 180,
            reads_rebuilt: 200,
            reads_lost: 220,
            moves_rebuilt: 240,
            stripe_reads: 260,
            mapping: MappingCounters { reads: 280, writes: 300, ..MappingCounters::default() },
            moves: Moves { together: 100, ..Moves::default() },
            ..counted
        };
        assert_eq!(counted.striped(1, 1), counted);
        assert_eq!(counted.striped(1, 2), pages_alone);
        let both = Counters {
            multi_plane_erases: 2,
            erases: 8,
            joined: 9,
            collections: 12,
            levelling_runs: 16,
            read_reclaims: 20,
            refreshes: 24,
            merges: Merges { switch: 28, partial: 32, full: 36, ..Merges::default() },
            ..pages_alone
        };
        assert_eq!(counted.striped(4, 2), both);
    }
}
