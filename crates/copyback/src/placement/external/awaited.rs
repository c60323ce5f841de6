//! Pages that are about to be written or moved, so that a placement from outside can be asked about many at a time.

use std::collections::VecDeque;

use crate::checkpoint::Checkpointed;
use crate::ids::Lpn;
use crate::placement::Origin;

use super::pages::{Page, Pages};

/// Most pages that a placement is asked about at a time.
const MOST_ASKED: usize = 1024;
/// Most groups that are kept in mind: pages of more are asked about when they come.
const MOST_GROUPS: usize = 1 << u16::BITS;
/// Groups that are looked at behind that of a page which is asked about.
const GROUPS_AHEAD: usize = 64;
/// Answers that may be asked for, for each page that is written or moved: where they do not hold long, few are given in
/// vain.
const ANSWERS_A_PAGE: usize = 2;

/// The pages of commands that wait to be written, or those of victims that wait to be moved.
#[derive(Debug, Checkpointed)]
pub struct Awaited {
    what: What,
    groups: VecDeque<Group>,
    /// The number of the first group.
    first: u16,
    /// Answers that may be asked for.
    allowance: usize,
}

/// Event that a page is awaited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum What {
    /// The host is to write them.
    Write,
    /// A collection is to move them.
    Move,
}

/// Whether a page is awaited.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct AwaitCount {
    /// Number of events that are awaited: no more than the type holds, so that it is awaited too seldom rather
    /// than for ever.
    count: u16,
    /// The number of the last group that it came with.
    group: u16,
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

impl AwaitCount {
    /// Value of a page that is not awaited.
    pub const NOT: Self = Self { count: 0, group: 0 };

    /// Marks the page as not awaited any more.
    #[inline(always)]
    pub const fn end(&mut self) {
        self.count = 0;
    }
}

impl What {
    #[inline(always)]
    const fn of(self, page: &Page) -> &AwaitCount {
        match self {
            Self::Write => &page.to_write,
            Self::Move => &page.to_move,
        }
    }

    #[inline(always)]
    const fn of_mut(self, page: &mut Page) -> &mut AwaitCount {
        match self {
            Self::Write => &mut page.to_write,
            Self::Move => &mut page.to_move,
        }
    }
}

impl Awaited {
    /// No page is awaited.
    pub const fn new(what: What) -> Self {
        Self { what, groups: VecDeque::new(), first: 0, allowance: MOST_ASKED }
    }

    /// Adds pages that come next, in this order.
    pub fn add(&mut self, origin: Origin, coming: impl Iterator<Item = Lpn>, pages: &mut Pages) {
        self.drop_done(pages);
        if self.groups.len() == MOST_GROUPS {
            return;
        }
        let number = self.first.wrapping_add(self.groups.len() as u16);
        let coming: Vec<Lpn> = coming.inspect(|page| pages.fetch(*page)).collect();
        for page in &coming {
            let AwaitCount { count, group } = self.what.of_mut(pages.of_mut(*page));
            (*count, *group) = (count.saturating_add(1), number);
        }
        self.groups.push_back(Group { origin, pages: coming, first: 0, known_until: 0 });
    }

