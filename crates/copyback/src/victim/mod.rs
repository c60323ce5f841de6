//! WHO: which block is collected. One policy a file; each keeps just the index of closed blocks
//! that it needs, so that choosing costs O(1) (O(d) for d choices, O(pages a block) for
//! cost-benefit), never a scan over blocks. Cost-age-times alone looks at more of them where wear differs, and
//! cost-hotness at all of a plane.
//!
//! A policy watches blocks close, lose pages and leave. Every block it knows is closed: open
//! blocks and free ones are never victims.

mod by_age;
mod cost_age_times;
mod cost_benefit;
mod cost_hotness;
mod external;
mod fifo;
mod fifo_dropping;
mod fifo_opened;
mod greedy;
mod heaps;
mod in_groups;
mod in_units;
mod sample;
mod sample_class;
mod saved;
pub mod supply;
mod windowed_greedy;

use std::ops::Range;

use crate::checkpoint::Checkpointed;
use crate::config::quantity::Share;
use crate::config::{AgeWeight, Ineligible, QueuedWhen, VictimPolicy, Within};
use crate::ids::{BlockId, PlaneId};
use crate::one_of::one_of;
use crate::outside::{Device, Failed, Supply};
use crate::rng::Stream;

use cost_age_times::CostAgeTimes;
use cost_benefit::CostBenefit;
use cost_hotness::CostHotness;
use external::External;
use fifo::Fifo;
use fifo_dropping::FifoDropping;
use fifo_opened::FifoOpened;
use greedy::Greedy;
pub use in_groups::InGroups;
pub use in_units::{InUnits, UnitTally};
use sample::Sample;
use sample_class::SampleClass;
pub use saved::{Memory, Outside, SavedVictims};
use supply::ExternalVictims;
use windowed_greedy::WindowedGreedy;

/// Shape of the device, as a policy is given it.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct Shape {
    /// Planes of the device; victims are chosen plane by plane.
    pub planes: usize,
    /// Erase blocks of the device.
    pub blocks: usize,
    /// Pages of a block that hold data.
    pub pages_per_block: u16,
}

impl Shape {
    /// The plane that `block` lies in.
    fn plane_of(&self, block: BlockId) -> PlaneId {
        PlaneId::from_index(block.index() / self.blocks_per_plane())
    }

    /// The blocks of `plane`, by their index.
    fn blocks_of(&self, plane: PlaneId) -> Range<usize> {
        let first = plane.index() * self.blocks_per_plane();
        first..first + self.blocks_per_plane()
    }

    const fn blocks_per_plane(&self) -> usize {
        self.blocks / self.planes
    }
}

/// View of the blocks that a policy has when it chooses, or when a block is closed. Times are counted in pages
/// that the host has written to the drive.
pub trait BlockView {
    /// Valid pages of `block`.
    fn valid_pages(&self, block: BlockId) -> u16;

    /// Number of erases of `block`.
    fn erase_count(&self, block: BlockId) -> u32;

    /// The number of the class whose pages `block` takes, as the placement counts them, if it had a say in it.
    fn class(&self, block: BlockId) -> Option<usize>;

    /// When the first page of `block` was written.
    fn opened_at(&self, block: BlockId) -> u64;

    /// When `block` was filled.
    fn sealed_at(&self, block: BlockId) -> u64;

    /// Rate at which a valid page of `block` is written, in writes for each page of the host, if the placement
    /// knows.
    fn hotness(&self, block: BlockId) -> Option<f64>;

    /// Present time.
    fn now(&self) -> u64;
}

/// A victim policy: it is told which blocks close, lose pages and are taken away, and keeps the index of them that it
/// needs. Every block it knows is closed.
pub trait Victims {
    /// `block` of `plane` has been opened for writing. Not told of a block that a state file had open.
    fn opened(&mut self, _plane: PlaneId, _block: BlockId) {}

    /// `block` of `plane`, which was open, is bad: it is neither closed nor opened any more.
    fn retired(&mut self, _plane: PlaneId, _block: BlockId) {}

    /// `block` of `plane` has been filled; `valid` of its pages are still valid.
    fn closed(&mut self, plane: PlaneId, block: BlockId, valid: u16, blocks: &impl BlockView);

