//! Blocks of open lines that their planes have not begun: each plane fills its blocks of a class in the order in which the
//! lines were opened, and some are ahead of others.

use std::collections::VecDeque;

use crate::checkpoint::Checkpointed;
use crate::ids::{BlockId, PlaneId};
use crate::placement::Class;

/// The blocks that follow the open ones.
#[derive(Debug, Checkpointed)]
pub struct Following {
    classes: usize,
    /// Of each plane and class.
    queues: Vec<VecDeque<BlockId>>,
    /// Of each class, blocks on all planes.
    of_class: Vec<usize>,
}

impl Following {
    /// Creates an empty record of this number of planes and classes.
    pub fn new(planes: usize, classes: usize) -> Self {
        Self {
            classes,
            queues: vec![VecDeque::new(); planes * classes],
            of_class: vec![0; classes],
        }
    }

    const fn place(&self, plane: PlaneId, class: Class) -> usize {
        plane.index() * self.classes + class.index()
    }

    /// Blocks of `plane` that follow its open one of `class`.
    pub fn count(&self, plane: PlaneId, class: Class) -> usize {
        self.queues[self.place(plane, class)].len()
    }

    /// Whether a plane has not begun the line of `class` that was opened last.
    pub fn any_of(&self, class: Class) -> bool {
        self.of_class[class.index()] > 0
    }

    /// `block` of `plane` is filled after those that follow already.
    pub fn add(&mut self, plane: PlaneId, class: Class, block: BlockId) {
        let place = self.place(plane, class);
        self.queues[place].push_back(block);
        self.of_class[class.index()] += 1;
    }

    /// Takes the block that `plane` fills next.
    pub fn take(&mut self, plane: PlaneId, class: Class) -> Option<BlockId> {
        let place = self.place(plane, class);
        let block = self.queues[place].pop_front()?;
        self.of_class[class.index()] -= 1;
        Some(block)
    }

    /// `plane` fills none of its blocks any more.
    pub fn forget_plane(&mut self, plane: PlaneId) {
        for class in 0..self.classes {
            let queue = &mut self.queues[plane.index() * self.classes + class];
            self.of_class[class] -= std::mem::take(queue).len();
        }
    }

    /// The blocks of `plane`, class by class, in the order in which they are filled.
    pub fn of_plane(&self, plane: PlaneId) -> impl Iterator<Item = (Class, BlockId)> + '_ {
        let first = plane.index() * self.classes;
        let queues = self.queues[first..first + self.classes].iter().enumerate();
        queues.flat_map(|(class, queue)| queue.iter().map(move |block| (Class::new(class), *block)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_fills_its_blocks_in_the_order_in_which_lines_were_opened() {
        let (plane, class) = (PlaneId(1), Class::new(1));
        let mut following = Following::new(2, 2);
        following.add(plane, class, BlockId(9));
        following.add(plane, class, BlockId(8));
        assert_eq!((following.count(plane, class), following.count(PlaneId(0), class)), (2, 0));
        assert!(following.any_of(class) && !following.any_of(Class::new(0)));
        let all: Vec<_> = following.of_plane(plane).collect();
        assert_eq!(all, [(class, BlockId(9)), (class, BlockId(8))]);
        assert_eq!(following.take(plane, class), Some(BlockId(9)));
        assert_eq!(following.take(plane, class), Some(BlockId(8)));
        assert!(following.take(plane, class).is_none() && !following.any_of(class));
    }
}
