//! Many doubly linked lists over one set of items, in two flat tables: an item is on at most one
//! list, and joining, leaving and looking at the front cost O(1).

use crate::checkpoint::Checkpointed;

use std::iter;
use std::num::NonZeroU32;

use copyback_memory::{prefetch, table};

/// An index stored off by one, so that its `Option` takes four bytes.
type Link = Option<NonZeroU32>;

fn link(index: usize) -> Link {
    NonZeroU32::new(index as u32 + 1)
}

fn target(link: Link) -> Option<usize> {
    link.map(|raw| raw.get() as usize - 1)
}

#[derive(Debug, Clone, Copy, Default, Checkpointed)]
struct Node {
    previous: Link,
    next: Link,
}

#[derive(Debug, Clone, Copy, Default, Checkpointed)]
struct Ends {
    front: Link,
    back: Link,
}

/// Lists of items that are named by an index.
#[derive(Debug, Checkpointed)]
pub struct Lists {
    nodes: Vec<Node>,
    ends: Vec<Ends>,
}

impl Lists {
    /// `lists` empty lists over `items` items.
    pub fn new(items: usize, lists: usize) -> Self {
        Self { nodes: table(items, Node::default()), ends: vec![Ends::default(); lists] }
    }

    /// Brings the links of `item` into the cache, without waiting for them.
    pub fn fetch(&self, item: usize) {
        prefetch(&self.nodes, item);
    }

    /// Appends `item`, which must be on no list.
    pub fn push_back(&mut self, list: usize, item: usize) {
        let back = self.ends[list].back;
        self.nodes[item] = Node { previous: back, next: None };
        match target(back) {
            Some(previous) => self.nodes[previous].next = link(item),
            None => self.ends[list].front = link(item),
        }
        self.ends[list].back = link(item);
    }

    /// Takes `item` off `list`, which it must be on.
    pub fn remove(&mut self, list: usize, item: usize) {
        let Node { previous, next } = self.nodes[item];
        match target(previous) {
            Some(previous) => self.nodes[previous].next = next,
            None => self.ends[list].front = next,
        }
        match target(next) {
            Some(next) => self.nodes[next].previous = previous,
            None => self.ends[list].back = previous,
        }
    }

    /// The items of `list`, from its front.
    pub fn items(&self, list: usize) -> impl Iterator<Item = usize> {
        iter::successors(self.front(list), |item| target(self.nodes[*item].next))
    }

    /// The items of all lists, one list behind the other.
    pub fn all_items(&self) -> impl Iterator<Item = usize> {
        (0..self.ends.len()).flat_map(|list| self.items(list))
    }

    /// The first item of `list`.
    pub fn front(&self, list: usize) -> Option<usize> {
        target(self.ends[list].front)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(lists: &mut Lists, list: usize) -> Vec<usize> {
        let mut items = Vec::new();
        while let Some(item) = lists.front(list) {
            lists.remove(list, item);
            items.push(item);
        }
        items
    }

    #[test]
    fn items_join_and_leave_anywhere() {
        let mut lists = Lists::new(5, 2);
        for item in 0..5 {
            lists.push_back(item % 2, item);
        }
        lists.remove(0, 2);
        lists.push_back(1, 2);
        lists.remove(0, 0);
        lists.remove(1, 3);
        assert_eq!(lists.all_items().collect::<Vec<_>>(), [4, 1, 2]);
        assert_eq!(drain(&mut lists, 0), [4]);
        assert_eq!(drain(&mut lists, 1), [1, 2]);
        lists.push_back(0, 3);
        assert_eq!(drain(&mut lists, 0), [3]);
    }
}
