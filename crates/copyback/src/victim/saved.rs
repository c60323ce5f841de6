//! What a file tells of a victim policy. Its tables are no part of that: they are made again by closing the
//! blocks in their order.

use serde::{Deserialize, Serialize};

use crate::ids::{BlockId, PlaneId};
use crate::rng::Stream;

use super::VictimSelector;

/// The facts that a policy is made again from.
#[derive(Debug, Serialize, Deserialize)]
pub struct SavedVictims {
    /// The closed blocks, in an order in which they may be closed again.
    closed: Vec<BlockId>,
    memory: Memory,
}

/// What a policy remembers beyond that order.
#[derive(Debug, Serialize, Deserialize)]
enum Memory {
    Nothing,
    Random(Stream),
    Ages(Ages),
}

/// Times of a policy that counts changes.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Ages {
    /// Changes of each plane.
    pub clock: Vec<u64>,
    /// Of each closed block, in their order, its plane's changes when it last changed.
    pub changed_at: Vec<u64>,
}

impl VictimSelector {
    /// What a file has to tell; nothing of a policy from outside, which is not saved.
    pub fn saved(&self) -> SavedVictims {
        let (closed, memory) = match self {
            Self::Greedy(greedy) => (greedy.closed_in_order().collect(), Memory::Nothing),
            Self::Fifo(fifo) => (fifo.closed_in_order().collect(), Memory::Nothing),
            Self::Sample(sample) => {
                (sample.closed_in_order().collect(), Memory::Random(sample.random().clone()))
            }
            Self::CostBenefit(cost_benefit) => {
                (cost_benefit.closed_in_order().collect(), Memory::Ages(cost_benefit.ages()))
            }
            Self::External(_) => (Vec::new(), Memory::Nothing),
        };
        SavedVictims { closed, memory }
    }

    /// Makes of a selector that knows no block the one that was saved, of a device with so many `blocks`; `listed`
    /// says of a block its plane and how many of its pages are valid, if the policy knows it. False if just
    /// those blocks were not saved, or the policy can't remember that.
    pub fn restore(
        &mut self,
        saved: SavedVictims,
        blocks: usize,
        listed: impl Fn(BlockId) -> Option<(PlaneId, u16)>,
    ) -> bool {
        let mut missing: Vec<_> =
            (0..blocks).map(|block| listed(BlockId::from_index(block))).collect();
        let mut planes = Vec::with_capacity(saved.closed.len());
        for block in &saved.closed {
            let Some((plane, valid)) = missing.get_mut(block.index()).and_then(Option::take) else {
                return false;
            };
            planes.push(plane);
            self.closed(plane, *block, valid);
        }
        let closed = planes.into_iter().zip(saved.closed);
        let remembers = match (self, saved.memory) {
            (Self::Greedy(_) | Self::Fifo(_), Memory::Nothing) => true,
            (Self::Sample(sample), Memory::Random(random)) => sample.remember(random),
            (Self::CostBenefit(policy), Memory::Ages(ages)) => policy.remember(ages, closed),
            _ => false,
        };
        remembers && missing.iter().all(Option::is_none)
    }
}
