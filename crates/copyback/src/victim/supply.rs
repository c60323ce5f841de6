//! Victim policies from outside of this crate: who makes them, and what they are told.

use std::fmt;

use crate::ids::{BlockId, PlaneId};
use crate::rng::Stream;

pub use crate::outside::{Device, Failed};

use super::Shape;

/// Makes the victim policies that a configuration names and this crate does not have.
pub trait VictimSupplier {
    /// The victim policy of `device`, that has no closed block yet. Its random choices follow from
    /// `random`.
    ///
    /// # Errors
    /// If there is none.
    fn victims(
        &self,
        device: Device,
        shape: Shape,
        random: Stream,
    ) -> Result<Box<dyn ExternalVictims>, Failed>;
}

/// Chooses victims.
pub trait ExternalVictims: fmt::Debug + Send + Sync {
    /// The block of `plane` to collect, which must be closed. `changed` are the plane's blocks that are
    /// not what they were when this was last asked; `clock` is the plane's time, in changes.
    ///
    /// # Errors
    /// If it cannot say; it is not asked again.
    fn choose(
        &mut self,
        plane: PlaneId,
        clock: u64,
        changed: &[BlockState],
    ) -> Result<BlockId, Failed>;

    /// Memory of the policy, for a file, with what it was notified of.
    ///
    /// # Errors
    /// If that can't be written down.
    fn memory(&self) -> Result<Vec<u8>, Failed> {
        Err(Failed(NO_MEMORY.to_owned()))
    }

    /// Remembers, newly made, what a file tells.
    ///
    /// # Errors
    /// If no policy like this can have told it.
    fn remember(&mut self, _memory: &[u8]) -> Result<(), Failed> {
        Err(Failed(NO_MEMORY.to_owned()))
    }
}

const NO_MEMORY: &str = "ssd.gc.victim: found a policy from outside that does not say what it remembers; allowed for \
                         files of drives and for checkpoints: one that does";

/// State of a block, as an external victim policy is given it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockState {
    /// Identifier of the block.
    pub block: BlockId,
    /// If it is closed, what is known.
    pub closed: Option<ClosedBlock>,
}

/// A block that may be chosen. Times are counted in changes of the plane's blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClosedBlock {
    /// Pages to be moved.
    pub valid_pages: u16,
    /// Number of its erases.
    pub erase_count: u32,
    /// When it was closed.
    pub closed_at: u64,
    /// When its number of valid pages last changed.
    pub changed_at: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes the first block, and does not say what it remembers.
    #[derive(Debug)]
    struct First;

    impl ExternalVictims for First {
        fn choose(
            &mut self,
            _: PlaneId,
            _: u64,
            changed: &[BlockState],
        ) -> Result<BlockId, Failed> {
            Ok(changed[0].block)
        }
    }

    #[test]
    fn a_policy_that_does_not_say_what_it_remembers_is_not_taken_for_one_that_remembers() {
        let refusals = [First.memory().map(drop), First.remember(&[])];
        for refusal in refusals {
            let Failed(told) = refusal.expect_err("it has no memory");
            assert!(told.contains("does not say what it remembers"), "{told}");
        }
    }
}
