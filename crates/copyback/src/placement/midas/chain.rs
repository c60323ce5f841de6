//! The chain of groups: hot pages, then groups that are FIFO queues of fixed sizes, then a last one in which the victim
//! policy chooses. A class is a place in the chain. While predictions are not trusted, the last group is *spread*: what
//! is moved within it climbs a few classes more, all of one group.

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;

use super::super::{Class, FullBlocks, Order, Regrouping, Wanted};

/// Classes that a spread last group has.
const SPREAD: usize = 4;

/// Groups, and what has changed of them since blocks were last sorted again.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
pub struct Chain {
    classes: usize,
    /// Place of the last group.
    last: usize,
    is_spread: bool,
    /// Full blocks of a plane that each group before the last may hold.
    sizes: Vec<u32>,
    /// Of each class as it was, the class that it is now.
    renamed: Vec<usize>,
    is_changed: bool,
    /// Groups as blocks are sorted.
    groups: Vec<usize>,
    /// Classes that are out of use, and whose open blocks the last group fills, the last of these first.
    drained: Vec<usize>,
    /// Number of blocks of that class that are yet to be filled: one on each plane.
    to_fill: u32,
    planes: u32,
}

impl Chain {
    /// One group, spread.
    pub fn new(classes: usize, planes: u32) -> Self {
        let mut chain = Self {
            classes,
            last: 1,
            is_spread: true,
            sizes: vec![0],
            renamed: (0..classes).collect(),
            is_changed: false,
            groups: Vec::new(),
            drained: Vec::new(),
            to_fill: planes,
            planes,
        };
        chain.groups = (0..classes).map(|class| chain.group_of(class)).collect();
        chain
    }

    /// The place of the last group.
    pub const fn last(&self) -> usize {
        self.last
    }

    /// Whether the last group is spread.
    pub const fn is_spread(&self) -> bool {
        self.is_spread
    }

    /// The last class that takes pages.
    pub fn top(&self) -> usize {
        let spread = if self.is_spread { SPREAD - 1 } else { 0 };
        (self.last + spread).min(self.classes - 1)
    }

    /// Class of pages that are moved out of blocks of `class`.
    #[inline(always)]
    pub fn next(&self, class: usize) -> usize {
        let next = (class + 1).min(self.top());
        match self.drained.last() {
            Some(drained) if next == self.last => *drained,
            _ => next,
        }
    }

    /// A block of `class` has been filled.
    pub fn sealed(&mut self, class: usize) {
        if self.drained.last() == Some(&class) {
            self.to_fill -= 1;
            if self.to_fill == 0 {
                self.drained.pop();
                self.to_fill = self.planes;
            }
        }
    }

    /// The group of `class`. Where there is but one, hot pages are in it, too.
    pub const fn group_of(&self, class: usize) -> usize {
        if class >= self.last || self.is_alone() { self.last } else { class }
    }

    /// Whether there is one group.
    pub const fn is_alone(&self) -> bool {
        self.last == 1 && self.is_spread
    }

    /// The groups of all classes, as blocks are sorted.
    pub fn groups(&self) -> Vec<usize> {
        self.groups.clone()
    }

    /// Source of the next victim of a plane.
    pub fn wanted(&self, full: &[FullBlocks]) -> Wanted {
        let mut sized = full.iter().zip(&self.sizes);
        let too_large = sized.position(|(full, most)| full.blocks > *most);
        match too_large.filter(|_| !self.is_alone()) {
            Some(group) => Wanted { group, order: Order::OldestFirst },
            None => Wanted { group: self.last, order: Order::AsPolicySays },
        }
    }

    /// The last group is spread from now on.
    pub fn spread(&mut self) {
        self.is_spread = true;
        self.is_changed = true;
        self.drained.clear();
        self.to_fill = self.planes;
    }

    /// Merges the last two groups.
    pub fn merge(&mut self) {
        if self.last == 1 {
            return;
        }
        self.last -= 1;
        self.sizes.truncate(self.last);
        let last = self.last;
        self.rename(|class| if class > last { class - 1 } else { class });
    }

