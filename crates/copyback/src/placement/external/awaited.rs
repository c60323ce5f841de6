//! Pages that are about to be written or moved, so that a placement from outside can be asked about many at a time.

use std::collections::VecDeque;

use copyback_memory::table;

use crate::checkpoint::Checkpointed;
use crate::ids::Lpn;
use crate::placement::Origin;

/// Most pages that a placement is asked about at a time.
const MOST_ASKED: usize = 1024;
/// Most groups that are kept in mind: pages of more are asked about when they come.
const MOST_GROUPS: usize = 1 << 16;
/// Groups that are looked at behind that of a page which is asked about.
const GROUPS_AHEAD: usize = 64;
/// Answers that may be asked for, for each page that is written or moved: where they do not hold long, few are given in
/// vain.
const ANSWERS_A_PAGE: usize = 2;

/// The pages of commands that wait to be written, or those of victims that wait to be moved.
#[derive(Debug, Checkpointed)]
pub struct Awaited {
    pages: Vec<Page>,
    groups: VecDeque<Group>,
    /// The number of the first group.
    first: u32,
    /// Answers that may be asked for.
    allowance: usize,
}

#[derive(Debug, Clone, Copy, Checkpointed)]
struct Page {
    /// How often it is awaited.
    count: u32,
    /// The number of the last group that it came with.
    group: u32,
}

/// The pages of a command or a victim, in order; among them are some that are not awaited any more.
#[derive(Debug, Checkpointed)]
struct Group {
    origin: Origin,
    pages: Vec<Lpn>,
}

impl Awaited {
    /// None of so many pages is awaited.
    pub fn new(pages: usize) -> Self {
        let pages = table(pages, Page { count: 0, group: 0 });
        Self { pages, groups: VecDeque::new(), first: 0, allowance: MOST_ASKED }
    }

    /// These pages come next, in this order.
    pub fn add(&mut self, origin: Origin, pages: impl Iterator<Item = Lpn>) {
        self.drop_done();
        if self.groups.len() == MOST_GROUPS {
            return;
        }
        let number = self.first.wrapping_add(self.groups.len() as u32);
        let pages: Vec<Lpn> = pages.collect();
        for page in &pages {
            let Page { count, group } = &mut self.pages[page.index()];
            (*count, *group) = (*count + 1, number);
        }
        self.groups.push_back(Group { origin, pages });
    }

    fn drop_done(&mut self) {
        let is_awaited = |page: &Lpn| self.pages[page.index()].count > 0;
        while self.groups.front().is_some_and(|group| !group.pages.iter().any(is_awaited)) {
            self.groups.pop_front();
            self.first = self.first.wrapping_add(1);
        }
    }

    /// `page` has been written or moved.
    #[inline(always)]
    pub fn remove(&mut self, page: Lpn) {
        let count = &mut self.pages[page.index()].count;
        *count = count.saturating_sub(1);
        self.allowance = MOST_ASKED.min(self.allowance + ANSWERS_A_PAGE);
    }

    /// `page` is not to be moved any more.
    #[inline(always)]
    pub fn forget(&mut self, page: Lpn) {
        self.pages[page.index()].count = 0;
    }

    /// Puts into `batch`, which is empty, `page` and those of its group and of the next ones that come from the same
    /// `origin`, unless the answer about them `is_known`.
    pub fn take_batch(
        &mut self,
        page: Lpn,
        origin: Origin,
        is_known: impl Fn(Lpn) -> bool,
        batch: &mut Vec<Lpn>,
    ) {
        batch.push(page);
        let Page { count, group } = self.pages[page.index()];
        if count > 0 {
            let place = group.wrapping_sub(self.first) as usize;
            let groups = self.groups.iter().skip(place).take(GROUPS_AHEAD);
            let ours = groups.filter(|group| group.origin == origin);
            for next in ours.flat_map(|group| &group.pages) {
                if batch.len() >= self.allowance {
                    break;
                }
                let count = self.pages[next.index()].count;
                let is_in_batch = *next == page || (count > 1 && batch.contains(next));
                if count > 0 && !is_in_batch && !is_known(*next) {
                    batch.push(*next);
                }
            }
        }
        self.allowance = self.allowance.saturating_sub(batch.len());
    }
}
