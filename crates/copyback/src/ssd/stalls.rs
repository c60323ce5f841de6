//! Stalls: times in which writes wait for a free block although collections yield, or for room in a full buffer. Where
//! collections don't yield, writes wait for the collections themselves.

use crate::checkpoint::Checkpointed;
use crate::ftl::Ftl;
use crate::ids::DieId;
use crate::observer::Observer;
use crate::scheduler::Queues;
use crate::units::Instant;

/// Account of the stalls of a drive.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct Stalls {
    may_happen: bool,
}

impl Stalls {
    /// Creates the account of a drive whose writes may stall, or never do.
    pub const fn new(may_happen: bool) -> Self {
        Self { may_happen }
    }

    /// Whether writes may stall.
    pub const fn may_happen(self) -> bool {
        self.may_happen
    }

    /// Notes whether `die` stalls.
    #[inline]
    pub fn note(ftl: &Ftl, observer: &mut Observer, queues: &Queues, die: DieId, now: Instant) {
        if observer.is_stalled(die)
            || (queues.may_write(die)
                && ftl.planes_to_collect(die) != 0
                && ftl.rooms().keeps_room(die) != Some(true))
        {
            look(ftl, observer, queues, die, now);
        }
    }

    /// Notes which dies stall as an instant ends. Where one die gives room to others or takes it from them, each is looked at,
    /// whether or not it had anything to do.
    pub fn note_all(self, ftl: &Ftl, observer: &mut Observer, queues: &Queues, now: Instant) {
        let may_change = observer.is_any_stalled() || !queues.are_without_writes();
        if self.may_happen && ftl.lines().is_some() && may_change {
            let dies = (0..ftl.geometry().dies()).map(DieId::from_index);
            dies.for_each(|die| Self::note(ftl, observer, queues, die, now));
        }
    }
}

// Apart, as mostly there is room for what waits.
#[inline(never)]
fn look(ftl: &Ftl, observer: &mut Observer, queues: &Queues, die: DieId, now: Instant) {
    // A die may take no data of a line for other reasons.
    let mut planes = ftl.geometry().planes_of_die(die);
    let has_free_blocks =
        ftl.lines().is_some() && planes.all(|plane| ftl.space().may_open_for_host(plane));
    let waits = !has_free_blocks && queues.write_finds_no_block(ftl, die, |_| true);
    observer.note_stall(die, waits, now);
}
