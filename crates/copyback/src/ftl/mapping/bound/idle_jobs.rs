//! Groups whose merge idle time is good for (Jung, Prabhakar, Kandemir, Middleware 2012, sections 5.1
//! and 5.2).
//!
//! A group is *used up* when its last block is full and it is entitled to no further one: its next write
//! calls for a merge. A drive that delays merges replaces that block by a fresh one, the delay block,
//! and the merge is *owed*; that may happen to a group several times. Both are listed as they come
//! about, so that nobody searches for them.

use crate::checkpoint::Checkpointed;
use crate::ids::{DieId, PlaneId};
use crate::lists::Lists;

use super::groups::{Group, Groups};
use super::layout::GroupId;
use super::merge::Merge;
use super::scheme::Scheme;

/// The job lists of a device.
#[derive(Debug, Checkpointed)]
pub struct IdleJobs {
    /// Whether merges are put off.
    delays: bool,
    /// One list a plane of groups that are used up, then one a die of groups that are owed a merge;
    /// longest first.
    lists: Lists,
    /// The list that each group is on.
    list_of: Vec<Option<usize>>,
    planes: usize,
    /// Number of times that a merge has been deferred.
    put_off: u64,
}

impl IdleJobs {
    fn new(delays: bool, groups: usize, planes: usize, dies: usize) -> Self {
        let lists = Lists::new(groups, planes + dies);
        Self { delays, lists, list_of: vec![None; groups], planes, put_off: 0 }
    }

    const fn used_up(plane: PlaneId) -> usize {
        plane.index()
    }

    const fn owed(&self, die: DieId) -> usize {
        self.planes + die.index()
    }

    fn put(&mut self, id: GroupId, list: Option<usize>) {
        let before = std::mem::replace(&mut self.list_of[id.index()], list);
        if before == list {
            return;
        }
        if let Some(before) = before {
            self.lists.remove(before, id.index());
        }
        if let Some(list) = list {
            self.lists.push_back(list, id.index());
            self.put_off += u64::from(list >= self.planes);
        }
    }
}

impl<S: Scheme> Groups<S> {
    /// Lists from now on what idle time is good for; merges are put off if the drive `delays`.
    pub fn keep_idle_jobs(&mut self, delays: bool, planes: usize) {
        let dies = planes / self.planes_per_die as usize;
        self.idle_jobs = Some(IdleJobs::new(delays, self.groups.len(), planes, dies));
    }

    /// Whether merges are put off.
    pub fn delays(&self) -> bool {
        self.idle_jobs.as_ref().is_some_and(|jobs| jobs.delays)
    }

    /// Number of times that a merge has been deferred.
    pub fn put_off(&self) -> u64 {
        self.idle_jobs.as_ref().map_or(0, |jobs| jobs.put_off)
    }

    /// Lists a group of `plane` as it stands.
    pub fn list_idle_job(&mut self, plane: PlaneId, id: GroupId) {
        let list = self.idle_job(plane, id);
        if let Some(jobs) = &mut self.idle_jobs {
            jobs.put(id, list);
        }
    }

    /// The list that a group of `plane` belongs on.
    fn idle_job(&self, plane: PlaneId, id: GroupId) -> Option<usize> {
        let jobs = self.idle_jobs.as_ref()?;
        let group = self.get(id);
        if self.is_merged(plane, id) {
            None
        } else if jobs.delays && group.blocks.len() > self.most_blocks(group) {
            Some(jobs.owed(DieId(plane.0 / self.planes_per_die)))
        } else {
            self.is_used_up(group).then_some(IdleJobs::used_up(plane))
        }
    }

    /// Whether a group of `plane` is on the list that it belongs on.
    pub fn is_listed_for_idle_time(&self, plane: PlaneId, id: GroupId) -> bool {
        let jobs = self.idle_jobs.as_ref();
        jobs.is_none_or(|jobs| jobs.list_of[id.index()] == self.idle_job(plane, id))
    }

    /// The group of `die` that has been owed a merge longest.
    pub fn first_owed(&self, die: DieId) -> Option<GroupId> {
        let jobs = self.idle_jobs.as_ref()?;
        Some(self.layout.group(jobs.lists.front(jobs.owed(die))?))
    }

    /// The group of `plane` that has been used up longest, of those that are owed nothing.
    pub fn first_used_up(&self, plane: PlaneId) -> Option<GroupId> {
        let jobs = self.idle_jobs.as_ref()?;
        Some(self.layout.group(jobs.lists.front(IdleJobs::used_up(plane))?))
    }

    /// Blocks that so many more `pages` of the host open for a group before it is used up.
    pub fn blocks_opened_by(&self, id: GroupId, pages: u32) -> u32 {
        let group = self.get(id);
        let beyond = pages.saturating_sub(self.open_pages(group));
        beyond.div_ceil(self.data_pages).min(self.blocks_to_open(group))
    }

    /// Whether a group has no room for so many more `pages` of the host, and its `merge` makes some.
    pub fn lacks_room_for(&self, id: GroupId, pages: u32, merge: &Merge) -> bool {
        let group = self.get(id);
        let room = self.open_pages(group) + self.blocks_to_open(group) * self.data_pages;
        pages > room && self.scheme.makes_room(group, merge)
    }

    fn open_pages(&self, group: &Group) -> u32 {
        group.open.map_or(0, |open| self.data_pages - open.next_page)
    }

    fn blocks_to_open(&self, group: &Group) -> u32 {
        self.most_blocks(group).saturating_sub(group.blocks.len()) as u32
    }
}
