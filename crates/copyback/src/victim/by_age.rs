//! Closed blocks by how many of their pages are valid and how old they are, for policies that weigh both. Of blocks
//! with equally many valid pages the oldest is known without a search.
//!
//! The age since a block last lost a page is that of a list: who loses a page is the youngest, and goes to the end of
//! the list of its new number. Ages since a block was opened or filled go on when it loses a page, so it may come
//! anywhere among the others: there is a heap for each number. To lose a page costs O(1) on a list and O(log n) on
//! heaps, for n blocks of the plane with as many valid pages.

use crate::checkpoint::Checkpointed;
use crate::config::Age;
use crate::ids::{BlockId, PlaneId};
use crate::lists::Lists;

use super::heaps::{Heaps, Key};
use super::{BlockView, Memory, Shape};

/// Changes that a plane can't have seen.
const NEVER: u64 = 1 << 60;

/// Closed blocks of each plane by valid pages and age.
#[derive(Debug, Checkpointed)]
pub(super) struct ByAge {
    order: Order,
    pages_per_block: u16,
}

#[derive(Debug, Checkpointed)]
enum Order {
    /// By the age since a block last lost a page.
    Lost(ByLoss),
    /// By the age since a block was opened or filled, in pages that the host has written to the drive.
    Life { heaps: Heaps, age: Age },
}

/// Time is counted in changes of the plane's blocks, so that it runs while the device is prepared, too.
#[derive(Debug, Checkpointed)]
struct ByLoss {
    lists: Lists,
    changed_at: Vec<u64>,
    clock: Vec<u64>,
}

impl ByLoss {
    fn push(&mut self, plane: PlaneId, list: usize, block: BlockId) {
        self.lists.push_back(list, block.index());
        self.clock[plane.index()] += 1;
        self.changed_at[block.index()] = self.clock[plane.index()];
    }
}

impl ByAge {
    pub(super) fn new(age: Age, shape: Shape) -> Self {
        let numbers = shape.planes * (usize::from(shape.pages_per_block) + 1);
        let order = match age {
            Age::SinceInvalidated => Order::Lost(ByLoss {
                lists: Lists::new(shape.blocks, numbers),
                changed_at: vec![0; shape.blocks],
                clock: vec![0; shape.planes],
            }),
            Age::SinceOpened | Age::SinceSealed => {
                Order::Life { heaps: Heaps::new(shape.blocks, numbers), age }
            }
        };
        Self { order, pages_per_block: shape.pages_per_block }
    }

    /// The place of blocks of `plane` with so many valid pages.
    fn of(&self, plane: PlaneId, valid: u16) -> usize {
        plane.index() * (usize::from(self.pages_per_block) + 1) + usize::from(valid)
    }

    pub(super) fn closed(
        &mut self,
        plane: PlaneId,
        block: BlockId,
        valid: u16,
        blocks: &impl BlockView,
    ) {
        let place = self.of(plane, valid);
        match &mut self.order {
            Order::Lost(lost) => lost.push(plane, place, block),
            Order::Life { heaps, age } => {
                let since = match age {
                    Age::SinceOpened => blocks.opened_at(block),
                    Age::SinceSealed | Age::SinceInvalidated => blocks.sealed_at(block),
                };
                heaps.join(place, block.index(), since);
            }
        }
    }

    pub(super) fn changed(&mut self, plane: PlaneId, block: BlockId, from: u16, to: u16) {
        let (from, to) = (self.of(plane, from), self.of(plane, to));
        match &mut self.order {
            Order::Lost(lost) => {
                lost.lists.remove(from, block.index());
                lost.push(plane, to, block);
            }
            Order::Life { heaps, .. } => {
                heaps.leave(from, block.index());
                heaps.join_again(to, block.index());
            }
        }
    }

    pub(super) fn removed(&mut self, plane: PlaneId, block: BlockId, valid: u16) {
        let place = self.of(plane, valid);
        match &mut self.order {
            Order::Lost(lost) => lost.lists.remove(place, block.index()),
            Order::Life { heaps, .. } => heaps.leave(place, block.index()),
        }
    }

    /// The oldest block of `plane` with so many valid pages.
    pub(super) fn oldest(&self, plane: PlaneId, valid: u16) -> Option<usize> {
        let place = self.of(plane, valid);
        match &self.order {
            Order::Lost(lost) => lost.lists.front(place),
            Order::Life { heaps, .. } => heaps.first(place),
        }
    }

    /// Goes through the blocks of `plane` with so many valid pages. Younger ones than one of which `visit` says no are
    /// left out.
    pub(super) fn visit(&self, plane: PlaneId, valid: u16, mut visit: impl FnMut(usize) -> bool) {
        let place = self.of(plane, valid);
        match &self.order {
            Order::Lost(lost) => {
                let _ = lost.lists.items(place).find(|block| !visit(*block));
            }
            Order::Life { heaps, .. } => heaps.visit(place, visit),
        }
    }

    /// Age of `block` of `plane`.
    pub(super) fn age(&self, plane: PlaneId, block: usize, blocks: &impl BlockView) -> u64 {
        match &self.order {
            Order::Lost(lost) => lost.clock[plane.index()] - lost.changed_at[block],
            Order::Life { heaps, .. } => blocks.now() - heaps.key(block).time,
        }
    }

    /// Key that blocks of a plane are ordered by: the oldest has the least.
    pub(super) fn seniority(&self, block: usize) -> impl Ord + Copy + use<> {
        match &self.order {
            Order::Lost(lost) => (lost.changed_at[block], Key::default()),
            Order::Life { heaps, .. } => (0, heaps.key(block)),
        }
    }

    pub(super) fn fetch(&self, block: BlockId) {
        if let Order::Lost(lost) = &self.order {
            lost.lists.fetch(block.index());
        }
    }

    pub(super) fn closed_in_order(&self) -> Vec<BlockId> {
        match &self.order {
            Order::Lost(lost) => lost.lists.all_items().map(BlockId::from_index).collect(),
            Order::Life { heaps, .. } => heaps.in_order().map(BlockId::from_index).collect(),
        }
    }

    pub(super) fn memory(&self) -> Memory {
        let Order::Lost(lost) = &self.order else { return Memory::Nothing };
        let changed_at = lost.lists.all_items().map(|block| lost.changed_at[block]).collect();
        Memory::Ages { clock: lost.clock.clone(), changed_at }
    }

    pub(super) fn remember(&mut self, memory: Memory, closed: &[(PlaneId, BlockId)]) -> bool {
        match (&mut self.order, memory) {
            (Order::Lost(lost), Memory::Ages { clock, changed_at }) => {
                lost.remember(clock, changed_at, closed)
            }
            (Order::Life { .. }, Memory::Nothing) => true,
            _ => false,
        }
    }
}

impl ByLoss {
    fn remember(
        &mut self,
        clock: Vec<u64>,
        changed_at: Vec<u64>,
        closed: &[(PlaneId, BlockId)],
    ) -> bool {
        if (clock.len(), changed_at.len()) != (self.clock.len(), closed.len())
            || clock.iter().any(|changes| *changes >= NEVER)
        {
            return false;
        }
        let mut closed = closed.iter().zip(changed_at);
        let are_past = closed.all(|((plane, block), at)| {
            self.changed_at[block.index()] = at;
            at <= clock[plane.index()]
        });
        self.clock = clock;
        are_past
    }
}
