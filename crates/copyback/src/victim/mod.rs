//! WHO: which block is collected. One policy a file; each keeps just the index of closed blocks
//! that it needs, so that choosing costs O(1) (O(d) for d choices, O(pages a block) for
//! cost-benefit), never a scan over blocks.
//!
//! A policy watches blocks close, lose pages and leave. Every block it knows is closed: open
//! blocks and free ones are never victims.

mod cost_benefit;
mod external;
mod fifo;
mod greedy;
mod sample;
mod saved;
pub mod supply;

use crate::config::VictimPolicy;
use crate::ids::{BlockId, PlaneId};
use crate::rng::Stream;

use cost_benefit::CostBenefit;
use external::External;
use fifo::Fifo;
use greedy::Greedy;
use sample::Sample;
pub use saved::SavedVictims;
use supply::{Device, Failed, VictimSupplier};

/// What a policy is told about the device's shape.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Planes of the device; victims are chosen plane by plane.
    pub planes: usize,
    /// Erase blocks of the device.
    pub blocks: usize,
    /// Pages of a block that hold data.
    pub pages_per_block: u16,
}

/// What a policy may look at when it chooses.
pub trait BlockView {
    /// Valid pages of `block`.
    fn valid_pages(&self, block: BlockId) -> u16;

    /// How often `block` has been erased.
    fn erase_count(&self, block: BlockId) -> u32;
}

/// The victim policy of a device.
#[derive(Debug)]
pub enum VictimSelector {
    /// Fewest valid pages.
    Greedy(Greedy),
    /// d choices; random is d = 1.
    Sample(Sample),
    /// Oldest first.
    Fifo(Fifo),
    /// Most space for the work, weighted by age.
    CostBenefit(CostBenefit),
    /// What somebody else says. It is not saved: nobody knows what it remembers.
    External(Box<External>),
}

impl VictimSelector {
    /// A selector that knows no closed block yet.
    pub fn new(policy: &VictimPolicy, shape: Shape, random: Stream) -> Self {
        match policy {
            VictimPolicy::Greedy => Self::Greedy(Greedy::new(shape)),
            VictimPolicy::Rga { d } => Self::Sample(Sample::of(*d, shape, random)),
            VictimPolicy::Random => Self::Sample(Sample::of(1, shape, random)),
            VictimPolicy::RandomPlus => Self::Sample(Sample::with_an_invalid_page(shape, random)),
            VictimPolicy::Fifo => Self::Fifo(Fifo::new(shape)),
            VictimPolicy::CostBenefit => Self::CostBenefit(CostBenefit::new(shape)),
            VictimPolicy::Python { policy, .. } => {
                Self::External(Box::new(External::new(policy, shape, random)))
            }
        }
    }

    /// Takes the policy of `device` from `supplier`, if it comes from outside.
    ///
    /// # Errors
    /// If the supplier has none.
    pub fn supply(&mut self, device: Device, supplier: &dyn VictimSupplier) -> Result<(), Failed> {
        match self {
            Self::External(external) => external.supply(device, supplier),
            _ => Ok(()),
        }
    }

    /// Why a policy from outside is no longer asked, if it has failed.
    pub fn failed(&self) -> Option<&Failed> {
        match self {
            Self::External(external) => external.failed(),
            _ => None,
        }
    }

    /// `block` of `plane` has been filled; `valid` of its pages are still valid.
    pub fn closed(&mut self, plane: PlaneId, block: BlockId, valid: u16) {
        match self {
            Self::Greedy(greedy) => greedy.insert(plane, block, valid),
            Self::Sample(sample) => sample.insert(plane, block),
            Self::Fifo(fifo) => fifo.insert(plane, block),
            Self::CostBenefit(cost_benefit) => cost_benefit.insert(plane, block, valid),
            Self::External(external) => external.insert(plane, block, valid),
        }
    }

    /// Brings what changes when `block` loses a page into the cache, without waiting for it.
    pub fn fetch(&self, block: BlockId) {
        match self {
            Self::Greedy(greedy) => greedy.fetch(block),
            Self::CostBenefit(cost_benefit) => cost_benefit.fetch(block),
            // It only saves time: a policy need not have it.
            _ => {}
        }
    }

    /// The block of `plane` that is likely to be chosen next, if that is cheap to say. It only saves time: a
    /// policy need not know.
    pub fn likely(&mut self, plane: PlaneId) -> Option<BlockId> {
        let Self::Greedy(greedy) = self else { return None };
        greedy.choose(plane)
    }

    /// A page of a closed block has become invalid; `valid` are left.
    pub fn lost_page(&mut self, plane: PlaneId, block: BlockId, valid: u16) {
        self.changed(plane, block, valid + 1, valid);
    }

    /// A block that had `from` valid pages, or pages to be moved, has `to` now.
    pub fn changed(&mut self, plane: PlaneId, block: BlockId, from: u16, to: u16) {
        match self {
            Self::Greedy(greedy) => greedy.changed(plane, block, from, to),
            Self::CostBenefit(cost_benefit) => cost_benefit.changed(plane, block, from, to),
            Self::External(external) => external.changed(plane, block, from, to),
            Self::Sample(_) | Self::Fifo(_) => {}
        }
    }

    /// A closed block with `valid` pages is taken away, to be collected.
    pub fn removed(&mut self, plane: PlaneId, block: BlockId, valid: u16) {
        match self {
            Self::Greedy(greedy) => greedy.remove(plane, block, valid),
            Self::Sample(sample) => sample.remove(plane, block),
            Self::Fifo(fifo) => fifo.remove(plane, block),
            Self::CostBenefit(cost_benefit) => cost_benefit.remove(plane, block, valid),
            Self::External(external) => external.remove(plane, block),
        }
    }

    /// The block of `plane` to collect; `None` if the policy sees nothing worth collecting. Some
    /// closed block of the plane must have an invalid page. Changes no state but that of the random
    /// stream.
    pub fn choose(&mut self, plane: PlaneId, blocks: &impl BlockView) -> Option<BlockId> {
        match self {
            Self::Greedy(greedy) => greedy.choose(plane),
            Self::Sample(sample) => sample.choose(plane, blocks),
            Self::Fifo(fifo) => fifo.choose(plane),
            Self::CostBenefit(cost_benefit) => cost_benefit.choose(plane),
            Self::External(external) => external.choose(plane, blocks),
        }
    }
}
