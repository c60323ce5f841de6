//! Page operations of the host, waiting or in service, and the queues they wait in.

mod wait;

pub use wait::{PageNote, Wait};

use crate::checkpoint::Checkpointed;
use crate::ids::{CommandId, Lpn};
use crate::observer::{Parts, Party};
use crate::placement::HostPage;
use crate::purpose::Owner;
use crate::units::Duration;
use crate::workload::Hint;

/// A page operation, named by its place in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Checkpointed)]
pub struct TransactionId(u32);

/// Kind of a page operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum Kind {
    /// Read for the host.
    Read,
    /// Write of a whole page, its data at hand.
    Write,
    /// Read of the old page for a write that covers only part of it; becomes the write.
    ReadToUpdate,
    /// Read of another page of its stripe, to make up what is read.
    OfStripe,
}

/// A page that the host, or its buffer, writes.
#[derive(Debug, Clone, Copy)]
pub struct PageWrite {
    /// Owner of the page operation.
    pub owner: Owner,
    /// The logical page.
    pub lpn: Lpn,
    /// Hint of the host about the data.
    pub hint: Option<Hint>,
    /// Whether it covers the whole page.
    pub whole: bool,
    /// Delay by collections before the write came.
    pub late: Duration,
}

/// A page operation.
#[derive(Debug, Clone, Checkpointed)]
pub struct Transaction {
    /// Owner of the page operation.
    pub owner: Owner,
    /// The logical page.
    pub lpn: Lpn,
    /// Kind of the page operation.
    pub kind: Kind,
    /// Whether what it reads is not to be had; of a write, what it does not cover of its page.
    pub in_vain: bool,
    /// Hint of the host about the data.
    pub hint: Option<Hint>,
    /// Place in the order of submission.
    pub sequence: u64,
    /// Object that it waits for.
    pub wait: Wait,
    /// Delay by collections before the operation came.
    pub came_late: Duration,
    /// Parts of its time since.
    pub parts: Parts,
    /// The next in the same queue or the same command.
    next: Option<TransactionId>,
}

impl Transaction {
    /// An operation that waits for nothing yet.
    pub fn new(owner: Owner, lpn: Lpn, kind: Kind, sequence: u64, came_late: Duration) -> Self {
        let parts = Parts::default();
        Self {
            owner,
            lpn,
            kind,
            in_vain: false,
            hint: None,
            sequence,
            wait: Wait::Nothing,
            came_late,
            parts,
            next: None,
        }
    }

    /// Delay by collections so far.
    pub fn late(&self) -> Duration {
        self.came_late + self.parts.late()
    }

    /// The page as the host writes it.
    pub const fn page(&self) -> HostPage {
        HostPage { lpn: self.lpn, hint: self.hint }
    }

    /// Command that reads the page, if one of the host does.
    pub const fn reader(&self) -> Option<CommandId> {
        match (self.owner, self.kind) {
            (Owner::Host(command), Kind::Read) => Some(command),
            _ => None,
        }
    }

    /// Marks a read of the host as uncorrectable; the content of a translation page the drive knows from elsewhere.
    #[cold]
    pub fn cannot_be_corrected(&mut self) {
        self.in_vain = match self.owner {
            Owner::Host(_) | Owner::Destage => self.kind != Kind::OfStripe,
            Owner::Translation | Owner::Rebuild => false,
        };
    }

    /// Party in a journal that the operation belongs to.
    pub const fn party(&self) -> Party {
        Party { owner: self.owner, lpn: self.lpn }
    }
}

/// All page operations of a device. Places are reused, so its size is that of the greatest crowd.
#[derive(Debug, Default, Checkpointed)]
pub struct Transactions {
    table: Vec<Transaction>,
    free: Vec<TransactionId>,
}

impl Transactions {
    /// Adds an operation.
    #[inline]
    pub fn insert(&mut self, transaction: Transaction) -> TransactionId {
        match self.free.pop() {
            Some(id) => {
                self.table[id.0 as usize] = transaction;
                id
            }
            None => {
                self.table.push(transaction);
                TransactionId(self.table.len() as u32 - 1)
            }
        }
    }

    /// Forgets an operation; its place is used again.
    #[inline]
    pub fn remove(&mut self, id: TransactionId) {
        self.free.push(id);
    }

