//! By hint: the host says which data belong together, with streams or with placement handles (NVMe 2.1, flexible data
//! placement). Each handle has an open block of its own. What survives is mixed by collections if handles are isolated
//! *initially*, and stays apart if they are *persistently*.
//!
//! A page without a hint, or with one beyond the last handle, is written with handle 0, as the standard has it for a
//! command that names none.

use crate::checkpoint::Checkpointed;
use crate::config::Isolation;
use crate::ids::Lpn;
use crate::workload::{Handle, Hint};

use super::{Class, Classes, Drive, Event, HandleTally, Origin, Placement};

/// Has nothing to remember of pages: the class of the block that a page leaves tells its handle.
#[derive(Debug, Checkpointed)]
pub struct ByHint {
    handles: usize,
    /// Classes for what is moved.
    moved: usize,
    pages_per_block: u32,
    tally: HandleTally,
}

impl ByHint {
    pub(super) fn new(handles: u32, isolation: Isolation, drive: Drive) -> Self {
        let handles = handles as usize;
        let moved = match isolation {
            Isolation::Initial => 1,
            Isolation::Persistent => handles,
        };
        let tally = HandleTally::new(handles);
        Self { handles, moved, pages_per_block: drive.pages_per_block, tally }
    }

    /// The handle that the host names, unless there is no such handle.
    fn named(&self, hint: Option<Hint>) -> Option<usize> {
        let handle = hint.and_then(Hint::handle).map_or(0, Handle::index);
        (handle < self.handles).then_some(handle)
    }

    fn wrote(&mut self, origin: Origin) {
        match origin {
            Origin::Host { hint } => {
                let named = self.named(hint);
                self.tally.host_pages[named.unwrap_or(0)] += 1;
                self.tally.invalid_pages += u64::from(named.is_none());
            }
            Origin::Moved { .. } => self.tally.moved_pages += 1,
        }
    }

    /// Pages written with each handle.
    pub(super) const fn tally(&self) -> &HandleTally {
        &self.tally
    }

    /// Continues the counts of `before`, which was in use until the power failed.
    pub(super) fn counts_on(&mut self, before: &Self) {
        self.tally.clone_from(&before.tally);
    }
}

impl Placement for ByHint {
    fn classes(&self) -> Classes {
        Classes::apart(0..self.handles, self.handles..self.handles + self.moved)
    }

    fn class_of(&self, _: Lpn, origin: Origin, _: u64) -> Class {
        match origin {
            Origin::Host { hint } => Class::new(self.named(hint).unwrap_or(0)),
            // Of translation pages nobody has said anything.
            Origin::Moved { class: left } => {
                let left = left.map_or(0, Class::index);
                Class::new(self.handles + left % self.handles % self.moved)
            }
        }
    }

    #[inline(always)]
    fn learn(&mut self, event: Event, _: u64) {
        match event {
            Event::Wrote { origin, .. } => self.wrote(origin),
            Event::RunBegins => self.tally.reset(),
            Event::Chosen(block) => self.tally.reallocations += u64::from(block.valid > 0),
            Event::Collected(_) => self.tally.erased_pages += u64::from(self.pages_per_block),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::BlockId;
    use crate::placement::Life;

    const DRIVE: Drive = Drive { pages: 8, pages_per_block: 2, planes: 1, blocks: 8 };

    fn class_of(placement: &ByHint, origin: Origin) -> usize {
        placement.class_of(Lpn(3), origin, 9).index()
    }

    fn written_with(handle: u16) -> Origin {
        Origin::Host { hint: Some(Hint::new(5, Some(Handle(handle)))) }
    }

    #[test]
    fn each_handle_has_a_class_and_a_command_without_one_is_written_with_the_first() {
        for isolation in [Isolation::Initial, Isolation::Persistent] {
            let placement = ByHint::new(3, isolation, DRIVE);
            let hints = [written_with(0), written_with(1), written_with(2), written_with(3)];
            assert_eq!(hints.map(|origin| class_of(&placement, origin)), [0, 1, 2, 0]);
            assert_eq!(class_of(&placement, Origin::Host { hint: None }), 0);
        }
    }

    #[test]
    fn collections_mix_handles_that_are_isolated_initially_and_no_others() {
        let moved = |placement: &ByHint, class| {
            class_of(placement, Origin::Moved { class: Some(Class::new(class)) })
        };
        let initially = ByHint::new(3, Isolation::Initial, DRIVE);
        assert_eq!([0, 1, 2, 3].map(|class| moved(&initially, class)), [3; 4]);
        let persistently = ByHint::new(3, Isolation::Persistent, DRIVE);
        let from_all = [0, 1, 2, 3, 4, 5].map(|class| moved(&persistently, class));
        assert_eq!(from_all, [3, 4, 5, 3, 4, 5]);
    }

    #[test]
    fn what_names_no_handle_of_the_drive_is_counted() {
        let mut placement = ByHint::new(2, Isolation::Initial, DRIVE);
        let block =
            |valid| Life { block: BlockId(3), class: Class::new(0), opened: 0, sealed: 2, valid };
        for handle in [0, 1, 1, 2, 700] {
            placement.learn(Event::Wrote { lpn: Lpn(1), origin: written_with(handle) }, 0);
        }
        placement.learn(Event::Wrote { lpn: Lpn(1), origin: Origin::Moved { class: None } }, 0);
        for valid in [0, 1] {
            placement.learn(Event::Chosen(block(valid)), 0);
            placement.learn(Event::Collected(block(0)), 0);
        }
        let expected = HandleTally {
            host_pages: vec![3, 2],
            invalid_pages: 2,
            moved_pages: 1,
            erased_pages: 4,
            reallocations: 1,
        };
        assert_eq!(placement.tally(), &expected);
        placement.learn(Event::RunBegins, 0);
        assert_eq!(placement.tally(), &HandleTally::new(2));
    }
}
