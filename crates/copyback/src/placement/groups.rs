//! Groups of blocks in which victims are chosen. Most placements have none, and the victim policy of the drive chooses
//! among all closed blocks of a plane.

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

/// Groups of blocks in which victims are chosen, counted from 0, of a placement that decides where they come from.
pub trait Grouping {
    /// The group of the blocks of each class. A block of no class belongs to the last group.
    fn groups(&self) -> Vec<usize>;

    /// Source of the next victim of a plane, which has the given closed blocks of each group. If there is no block such as
    /// is wanted, the drive takes another.
    fn wanted(&self, full: &[FullBlocks]) -> Wanted;

    /// Takes the new classes of closed blocks, if groups have changed since this was last called.
    fn take_regrouping(&mut self) -> Option<Regrouping> {
        None
    }

    /// Records how many closed blocks there are of each class, now that they have been sorted again.
    fn regrouped(&mut self, _full: &[u32]) {}
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
