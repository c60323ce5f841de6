//! Generations: a page goes by how often it has been moved since the host wrote it. What the host writes is in the
//! first; what a collection moves goes on to the next, and stays in the last. Each but the last holds a number of
//! blocks: one that has more loses its oldest. When none has, the victim policy chooses in the last.
//!
//! This is the chain of groups of MiDAS (Oh et al., FAST 2024) without hot pages apart, and with sizes that stay as
//! they are. A group is a class here.

use crate::checkpoint::Checkpointed;
use crate::ids::Lpn;

use super::{Class, Classes, FullBlocks, Grouping, Order, Origin, Placement, Wanted};

/// Has nothing to remember: the class of the block that a page leaves tells its generation.
#[derive(Debug, Checkpointed)]
pub struct Generations {
    /// Full blocks of a plane that each but the last may hold.
    most: Vec<u32>,
}

impl Generations {
    pub(super) const fn new(most: Vec<u32>) -> Self {
        Self { most }
    }

    const fn last(&self) -> usize {
        self.most.len()
    }
}

impl Placement for Generations {
    fn classes(&self) -> Classes {
        Classes::apart(0..1, 1..self.last() + 1)
    }

    /// A page of which nothing is known is old.
    fn class_of(&self, _: Lpn, origin: Origin, _: u64) -> Class {
        Class::new(match origin {
            Origin::Host { .. } => 0,
            Origin::Moved { class: None } => self.last(),
            Origin::Moved { class: Some(class) } => (class.index() + 1).min(self.last()),
        })
    }

    fn grouping(&mut self) -> Option<&mut dyn Grouping> {
        Some(self)
    }
}

impl Grouping for Generations {
    fn groups(&self) -> Vec<usize> {
        (0..=self.last()).collect()
    }

    fn wanted(&self, full: &[FullBlocks]) -> Wanted {
        let mut sized = full.iter().zip(&self.most);
        match sized.position(|(full, most)| full.blocks > *most) {
            Some(group) => Wanted { group, order: Order::OldestFirst },
            None => Wanted { group: self.last(), order: Order::AsPolicySays },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved_from(class: Option<usize>) -> usize {
        let class = class.map(Class::new);
        Generations::new(vec![2, 3]).class_of(Lpn(0), Origin::Moved { class }, 0).index()
    }

    fn wanted(blocks: [u32; 3]) -> (usize, Order) {
        let full = blocks.map(|blocks| FullBlocks { blocks, valid_pages: 0 });
        let Wanted { group, order } = Generations::new(vec![2, 3]).wanted(&full);
        (group, order)
    }

    #[test]
    fn what_is_moved_goes_one_generation_on_and_stays_in_the_last() {
        let host = Generations::new(vec![2, 3]).class_of(Lpn(0), Origin::Host { hint: None }, 0);
        assert_eq!(host.index(), 0);
        assert_eq!([0, 1, 2].map(|class| moved_from(Some(class))), [1, 2, 2]);
        assert_eq!(moved_from(None), 2, "nothing is known of it");
    }

    #[test]
    fn the_first_generation_with_too_many_blocks_loses_its_oldest() {
        assert_eq!(wanted([3, 4, 9]), (0, Order::OldestFirst));
        assert_eq!(wanted([2, 4, 9]), (1, Order::OldestFirst));
        assert_eq!(wanted([2, 3, 0]), (2, Order::AsPolicySays));
    }
}
