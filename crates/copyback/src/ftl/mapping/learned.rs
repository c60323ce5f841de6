//! A learned mapping, as a sketch for tests: LeaFTL's lookup (Sun et al.: LeaFTL: A learning-based flash translation layer
//! for solid-state drives, ASPLOS 2023). It shows that a mapping which predicts where pages lie needs nothing but
//! [`Mapping`].
//!
//! Where pages have been put is learned in segments: lines from logical to physical pages, right to within
//! [`ERROR_BOUND`] pages. A read whose page is not where its segment says finds out where it is, and is read again.
//! The segments of a group of neighbouring pages lie in a page of the table, and some groups' are in RAM.

use std::collections::{BTreeMap, VecDeque};

use super::page::Page;
use super::{
    Change, Facts, Left, Mapping, Occasion, Outdated, Put, ReclaimPlan, Stage, Translated,
};
use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ftl::tables::Tables;
use crate::ftl::{Ftl, Placed};
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};
use crate::placement::HostPage;

/// Physical pages that a prediction may be off.
const ERROR_BOUND: i64 = 2;

/// Pages that have to be put before segments are learned of them.
const BATCH: usize = 16;

/// Groups whose segments have room in RAM.
const ROOM: usize = 2;

/// A line through the places of some pages of a group.
#[derive(Debug, Checkpointed)]
struct Segment {
    /// Pages that it is the newest to know of.
    members: Vec<Lpn>,
    /// A page and where it was, from which the line rises.
    origin: (Lpn, Ppn),
    slope: f64,
}

impl Segment {
    fn predict(&self, lpn: Lpn) -> i64 {
        let (first, page) = self.origin;
        number(page) + (self.slope * f64::from(lpn.0 - first.0)).round() as i64
    }
}

const fn number(page: Ppn) -> i64 {
    page.index() as i64
}

/// Location of the segments of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
enum Place {
    Flash,
    OnTheWay,
    Ram,
}

/// Neighbouring pages whose segments are in one page of the table.
#[derive(Debug, Checkpointed)]
struct Group {
    segments: Vec<Segment>,
    place: Place,
    /// Whether the page of the table does not have all segments.
    is_unwritten: bool,
}

/// A mapping that predicts where pages lie.
#[derive(Debug, Checkpointed)]
pub struct Learned {
    logical_pages: u32,
    group_pages: u32,
    groups: Vec<Group>,
    /// Groups in RAM, the one that was used longest ago first.
    recent: VecDeque<usize>,
    /// Pages that no segment has been learned of yet, in RAM.
    unlearned: BTreeMap<Lpn, Ppn>,
    /// Pages that operations wait for, and whether they are read where they were predicted to be.
    waiting: BTreeMap<Lpn, bool>,
}

impl Ftl {
    /// An erased device of a configuration with a table in flash, whose mapping is learned instead.
    pub fn learned(config: &Resolved) -> Self {
        let mut ftl = Self::new(config, "ssd/0");
        let paging = config.drive.table.expect("there is a table in flash");
        ftl.mapping = super::AnyMapping::Learned(Learned {
            logical_pages: ftl.limits().logical_pages() as u32,
            group_pages: paging.entries_per_page as u32,
            groups: (0..ftl.limits().translation_pages()).map(|_| Group::default()).collect(),
            recent: VecDeque::new(),
            unlearned: BTreeMap::new(),
            waiting: BTreeMap::new(),
        });
        ftl
    }
}

impl Default for Group {
    fn default() -> Self {
        Self { segments: Vec::new(), place: Place::Flash, is_unwritten: false }
    }
}

impl Learned {
    const fn group_of(&self, lpn: Lpn) -> usize {
        (lpn.0 / self.group_pages) as usize
    }

    const fn page_of(&self, group: usize) -> Lpn {
        Lpn(self.logical_pages + group as u32)
    }

    /// Notes that `lpn` has been put in a page; one of the table holds all segments of its group now.
    fn has_put(&mut self, lpn: Lpn, page: Ppn) {
        if lpn.0 >= self.logical_pages {
            self.groups[(lpn.0 - self.logical_pages) as usize].is_unwritten = false;
            return;
        }
        self.unlearned.insert(lpn, page);
        if self.unlearned.len() >= BATCH {
            self.learn();
        }
    }

    /// Fits lines greedily to the pages that have been put since: each as long as all its pages are within the bound.
    fn learn(&mut self) {
        let mut left = std::mem::take(&mut self.unlearned).into_iter().peekable();
        while let Some((first, page)) = left.next() {
            let id = self.group_of(first);
            let (mut members, mut slopes) = (vec![first], (0.0, f64::MAX));
            while let Some((lpn, at)) = left.peek().filter(|(lpn, _)| self.group_of(*lpn) == id) {
                let rise = number(*at) - number(page);
                let slope = |rise: i64| rise as f64 / f64::from(lpn.0 - first.0);
                let (low, high) = (slope(rise - ERROR_BOUND), slope(rise + ERROR_BOUND));
                let both = (low.max(slopes.0), high.min(slopes.1));
                if both.0 > both.1 {
                    break;
                }
                members.push(*lpn);
                slopes = both;
                left.next();
            }
            let slope = if members.len() > 1 { f64::midpoint(slopes.0, slopes.1) } else { 0.0 };
            self.forget(&members);
            self.groups[id].segments.push(Segment { members, origin: (first, page), slope });
        }
    }

