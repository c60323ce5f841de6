//! Cost of flash faults to a drive: the time of retries and of blocks that are replaced, and in the end the
//! state in which it takes no writes.

use crate::checkpoint::Checkpointed;
use crate::ftl::{Ftl, Replaced};
use crate::ids::{BlockId, Ppn};
use crate::less::Less;
use crate::nand::{Sensed, Strain, Timing};
use crate::units::{Duration, Instant, earlier};

use super::Backend;

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

impl Backend {
    /// Faults so far, if there can be any.
    pub fn fault_report(&self) -> Option<FaultReport> {
        let costs = self.faults.as_ref()?;
        let tally = self.ftl.bad_blocks().tally();
        let (bad_blocks, factory_bad_blocks) = self.ftl.bad_blocks().count();
        let striped = u64::from(self.ftl.geometry().striped_planes);
        Some(FaultReport {
            program_failures: tally.program_failures,
            erase_failures: tally.erase_failures,
            bad_blocks: bad_blocks * striped,
            factory_bad_blocks: factory_bad_blocks * striped,
            pages_copied: costs.copied * striped,
            retried: costs.retried.clone(),
            uncorrectable: costs.uncorrectable,
            lost_in_moves: self.ftl.lost_pages().in_moves() * striped,
            failed_reads: self.counters.reads_lost * striped,
            read_only_since: costs.read_only_since,
        })
    }

    /// Blocks that are bad, if any can be.
    pub fn bad_blocks(&self) -> Option<u64> {
        let striped = u64::from(self.ftl.geometry().striped_planes);
        self.faults.as_ref().map(|_| self.ftl.bad_blocks().count().0 * striped)
    }

    /// Whether the drive takes no writes any more.
    pub fn is_read_only(&self) -> bool {
        self.faults.as_ref().is_some_and(|costs| costs.read_only_since.is_some())
    }

    /// The operation that is about to start reads `page`. Returns what comes of it.
    #[inline]
    pub fn sense(&mut self, page: Ppn) -> Found {
        match self.faults.is_some() || self.ageing.is_some() {
            true => self.sense_with_care(page),
            false => Found::Data,
        }
    }

    #[inline(never)]
    fn sense_with_care(&mut self, page: Ppn) -> Found {
        if let Some(ageing) = &mut self.ageing {
            ageing.read(&self.ftl, page);
        }
        let strain = self.strain_of(page);
        let Some(costs) = &mut self.faults else { return Found::Data };
        let uncorrectable = costs.uncorrectable;
        let retries: u32 = self.ftl.sense(page, strain).map(|sensed| costs.count(sensed)).sum();
        if retries > 0 {
            let offset = self.ftl.geometry().page_offset(page);
            let again = read_time(&self.flash.timing, &self.ftl, (page, offset));
            costs.extra += again * u64::from(retries);
        }
        match costs.uncorrectable > uncorrectable {
            true => Found::Nothing,
            false if self.ftl.lost_pages().is_marked(page) => Found::Mark,
            false => Found::Data,
        }
    }

    /// Stress on the data of the block of `page`: erases, reads, time.
    fn strain_of(&self, page: Ppn) -> Strain {
        let block = self.ftl.geometry().block_of(page);
        self.ageing.as_ref().map_or_else(Strain::default, |ageing| ageing.strain(block))
    }

    /// The operation that is about to start reads `page` over the channel, to move it. Returns whether that is in vain and the
    /// page is made up from others.
    #[inline(always)]
    pub fn sense_to_move(&mut self, page: Ppn) -> bool {
        (self.faults.is_some() || self.ageing.is_some()) && self.sense_to_move_with_care(page)
    }

    #[inline(never)]
    fn sense_to_move_with_care(&mut self, page: Ppn) -> bool {
        self.sense(page) == Found::Nothing && self.ftl.reads_in_vain_to_move(page)
    }

    /// The operation that is about to start copies `page` inside the flash, where nobody corrects it: what cannot be read is no
    /// more legible in the copy.
    #[inline]
    pub fn copy_unseen(&mut self, page: Ppn) {
        if self.faults.is_some() {
            self.copy_with_errors(page);
        }
    }

    #[inline(never)]
    fn copy_with_errors(&mut self, page: Ppn) {
        let strain = self.strain_of(page);
        let is_lost = |sensed| matches!(sensed, Sensed::Uncorrectable(_));
        if self.ftl.sense(page, strain).any(is_lost) {
            self.ftl.cannot_read_to_move(page);
        }
    }

