//! Queues of the host's page operations: reads for the plane that holds their page, writes for as much of a
//! place as the allocation fixes.

use crate::checkpoint::Checkpointed;
use crate::config::{Resolved, Scheduling};
use crate::ftl::{Allocation, Ftl};
use crate::ids::{DieId, PlaneId, Ppn, planes_in};
use crate::nand::{Command, Divisor, Geometry};
use crate::observer::Observer;
use crate::transaction::{Fifo, Kind, Transaction, TransactionId, Transactions};

use crate::units::Instant;

use super::stripes::Stripes;

/// Page operations of the host, and the queues of those that wait.
#[derive(Debug, Checkpointed)]
pub struct Queues {
    /// All of them, waiting or in service.
    pub transactions: Transactions,
    /// Whether reads go before writes.
    pub(super) reads_first: bool,
    reads: Vec<Fifo>,
    writes: Vec<Fifo>,
    /// Level of the write queues: planes, dies, or the device.
    write_level: WriteLevel,
    planes_of_die: Divisor,
    /// A bit for each plane of a die whose read queue is not empty.
    reading: Vec<u32>,
    /// A bit for each plane of a die whose write queue is not empty, where writes are queued by plane.
    writing: Vec<u32>,
    /// A bit for each plane of a die whose first write is another since it was last
    /// [asked for](Self::take_planes_with_other_writes).
    other_writes: Vec<u32>,
    /// If reads may be made up from other pages.
    pub(super) stripes: Option<Box<Stripes>>,
}

/// Resource that a write waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum WriteLevel {
    /// Plane: static allocation.
    Plane,
    /// Die: the plane is chosen at issue.
    Die,
    /// Any die.
    Device,
}

/// A queue that writes wait in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteQueue {
    /// Of a plane.
    Plane(PlaneId),
    /// Of a die.
    Die(DieId),
    /// Of the device.
    Device,
}

impl Queues {
    /// Empty queues for this allocation.
    pub fn new(config: &Resolved, geometry: &Geometry, allocation: &Allocation) -> Self {
        let (write_level, queues) = match allocation {
            Allocation::Static { .. } => (WriteLevel::Plane, geometry.planes()),
            Allocation::PerDie { .. } => (WriteLevel::Die, geometry.dies()),
            Allocation::Dynamic { .. } => (WriteLevel::Device, 1),
        };
        Self {
            transactions: Transactions::default(),
            reads_first: config.host.scheduling == Scheduling::ReadFirst,
            reads: vec![Fifo::default(); geometry.planes()],
            writes: vec![Fifo::default(); queues],
            write_level,
            planes_of_die: Divisor::new(geometry.planes_per_die),
            reading: vec![0; geometry.dies()],
            writing: vec![0; geometry.dies()],
            other_writes: vec![0; geometry.dies()],
            stripes: Stripes::new(config),
        }
    }

    /// Resource that writes wait for.
    pub const fn write_level(&self) -> WriteLevel {
        self.write_level
    }

    pub(super) const fn planes_per_die(&self) -> u32 {
        self.planes_of_die.value()
    }

    fn die_and_bit(&self, plane: PlaneId) -> (usize, u32) {
        (self.planes_of_die.quotient(plane.0) as usize, 1 << self.planes_of_die.remainder(plane.0))
    }

    /// A bit for each plane of `die` that reads wait for.
    #[inline]
    pub fn planes_with_reads(&self, die: DieId) -> u32 {
        self.reading[die.index()]
    }

    /// A bit for each plane of `die` that writes wait for, with static allocation.
    #[inline]
    pub fn planes_with_writes(&self, die: DieId) -> u32 {
        self.writing[die.index()]
    }

    /// Queues a read.
    #[inline]
    pub fn push_read(&mut self, plane: PlaneId, id: TransactionId) {
        self.reads[plane.index()].push(id, &mut self.transactions);
        let (die, bit) = self.die_and_bit(plane);
        self.reading[die] |= bit;
    }

    /// The first read waiting for `plane`.
    #[inline]
    pub fn first_read(&self, plane: PlaneId) -> Option<TransactionId> {
        self.reads[plane.index()].front()
    }

    /// The page that the read `id` reads: where its logical page lies, or another of its stripe.
    #[inline]
    pub fn page_read(&self, ftl: &Ftl, id: TransactionId) -> Option<Ppn> {
        let transaction = self.transactions.get(id);
        match transaction.kind {
            Kind::OfStripe => self.stripes.as_ref()?.page_of(id),
            Kind::Read | Kind::ReadToUpdate | Kind::Write => ftl.lookup(transaction.lpn),
        }
    }

    /// Ends the wait of an operation and adds it to a command.
    #[inline(always)]
    pub fn join(
        &mut self,
        observer: &mut Observer,
        id: TransactionId,
        group: &mut Fifo,
        now: Instant,
    ) {
        self.transactions.get_mut(id).end_wait(observer, now);
        group.push(id, &mut self.transactions);
    }

    /// Takes the first read waiting for `plane`.
    #[inline]
    pub fn pop_read(&mut self, plane: PlaneId) -> Option<TransactionId> {
        let id = self.reads[plane.index()].pop(&self.transactions);
        if self.reads[plane.index()].is_empty() {
            let (die, bit) = self.die_and_bit(plane);
            self.reading[die] &= !bit;
        }
        id
    }