    /// Forgets where these pages of a group lay.
    fn forget(&mut self, pages: &[Lpn]) {
        let id = self.group_of(pages[0]);
        let group = &mut self.groups[id];
        group.is_unwritten = true;
        for segment in &mut group.segments {
            segment.members.retain(|lpn| !pages.contains(lpn));
        }
        group.segments.retain(|segment| !segment.members.is_empty());
    }

    /// Number of the physical page where `lpn` is predicted to lie.
    fn predict(&self, lpn: Lpn) -> Option<i64> {
        if let Some(page) = self.unlearned.get(&lpn) {
            return Some(number(*page));
        }
        let mut segments = self.groups[self.group_of(lpn)].segments.iter();
        segments.find(|of| of.members.contains(&lpn)).map(|segment| segment.predict(lpn))
    }

    fn is_right(&self, tables: &Tables, lpn: Lpn) -> bool {
        tables.lookup(lpn).is_none_or(|page| self.predict(lpn) == Some(number(page)))
    }

    /// Takes room for the segments of a group, be it that of the one that was used longest ago.
    fn make_room(&mut self, id: usize) -> Translated {
        if self.groups[id].place != Place::Flash {
            return Translated::Room(Left::Nothing);
        }
        let in_use = self.groups.iter().filter(|group| group.place != Place::Flash).count();
        let mut left = Left::Nothing;
        if in_use >= ROOM {
            let Some(evicted) = self.recent.pop_front() else { return Translated::NoRoom };
            self.groups[evicted].place = Place::Flash;
            left = match self.groups[evicted].is_unwritten {
                true => Left::Unwritten { page: self.page_of(evicted), is_whole: true },
                false => Left::Written,
            };
        }
        self.groups[id].place = Place::OnTheWay;
        Translated::Room(left)
    }

    fn go_on(&mut self, tables: &Tables, lpn: Lpn, stage: Stage) -> Translated {
        let id = self.group_of(lpn);
        if self.groups[id].place == Place::OnTheWay {
            if stage == Stage::HasRoom && tables.has_data(self.page_of(id)) {
                return Translated::ReadFirst(self.page_of(id));
            }
            self.groups[id].place = Place::Ram;
            self.recent.push_back(id);
        }
        // A read of the predicted page tells the right one: its spare area holds the neighbours of its logical page.
        if self.waiting.remove(&lpn) == Some(true) || self.is_right(tables, lpn) {
            return Translated::Known;
        }
        self.waiting.insert(lpn, true);
        Translated::ReadFirst(lpn)
    }

    /// Whether it is in RAM where `lpn` lies.
    fn is_known(&self, tables: &Tables, lpn: Lpn) -> bool {
        let is_in_ram = self.groups[self.group_of(lpn)].place == Place::Ram;
        self.unlearned.contains_key(&lpn) || is_in_ram && self.is_right(tables, lpn)
    }
}

impl Mapping for Learned {
    fn put(&mut self, tables: &mut Tables, put: Put) -> Placed {
        let placed = match put {
            Put::Write(plane, page) => {
                tables.append_for_host(self, plane, tables.stream_of(page), page.lpn)
            }
            Put::Move(from) => tables.relocate_as_placed(self, from),
        };
        let lpn = tables.logical(placed.page);
        if matches!(put, Put::Write(..)) || lpn.0 < self.logical_pages {
            self.has_put(lpn, placed.page);
        }
        placed
    }

    fn next_offset(&self, tables: &Tables, plane: PlaneId, page: HostPage) -> Option<u32> {
        tables.offset_for_host(tables.stream_of(page), plane)
    }

    fn choose_victim(&mut self, tables: &mut Tables, occasion: Occasion<'_>) -> Option<BlockId> {
        Page.choose_victim(tables, occasion)
    }

    fn plan(&mut self, tables: &mut Tables, victim: BlockId) -> ReclaimPlan {
        Page.plan(tables, victim)
    }

    fn note(&mut self, tables: &mut Tables, change: Change<'_>) {
        match change {
            Change::Unmapped(lpn) if lpn.0 < self.logical_pages => {
                self.unlearned.remove(&lpn);
                self.forget(&[lpn]);
            }
            Change::Moved { lpn, .. } if lpn.0 < self.logical_pages => {
                let page = tables.lookup(lpn).expect("it has just been moved there");
                self.has_put(lpn, page);
            }
            other => Page.note(tables, other),
        }
    }