    /// The operation called `id`.
    #[inline]
    pub fn get(&self, id: TransactionId) -> &Transaction {
        &self.table[id.0 as usize]
    }

    /// The operation called `id`.
    #[inline]
    pub fn get_mut(&mut self, id: TransactionId) -> &mut Transaction {
        &mut self.table[id.0 as usize]
    }

    /// Operations that are waiting or in service.
    pub const fn outstanding(&self) -> usize {
        self.table.len() - self.free.len()
    }
}

/// A queue of page operations, first in, first out; also the group that shares one command.
#[derive(Debug, Clone, Copy, Default, Checkpointed)]
pub struct Fifo {
    ends: Option<(TransactionId, TransactionId)>,
}

impl Fifo {
    /// The first operation.
    #[inline]
    pub fn front(&self) -> Option<TransactionId> {
        self.ends.map(|(front, _)| front)
    }

    /// Whether nothing waits.
    pub const fn is_empty(&self) -> bool {
        self.ends.is_none()
    }

    /// Whether a single operation waits.
    pub fn has_one(&self) -> bool {
        self.ends.is_some_and(|(front, back)| front == back)
    }

    /// Number of waiting operations. Takes time in their number.
    pub fn count(&self, all: &Transactions) -> usize {
        std::iter::successors(self.front(), |id| all.get(*id).next).count()
    }

    /// Appends an operation that is in no queue.
    #[inline]
    pub fn push(&mut self, id: TransactionId, all: &mut Transactions) {
        all.get_mut(id).next = None;
        self.ends = match self.ends {
            None => Some((id, id)),
            Some((front, back)) => {
                all.get_mut(back).next = Some(id);
                Some((front, id))
            }
        };
    }

    /// Takes the first operation that is `wanted`.
    pub fn take(
        &mut self,
        all: &mut Transactions,
        wanted: impl Fn(&Transaction) -> bool,
    ) -> Option<TransactionId> {
        let (mut before, mut at) = (None, self.front()?);
        while !wanted(all.get(at)) {
            (before, at) = (Some(at), all.get(at).next?);
        }
        let after = all.get(at).next;
        let (front, back) = self.ends?;
        match before {
            None => self.ends = after.map(|front| (front, back)),
            Some(before) => {
                all.get_mut(before).next = after;
                self.ends = Some((front, if back == at { before } else { back }));
            }
        }
        Some(at)
    }

    /// Takes the first operation.
    #[inline]
    pub fn pop(&mut self, all: &Transactions) -> Option<TransactionId> {
        let (front, back) = self.ends?;
        self.ends = all.get(front).next.map(|next| (next, back));
        Some(front)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(lpn: Lpn, kind: Kind, sequence: u64) -> Transaction {
        Transaction::new(Owner::Destage, lpn, kind, sequence, Duration::ZERO)
    }

    #[test]
    fn queues_keep_order_and_places_are_reused() {
        let mut all = Transactions::default();
        let mut new = |lpn| all.insert(operation(Lpn(lpn), Kind::Read, u64::from(lpn)));
        let ids: Vec<_> = (0..3).map(&mut new).collect();
        let mut queue = Fifo::default();
        for id in &ids {
            queue.push(*id, &mut all);
        }
        assert_eq!(queue.pop(&all), Some(ids[0]));
        assert_eq!(queue.pop(&all), Some(ids[1]));
        queue.push(ids[0], &mut all);
        assert_eq!(queue.pop(&all), Some(ids[2]));
        assert_eq!(queue.pop(&all), Some(ids[0]));
        assert!(queue.is_empty() && queue.pop(&all).is_none());
        for id in &ids {
            queue.push(*id, &mut all);
        }
        let wanted = |lpn| move |transaction: &Transaction| transaction.lpn == Lpn(lpn);
        assert_eq!(queue.take(&mut all, wanted(2)), Some(ids[2]));
        assert_eq!(queue.take(&mut all, wanted(2)), None);
        assert_eq!(queue.take(&mut all, wanted(0)), Some(ids[0]));
        queue.push(ids[2], &mut all);
        assert_eq!(
            [queue.pop(&all), queue.pop(&all), queue.pop(&all)],
            [Some(ids[1]), Some(ids[2]), None]
        );
        all.remove(ids[1]);
        assert_eq!(all.outstanding(), 2);
        let again = all.insert(operation(Lpn(9), Kind::Write, 9));
        assert_eq!(again, ids[1]);
    }
}