    /// A block that had `from` valid pages, or pages to be moved, has `to` now.
    fn changed(&mut self, _plane: PlaneId, _block: BlockId, _from: u16, _to: u16) {}

    /// A closed block with `valid` pages is taken away, to be collected.
    fn removed(&mut self, plane: PlaneId, block: BlockId, valid: u16);

    /// The block of `plane` to collect; `None` if the policy sees nothing worth collecting. Some closed block of
    /// the plane must have an invalid page, unless the policy [`refuses`](Self::refuses). Changes no state but that
    /// of a random stream, or what the policy refuses.
    fn choose(&mut self, plane: PlaneId, blocks: &impl BlockView) -> Option<BlockId>;

    /// Whether the policy looks at one block only, may refuse it, and then waits for something to happen.
    fn refuses(&self) -> bool {
        false
    }

    /// Notifies the policy that nothing will happen on `plane` before something is collected there. Returns
    /// whether the policy has refused a block, and can be asked again.
    fn look_again(&mut self, _plane: PlaneId) -> bool {
        false
    }

    /// Closed blocks of `plane` that the policy will not choose any more, if there can be any.
    fn lost(&self, _plane: PlaneId) -> Option<usize> {
        None
    }

    /// Brings what changes when `block` loses a page into the cache, without waiting for it. It only saves time.
    fn fetch(&self, _block: BlockId) {}

    /// The block of `plane` that is likely to be chosen next, if that is cheap to say. It only saves time.
    fn likely(&mut self, _plane: PlaneId) -> Option<BlockId> {
        None
    }

    /// The closed blocks in such an order that a new policy, told to [`closed`](Self::closed) one after the other,
    /// is this one, but for its [`memory`](Self::memory).
    fn closed_in_order(&self) -> Vec<BlockId>;

    /// Memory beyond that order, for a file.
    fn memory(&self) -> Memory {
        Memory::Nothing
    }

    /// Remembers, newly told of the `closed` blocks in their order, what a file tells. Returns whether it can have
    /// been told by a policy like this.
    fn remember(&mut self, memory: Memory, _closed: &[(PlaneId, BlockId)]) -> bool {
        matches!(memory, Memory::Nothing)
    }
}

one_of! {
    $
    /// The victim policy of a device.
    #[derive(Debug, Checkpointed)]
    pub enum VictimSelector {
        /// Fewest valid pages.
        Greedy(Greedy),
        /// d choices; random is d = 1.
        Sample(Sample),
        /// d choices in the class of the placement that is emptiest.
        SampleClass(SampleClass),
        /// Fewest valid pages of the oldest.
        WindowedGreedy(WindowedGreedy),
        /// Oldest first, by filling.
        Fifo(Fifo),
        /// Oldest first, by opening.
        FifoOpened(FifoOpened),
        /// Oldest first, and what it refuses is lost.
        FifoDropping(FifoDropping),
        /// Most space for the work, weighted by age.
        CostBenefit(CostBenefit),
        /// Most space for the work, weighted by age and against wear.
        CostAgeTimes(CostAgeTimes),
        /// Most space for the work, of the coldest, as the placement says or the future will.
        CostHotness(CostHotness),
        /// Choice of an external policy. It is not saved: nobody knows what it remembers.
        External(Box<External>),
        /// Any of these, in one group of the placement at a time.
        InGroups(Box<InGroups>),
        /// Any of these, of units of several blocks.
        InUnits(Box<InUnits>),
    }
}

impl VictimSelector {
    /// A selector that knows no closed block yet.
    pub fn new(policy: &VictimPolicy, shape: Shape, random: Stream) -> Self {
        match policy {
            VictimPolicy::Greedy => Self::Greedy(Greedy::new(shape)),
            VictimPolicy::Rga { d, within: Within::All } => {
                Self::Sample(Sample::of(*d, shape, random))
            }
            VictimPolicy::Rga { d, within: Within::Class } => {
                Self::SampleClass(SampleClass::new(*d, shape, random))
            }
            VictimPolicy::Random => Self::Sample(Sample::of(1, shape, random)),
            VictimPolicy::RandomPlus => Self::Sample(Sample::with_an_invalid_page(shape, random)),
            VictimPolicy::Fifo { queued_when, ineligible } => {
                Self::fifo(shape, *queued_when, *ineligible)
            }
            VictimPolicy::WindowedGreedy { window } => {
                Self::WindowedGreedy(WindowedGreedy::new(*window, shape))
            }
            VictimPolicy::CostBenefit { age, weight, cost } => {
                Self::CostBenefit(CostBenefit::new(*age, *weight, *cost, shape))
            }
            VictimPolicy::CostAgeTimes { age } => {
                Self::CostAgeTimes(CostAgeTimes::new(*age, shape))
            }
            VictimPolicy::CostHotness { least_invalid } => {
                Self::CostHotness(CostHotness::new(*least_invalid, AgeWeight::Linear, shape))
            }
            VictimPolicy::Foresight => {
                Self::CostHotness(CostHotness::new(Share(0.0), AgeWeight::Sqrt, shape))
            }
            VictimPolicy::Python { policy, .. } => {
                Self::External(Box::new(External::new(policy, shape, random)))
            }
        }
    }

