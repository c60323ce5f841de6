//! Many doubly linked lists over one set of items, in two flat tables: an item is on at most one
//! list, and joining, leaving and looking at the front cost O(1).

use std::num::NonZeroU32;

use copyback_memory::{prefetch, table};
use serde::{Deserialize, Serialize};

/// An index stored off by one, so that its `Option` takes four bytes.
type Link = Option<NonZeroU32>;

fn link(index: usize) -> Link {
    NonZeroU32::new(index as u32 + 1)
}

fn target(link: Link) -> Option<usize> {
    link.map(|raw| raw.get() as usize - 1)
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Node {
    previous: Link,
    next: Link,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Ends {
    front: Link,
    back: Link,
}

/// Lists of items that are named by an index.
#[derive(Debug, Serialize, Deserialize)]
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

    /// Whether each list holds just the items that belong on it: item by item, `list_of` says on
    /// which. For lists that come from a file.
    pub fn hold(&self, list_of: impl Fn(usize) -> Option<usize>) -> bool {
        let all: usize = (0..self.nodes.len()).filter(|item| list_of(*item).is_some()).count();
        let mut left = all;
        for (list, ends) in self.ends.iter().enumerate() {
            let (mut previous, mut next) = (None, ends.front);
            while let Some(item) = target(next) {
                // Each item names the one before it, so that no ring of items passes.
                let node = self.nodes.get(item);
                let Some(node) = node.filter(|node| node.previous == previous && left > 0) else {
                    return false;
                };
                if list_of(item) != Some(list) {
                    return false;
                }
                left -= 1;
                (previous, next) = (next, node.next);
            }
            if previous != ends.back {
                return false;
            }
        }
        left == 0
    }

    /// Whether there are as many items and lists as in `other`.
    pub fn has_shape_of(&self, other: &Self) -> bool {
        (self.nodes.len(), self.ends.len()) == (other.nodes.len(), other.ends.len())
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
        assert_eq!(drain(&mut lists, 0), [4]);
        assert_eq!(drain(&mut lists, 1), [1, 2]);
        lists.push_back(0, 3);
        assert_eq!(drain(&mut lists, 0), [3]);
    }

    #[test]
    fn broken_links_are_seen() {
        let list_of = |item: usize| (item != 3).then_some(item % 2);
        let lists = || {
            let mut lists = Lists::new(6, 2);
            (0..6).filter(|item| *item != 3).for_each(|item| lists.push_back(item % 2, item));
            lists
        };
        assert!(lists().hold(list_of));
        assert!(!lists().hold(|item| list_of(item).filter(|_| item != 5)), "one too many");
        assert!(!lists().hold(|item| Some(item % 2)), "one is missing");
        for item in [0, 1, 2, 4, 5] {
            for wrong in [None, link(0), link(3), link(4), link(5), link(6), link(usize::MAX - 1)] {
                let mut broken = lists();
                let node = broken.nodes[item];
                if node.next != wrong {
                    broken.nodes[item].next = wrong;
                    assert!(!broken.hold(list_of), "{item}: next {wrong:?}");
                    broken.nodes[item] = node;
                }
                if node.previous != wrong {
                    broken.nodes[item].previous = wrong;
                    assert!(!broken.hold(list_of), "{item}: previous {wrong:?}");
                }
            }
        }
    }
}
