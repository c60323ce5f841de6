//! Condition of the flash: what faults cost, how the data of blocks age, and which page each die has read last. All of
//! that makes a difference to what reads bring and to how long the array works.

use crate::checkpoint::Checkpointed;
use crate::ftl::{Ftl, Replaced};
use crate::ids::{BlockId, Ppn};
use crate::nand::{ReadOut, Sensed, Strain, Timing};
use crate::units::{Duration, Instant};

use super::Counters;
use super::ageing::Ageing;
use super::faults::{FaultCosts, FaultReport, Found, array_read};

/// Condition of a drive's flash.
#[derive(Debug, Checkpointed)]
pub struct Condition {
    /// Kept if anything can go wrong in the flash.
    faults: Option<Box<FaultCosts>>,
    /// Kept if reads or time do anything to the data of blocks.
    pub ageing: Option<Box<Ageing>>,
    /// Kept if an array read brings several units of mapping.
    read_out: Option<Box<ReadOut>>,
}

impl Condition {
    /// Condition of the flash of a prepared translation layer, whose data age if there is an `ageing`.
    pub fn new(ftl: &Ftl, ageing: Option<Box<Ageing>>) -> Self {
        Self {
            faults: ftl.bad_blocks().are_possible().then(Box::default),
            ageing,
            read_out: ReadOut::new(ftl.geometry()).map(Box::new),
        }
    }

    /// Whether anything can go wrong in the flash.
    #[inline(always)]
    pub const fn has_faults(&self) -> bool {
        self.faults.is_some()
    }

    /// Whether every read of a page finds its data, and leaves no trace.
    #[inline(always)]
    pub const fn is_perfect(&self) -> bool {
        self.faults.is_none() && self.ageing.is_none()
    }

    /// Faults so far, if there can be any.
    pub fn report(&self, ftl: &Ftl, counters: &Counters) -> Option<FaultReport> {
        self.faults.as_ref().map(|costs| costs.report(ftl, counters))
    }

    /// Blocks that are bad, if any can be.
    pub fn bad_blocks(&self, ftl: &Ftl) -> Option<u64> {
        let striped = u64::from(ftl.geometry().striped_planes);
        self.faults.as_ref().map(|_| ftl.bad_blocks().count().0 * striped)
    }

    /// Whether the drive takes no writes any more.
    pub fn is_read_only(&self) -> bool {
        self.faults.as_ref().is_some_and(|costs| costs.is_read_only())
    }

    /// Stops to take writes, if the translation layer has just run out of good blocks. Returns whether it has.
    #[inline]
    pub fn becomes_read_only(&mut self, ftl: &Ftl, now: Instant) -> bool {
        self.faults.as_mut().is_some_and(|costs| costs.becomes_read_only(ftl, now))
    }

    /// The operation that is about to start reads `page`. Returns what comes of it.
    #[inline]
    pub fn sense(&mut self, ftl: &Ftl, timing: &Timing, page: Ppn) -> Found {
        match self.is_perfect() {
            true => Found::Data,
            false => self.sense_with_care(ftl, timing, page),
        }
    }

    #[inline(never)]
    fn sense_with_care(&mut self, ftl: &Ftl, timing: &Timing, page: Ppn) -> Found {
        if let Some(ageing) = &mut self.ageing {
            ageing.read(ftl, page);
        }
        let strain = self.strain_of(ftl, page);
        self.faults.as_mut().map_or(Found::Data, |costs| costs.sense(ftl, timing, page, strain))
    }

    /// Whether a copy of `page` inside the flash, where nobody corrects it, is no more legible than the page.
    #[inline(never)]
    pub fn copies_errors(&self, ftl: &Ftl, page: Ppn) -> bool {
        let is_lost = |sensed| matches!(sensed, Sensed::Uncorrectable(_));
        ftl.sense(page, self.strain_of(ftl, page)).any(is_lost)
    }

    /// Stress on the data of the block of `page`: erases, reads, time.
    fn strain_of(&self, ftl: &Ftl, page: Ppn) -> Strain {
        let block = ftl.geometry().block_of(page);
        self.ageing.as_ref().map_or_else(Strain::default, |ageing| ageing.strain(block))
    }

    /// Counts the blocks that have just been replaced. Returns what the operation which is about to start needs beyond what it
    /// would without faults.
    pub fn count_replaced(
        &mut self,
        replaced: &[Replaced],
        ftl: &Ftl,
        timing: &Timing,
        counters: &mut Counters,
    ) -> Duration {
        let Some(costs) = &mut self.faults else { return Duration::ZERO };
        costs.count_replaced(replaced, ftl, timing, counters);
        costs.take_extra()
    }

    /// Whether pages have moved with a block that was replaced since the last call.
    pub fn has_replaced(&mut self) -> bool {
        self.faults.as_mut().is_some_and(|costs| costs.has_replaced())
    }

    /// Takes what the operation which is about to start needs beyond what it would without faults.
    pub fn take_extra(&mut self) -> Duration {
        self.faults.as_mut().map_or(Duration::ZERO, |costs| costs.take_extra())
    }

    /// Array read of `page`, at `offset` of its block, in the cell mode of that; none if the last one of its die has
    /// brought it.
    #[inline]
    pub fn array_read(
        &mut self,
        ftl: &Ftl,
        timing: &Timing,
        (page, offset): (Ppn, u32),
    ) -> Duration {
        if let Some(read_out) = &mut self.read_out
            && read_out.holds_or_brings(ftl.geometry(), page)
        {
            return Duration::ZERO;
        }
        array_read(timing, ftl, (page, offset))
    }

    /// Erase of `block`, in its cell mode.
    pub fn array_erase(&mut self, ftl: &Ftl, timing: &Timing, block: BlockId) -> Duration {
        if let Some(read_out) = &mut self.read_out {
            let plane = ftl.geometry().plane_of_block(block);
            read_out.forget(ftl.geometry().die_of_plane(plane));
        }
        match timing.cache {
            Some(cache) if ftl.blocks().is_slc(block) => cache.erase,
            _ => timing.erase,
        }
    }
}
