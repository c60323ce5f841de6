//! Many pairing heaps over one set of items (Fredman, Sedgewick, Sleator, Tarjan 1986), in flat tables: an item is on
//! at most one heap. To join and to look at the first cost O(1), to leave O(log n) on average over many.

use std::num::NonZeroU32;

use crate::checkpoint::Checkpointed;

/// An index stored off by one, so that its `Option` takes four bytes.
type Link = Option<NonZeroU32>;

fn link(index: usize) -> Link {
    NonZeroU32::new(index as u32 + 1)
}

fn target(link: Link) -> Option<usize> {
    link.map(|raw| raw.get() as usize - 1)
}

/// Key that heaps are ordered by: a time, and of equal times which joined first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Checkpointed)]
pub(super) struct Key {
    pub(super) time: u64,
    joined: u64,
}

#[derive(Debug, Clone, Copy, Default, Checkpointed)]
struct Node {
    child: Link,
    /// The next of its parent's children.
    next: Link,
    /// The child before it; of a first child, the parent.
    previous: Link,
}

/// Heaps of items that are named by an index, the earliest key first.
#[derive(Debug, Checkpointed)]
pub(super) struct Heaps {
    nodes: Vec<Node>,
    keys: Vec<Key>,
    roots: Vec<Link>,
    /// Number of times that an item has joined with a new key.
    joined: u64,
}

impl Heaps {
    /// `heaps` empty heaps over `items` items.
    pub(super) fn new(items: usize, heaps: usize) -> Self {
        Self {
            nodes: vec![Node::default(); items],
            keys: vec![Key::default(); items],
            roots: vec![None; heaps],
            joined: 0,
        }
    }

    /// The first item of `heap`.
    pub(super) fn first(&self, heap: usize) -> Option<usize> {
        target(self.roots[heap])
    }

    /// Key that `item` is ordered by.
    pub(super) fn key(&self, item: usize) -> Key {
        self.keys[item]
    }

    /// Adds `item`, which must be on no heap, behind those of the same `time`.
    pub(super) fn join(&mut self, heap: usize, item: usize, time: u64) {
        self.joined += 1;
        self.keys[item] = Key { time, joined: self.joined };
        self.join_again(heap, item);
    }

    /// Adds `item`, which must be on no heap, with the key that it had.
    pub(super) fn join_again(&mut self, heap: usize, item: usize) {
        self.nodes[item] = Node::default();
        let root = target(self.roots[heap]).map_or(item, |root| self.meld(root, item));
        self.roots[heap] = link(root);
    }

    /// Takes `item` off `heap`, which it must be on.
    pub(super) fn leave(&mut self, heap: usize, item: usize) {
        let Node { next, previous, .. } = self.nodes[item];
        let below = self.merge_children(item);
        let Some(before) = target(previous) else {
            self.roots[heap] = below.and_then(link);
            return;
        };
        if target(self.nodes[before].child) == Some(item) {
            self.nodes[before].child = next;
        } else {
            self.nodes[before].next = next;
        }
        if let Some(next) = target(next) {
            self.nodes[next].previous = previous;
        }
        if let (Some(root), Some(below)) = (self.first(heap), below) {
            self.roots[heap] = link(self.meld(root, below));
        }
    }

    /// Goes through the items of `heap`, in no order. What is later than an item of which `visit` says no is left out.
    pub(super) fn visit(&self, heap: usize, mut visit: impl FnMut(usize) -> bool) {
        let mut current = self.first(heap);
        while let Some(item) = current {
            let below = if visit(item) { target(self.nodes[item].child) } else { None };
            current = below.or_else(|| self.following(item));
        }
    }

    /// The item to visit after `item` and all below it.
    fn following(&self, item: usize) -> Option<usize> {
        let mut left = item;
        loop {
            if let Some(next) = target(self.nodes[left].next) {
                return Some(next);
            }
            left = self.parent(left)?;
        }
    }

    fn parent(&self, item: usize) -> Option<usize> {
        let mut child = item;
        loop {
            let before = target(self.nodes[child].previous)?;
            if target(self.nodes[before].child) == Some(child) {
                return Some(before);
            }
            child = before;
        }
    }

    /// The items of all heaps, the earliest first.
    pub(super) fn in_order(&self) -> impl Iterator<Item = usize> + use<> {
        let mut all = Vec::new();
        for heap in 0..self.roots.len() {
            self.visit(heap, |item| {
                all.push(item);
                true
            });
        }
        all.sort_unstable_by_key(|item| self.keys[*item]);
        all.into_iter()
    }

    /// Makes one heap of two, whose roots have no siblings. Returns its root.
    fn meld(&mut self, one: usize, other: usize) -> usize {
        let (root, below) = match self.keys[one] <= self.keys[other] {
            true => (one, other),
            false => (other, one),
        };
        let first = self.nodes[root].child;
        if let Some(first) = target(first) {
            self.nodes[first].previous = link(below);
        }
        (self.nodes[below].next, self.nodes[below].previous) = (first, link(root));
        self.nodes[root].child = link(below);
        root
    }

    /// Makes one heap of the children of `item`: in pairs first, then one after the other.
    fn merge_children(&mut self, item: usize) -> Option<usize> {
        let mut left = target(self.nodes[item].child.take());
        let mut pairs = None;
        while let Some(one) = left {
            let other = self.cut(one);
            left = other.and_then(|other| self.cut(other));
            let pair = other.map_or(one, |other| self.meld(one, other));
            self.nodes[pair].next = pairs.and_then(link);
            pairs = Some(pair);
        }
        let mut whole = None;
        while let Some(pair) = pairs {
            pairs = self.cut(pair);
            whole = Some(whole.map_or(pair, |whole| self.meld(whole, pair)));
        }
        whole
    }

    /// Takes the siblings of `item` away. Returns the next one.
    fn cut(&mut self, item: usize) -> Option<usize> {
        self.nodes[item].previous = None;
        target(self.nodes[item].next.take())
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::rng::stream;

    #[test]
    fn the_first_is_the_earliest_whoever_joins_and_leaves() {
        let mut random = stream(1, "heaps");
        let mut heaps = Heaps::new(60, 3);
        let mut on: Vec<Option<usize>> = vec![None; 60];
        for _ in 0..20_000 {
            let item = random.random_range(0..60);
            match on[item].take() {
                Some(heap) => heaps.leave(heap, item),
                None => {
                    let heap = random.random_range(0..3);
                    heaps.join(heap, item, random.random_range(0..20));
                    on[item] = Some(heap);
                }
            }
            for heap in 0..3 {
                let items: Vec<_> = (0..60).filter(|item| on[*item] == Some(heap)).collect();
                let first = items.iter().copied().min_by_key(|item| heaps.key(*item));
                assert_eq!(heaps.first(heap), first);
                let mut visited = Vec::new();
                heaps.visit(heap, |item| {
                    visited.push(item);
                    true
                });
                visited.sort_unstable();
                assert_eq!(visited, items);
            }
        }
    }

    #[test]
    fn later_items_are_left_out_if_an_earlier_one_says_so() {
        let mut heaps = Heaps::new(4, 1);
        for (item, time) in [(0, 3), (1, 1), (2, 2), (3, 1)] {
            heaps.join(0, item, time);
        }
        heaps.leave(0, 1);
        heaps.join_again(0, 1);
        let mut visited = Vec::new();
        heaps.visit(0, |item| {
            visited.push(item);
            false
        });
        assert_eq!(visited, [1], "of equal times the first");
    }
}
