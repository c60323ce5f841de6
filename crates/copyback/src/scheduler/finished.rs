//! Page operations that have ended, until the drive takes them.

use crate::checkpoint::Checkpointed;
use crate::ids::Lpn;
use crate::observer::Parts;
use crate::outcome::Outcome;
use crate::purpose::Owner;
use crate::transaction::Transaction;

/// A page operation of a request that has ended.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct Finished {
    /// Owner of the operation.
    pub owner: Owner,
    /// The page.
    pub lpn: Lpn,
    /// Parts of its time, from being handed in to now.
    pub parts: Parts,
    /// Outcome: done, or an error.
    pub outcome: Outcome,
}

/// Page operations that have ended and that nobody has taken yet, in order.
#[derive(Debug, Default, Checkpointed)]
pub struct FinishedList {
    operations: Vec<Finished>,
}

impl FinishedList {
    /// Adds a page operation that has ended.
    #[inline(always)]
    pub(super) fn push(&mut self, transaction: &Transaction, outcome: Outcome) {
        let Transaction { owner, lpn, parts, .. } = *transaction;
        self.operations.push(Finished { owner, lpn, parts, outcome });
    }

    /// Rejects the write of a page that nothing is known of yet.
    pub fn reject(&mut self, owner: Owner, lpn: Lpn) {
        let (parts, outcome) = (Parts::default(), Outcome::Rejected);
        self.operations.push(Finished { owner, lpn, parts, outcome });
    }

    /// Page operations, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Finished> {
        self.operations.iter()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Takes all of them.
    pub fn take(&mut self, into: &mut Vec<Finished>) {
        std::mem::swap(&mut self.operations, into);
        self.operations.clear();
    }
}