    /// Takes the first read waiting for `plane` that is `wanted`.
    pub fn take_read(
        &mut self,
        plane: PlaneId,
        wanted: impl Fn(&Transaction) -> bool,
    ) -> Option<TransactionId> {
        let id = self.reads[plane.index()].take(&mut self.transactions, wanted);
        if self.reads[plane.index()].is_empty() {
            let (die, bit) = self.die_and_bit(plane);
            self.reading[die] &= !bit;
        }
        id
    }

    /// Queues a write.
    pub fn push_write(&mut self, queue: WriteQueue, id: TransactionId) {
        self.writes[index(queue)].push(id, &mut self.transactions);
        if let WriteQueue::Plane(plane) = queue {
            let (die, bit) = self.die_and_bit(plane);
            self.other_writes[die] |= bit & !self.writing[die];
            self.writing[die] |= bit;
        }
    }

    /// Takes the `planes` of `die` whose first write is another since the last call, as a bit mask.
    #[inline]
    pub fn take_planes_with_other_writes(&mut self, die: DieId, planes: u32) -> u32 {
        let others = self.other_writes[die.index()] & planes;
        self.other_writes[die.index()] &= !planes;
        others
    }

    /// The first write waiting in `queue`.
    pub fn first_write(&self, queue: WriteQueue) -> Option<TransactionId> {
        self.writes[index(queue)].front()
    }

    /// Takes the first write waiting in `queue`.
    pub fn pop_write(&mut self, queue: WriteQueue) -> Option<TransactionId> {
        let id = self.writes[index(queue)].pop(&self.transactions);
        self.note_taken(queue);
        id
    }

    /// Takes the first write waiting in `queue` that is `wanted`.
    pub fn take_write(
        &mut self,
        queue: WriteQueue,
        wanted: impl Fn(&Transaction) -> bool,
    ) -> Option<TransactionId> {
        let id = self.writes[index(queue)].take(&mut self.transactions, wanted);
        self.note_taken(queue);
        id
    }

    /// Takes every write that waits, queue by queue.
    pub fn take_writes(&mut self) -> Vec<TransactionId> {
        let mut taken = Vec::new();
        for queue in &mut self.writes {
            taken.extend(std::iter::from_fn(|| queue.pop(&self.transactions)));
        }
        self.writing.fill(0);
        taken
    }

    #[inline]
    fn note_taken(&mut self, queue: WriteQueue) {
        let WriteQueue::Plane(plane) = queue else { return };
        let (die, bit) = self.die_and_bit(plane);
        self.other_writes[die] |= bit;
        if self.writes[plane.index()].is_empty() {
            self.writing[die] &= !bit;
        }
    }

    /// Whether a single operation that is a `command` waits for `die`, or for any die.
    pub fn one_waits(&self, die: DieId, command: Command) -> bool {
        let (queues, planes) = match (command, self.write_level) {
            (Command::Read, _) => (&self.reads, self.planes_with_reads(die)),
            (_, WriteLevel::Plane) => (&self.writes, self.planes_with_writes(die)),
            (_, WriteLevel::Die) => return self.writes[die.index()].has_one(),
            (_, WriteLevel::Device) => return self.writes[0].has_one(),
        };
        let mut planes = planes_in(planes, die, self.planes_per_die());
        planes.next().is_some_and(|plane| queues[plane.index()].has_one())
            && planes.next().is_none()
    }

    /// Number of reads that wait for `die`. Takes time in their number.
    pub fn reads_waiting(&self, die: DieId) -> usize {
        let planes = planes_in(self.planes_with_reads(die), die, self.planes_per_die());
        planes.map(|plane| self.reads[plane.index()].count(&self.transactions)).sum()
    }

    /// Number of writes that wait for `die`, or for any. Takes time in their number.
    pub fn writes_waiting(&self, die: DieId) -> usize {
        match self.write_level {
            WriteLevel::Plane => {
                let planes = planes_in(self.planes_with_writes(die), die, self.planes_per_die());
                planes.map(|plane| self.writes[plane.index()].count(&self.transactions)).sum()
            }
            WriteLevel::Die => self.writes[die.index()].count(&self.transactions),
            WriteLevel::Device => self.writes[0].count(&self.transactions),
        }
    }

    /// A bit for each plane of a die.
    pub const fn all_planes(&self) -> u32 {
        u32::MAX >> (u32::BITS - self.planes_per_die())
    }

    /// Whether a write waits that `die` might take, of those that are not for one plane.
    #[inline]
    pub fn write_waits(&self, die: DieId) -> bool {
        match self.write_level {
            WriteLevel::Plane => false,
            WriteLevel::Die => !self.writes[die.index()].is_empty(),
            WriteLevel::Device => !self.writes[0].is_empty(),
        }
    }

    /// Whether a write waits for `die`, for one of its planes, or for any die.
    #[inline]
    pub fn may_write(&self, die: DieId) -> bool {
        self.write_waits(die) || self.planes_with_writes(die) != 0
    }

    /// Whether all writes wait for any die, and none does.
    pub fn are_without_writes(&self) -> bool {
        self.write_level == WriteLevel::Device && self.writes[0].is_empty()
    }

    /// Whether writes wait for any die.
    pub fn device_writes_wait(&self) -> bool {
        self.write_level == WriteLevel::Device && !self.writes[0].is_empty()
    }
}

const fn index(queue: WriteQueue) -> usize {
    match queue {
        WriteQueue::Plane(plane) => plane.index(),
        WriteQueue::Die(die) => die.index(),
        WriteQueue::Device => 0,
    }
}
