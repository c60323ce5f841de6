//! Collections that nothing comes between.
//!
//! Most instants of a drive that collects are the end of one move and the begin of the next. Where the
//! schedule lets nobody in between them, the way over the sets of dies and channels, the queues and the
//! schedule leads to the same, and takes several times as long.

use crate::config::{Config, Idle, Preemption, Suspend};
use crate::event::{Agenda, Event};
use crate::ftl::Ftl;
use crate::ids::DieId;
use crate::units::Instant;

use super::Ssd;

/// Whether nothing comes between the moves of a collection, and nobody looks at them.
pub(super) fn moves_are_undisturbed(config: &Config, ftl: &Ftl) -> bool {
    config.ssd.gc.preemption == Preemption::None
        && config.ssd.gc.idle == Idle::None
        && config.ssd.commands.suspend == Suspend::None
        && config.ssd.faults.are_none()
        && !config.metrics.idle_time
        && !config.metrics.needs_journal()
        && !ftl.writes_may_call_for_reclaim()
        && !config.ssd.power.is_watched()
}

impl Ssd {
    /// Where a move of the die's collection ends, begins the next one, if that is all that follows. Returns
    /// whether it has.
    pub fn move_next_page(&mut self, die: DieId, now: Instant, agenda: &mut Agenda) -> bool {
        if !self.options.moves_are_undisturbed || !self.dies[die.index()].ends_copyback(now) {
            return false;
        }
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
