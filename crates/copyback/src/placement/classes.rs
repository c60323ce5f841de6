//! Classes of a placement, and whose pages each takes.

use std::ops::Range;

use crate::checkpoint::Checkpointed;

use super::Class;

/// The classes that take pages of the host, and those that take pages which collections move. Together they are all of
/// a placement, from 0 on.
#[derive(Debug, Clone, PartialEq, Eq, Checkpointed)]
pub struct Classes {
    host: Range<usize>,
    moved: Range<usize>,
}

impl Classes {
    /// Creates `count` classes, which all take pages of the host and moved pages.
    pub const fn shared(count: usize) -> Self {
        Self { host: 0..count, moved: 0..count }
    }

    /// Some for the host, and others for what is moved.
    pub const fn apart(host: Range<usize>, moved: Range<usize>) -> Self {
        Self { host, moved }
    }

    /// Number of classes.
    pub fn count(&self) -> usize {
        self.host.end.max(self.moved.end)
    }

    /// Classes that take pages of the host.
    pub fn of_host(&self) -> impl ExactSizeIterator<Item = Class> + use<> {
        self.host.clone().map(Class::new)
    }

    /// Classes that take pages which are moved.
    pub fn of_moves(&self) -> impl ExactSizeIterator<Item = Class> + use<> {
        self.moved.clone().map(Class::new)
    }

    /// Whether `class` takes pages of the host.
    #[inline(always)]
    pub fn takes_host(&self, class: Class) -> bool {
        self.host.contains(&class.index())
    }

    /// Whether `class` takes pages that collections move.
    pub fn takes_moved(&self, class: Class) -> bool {
        self.moved.contains(&class.index())
    }

    /// Whether pages of the host and moved ones may fill the same block.
    pub fn mix(&self) -> bool {
        self.host.start < self.moved.end && self.moved.start < self.host.end
    }
}
