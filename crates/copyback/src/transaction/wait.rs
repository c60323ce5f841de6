//! Waits of page operations: what each waits for, and which parts of its time that was.

use crate::checkpoint::Checkpointed;
use crate::ids::{DieId, PlaneId};
use crate::nand::Timing;
use crate::observer::{
    ArrivalNote, Blocked, DeviceNote, Entry, For, Observer, Part, Parts, Party, Waited,
};
use crate::units::{Duration, Instant};

use super::{Kind, Transaction};

/// Object that an operation waits for.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub enum Wait {
    /// No object: it has just arrived, or is in a die.
    Nothing,
    /// A die, in whose backlog it is.
    Die(DieId, ArrivalNote),
    /// Any die.
    Device(DeviceNote),
    /// Another write of its page, since then: one that has to read it first.
    Update(Instant),
    /// The mapping of its page, since then.
    Translation(Instant),
    /// The other units of its page, and the program of that.
    Page(PageNote),
}

/// A write has been transferred, and waits for its page to be programmed.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct PageNote {
    /// The die.
    pub die: DieId,
    /// Since when.
    pub since: Instant,
    /// Time for which the die had collected by then.
    pub collected: Duration,
}

impl Transaction {
    /// Notes the arrival at `die`, in the queue of `plane` if that is fixed.
    #[inline(always)]
    pub fn arrive(
        &mut self,
        observer: &mut Observer,
        timing: &Timing,
        (die, plane): (DieId, Option<PlaneId>),
        now: Instant,
    ) {
        let times = (nominal(timing, self.kind), self.late());
        self.wait = Wait::Die(die, observer.arrive(die, plane, times, now));
    }

    /// Ends the wait and books where it went.
    #[inline]
    pub fn end_wait(&mut self, observer: &mut Observer, now: Instant) {
        let parts = match &self.wait {
            // All but the first end with another operation.
            Wait::Nothing | Wait::Update(_) | Wait::Translation(_) | Wait::Page(_) => return,
            // Taken as it came: often, and nothing to split.
            Wait::Die(_, note) if note.since() == now => Parts::default(),
            Wait::Die(die, note) => {
                let parts = observer.split_wait(*die, note, now);
                self.parts += parts;
                parts
            }
            Wait::Device(note) => {
                let parts = observer.split_wait_at_device(note, now);
                self.parts += parts;
                parts
            }
        };
        record_wait(observer, self.party(), &self.wait, parts, None, now);
        self.wait = Wait::Nothing;
    }

    /// Ends the wait for `other`, which without collections would have ended `late` earlier, and books where it went.
    pub fn end_wait_for_other(
        &mut self,
        observer: &mut Observer,
        late: Duration,
        other: Option<Party>,
        now: Instant,
    ) {
        let wait = std::mem::replace(&mut self.wait, Wait::Nothing);
        let (part, since) = match wait {
            Wait::Update(since) => (Part::QueueBehindIo, since),
            Wait::Translation(since) => (Part::Translation, since),
            Wait::Page(note) => (Part::Service, note.since),
            Wait::Nothing | Wait::Die(..) | Wait::Device(_) => return,
        };
        let mut parts = Parts::default();
        parts.book_wait(part, now - since, late.saturating_sub(self.late()));
        self.parts += parts;
        record_wait(observer, self.party(), &wait, parts, other, now);
    }

    /// Ends the wait of a write for its page. As much of that is due to collections as its die has collected.
    pub fn end_wait_for_page(&mut self, observer: &mut Observer, now: Instant) {
        if let Wait::Page(PageNote { die, collected, .. }) = self.wait {
            let late = self.late() + (observer.collected(die, now) - collected);
            self.end_wait_for_other(observer, late, None, now);
        }
    }
}

/// Nominal time of a lone page operation.
fn nominal(timing: &Timing, kind: Kind) -> Duration {
    match kind {
        Kind::Read | Kind::ReadToUpdate | Kind::OfStripe => timing.whole_read(),
        Kind::Write => timing.whole_program(),
    }
}

/// The `wait` of a page operation, behind another if that can be told, has ended.
fn record_wait(
    observer: &mut Observer,
    who: Party,
    wait: &Wait,
    parts: Parts,
    behind: Option<Party>,
    until: Instant,
) {
    observer.record(|| {
        let (what, since) = match wait {
            Wait::Nothing => (For::AnyDie, until),
            Wait::Die(die, note) => (For::Die(*die), note.since()),
            Wait::Device(note) => (For::AnyDie, note.since()),
            Wait::Update(since) => (For::Update, *since),
            Wait::Translation(since) => (For::Mapping, *since),
            Wait::Page(note) => (For::Page, note.since),
        };
        Entry::Waited(Blocked { who, wait: Waited { what, since, until, parts }, behind })
    });
}
