//! Pages in the device's DRAM on their way from one block to another: read out by a collection, and
//! programmed when their die has time.

use std::collections::{BTreeMap, VecDeque};

use crate::checkpoint::Checkpointed;
use crate::ids::{Lpn, PlaneId};
use crate::placement::Origin;

/// Pages in DRAM, by the plane that they came from.
#[derive(Debug, Default, Checkpointed)]
pub struct Staged {
    pages: BTreeMap<Lpn, (PlaneId, Origin)>,
    /// In order of arrival. A page that the host has overwritten meanwhile is dropped when it
    /// surfaces.
    queues: Vec<VecDeque<Lpn>>,
}

impl Staged {
    /// Nothing in DRAM, for a device of so many planes.
    pub fn new(planes: usize) -> Self {
        Self { pages: BTreeMap::new(), queues: vec![VecDeque::new(); planes] }
    }

    /// Pages in DRAM.
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    pub fn contains(&self, lpn: Lpn) -> bool {
        !self.pages.is_empty() && self.pages.contains_key(&lpn)
    }

    /// Pages in DRAM for `plane`, those included that have been overwritten and have not surfaced.
    pub fn waiting_for(&self, plane: PlaneId) -> usize {
        self.queues[plane.index()].len()
    }

    /// Where `lpn` came from, if it is in DRAM.
    pub fn plane_of(&self, lpn: Lpn) -> Option<PlaneId> {
        self.pages.get(&lpn).map(|(plane, _)| *plane)
    }

    pub fn add(&mut self, lpn: Lpn, plane: PlaneId, origin: Origin) {
        self.pages.insert(lpn, (plane, origin));
        self.queues[plane.index()].push_back(lpn);
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
            if let Some((_, origin)) = self.pages.get(lpn).filter(|(from, _)| *from == plane) {
                return Some((*lpn, *origin));
            }
            queue.pop_front();
        }
        None
    }

    /// Takes that page.
    pub fn take_first(&mut self, plane: PlaneId) -> Option<(Lpn, Origin)> {
        let (lpn, origin) = self.first(plane)?;
        self.queues[plane.index()].pop_front();
        self.pages.remove(&lpn);
        Some((lpn, origin))
    }
}
