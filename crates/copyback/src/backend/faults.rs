//! Cost of flash faults to a drive: the time of retries and of blocks that are replaced, and in the end the
//! state in which it takes no writes.

use crate::checkpoint::Checkpointed;
use crate::ftl::{Ftl, Replaced};
use crate::ids::Ppn;
use crate::less::Less;
use crate::nand::{Sensed, Strain, Timing};
use crate::units::{Duration, Instant, earlier};

use super::Counters;

/// Cost of faults to a drive.
#[derive(Debug, Default, Checkpointed)]
pub struct FaultCosts {
    /// Time in the array, beyond what it would take without faults, of the operation that is about to
    /// start.
    extra: Duration,
    /// Pages read at last after one retry, two and so on.
    retried: Vec<u64>,
    uncorrectable: u64,
    /// Pages copied to spare blocks.
    copied: u64,
    /// Whether that has happened since somebody asked.
    has_moved_pages: bool,
    read_only_since: Option<Instant>,
}

/// Faults of a drive, or of several together, since the run began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FaultReport {
    /// Page programs that failed.
    pub program_failures: u64,
    /// Block erases that failed.
    pub erase_failures: u64,
    /// Blocks that are bad, since the drive was new.
    pub bad_blocks: u64,
    /// Blocks of those that were bad from the start.
    pub factory_bad_blocks: u64,
    /// Pages copied to spare blocks because a program failed.
    pub pages_copied: u64,
    /// Pages read at last after one retry, two and so on.
    pub retried: Vec<u64>,
    /// Pages that could not be corrected after all retries.
    pub uncorrectable: u64,
    /// Pages of moves among those that are lost with that.
    pub lost_in_moves: u64,
    /// Pages of the host that were read in vain.
    pub failed_reads: u64,
    /// When the first drive became read-only.
    pub read_only_since: Option<Instant>,
}

/// Result of a read of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Data, perhaps after some retries.
    Data,
    /// No data: no retry corrects the page.
    Nothing,
    /// The mark of a page whose data are lost.
    Mark,
}

impl FaultCosts {
    /// Takes what the operation which is about to start needs beyond what it would without faults.
    pub fn take_extra(&mut self) -> Duration {
        std::mem::take(&mut self.extra)
    }

    /// Whether pages have moved with a block that was replaced since the last call.
    pub fn has_replaced(&mut self) -> bool {
        std::mem::take(&mut self.has_moved_pages)
    }

    /// Whether the drive takes no writes any more.
    pub const fn is_read_only(&self) -> bool {
        self.read_only_since.is_some()
    }

    /// Stops to take writes, if the translation layer has just run out of good blocks. Returns whether it has.
    pub fn becomes_read_only(&mut self, ftl: &Ftl, now: Instant) -> bool {
        let becomes = self.read_only_since.is_none() && ftl.bad_blocks().is_read_only();
        if becomes {
            self.read_only_since = Some(now);
        }
        becomes
    }

    /// The operation that is about to start reads `page`, whose data have been through `strain`. Returns what comes of it.
    pub fn sense(&mut self, ftl: &Ftl, timing: &Timing, page: Ppn, strain: Strain) -> Found {
        let uncorrectable = self.uncorrectable;
        let retries: u32 = ftl.sense(page, strain).map(|sensed| self.count(sensed)).sum();
        if retries > 0 {
            let offset = ftl.geometry().page_offset(page);
            let again = array_read(timing, ftl, (page, offset));
            self.extra += again * u64::from(retries);
        }
        match self.uncorrectable > uncorrectable {
            true => Found::Nothing,
            false if ftl.lost_pages().is_marked(page) => Found::Mark,
            false => Found::Data,
        }
    }

    /// Counts the blocks that have just been replaced, and what that takes.
    pub fn count_replaced(
        &mut self,
        all: &[Replaced],
        ftl: &Ftl,
        timing: &Timing,
        counters: &mut Counters,
    ) {
        for Replaced { again, copied } in all {
            // Pages of a spare block are of the type and in the cell mode of those of the block that it has replaced.
            let times = copied
                .iter()
                .map(|page| read_time(timing, ftl, *page) + write_time(timing, ftl, *page));
            self.extra += write_time(timing, ftl, *again) + times.sum();
            let copies = copied.len() as u64;
            counters.reads += copies;
            counters.programs += copies + 1;
            counters.replacing += copies + 1;
            self.copied += copies;
            self.has_moved_pages = true;
        }
    }

