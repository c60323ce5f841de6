//! Pages in the device's DRAM on their way from one block to another: read out by a collection, and
//! programmed when their die has time.

use std::collections::{BTreeMap, VecDeque};

use crate::checkpoint::Checkpointed;
use crate::ids::{Lpn, PlaneId};
use crate::placement::Origin;

/// A page in DRAM.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct StagedPage {
    /// The plane that it came from, or that it is to be programmed on.
    pub plane: PlaneId,
    /// Place where it came from.
    pub origin: Origin,
    /// Whether its data are lost.
    pub is_lost: bool,
}

/// Pages in DRAM, by the plane that they came from.
#[derive(Debug, Default, Checkpointed)]
pub struct Staged {
    pages: BTreeMap<Lpn, StagedPage>,
    /// In order of arrival. A page that the host has overwritten meanwhile is dropped when it
    /// surfaces.
    queues: Vec<VecDeque<Lpn>>,
}

impl Staged {
    /// Creates an empty record, for a device of this number of planes.
    pub fn new(planes: usize) -> Self {
        Self { pages: BTreeMap::new(), queues: vec![VecDeque::new(); planes] }
    }

    /// Pages in DRAM.
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (Lpn, StagedPage)> {
        self.pages.iter().map(|(lpn, page)| (*lpn, *page))
    }

    pub fn contains(&self, lpn: Lpn) -> bool {
        !self.pages.is_empty() && self.pages.contains_key(&lpn)
    }

    /// Pages in DRAM for `plane`, those included that have been overwritten and have not surfaced.
    pub fn waiting_for(&self, plane: PlaneId) -> usize {
        self.queues[plane.index()].len()
    }

    /// Plane that `lpn` came from, if it is in DRAM.
    pub fn plane_of(&self, lpn: Lpn) -> Option<PlaneId> {
        self.pages.get(&lpn).map(|page| page.plane)
    }

    /// Whether `lpn` is in DRAM, and its data are lost.
    pub fn is_lost(&self, lpn: Lpn) -> bool {
        self.pages.get(&lpn).is_some_and(|page| page.is_lost)
    }

    pub fn add(&mut self, lpn: Lpn, page: StagedPage) {
        self.pages.insert(lpn, page);
        self.queues[page.plane.index()].push_back(lpn);
    }

    /// Forgets `lpn`. Returns whether it was in DRAM.
    pub fn remove(&mut self, lpn: Lpn) -> bool {
        !self.pages.is_empty() && self.pages.remove(&lpn).is_some()
    }

    /// The page of `plane` that has been in DRAM longest, and where it came from.
    pub fn first(&mut self, plane: PlaneId) -> Option<(Lpn, Origin)> {
        if self.pages.is_empty() {
            return None;
        }
        let queue = &mut self.queues[plane.index()];
        while let Some(lpn) = queue.front() {
            if let Some(page) = self.pages.get(lpn).filter(|page| page.plane == plane) {
                return Some((*lpn, page.origin));
            }
            queue.pop_front();
        }
        None
    }

    /// Takes that page.
    pub fn take_first(&mut self, plane: PlaneId) -> Option<(Lpn, StagedPage)> {
        let (lpn, _) = self.first(plane)?;
        self.queues[plane.index()].pop_front();
        Some((lpn, self.pages.remove(&lpn)?))
    }
}