    fn drop_done(&mut self, pages: &Pages) {
        let what = self.what;
        while let Some(group) = self.groups.front_mut() {
            let rest = &group.pages[group.first..];
            let done = rest.iter().position(|page| what.of(pages.of(*page)).count > 0);
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
    pub fn remove(&mut self, page: &mut Page) {
        let count = &mut self.what.of_mut(page).count;
        *count = count.saturating_sub(1);
        self.allowance = MOST_ASKED.min(self.allowance + ANSWERS_A_PAGE);
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
        pages: &Pages,
        known_until: impl Fn(&Page) -> Option<u64>,
        batch: &mut Vec<Lpn>,
    ) {
        batch.push(page);
        let AwaitCount { count, group } = *self.what.of(pages.of(page));
        if count > 0 {
            let place = usize::from(group.wrapping_sub(self.first));
            let groups = self.groups.iter_mut().skip(place).take(GROUPS_AHEAD);
            for group in groups.filter(|group| group.origin == origin && group.known_until <= now) {
                if batch.len() >= self.allowance {
                    break;
                }
                let look_up = |page| {
                    let page = pages.of(page);
                    (self.what.of(page).count, known_until(page))
                };
                group.take_unknown(look_up, self.allowance, batch);
            }
        }
        self.allowance = self.allowance.saturating_sub(batch.len());
    }
}

impl Group {
    /// Adds to `batch`, as long as it is shorter than `allowance`, those of the pages that are awaited and whose
    /// answers are not known. `look_up` says how often a page is awaited and until when the answer about it is known.
    fn take_unknown(
        &mut self,
        look_up: impl Fn(Lpn) -> (u16, Option<u64>),
        allowance: usize,
        batch: &mut Vec<Lpn>,
    ) {
        let page = batch[0];
        let mut all_known_until = u64::MAX;
        for next in &self.pages[self.first..] {
            let (count, until) = look_up(*next);
            if count == 0 {
                continue;
            }
            let until = until.filter(|_| *next != page);
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

    /// Sixteen pages, of which some are awaited.
    struct Sixteen {
        awaited: Awaited,
        pages: Pages,
    }

    impl Sixteen {
        fn new(groups: &[(Origin, &[u32])]) -> Self {
            let mut new = Self { awaited: Awaited::new(What::Write), pages: Pages::new(16) };
            groups.iter().for_each(|(origin, pages)| new.add(*origin, pages));
            new
        }

        fn add(&mut self, origin: Origin, pages: &[u32]) {
            self.awaited.add(origin, pages.iter().copied().map(Lpn), &mut self.pages);
        }

        fn remove(&mut self, page: u32) {
            self.awaited.remove(self.pages.of_mut(Lpn(page)));
        }

        fn batch(&mut self, page: u32, known: &[u32]) -> Vec<u32> {
            for page in 0..16 {
                self.pages.of_mut(Lpn(page)).trimmed();
            }
            known.iter().for_each(|page| self.pages.of_mut(Lpn(*page)).wrote(5));
            let known_until = |page: &Page| page.age(5).map(|_| 9);
            let mut batch = Vec::new();
            self.awaited.take_batch(Lpn(page), HOST, 5, &self.pages, known_until, &mut batch);
            batch.into_iter().map(|page| page.0).collect()
        }
    }

    #[test]
    fn a_page_is_asked_about_with_those_of_its_group_and_the_next_ones() {
        let mut some = Sixteen::new(&[(HOST, &[1, 2, 3]), (MOVED, &[9]), (HOST, &[4, 5])]);
        assert_eq!(some.batch(2, &[]), [2, 1, 3, 4, 5]);
        assert_eq!(some.batch(4, &[1]), [4, 5], "groups before it come in their turn");
        some.remove(1);
        some.pages.of_mut(Lpn(3)).to_write.end();
        assert_eq!(some.batch(2, &[5]), [2, 4], "what is done or known is left out");
        assert_eq!(some.batch(7, &[]), [7], "nobody has announced it");
    }

    #[test]
    fn a_page_that_is_awaited_twice_is_asked_about_once() {
        let mut some = Sixteen::new(&[(HOST, &[1, 2, 1]), (HOST, &[2, 1])]);
        assert_eq!(some.batch(1, &[]), [1, 2]);
        (0..3).for_each(|_| some.remove(1));
        assert_eq!(some.batch(2, &[]), [2]);
    }

    #[test]
    fn a_page_is_awaited_for_one_thing() {
        let mut some = Sixteen::new(&[(HOST, &[1, 2])]);
        let mut moves = Awaited::new(What::Move);
        moves.add(MOVED, [Lpn(3), Lpn(1)].into_iter(), &mut some.pages);
        some.remove(1);
        let mut batch = Vec::new();
        moves.take_batch(Lpn(1), MOVED, 5, &some.pages, |_| None, &mut batch);
        assert_eq!(batch, [Lpn(1), Lpn(3)]);
        assert_eq!(some.batch(2, &[]), [2]);
    }

    #[test]
    fn where_answers_are_in_vain_few_are_asked_for() {
        let pages: Vec<u32> = (0..16).collect();
        let mut some = Sixteen::new(&[(HOST, &pages)]);
        some.awaited.allowance = 4;
        assert_eq!(some.batch(0, &[]).len(), 4);
        assert_eq!(some.batch(0, &[]), [0], "no page has been written since");
        some.remove(0);
        assert_eq!(some.batch(1, &[]), [1, 2]);
    }

    #[test]
    fn groups_of_which_nothing_is_awaited_are_dropped() {
        let mut some = Sixteen::new(&[(HOST, &[1]), (HOST, &[2]), (HOST, &[3])]);
        some.remove(2);
        some.remove(1);
        some.add(HOST, &[4]);
        assert_eq!((some.awaited.first, some.awaited.groups.len()), (2, 2));
        assert_eq!(some.batch(3, &[]), [3, 4]);
    }

    #[test]
    fn a_page_is_awaited_no_more_often_than_can_be_counted() {
        let often: Vec<u32> = vec![1; usize::from(u16::MAX) + 3];
        let mut some = Sixteen::new(&[(HOST, &often), (HOST, &[2])]);
        assert_eq!(some.batch(2, &[]), [2]);
        (0..u16::MAX).for_each(|_| some.remove(1));
        assert_eq!(some.batch(2, &[]), [2]);
        some.remove(1);
        some.add(HOST, &[3]);
        assert_eq!(some.awaited.groups.len(), 2);
    }
}