    /// Faults so far.
    pub fn report(&self, ftl: &Ftl, counters: &Counters) -> FaultReport {
        let tally = ftl.bad_blocks().tally();
        let (bad_blocks, factory_bad_blocks) = ftl.bad_blocks().count();
        let striped = u64::from(ftl.geometry().striped_planes);
        FaultReport {
            program_failures: tally.program_failures,
            erase_failures: tally.erase_failures,
            bad_blocks: bad_blocks * striped,
            factory_bad_blocks: factory_bad_blocks * striped,
            pages_copied: self.copied * striped,
            retried: self.retried.clone(),
            uncorrectable: self.uncorrectable,
            lost_in_moves: ftl.lost_pages().in_moves() * striped,
            failed_reads: counters.reads_lost * striped,
            read_only_since: self.read_only_since,
        }
    }

    /// Counts what has come of reading a page. Returns how often it was read again.
    fn count(&mut self, sensed: Sensed) -> u32 {
        match sensed {
            Sensed::Corrected(0) => 0,
            Sensed::Corrected(level) => {
                self.retried.resize(self.retried.len().max(level as usize), 0);
                self.retried[level as usize - 1] += 1;
                level
            }
            Sensed::Uncorrectable(levels) => {
                self.uncorrectable += 1;
                levels
            }
        }
    }
}

impl FaultReport {
    /// Blocks that have become bad.
    pub fn grown_bad_blocks(&self) -> u64 {
        self.bad_blocks.less(self.factory_bad_blocks)
    }

    /// Adds those of another drive.
    pub fn add(&mut self, other: &Self) {
        self.program_failures += other.program_failures;
        self.erase_failures += other.erase_failures;
        self.bad_blocks += other.bad_blocks;
        self.factory_bad_blocks += other.factory_bad_blocks;
        self.pages_copied += other.pages_copied;
        self.retried.resize(self.retried.len().max(other.retried.len()), 0);
        for (count, more) in self.retried.iter_mut().zip(&other.retried) {
            *count += more;
        }
        self.uncorrectable += other.uncorrectable;
        self.lost_in_moves += other.lost_in_moves;
        self.failed_reads += other.failed_reads;
        self.read_only_since = earlier(self.read_only_since, other.read_only_since);
    }
}

/// Time to read `page` out.
fn read_time(timing: &Timing, ftl: &Ftl, page: Ppn) -> Duration {
    let offset = ftl.geometry().page_offset(page);
    timing.command + array_read(timing, ftl, (page, offset)) + timing.page_transfer
}

/// Time to program `page`.
fn write_time(timing: &Timing, ftl: &Ftl, page: Ppn) -> Duration {
    let offset = ftl.geometry().page_offset(page);
    let in_cache = timing.cache.filter(|_| ftl.is_in_cache(page));
    let array = in_cache.map_or_else(|| timing.program(offset), |cache| cache.program(offset));
    timing.command + timing.page_transfer + array
}

/// Array read of the `page` at this offset, in the cell mode of its block.
#[inline]
pub fn array_read(timing: &Timing, ftl: &Ftl, (page, offset): (Ppn, u32)) -> Duration {
    match timing.cache {
        Some(cache) if ftl.is_in_cache(page) => cache.read,
        _ => timing.read(offset),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_drives_report_adds_up_and_the_first_to_be_read_only_counts() {
        let report = |bad_blocks, retried: &[u64], read_only_ns: Option<u64>| FaultReport {
            bad_blocks,
            factory_bad_blocks: 2,
            retried: retried.to_vec(),
            uncorrectable: 1,
            read_only_since: read_only_ns.map(Instant::from_ns),
            ..FaultReport::default()
        };
        let mut all = report(5, &[7], Some(300));
        all.add(&report(3, &[1, 4], Some(200)));
        all.add(&report(2, &[], None));
        assert_eq!((all.bad_blocks, all.grown_bad_blocks(), all.uncorrectable), (10, 4, 3));
        assert_eq!(all.retried, [8, 4]);
        assert_eq!(all.read_only_since, Some(Instant::from_ns(200)));
    }
}