    fn fifo(shape: Shape, queued_when: QueuedWhen, ineligible: Ineligible) -> Self {
        match (ineligible, queued_when) {
            (Ineligible::Drop, _) => Self::FifoDropping(FifoDropping::new(shape, queued_when)),
            (Ineligible::Collect, QueuedWhen::Opened) => Self::FifoOpened(FifoOpened::new(shape)),
            (Ineligible::Collect, QueuedWhen::Filled) => Self::Fifo(Fifo::new(shape)),
        }
    }

    /// Takes the policy of `device` from `supplier`, if it comes from outside.
    ///
    /// # Errors
    /// If the supplier has none.
    pub fn supply(
        &mut self,
        device: Device,
        supplier: &dyn Supply<dyn ExternalVictims>,
    ) -> Result<(), Failed> {
        match self {
            Self::External(external) => external.supply(device, supplier),
            Self::InGroups(groups) => groups.supply(device, supplier),
            _ => Ok(()),
        }
    }

    /// Reason why an external policy is no longer called, if it has failed.
    pub fn failed(&self) -> Option<Failed> {
        match self {
            Self::External(external) => external.failed(),
            Self::InGroups(groups) => groups.failed(),
            _ => None,
        }
    }

    /// A page of a closed block has become invalid; `valid` are left.
    pub fn lost_page(&mut self, plane: PlaneId, block: BlockId, valid: u16) {
        self.changed(plane, block, valid + 1, valid);
    }
}

impl Victims for VictimSelector {
    fn opened(&mut self, plane: PlaneId, block: BlockId) {
        each!(self, policy => policy.opened(plane, block));
    }

    fn retired(&mut self, plane: PlaneId, block: BlockId) {
        each!(self, policy => policy.retired(plane, block));
    }

    fn closed(&mut self, plane: PlaneId, block: BlockId, valid: u16, blocks: &impl BlockView) {
        each!(self, policy => policy.closed(plane, block, valid, blocks));
    }

    fn changed(&mut self, plane: PlaneId, block: BlockId, from: u16, to: u16) {
        each!(self, policy => policy.changed(plane, block, from, to));
    }

    fn removed(&mut self, plane: PlaneId, block: BlockId, valid: u16) {
        each!(self, policy => policy.removed(plane, block, valid));
    }

    fn choose(&mut self, plane: PlaneId, blocks: &impl BlockView) -> Option<BlockId> {
        each!(self, policy => policy.choose(plane, blocks))
    }

    fn refuses(&self) -> bool {
        each!(self, policy => policy.refuses())
    }

    fn look_again(&mut self, plane: PlaneId) -> bool {
        each!(self, policy => policy.look_again(plane))
    }

    fn lost(&self, plane: PlaneId) -> Option<usize> {
        each!(self, policy => policy.lost(plane))
    }

    fn fetch(&self, block: BlockId) {
        each!(self, policy => policy.fetch(block));
    }

    fn likely(&mut self, plane: PlaneId) -> Option<BlockId> {
        each!(self, policy => policy.likely(plane))
    }

    fn closed_in_order(&self) -> Vec<BlockId> {
        each!(self, policy => policy.closed_in_order())
    }

    fn memory(&self) -> Memory {
        each!(self, policy => policy.memory())
    }

    fn remember(&mut self, memory: Memory, closed: &[(PlaneId, BlockId)]) -> bool {
        each!(self, policy => policy.remember(memory, closed))
    }
}
