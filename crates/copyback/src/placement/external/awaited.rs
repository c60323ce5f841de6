//! Pages that are about to be written or moved, so that a placement from outside can be asked about many at a time.

use std::collections::VecDeque;

use copyback_memory::{prefetch, table};

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
    /// The first page that may be awaited: none before it is.
    first: usize,
    /// Until then the answers about all of its pages are known: they need not be looked up.
    known_until: u64,
}

impl Awaited {
    /// None of so many pages is awaited.
    pub fn new(pages: usize) -> Self {
        let pages = table(pages, Page { count: 0, group: 0 });
        Self { pages, groups: VecDeque::new(), first: 0, allowance: MOST_ASKED }
    }

    /// Brings what is known of `page` into the cache, without waiting for it.
    #[inline(always)]
    pub fn fetch(&self, page: Lpn) {
        prefetch(&self.pages, page.index());
    }

    /// These pages come next, in this order.
    pub fn add(&mut self, origin: Origin, pages: impl Iterator<Item = Lpn>) {
        self.drop_done();
        if self.groups.len() == MOST_GROUPS {
            return;
        }
        let number = self.first.wrapping_add(self.groups.len() as u32);
        let pages: Vec<Lpn> = pages.inspect(|page| self.fetch(*page)).collect();
        for page in &pages {
            let Page { count, group } = &mut self.pages[page.index()];
            (*count, *group) = (*count + 1, number);
        }
        self.groups.push_back(Group { origin, pages, first: 0, known_until: 0 });
    }

    fn drop_done(&mut self) {
        while let Some(group) = self.groups.front_mut() {
            let rest = &group.pages[group.first..];
            let done = rest.iter().position(|page| self.pages[page.index()].count > 0);
            let Some(done) = done else {
                self.groups.pop_front();
                self.first = self.first.wrapping_add(1);
                continue;
            };
            group.first += done;
            return;
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

    /// Answers that were given do not hold any more.
    pub fn forget_known(&mut self) {
        self.groups.iter_mut().for_each(|group| group.known_until = 0);
    }

    /// Puts into `batch`, which is empty, `page` and those of its group and of the next ones that come from the same
    /// `origin`, unless the answer about them is known until a time after `now`.
    pub fn take_batch(
        &mut self,
        page: Lpn,
        origin: Origin,
        now: u64,
        known_until: impl Fn(Lpn) -> Option<u64>,
        batch: &mut Vec<Lpn>,
    ) {
        batch.push(page);
        let Page { count, group } = self.pages[page.index()];
        if count > 0 {
            let place = group.wrapping_sub(self.first) as usize;
            let groups = self.groups.iter_mut().skip(place).take(GROUPS_AHEAD);
            for group in groups.filter(|group| group.origin == origin && group.known_until <= now) {
                if batch.len() >= self.allowance {
                    break;
                }
                group.take_unknown(&self.pages, self.allowance, &known_until, batch);
            }
        }
        self.allowance = self.allowance.saturating_sub(batch.len());
    }
}

impl Group {
    /// Adds to `batch`, as long as it is shorter than `allowance`, those of the pages that are awaited and whose
    /// answers are not known.
    fn take_unknown(
        &mut self,
        pages: &[Page],
        allowance: usize,
        known_until: impl Fn(Lpn) -> Option<u64>,
        batch: &mut Vec<Lpn>,
    ) {
        let page = batch[0];
        let mut all_known_until = u64::MAX;
        for next in &self.pages[self.first..] {
            let count = pages[next.index()].count;
            if count == 0 {
                continue;
            }
            let until = if *next == page { None } else { known_until(*next) };
            // What is known of a page ends when it is written, and it may be awaited again.
            let holds_until = until.filter(|_| count == 1).unwrap_or(0);
            all_known_until = all_known_until.min(holds_until);
            let is_in_batch = *next == page || (count > 1 && batch.contains(next));
            if until.is_none() && !is_in_batch {
                if batch.len() >= allowance {
                    break;
                }
                batch.push(*next);
            }
        }
        self.known_until = all_known_until;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: Origin = Origin::Host { hint: None };
    const MOVED: Origin = Origin::Moved { class: None };

    fn awaited(groups: &[(Origin, &[u32])]) -> Awaited {
        let mut awaited = Awaited::new(16);
        for (origin, pages) in groups {
            awaited.add(*origin, pages.iter().copied().map(Lpn));
        }
        awaited
    }

    fn batch(awaited: &mut Awaited, page: u32, known: &[u32]) -> Vec<u32> {
        let mut batch = Vec::new();
        let known_until = |page: Lpn| known.contains(&page.0).then_some(9);
        awaited.take_batch(Lpn(page), HOST, 5, known_until, &mut batch);
        batch.into_iter().map(|page| page.0).collect()
    }

    #[test]
    fn a_page_is_asked_about_with_those_of_its_group_and_the_next_ones() {
        let mut awaited = awaited(&[(HOST, &[1, 2, 3]), (MOVED, &[9]), (HOST, &[4, 5])]);
        assert_eq!(batch(&mut awaited, 2, &[]), [2, 1, 3, 4, 5]);
        assert_eq!(batch(&mut awaited, 4, &[1]), [4, 5], "groups before it come in their turn");
        awaited.remove(Lpn(1));
        awaited.forget(Lpn(3));
        assert_eq!(batch(&mut awaited, 2, &[5]), [2, 4], "what is done or known is left out");
        assert_eq!(batch(&mut awaited, 7, &[]), [7], "nobody has announced it");
    }

    #[test]
    fn a_page_that_is_awaited_twice_is_asked_about_once() {
        let mut awaited = awaited(&[(HOST, &[1, 2, 1]), (HOST, &[2, 1])]);
        assert_eq!(batch(&mut awaited, 1, &[]), [1, 2]);
        (0..3).for_each(|_| awaited.remove(Lpn(1)));
        assert_eq!(batch(&mut awaited, 2, &[]), [2]);
    }

    #[test]
    fn where_answers_are_in_vain_few_are_asked_for() {
        let pages: Vec<u32> = (0..16).collect();
        let mut awaited = awaited(&[(HOST, &pages)]);
        awaited.allowance = 4;
        assert_eq!(batch(&mut awaited, 0, &[]).len(), 4);
        assert_eq!(batch(&mut awaited, 0, &[]), [0], "no page has been written since");
        awaited.remove(Lpn(0));
        assert_eq!(batch(&mut awaited, 1, &[]), [1, 2]);
    }

    #[test]
    fn groups_of_which_nothing_is_awaited_are_dropped() {
        let mut awaited = awaited(&[(HOST, &[1]), (HOST, &[2]), (HOST, &[3])]);
        awaited.remove(Lpn(2));
        awaited.remove(Lpn(1));
        awaited.add(HOST, [Lpn(4)].into_iter());
        assert_eq!((awaited.first, awaited.groups.len()), (2, 2));
        assert_eq!(batch(&mut awaited, 3, &[]), [3, 4]);
    }
}