    /// Sets the groups: each may hold the given number of full blocks from now on, and a last one takes the
    /// rest.
    pub fn set(&mut self, sizes: Vec<u32>) {
        let (last, top) = (self.last, self.top());
        self.rename(|class| class.min(last));
        self.is_spread = false;
        while self.last > sizes.len() {
            self.merge();
        }
        let (before, last) = (self.last, sizes.len());
        // What was the last group still is.
        self.rename(|class| if class == before { last } else { class });
        (self.last, self.sizes) = (last, sizes);
        let drained = self.drained.iter().copied().max().unwrap_or(0).max(top);
        self.drained = (self.last + 1..=drained).collect();
        self.to_fill = self.planes;
    }

    fn rename(&mut self, name: impl Fn(usize) -> usize) {
        self.renamed.iter_mut().for_each(|class| *class = name(*class));
        self.is_changed = true;
    }

    /// Takes the new classes of the blocks, if anything has changed.
    pub fn take_regrouping(&mut self) -> Option<Regrouping> {
        if !std::mem::take(&mut self.is_changed) {
            return None;
        }
        self.groups = (0..self.classes).map(|class| self.group_of(class)).collect();
        let renamed = std::mem::replace(&mut self.renamed, (0..self.classes).collect());
        Some(Regrouping {
            classes: renamed.into_iter().map(Class::new).collect(),
            most: if self.is_spread { Vec::new() } else { self.sizes.clone() },
            rest: Class::new(self.last),
            groups: self.groups.clone(),
        })
    }

    /// Whether this can be what has become of `new`.
    pub fn is_sound(&self, new: &Self) -> bool {
        let are_classes = |list: &[usize]| {
            list.len() == self.classes && list.iter().all(|class| *class < self.classes)
        };
        self.classes == new.classes
            && (1..self.classes).contains(&self.last)
            && self.sizes.len() == self.last
            && are_classes(&self.renamed)
            && are_classes(&self.groups)
            && self.planes == new.planes
            && (1..=self.planes).contains(&self.to_fill)
            && self.drained.iter().all(|class| (self.last + 1..self.classes).contains(class))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(chain: &mut Chain) -> (Vec<usize>, Vec<usize>) {
        let Regrouping { classes, groups, .. } = chain.take_regrouping().expect("it has changed");
        (classes.into_iter().map(Class::index).collect(), groups)
    }

    #[test]
    fn one_group_is_spread_over_four_classes_and_takes_hot_pages_in() {
        let chain = Chain::new(7, 1);
        assert_eq!([0, 1, 2, 3, 4].map(|class| chain.next(class)), [1, 2, 3, 4, 4]);
        assert_eq!(chain.groups(), [1; 7]);
        assert_eq!(chain.wanted(&[FullBlocks::default(); 7]).order, Order::AsPolicySays);
    }

    #[test]
    fn what_was_the_last_group_stays_the_last_when_groups_are_put_before_it() {
        let mut chain = Chain::new(7, 1);
        chain.set(vec![0, 3, 5]);
        assert_eq!(classes(&mut chain), (vec![0, 3, 3, 3, 3, 3, 3], vec![0, 1, 2, 3, 3, 3, 3]));
        // The open block of the fourth class is filled with what goes to the last group.
        assert_eq!([1, 2, 3].map(|class| chain.next(class)), [2, 4, 4]);
        chain.sealed(4);
        assert_eq!([1, 2, 3].map(|class| chain.next(class)), [2, 3, 3]);
        let full = |blocks: [u32; 4]| {
            let full = blocks.map(|blocks| FullBlocks { blocks, valid_pages: 0 });
            chain.wanted(&full).group
        };
        assert_eq!([full([0, 3, 5, 9]), full([0, 3, 6, 9]), full([1, 3, 6, 9])], [3, 2, 0]);
        assert!(chain.take_regrouping().is_none());
    }

    #[test]
    fn merged_groups_keep_the_order_of_the_chain() {
        let mut chain = Chain::new(7, 1);
        chain.set(vec![0, 3, 5, 7]);
        classes(&mut chain);
        chain.spread();
        chain.merge();
        assert_eq!(classes(&mut chain), (vec![0, 1, 2, 3, 3, 4, 5], vec![0, 1, 2, 3, 3, 3, 3]));
        assert_eq!((chain.last(), chain.top()), (3, 6));
        (0..3).for_each(|_| chain.merge());
        assert_eq!(chain.groups(), [0, 1, 2, 3, 3, 3, 3], "blocks are not sorted yet");
        assert_eq!(classes(&mut chain).1, [1; 7]);
    }
}
