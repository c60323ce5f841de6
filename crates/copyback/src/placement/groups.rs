//! Statements of a placement about victims. Most say nothing, and the victim policy of the drive chooses among
//! all closed blocks of a plane.

use crate::checkpoint::Checkpointed;

use super::Class;

/// Closed blocks of a plane that are of one group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Checkpointed)]
pub struct FullBlocks {
    /// Number of full blocks.
    pub blocks: u32,
    /// Number of their valid pages.
    pub valid_pages: u64,
}

/// Order in which blocks of a group are collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The one that was filled first, whatever is in it.
    OldestFirst,
    /// Choice of the drive's victim policy among them.
    AsPolicySays,
}

/// Source of the next victim of a plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// The group, counted from 0.
    pub group: usize,
    /// Order in which its blocks are collected.
    pub order: Order,
}

/// New classes of closed blocks when a placement has changed its groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Regrouping {
    /// Of each class, the class that its blocks are of from now on.
    pub classes: Vec<Class>,
    /// Of the first of these classes, how many blocks of a plane may be of it. Older ones are of class `rest`.
    pub most: Vec<u32>,
    /// Class that older blocks get.
    pub rest: Class,
    /// Of each class its group from now on.
    pub groups: Vec<usize>,
}
