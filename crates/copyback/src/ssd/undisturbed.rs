//! Collections that nothing comes between.
//!
//! Most instants of a drive that collects are the end of one move and the begin of the next. Where the
//! schedule lets nobody in between them, the way over the sets of dies and channels, the queues and the
//! schedule leads to the same, and takes several times as long.

use crate::config::{Config, Preemption};
use crate::event::{Agenda, Event};
use crate::ftl::Ftl;
use crate::ids::DieId;
use crate::units::Instant;

use super::Ssd;
use super::quiet::nobody_looks;

/// Whether nothing comes between the moves of a collection, and nobody looks at them.
pub(super) fn moves_are_undisturbed(config: &Config, ftl: &Ftl) -> bool {
    config.ssd.gc.preemption == Preemption::None
        && !ftl.writes_may_call_for_reclaim()
        && nobody_looks(config)
}

impl Ssd {
    /// Where a move of the die's collection ends, begins the next one, if that is all that follows. Returns
    /// whether it has.
    #[inline]
    pub fn move_next_page(&mut self, die: DieId, now: Instant, agenda: &mut Agenda) -> bool {
        self.options.moves_are_undisturbed
            && self.dies[die.index()].ends_copyback(now)
            && self.begin_next_move(die, now, agenda)
    }

    /// Begins the next move in place of the one that ends, if there is one. Returns whether there is.
    #[inline(never)]
    fn begin_next_move(&mut self, die: DieId, now: Instant, agenda: &mut Agenda) -> bool {
        let Some(collection) = &mut self.collections[die.index()] else { return false };
        let Some(page) = collection.lanes.next_move(&self.ftl) else { return false };
        let time = self.place_copy(die, page, now);
        self.dies[die.index()].repeat_copyback(time, now);
        if let Some(audit) = &mut self.audit {
            audit.array_taken(die, now, time);
        }
        agenda.add(now + time, Event::ArrayDone(die));
        true
    }
}
