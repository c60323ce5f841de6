//! Tells the observer what the flash begins to do, and for whom.

use smallvec::SmallVec;

use crate::backend::{Backend, Purpose, StepInFlight};
use crate::collector::Collector;
use crate::flash::{Begun, Flash, Listener};
use crate::ftl::Ftl;
use crate::ids::{ChannelId, DieId};
use crate::observer::{Class, Entry, Observer, Work};
use crate::purpose::{Owner, Reason};
use crate::transaction::{Fifo, Kind, Transactions};
use crate::units::{Duration, Instant};

use super::Ssd;

/// Knows what flash operations are for.
#[derive(Debug)]
pub struct Describer<'a> {
    observer: &'a mut Observer,
    transactions: &'a Transactions,
    collector: &'a Collector,
    ftl: &'a Ftl,
}

impl Ssd {
    /// The flash, and who tells what it does.
    #[inline]
    pub(super) fn flash_and_describer(&mut self) -> (&mut Flash<Purpose>, Describer<'_>) {
        let Self { backend, scheduler, collector, .. } = self;
        let transactions = &scheduler.queues.transactions;
        let Backend { flash, ftl, observer, .. } = backend;
        (flash, Describer { observer, transactions, collector, ftl })
    }
}

impl Listener<Purpose> for Describer<'_> {
    #[inline]
    fn keeps_room(&self, die: DieId) -> bool {
        self.ftl.rooms().keeps_room(die) == Some(true)
    }

    #[inline]
    fn array_begins(&mut self, die: DieId, time: Duration, work: Begun<'_, Purpose>, at: Instant) {
        let (transactions, collector) = (self.transactions, self.collector);
        self.observer.record(|| {
            let work = describe(transactions, collector, die, &work);
            Entry::Array { die, at, time, work }
        });
    }

    #[inline]
    fn transfer_begins(
        &mut self,
        channel: ChannelId,
        die: DieId,
        time: Duration,
        work: Begun<'_, Purpose>,
        at: Instant,
    ) {
        let (transactions, collector) = (self.transactions, self.collector);
        self.observer.record(|| {
            let work = describe(transactions, collector, die, &work);
            Entry::Transfer { channel, die, at, time, work }
        });
    }
}

fn describe(
    transactions: &Transactions,
    collector: &Collector,
    die: DieId,
    begun: &Begun<'_, Purpose>,
) -> Work {
    let operation = match begun {
        Begun::Operation(operation) => operation,
        Begun::Suspending(command) => {
            let (pages, owners) = (SmallVec::new(), SmallVec::new());
            let (command, class) = (*command, Class::Suspend);
            return Work { command, class, pages, resumed: false, owners };
        }
    };
    let class = match operation.tag {
        Purpose::Host(group) => class_of_group(transactions, group),
        Purpose::Collection(StepInFlight::Rebuilt) => Class::Rebuild,
        Purpose::Collection(StepInFlight::ProgramStaged) => Class::CachedPages,
        Purpose::Collection(StepInFlight::Parity) => Class::Parity,
        Purpose::Collection(_) => {
            let collection = collector.of(die);
            Class::Collection(collection.map_or(Reason::OnDemand, |known| known.reason()))
        }
    };
    Work {
        command: operation.command,
        class,
        pages: operation.pages.as_deref().cloned().unwrap_or_default(),
        resumed: operation.was_suspended(),
        owners: owners(transactions, operation.tag),
    }
}

fn owners(transactions: &Transactions, purpose: Purpose) -> SmallVec<[Owner; 2]> {
    let Purpose::Host(mut group) = purpose else { return SmallVec::new() };
    std::iter::from_fn(|| group.pop(transactions)).map(|id| transactions.get(id).owner).collect()
}

/// Page operations that share a command are of one kind; the first tells what they are for.
fn class_of_group(transactions: &Transactions, group: Fifo) -> Class {
    let first = group.front().map(|id| transactions.get(id));
    match first.map(|transaction| (transaction.owner, transaction.kind)) {
        Some((Owner::Destage, _)) => Class::Destage,
        Some((Owner::Translation, _)) => Class::Mapping,
        Some((Owner::Rebuild, _)) => Class::Rebuild,
        Some((Owner::Host(_), Kind::Read | Kind::OfStripe)) | None => Class::HostRead,
        Some((Owner::Host(_), Kind::Write | Kind::ReadToUpdate)) => Class::HostWrite,
    }
}