    /// Counts the blocks that have just been replaced, and what that takes.
    fn count_replaced(&mut self) {
        let replaced = self.ftl.take_replaced();
        for Replaced { again, copied } in &replaced {
            // Pages of a spare block are of the type and in the cell mode of those of the block that it has replaced.
            let times = copied.iter().map(|page| self.read_time(*page) + self.write_time(*page));
            let extra = self.write_time(*again) + times.sum();
            let copies = copied.len() as u64;
            self.counters.reads += copies;
            self.counters.programs += copies + 1;
            self.counters.replacing += copies + 1;
            if let Some(costs) = &mut self.faults {
                costs.extra += extra;
                costs.copied += copies;
                costs.has_moved_pages = true;
            }
        }
    }

    /// Counts the blocks that collections which take no time have replaced, in none either.
    pub fn replace_at_no_cost(&mut self) {
        if self.faults.is_some() {
            self.count_replaced();
            self.take_extra();
        }
    }

    /// Whether pages have moved with a block that was replaced since the last call.
    pub fn has_replaced(&mut self) -> bool {
        self.faults.as_mut().is_some_and(|costs| std::mem::take(&mut costs.has_moved_pages))
    }

    /// Time in the array of a program at `offset`, whose pages have found their places and fill so many blocks. These get
    /// their summary pages, which are counted.
    #[inline]
    pub fn program_time(&mut self, offset: u32, filled: u64) -> Duration {
        let mut time = self.flash.timing.program(offset);
        if let Some(summary) = self.flash.timing.summary.filter(|_| filled > 0) {
            time += summary;
            self.counters.summary_pages += filled;
        }
        self.with_faults(time)
    }

    /// Counts the summary pages of blocks that are filled in no time.
    pub fn fill_at_no_cost(&mut self, filled: u64) {
        if self.flash.timing.summary.is_some() {
            self.counters.summary_pages += filled;
        }
    }

    /// Time in the array of a program of the host that has gone to `page`, at `offset` of its block; otherwise as
    /// [`program_time`](Self::program_time).
    #[inline]
    pub fn host_program_time(&mut self, page: Ppn, offset: u32, filled: u64) -> Duration {
        match self.flash.timing.cache {
            Some(cache) if self.ftl.is_in_cache(page) => self.with_faults(cache.program(offset)),
            _ => self.program_time(offset, filled),
        }
    }

    #[inline]
    fn with_faults(&mut self, time: Duration) -> Duration {
        if self.faults.is_none() {
            return time;
        }
        self.count_replaced();
        time + self.take_extra()
    }

    /// Array read of `page`, at `offset` of its block, in the cell mode of that; none if the last one of its die has
    /// brought it.
    #[inline]
    pub fn array_read(&mut self, page: Ppn, offset: u32) -> Duration {
        if let Some(read_out) = &mut self.read_out
            && read_out.holds_or_brings(self.ftl.geometry(), page)
        {
            return Duration::ZERO;
        }
        read_time(&self.flash.timing, &self.ftl, (page, offset))
    }

    /// Erase of `block`, in its cell mode.
    pub fn array_erase(&mut self, block: BlockId) -> Duration {
        if let Some(read_out) = &mut self.read_out {
            let plane = self.ftl.geometry().plane_of_block(block);
            read_out.forget(self.ftl.geometry().die_of_plane(plane));
        }
        match self.flash.timing.cache {
            Some(timing) if self.ftl.blocks().is_slc(block) => timing.erase,
            _ => self.flash.timing.erase,
        }
    }

    /// Time to read `page` out.
    fn read_time(&self, page: Ppn) -> Duration {
        let timing = &self.flash.timing;
        let offset = self.ftl.geometry().page_offset(page);
        timing.command + read_time(timing, &self.ftl, (page, offset)) + timing.page_transfer
    }

    /// Time to program `page`.
    fn write_time(&self, page: Ppn) -> Duration {
        let timing = &self.flash.timing;
        let offset = self.ftl.geometry().page_offset(page);
        let in_cache = timing.cache.filter(|_| self.ftl.is_in_cache(page));
        let array = in_cache.map_or_else(|| timing.program(offset), |cache| cache.program(offset));
        timing.command + timing.page_transfer + array
    }

    /// Takes what the operation which is about to start needs beyond what it would without faults.
    pub fn take_extra(&mut self) -> Duration {
        match &mut self.faults {
            Some(costs) => std::mem::take(&mut costs.extra),
            None => Duration::ZERO,
        }
    }

    /// Stops to take writes, if the translation layer has just run out of good blocks. Returns whether it
    /// has.
    #[inline]
    pub fn becomes_read_only(&mut self, now: Instant) -> bool {
        let Some(costs) = &mut self.faults else { return false };
        let becomes = costs.read_only_since.is_none() && self.ftl.bad_blocks().is_read_only();
        if becomes {
            costs.read_only_since = Some(now);
        }
        becomes
    }
}

/// Array read of the `page` at this offset, in the cell mode of its block.
#[inline]
fn read_time(timing: &Timing, ftl: &Ftl, (page, offset): (Ppn, u32)) -> Duration {
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
