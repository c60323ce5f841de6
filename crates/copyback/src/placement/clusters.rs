//! Clusters of times between writes, which follow what comes: one-dimensional k-means online, with splits and merges
//! as WARCIP has them (Yang, Pei, Yang, SYSTOR 2019).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;

use super::Class;

/// Times that are alike.
#[derive(Debug, Clone, Serialize, Deserialize, Checkpointed)]
struct Cluster {
    class: Class,
    centre: f64,
    /// Pages that the centre is the mean of: those since a block of the cluster was filled.
    pages: u64,
    /// Pages since clusters were last split or merged.
    recent: u64,
}

impl Cluster {
    const fn new(class: Class, centre: f64) -> Self {
        Self { class, centre, pages: 0, recent: 0 }
    }
}

/// The clusters of the host's pages, each with a class of its own but 0.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
pub struct Clusters {
    list: Vec<Cluster>,
    classes: usize,
    /// The one that ends with its next block.
    ends: Option<Class>,
}

impl Clusters {
    /// A cluster for each of so many classes but the first.
    pub fn new(classes: usize) -> Self {
        let list = (1..classes).map(|class| Cluster::new(Class::new(class), 0.0)).collect();
        Self { list, classes, ends: None }
    }

    /// The place of the cluster whose centre is nearest; of those that are equally near, the last.
    fn nearest(&self, interval: u64) -> usize {
        let far = |place: &usize| (self.list[*place].centre - interval as f64).abs();
        let places = (0..self.list.len()).rev();
        places.min_by(|one, other| far(one).total_cmp(&far(other))).expect("one is left")
    }

    /// The class of a page that was written so long ago.
    pub fn class_of(&self, interval: u64) -> Class {
        self.list[self.nearest(interval)].class
    }

    /// Records a write of a page after an update interval of `interval` pages.
    pub fn wrote(&mut self, interval: u64) {
        let nearest = self.nearest(interval);
        let Cluster { centre, pages, recent, .. } = &mut self.list[nearest];
        *centre = (*centre * *pages as f64 + interval as f64) / (*pages + 1) as f64;
        (*pages, *recent) = (*pages + 1, *recent + 1);
    }

    /// A block of `class` has been filled: the centre of its cluster begins anew, or the cluster ends.
    pub fn sealed(&mut self, class: Class) {
        let Some(place) = self.list.iter().position(|cluster| cluster.class == class) else {
            return;
        };
        if self.ends == Some(class) {
            self.list.remove(place);
            self.ends = None;
        } else {
            self.list[place].pages = 0;
        }
    }

    /// Splits the first cluster with more than half of the pages if a class is free; else marks the first one with less
    /// than a block of them, which merges with its neighbours by ending. Counts anew.
    pub fn split_or_merge(&mut self, pages_per_block: u64) {
        let half = self.list.iter().map(|cluster| cluster.recent).sum::<u64>() / 2;
        let large = self.list.iter().position(|cluster| cluster.recent > half);
        if let (Some(place), Some(class)) = (large, self.free_class()) {
            let below = place.checked_sub(1).map_or(0.0, |below| self.list[below].centre);
            let centre = f64::midpoint(below, self.list[place].centre);
            self.list.insert(place, Cluster::new(class, centre));
        } else if self.ends.is_none() && self.list.len() > 1 {
            let small = self.list.iter().find(|cluster| cluster.recent < pages_per_block);
            self.ends = small.map(|cluster| cluster.class);
        }
        self.list.iter_mut().for_each(|cluster| cluster.recent = 0);
    }

    fn free_class(&self) -> Option<Class> {
        let is_taken = |class: &Class| self.list.iter().any(|cluster| cluster.class == *class);
        (1..self.classes).map(Class::new).find(|class| !is_taken(class))
    }

    /// Whether these can be clusters like `new`.
    pub fn is_sound(&self, new: &Self) -> bool {
        let classes: BTreeSet<_> = self.list.iter().map(|cluster| cluster.class).collect();
        let is_ours = |class: &Class| (1..self.classes).contains(&class.index());
        self.classes == new.classes
            && !self.list.is_empty()
            && classes.len() == self.list.len()
            && classes.iter().all(is_ours)
            && self.ends.is_none_or(|class| self.list.len() > 1 && classes.contains(&class))
            && self.list.iter().all(|cluster| cluster.centre.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn centres(clusters: &Clusters) -> Vec<(usize, f64)> {
        clusters.list.iter().map(|cluster| (cluster.class.index(), cluster.centre)).collect()
    }

    fn write(clusters: &mut Clusters, interval: u64, pages: usize) -> Vec<usize> {
        let mut one = || {
            let class = clusters.class_of(interval);
            clusters.wrote(interval);
            class.index()
        };
        (0..pages).map(|_| one()).collect()
    }

    #[test]
    fn a_centre_is_the_mean_of_what_has_come_since_a_block_was_filled() {
        let mut clusters = Clusters::new(3);
        assert_eq!(write(&mut clusters, 10, 1), [2], "the last of those that are equally near");
        assert_eq!(write(&mut clusters, 4, 1), [1]);
        assert_eq!(centres(&clusters), [(1, 4.0), (2, 10.0)]);
        assert_eq!(write(&mut clusters, 7, 1), [2]);
        assert_eq!(write(&mut clusters, 5, 1), [1]);
        assert_eq!(centres(&clusters), [(1, 4.5), (2, 8.5)]);
        clusters.sealed(Class::new(2));
        assert_eq!(write(&mut clusters, 20, 1), [2]);
        assert_eq!(centres(&clusters), [(1, 4.5), (2, 20.0)]);
    }

    #[test]
    fn small_clusters_end_with_their_next_block_and_large_ones_split_then() {
        let mut clusters = Clusters::new(4);
        write(&mut clusters, 40, 4);
        write(&mut clusters, 10, 1);
        assert_eq!(centres(&clusters), [(1, 0.0), (2, 10.0), (3, 40.0)]);
        clusters.split_or_merge(2);
        assert_eq!(clusters.ends, Some(Class::new(1)), "none is free: the first that is small");
        clusters.sealed(Class::new(2));
        assert_eq!(clusters.list.len(), 3, "it is another's block");
        clusters.sealed(Class::new(1));
        assert_eq!(centres(&clusters), [(2, 10.0), (3, 40.0)]);
        write(&mut clusters, 40, 4);
        write(&mut clusters, 10, 3);
        clusters.split_or_merge(2);
        assert_eq!(centres(&clusters), [(2, 10.0), (1, 25.0), (3, 40.0)], "3 had more than half");
        assert!(clusters.list.iter().all(|cluster| cluster.recent == 0));
    }

    #[test]
    fn the_lowest_cluster_splits_towards_none_and_the_last_one_stays() {
        let mut clusters = Clusters::new(3);
        clusters.list.truncate(1);
        write(&mut clusters, 10, 4);
        clusters.split_or_merge(2);
        assert_eq!(centres(&clusters), [(2, 5.0), (1, 10.0)]);
        clusters.list.truncate(1);
        clusters.classes = 2;
        clusters.split_or_merge(2);
        assert_eq!(clusters.ends, None);
    }

    #[test]
    fn clusters_of_one_class_are_not_sound() {
        let (mut clusters, new) = (Clusters::new(4), Clusters::new(4));
        write(&mut clusters, 10, 2);
        assert!(clusters.is_sound(&new));
        clusters.list[2].class = Class::new(1);
        assert!(!clusters.is_sound(&new), "pages of two clusters would be told apart nowhere");
        clusters.list.truncate(2);
        assert!(clusters.is_sound(&new), "one has ended");
    }
}
