//! What a placement can say about victims. Most say nothing, and the victim policy of the drive chooses among all closed
//! blocks of a plane.

use crate::checkpoint::Checkpointed;

/// Closed blocks of a plane that are of one group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Checkpointed)]
pub struct FullBlocks {
    /// How many there are.
    pub blocks: u32,
    /// Their valid pages.
    pub valid_pages: u64,
}

/// Which block of a group is collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The one that was filled first, whatever is in it.
    OldestFirst,
    /// What the victim policy of the drive chooses among them.
    AsPolicySays,
}

/// Where the next victim of a plane comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// The group, counted from 0.
    pub group: usize,
    /// Which of its blocks.
    pub order: Order,
}
