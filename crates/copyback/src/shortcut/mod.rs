//! The one question for shortcuts: until when is a die undisturbed?
//!
//! Most instants of a busy drive are the end of one page move and the begin of the next. Nobody has a choice to make at
//! them. Each shortcut asks this question before it passes over an instant, and nothing else:
//!
//! | shortcut | where | asked of a die | least answer that it needs |
//! | --- | --- | --- | --- |
//! | one event alone is carried out without arbitration of the drive | `ssd/alone.rs` | any | until its next instant |
//! | a die that is awake is not looked at | `ssd/mod.rs` | in which an operation goes on | until its next instant |
//! | a die that work waits for is not woken | `backend/wake.rs` | in which an operation goes on | until the operation ends |
//! | a transfer and the array's work are one event | `flash/shortcut.rs` | in which an operation goes on | until the operation ends |
//! | the next step of a collection begins at once | `ssd/alone.rs` | whose collection has ended a step | until its next instant |
//! | a copyback takes the place of another | `flash/shortcut.rs` | whose collection has ended a step | until its collection ends |
//!
//! Three parties decide, and the least answer counts: the settings of the drive ([`each_instant`]), the schedule
//! (`When::undisturbed`), and how the die stands, which the caller knows.

pub mod each_instant;

use crate::checkpoint::Checkpointed;

/// Until when a die is undisturbed, if the host hands nothing in: nobody has a choice to make there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Checkpointed)]
pub enum Undisturbed {
    /// Not at all: it needs arbitration at each instant.
    Never,
    /// Until its next instant: nothing begins at this one.
    UntilNextInstant,
    /// Until the operation in it ends: nothing begins beside that.
    UntilOperationEnds,
    /// Until its collection ends, whatever the host waits for.
    UntilCollectionEnds,
}

/// Answers the question for the dies of a drive.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct Shortcuts {
    /// Most that any die is undisturbed.
    limit: Undisturbed,
    /// Whether a die that looks for work tells the mapping which writes wait for it, which may have to reclaim something
    /// first.
    pub names_writes: bool,
}

impl Shortcuts {
    /// Answers of a drive whose settings and schedule say `limit`.
    pub fn new(limit: Undisturbed, names_writes: bool) -> Self {
        // A schedule that yields is to find the writes named at each instant of the die.
        let is_seldom_asked = limit == Undisturbed::UntilOperationEnds;
        let limit =
            if names_writes && is_seldom_asked { Undisturbed::UntilNextInstant } else { limit };
        Self { limit, names_writes }
    }

    /// Most that any die of the drive is undisturbed.
    #[inline]
    pub const fn limit(self) -> Undisturbed {
        self.limit
    }

    /// Until when a die is undisturbed in which an operation goes on, if one is there: `host_could_begin` says whether one of
    /// the host's could begin there, `keeps_room` whether each write that may wait has room until one begins or ends.
    #[inline(always)]
    pub fn while_busy(
        self,
        host_could_begin: impl FnOnce() -> bool,
        keeps_room: impl FnOnce() -> bool,
    ) -> Undisturbed {
        use Undisturbed::{Never, UntilNextInstant, UntilOperationEnds};
        match self.limit {
            Never | UntilNextInstant => Never,
            _ if host_could_begin() => Never,
            // Writes may stall at any of its instants, which is to be recorded.
            UntilOperationEnds if !keeps_room() => UntilNextInstant,
            _ => UntilOperationEnds,
        }
    }

    /// Until when a die is undisturbed whose collection has just ended a step: `host_waits` says whether operations of the
    /// host wait for it, `host_could_begin` whether one of them could begin.
    #[inline(always)]
    pub fn between_steps(
        self,
        host_waits: impl FnOnce() -> bool,
        host_could_begin: impl FnOnce() -> bool,
    ) -> Undisturbed {
        let is_disturbed = match self.limit {
            Undisturbed::Never => true,
            Undisturbed::UntilNextInstant => host_waits(),
            Undisturbed::UntilOperationEnds => host_could_begin(),
            Undisturbed::UntilCollectionEnds => false,
        };
        if is_disturbed { Undisturbed::Never } else { self.limit }
    }
}

#[cfg(test)]
mod tests {
    use super::Undisturbed::{Never, UntilCollectionEnds, UntilNextInstant, UntilOperationEnds};
    use super::*;

    /// The answers under each limit, from the least to the greatest.
    fn answers(answer: impl Fn(Shortcuts) -> Undisturbed) -> [Undisturbed; 4] {
        [Never, UntilNextInstant, UntilOperationEnds, UntilCollectionEnds]
            .map(|limit| answer(Shortcuts::new(limit, false)))
    }

    #[test]
    fn a_busy_die_is_disturbed_where_an_operation_of_the_host_could_begin() {
        let of_busy = |begins: bool, has_room: bool| {
            answers(|shortcuts| shortcuts.while_busy(|| begins, || has_room))
        };
        assert_eq!(of_busy(true, true), [Never; 4]);
        assert_eq!(of_busy(false, true), [Never, Never, UntilOperationEnds, UntilOperationEnds]);
        let may_stall = [Never, Never, UntilNextInstant, UntilOperationEnds];
        assert_eq!(of_busy(false, false), may_stall);
    }

    #[test]
    fn between_steps_who_waits_or_could_begin_disturbs_collections_that_yield() {
        let between = |waits: bool, begins: bool| {
            answers(|shortcuts| shortcuts.between_steps(|| waits, || begins))
        };
        let undisturbed = [Never, UntilNextInstant, UntilOperationEnds, UntilCollectionEnds];
        assert_eq!(between(false, false), undisturbed);
        assert_eq!(between(true, false), [Never, Never, UntilOperationEnds, UntilCollectionEnds]);
        assert_eq!(between(true, true), [Never, Never, Never, UntilCollectionEnds]);
    }

    #[test]
    fn where_writes_are_named_a_schedule_that_yields_is_asked_at_each_instant_of_a_die() {
        let limit = |limit| Shortcuts::new(limit, true).limit();
        assert_eq!(limit(UntilOperationEnds), UntilNextInstant);
        assert_eq!(limit(UntilCollectionEnds), UntilCollectionEnds);
        assert_eq!(limit(Never), Never);
    }
}
