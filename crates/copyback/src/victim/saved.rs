//! Saved form of a victim policy. Its tables are no part of that: they are made again by closing the blocks in
//! their order.

use serde::{Deserialize, Serialize};

use crate::ids::{BlockId, PlaneId};
use crate::rng::Stream;

use super::{BlockView, VictimSelector, Victims};

/// The facts that a policy is made again from.
#[derive(Debug, Serialize, Deserialize)]
pub struct SavedVictims {
    /// The closed blocks, in an order in which they may be closed again.
    closed: Vec<BlockId>,
    memory: Memory,
}

/// Memory of a policy beyond that order.
#[derive(Debug, Serialize, Deserialize)]
pub enum Memory {
    /// No memory.
    Nothing,
    /// State of its random stream.
    Random(Stream),
    /// Times, counted in changes.
    Ages {
        /// Changes of each plane.
        clock: Vec<u64>,
        /// Of each closed block, in their order, its plane's changes when it last changed.
        changed_at: Vec<u64>,
    },
    /// A queue that the order of closing does not tell.
    Queue {
        /// The queues of all planes, one behind the other.
        queued: Vec<BlockId>,
        /// Of each plane, whether the last look at it refused a block, if looks do.
        has_refused: Vec<bool>,
    },
    /// Of each group of a placement, what its policy remembers.
    Groups {
        /// One for each group.
        policies: Vec<Self>,
        /// All closed blocks, those of a group in the order in which they came into it.
        by_age: Vec<BlockId>,
    },
    /// Of units of several blocks.
    Units {
        /// Memory of the policy of units.
        policy: Box<Self>,
        /// Full blocks of units that are being reclaimed, in the order in which they are.
        reclaimed: Vec<BlockId>,
    },
    /// Of a policy from outside.
    Outside(Outside),
}

/// Memory of an external policy: what is noted for it, and what it remembers itself.
#[derive(Debug, Serialize, Deserialize)]
pub struct Outside {
    /// Of each plane: its time in changes, and choices in a row that may have given nothing back.
    pub(super) planes: Vec<(u64, u32)>,
    /// Of each closed block, in their order, when it was closed and when it last changed.
    pub(super) times: Vec<(u64, u64)>,
    /// Blocks that the policy is to be told of.
    pub(super) news: Vec<BlockId>,
    /// Memory that the policy saved itself.
    pub(super) policy: Vec<u8>,
}

impl VictimSelector {
    /// State for a file.
    pub fn saved(&self) -> SavedVictims {
        SavedVictims { closed: self.closed_in_order(), memory: self.memory() }
    }

    /// Makes of a selector that knows no block the one that was saved, of a device with so many `blocks`; `listed`
    /// says of a block its plane and how many of its pages are valid, if the policy knows it, and `view` the rest.
    /// False if just those blocks were not saved, or the policy can't remember that.
    pub fn restore(
        &mut self,
        saved: SavedVictims,
        blocks: usize,
        listed: impl Fn(BlockId) -> Option<(PlaneId, u16)>,
        view: &impl BlockView,
    ) -> bool {
        if let (Self::InUnits(units), Memory::Units { reclaimed, .. }) = (&mut *self, &saved.memory)
            && !units.expect_reclaimed(reclaimed)
        {
            return false;
        }
        let mut missing: Vec<_> =
            (0..blocks).map(|block| listed(BlockId::from_index(block))).collect();
        let mut closed = Vec::with_capacity(saved.closed.len());
        for block in saved.closed {
            let Some((plane, valid)) = missing.get_mut(block.index()).and_then(Option::take) else {
                return false;
            };
            closed.push((plane, block));
            self.closed(plane, block, valid, view);
        }
        self.remember(saved.memory, &closed) && missing.iter().all(Option::is_none)
    }
}

#[cfg(test)]
mod tests {
    use serde_bytes::Bytes;

    use super::*;

    #[test]
    fn what_a_policy_remembers_may_be_long() {
        let long = vec![7; 100_000];
        let outside =
            Outside { planes: Vec::new(), times: Vec::new(), news: Vec::new(), policy: long };
        let file = postcard::to_allocvec(&outside).expect("there is room");
        let as_before = (0_u8, 0_u8, 0_u8, Bytes::new(&outside.policy));
        assert_eq!(file, postcard::to_allocvec(&as_before).expect("there is room"));
        // A file is read piece by piece.
        let mut scratch = [0; 1 << 12];
        let (read, _): (Outside, _) =
            postcard::from_io((&file[..], &mut scratch[..])).expect("it is whole");
        assert_eq!(read.policy, outside.policy);
    }
}
