//! What a placement can say about victims. Most say nothing, and the victim policy of the drive chooses among all closed
//! blocks of a plane.

use crate::checkpoint::Checkpointed;

use super::Class;

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

/// What becomes of closed blocks when a placement has changed its groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Regrouping {
    /// Of each class, the class that its blocks are of from now on.
    pub classes: Vec<Class>,
    /// Of the first of these classes, how many blocks of a plane may be of it. Older ones are of class `rest`.
    pub most: Vec<u32>,
    /// That class.
    pub rest: Class,
    /// Of each class its group from now on.
    pub groups: Vec<usize>,
}