    fn translate(&mut self, tables: &mut Tables, lpn: Lpn, stage: Stage) -> Translated {
        let id = self.group_of(lpn);
        match stage {
            Stage::Asked if !self.waiting.contains_key(&lpn) && self.is_known(tables, lpn) => {
                Translated::Known
            }
            Stage::Asked => {
                self.waiting.entry(lpn).or_insert(false);
                Translated::Waits { with: lpn, page: self.page_of(id) }
            }
            Stage::NextForRoom => self.make_room(id),
            Stage::HasRoom | Stage::WasRead => self.go_on(tables, lpn, stage),
        }
    }

    fn outdated(&mut self, _: Outdated) -> Vec<Lpn> {
        let is_outdated = |group: &Group| group.is_unwritten && group.place == Place::Flash;
        let groups = self.groups.iter().enumerate().filter(|(_, group)| is_outdated(group));
        groups.map(|(id, _)| self.page_of(id)).collect()
    }

    /// Checks that each page lies within the error bound of where it is predicted to be.
    fn check(&self, tables: &Tables) -> Result<(), String> {
        let of_host = |(lpn, _): &(Lpn, Ppn)| lpn.0 < self.logical_pages;
        for (lpn, page) in tables.map.mapped().filter(of_host) {
            let error = self.predict(lpn).map(|at| (at - number(page)).abs());
            if error.is_none_or(|error| error > ERROR_BOUND) {
                return Err(format!("{lpn:?} lies at {page:?}, {error:?} from its prediction"));
            }
        }
        Ok(())
    }

    fn facts(&self) -> Facts {
        Facts { translates: true, ..Facts::default() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand::RngExt;

    use super::*;
    use crate::ftl::ReclaimStep;
    use crate::ids::DieId;
    use crate::rng;
    use crate::test_config::demand_paged_drive;

    /// A drive, what it has been asked to do, and the reads that translation has wanted first.
    struct Drive {
        ftl: Ftl,
        version: u64,
        reads: BTreeSet<Lpn>,
        misses: usize,
    }

    impl Drive {
        fn new() -> Self {
            let ftl = Ftl::learned(&demand_paged_drive(1));
            Self { ftl, version: 0, reads: BTreeSet::new(), misses: 0 }
        }

        fn translate(&mut self, lpn: Lpn) {
            let asked = self.ftl.translate(lpn, Stage::Asked);
            let Translated::Waits { with, .. } = asked else { return };
            self.misses += 1;
            let room = self.ftl.translate(with, Stage::NextForRoom);
            if let Translated::Room(Left::Unwritten { page, .. }) = room {
                self.write(page);
            }
            let mut stage = Stage::HasRoom;
            while let Translated::ReadFirst(page) = self.ftl.translate(with, stage) {
                self.reads.insert(page);
                stage = Stage::WasRead;
            }
        }

        /// Writes a page, and collects what that makes necessary.
        fn write(&mut self, lpn: Lpn) {
            let plane = PlaneId(0);
            self.version += 1;
            self.ftl.write(plane, HostPage::without_hint(lpn), self.version);
            while self.ftl.planes_to_collect(DieId(0)) != 0
                && let Some(victim) = self.ftl.choose_victim(Occasion::Demand(plane))
            {
                let mut plan = self.ftl.begin_reclaim(victim);
                while let Some(step) = plan.next_step(&self.ftl) {
                    match step {
                        ReclaimStep::Move(page) => drop(self.ftl.relocate(page)),
                        ReclaimStep::Erase(block) => self.ftl.erase(block),
                    }
                }
                self.ftl.end_reclaim(plane);
            }
        }
    }

    #[test]
    fn predictions_are_right_to_within_the_bound_and_nothing_is_lost() {
        let mut drive = Drive::new();
        let pages = drive.ftl.limits().logical_pages() as u32;
        (0..pages).for_each(|lpn| drive.write(Lpn(lpn)));
        let mut random = rng::stream(1, "learned");
        for _ in 0..2_000 {
            let lpn = Lpn(random.random_range(0..pages));
            drive.translate(lpn);
            drive.ftl.check_read(lpn, None);
            drive.write(lpn);
            if lpn.0.is_multiple_of(16) {
                drive.ftl.trim(lpn);
            }
            for page in drive.ftl.outdated(Outdated::All) {
                drive.write(page);
            }
            assert_eq!(drive.ftl.check(), Ok(()));
        }
        let (of_data, of_table): (Vec<_>, Vec<_>) =
            drive.reads.iter().copied().partition(|lpn| lpn.0 < pages);
        assert!(!of_table.is_empty(), "segments are read from flash");
        assert!(!of_data.is_empty(), "some predictions are wrong");
        assert!(of_data.len() < drive.misses, "most are right");
    }
}
