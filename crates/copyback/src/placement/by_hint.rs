//! By hint: the host says which data belong together, with streams or with placement handles (NVMe 2.1, flexible data
//! placement). Each handle has an open block of its own. What survives is mixed by collections if handles are isolated
//! *initially*, and stays apart if they are *persistently*.
//!
//! A page without a hint, or with one beyond the last handle, is written with handle 0, as the standard has it for a
//! command that names none.

use crate::checkpoint::Checkpointed;
use crate::config::Isolation;
use crate::ids::Lpn;

use super::{Class, Classes, Origin, Placement};

/// Has nothing to remember: the class of the block that a page leaves tells its handle.
#[derive(Debug, Checkpointed)]
pub struct ByHint {
    handles: usize,
    /// Classes for what is moved.
    moved: usize,
}

impl ByHint {
    pub(super) const fn new(handles: u32, isolation: Isolation) -> Self {
        let handles = handles as usize;
        let moved = match isolation {
            Isolation::Initial => 1,
            Isolation::Persistent => handles,
        };
        Self { handles, moved }
    }
}

impl Placement for ByHint {
    fn classes(&self) -> Classes {
        Classes::apart(0..self.handles, self.handles..self.handles + self.moved)
    }

    fn class_of(&self, _: Lpn, origin: Origin, _: u64) -> Class {
        match origin {
            Origin::Host { hint } => {
                let handle = hint.map_or(0, |hint| hint.index());
                Class::new(if handle < self.handles { handle } else { 0 })
            }
            // Of translation pages nobody has said anything.
            Origin::Moved { class: left } => {
                let left = left.map_or(0, Class::index);
                Class::new(self.handles + left % self.handles % self.moved)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Hint;

    fn class_of(placement: &ByHint, origin: Origin) -> usize {
        placement.class_of(Lpn(3), origin, 9).index()
    }

    fn written_with(handle: usize) -> Origin {
        Origin::Host { hint: Some(Hint::from_index(handle)) }
    }

    #[test]
    fn each_handle_has_a_class_and_a_command_without_one_is_written_with_the_first() {
        for isolation in [Isolation::Initial, Isolation::Persistent] {
            let placement = ByHint::new(3, isolation);
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
        let initially = ByHint::new(3, Isolation::Initial);
        assert_eq!([0, 1, 2, 3].map(|class| moved(&initially, class)), [3; 4]);
        let persistently = ByHint::new(3, Isolation::Persistent);
        let from_all = [0, 1, 2, 3, 4, 5].map(|class| moved(&persistently, class));
        assert_eq!(from_all, [3, 4, 5, 3, 4, 5]);
    }
}
