//! Answers of an external placement about each page, as long as they hold.

use crate::checkpoint::Checkpointed;
use crate::placement::supply::Answer;
use crate::placement::{Class, Origin};

use super::pages::Pages;

/// Most origins that are told apart. There are as many as placement handles and classes, and flows that name handles.
const MOST_ORIGINS: usize = 1 << 12;

/// Validity of the answers that are [known](Known) of pages.
#[derive(Debug, Checkpointed)]
pub struct Answers {
    /// Answers that were given in another epoch do not hold any more.
    epoch: u32,
    /// Epoch of the answers that hold only until the next event.
    fleeting_epoch: u32,
    /// Whether there are any of this epoch.
    are_fleeting: bool,
    /// Origins of pages, as answered. Answers hold indices, so that one takes no more than sixteen bytes.
    origins: Vec<Origin>,
}

/// The place of an origin among those that are told apart.
#[derive(Debug, Clone, Copy)]
pub struct Place(u16);

/// The last answer about a page.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct Known {
    /// When it may be another.
    until: u64,
    epoch: u32,
    class: u8,
    is_fleeting: bool,
    /// Index of the page's origin, as answered.
    origin: u16,
}

impl Known {
    /// Value without an answer.
    pub const NOTHING: Self = Self { until: 0, epoch: 0, class: 0, is_fleeting: false, origin: 0 };

    /// Forgets it.
    #[inline(always)]
    pub const fn forget(&mut self) {
        self.until = 0;
    }
}

impl Answers {
    /// Creates a table without an answer.
    pub const fn new() -> Self {
        Self { epoch: 1, fleeting_epoch: 1, are_fleeting: false, origins: Vec::new() }
    }

    /// The class of a page of which this is `known`, and which comes from `origin`, at `now`, if that holds.
    #[inline(always)]
    pub fn class(&self, known: &Known, origin: Origin, now: u64) -> Option<Class> {
        self.holds(known, origin, now).then(|| Class::new(known.class.into()))
    }

    /// Until when what is `known` of a page, which comes from `origin`, holds, if it does at `now`.
    #[inline(always)]
    pub fn until(&self, known: &Known, origin: Origin, now: u64) -> Option<u64> {
        self.holds(known, origin, now).then_some(known.until)
    }

    #[inline(always)]
    fn holds(&self, known: &Known, origin: Origin, now: u64) -> bool {
        let epoch = if known.is_fleeting { self.fleeting_epoch } else { self.epoch };
        let is_from_there = || self.origins.get(usize::from(known.origin)) == Some(&origin);
        now < known.until && known.epoch == epoch && is_from_there()
    }

    /// Records an answer, given at `now`, about a page that comes from the origin at `place`.
    pub fn given(&mut self, place: Place, now: u64, answer: Answer) -> Known {
        let Place(origin) = place;
        let is_fleeting = answer.until.is_none();
        self.are_fleeting |= is_fleeting;
        Known {
            until: answer.until.unwrap_or(0).max(now + 1),
            epoch: if is_fleeting { self.fleeting_epoch } else { self.epoch },
            class: answer.class as u8,
            is_fleeting,
            origin,
        }
    }

    /// The place of `origin`. Forgets all answers if there are more of them than are told apart.
    pub fn place_of(&mut self, origin: Origin, pages: &mut Pages) -> Place {
        if let Some(place) = self.origins.iter().position(|known| *known == origin) {
            return Place(place as u16);
        }
        if self.origins.len() == MOST_ORIGINS {
            self.forget_all(pages);
            self.origins.clear();
        }
        self.origins.push(origin);
        Place(self.origins.len() as u16 - 1)
    }

    /// Ends the answers that hold only until the next event.
    #[inline(always)]
    pub fn something_happened(&mut self, pages: &mut Pages) {
        if self.are_fleeting {
            self.are_fleeting = false;
            self.fleeting_epoch =
                next(self.fleeting_epoch).unwrap_or_else(|| self.begin_epochs(pages));
        }
    }

    /// Forgets all answers.
    pub fn forget_all(&mut self, pages: &mut Pages) {
        self.epoch = next(self.epoch).unwrap_or_else(|| self.begin_epochs(pages));
        self.something_happened(pages);
    }

    /// Begins to count epochs anew, where there are no more numbers. Forgets all answers.
    #[cold]
    fn begin_epochs(&mut self, pages: &mut Pages) -> u32 {
        pages.all_mut().for_each(|page| page.known.epoch = 0);
        (self.epoch, self.fleeting_epoch) = (1, 1);
        1
    }
}

const fn next(epoch: u32) -> Option<u32> {
    epoch.checked_add(1)
}

#[cfg(test)]
mod tests {
    use crate::ids::Lpn;

    use super::*;

    const HOST: Origin = Origin::Host { hint: None };
    const MOVED: Origin = Origin::Moved { class: None };

    /// Answers about one page.
    struct One {
        answers: Answers,
        pages: Pages,
    }

    impl One {
        fn new() -> Self {
            Self { answers: Answers::new(), pages: Pages::new(1) }
        }

        fn set(&mut self, origin: Origin, now: u64, answer: Answer) {
            let place = self.answers.place_of(origin, &mut self.pages);
            self.pages.of_mut(Lpn(0)).known = self.answers.given(place, now, answer);
        }

        fn class(&self, origin: Origin, now: u64) -> Option<usize> {
            self.answers.class(&self.pages.of(Lpn(0)).known, origin, now).map(Class::index)
        }
    }

    #[test]
    fn an_answer_holds_until_its_time_for_its_origin() {
        let mut one = One::new();
        assert_eq!(one.class(HOST, 5), None);
        one.set(HOST, 5, Answer { class: 3, until: Some(7) });
        one.answers.something_happened(&mut one.pages);
        assert_eq!([5, 6, 7].map(|now| one.class(HOST, now)), [Some(3), Some(3), None]);
        assert_eq!(one.class(MOVED, 5), None);
        one.pages.of_mut(Lpn(0)).known.forget();
        assert_eq!(one.class(HOST, 5), None);
    }

    #[test]
    fn one_without_a_time_holds_until_anything_happens() {
        let mut one = One::new();
        one.set(MOVED, 5, Answer { class: 0, until: None });
        assert_eq!([5, 6].map(|now| one.class(MOVED, now)), [Some(0), None]);
        one.answers.something_happened(&mut one.pages);
        assert_eq!(one.class(MOVED, 5), None);
    }

    #[test]
    fn what_happens_leaves_those_with_a_time_of_other_pages() {
        let mut one = One::new();
        one.set(HOST, 5, Answer { class: 3, until: Some(9) });
        let timed = *one.pages.of(Lpn(0));
        one.set(HOST, 5, Answer { class: 2, until: None });
        one.answers.something_happened(&mut one.pages);
        assert_eq!(one.answers.class(&timed.known, HOST, 5).map(Class::index), Some(3));
        assert_eq!(one.class(HOST, 5), None);
        one.set(HOST, 5, Answer { class: 2, until: None });
        one.answers.forget_all(&mut one.pages);
        assert_eq!(one.answers.class(&timed.known, HOST, 5), None);
        assert_eq!(one.class(HOST, 5), None);
    }

    #[test]
    fn more_origins_than_are_told_apart_are_forgotten_and_not_mixed_up() {
        let mut one = One::new();
        let origin =
            |handle: usize| Origin::Host { hint: Some(crate::workload::Hint::new(handle, None)) };
        for handle in 0..=MOST_ORIGINS {
            one.set(origin(handle), 5, Answer { class: handle % 7, until: Some(9) });
            assert_eq!(one.class(origin(handle), 5), Some(handle % 7));
        }
        assert_eq!(one.class(origin(0), 5), None);
        assert_eq!(one.answers.origins.len(), 1);
    }

    #[test]
    fn all_may_be_forgotten_any_number_of_times() {
        let mut one = One::new();
        one.set(HOST, 5, Answer { class: 3, until: Some(u64::MAX) });
        one.answers.epoch = u32::MAX;
        one.answers.forget_all(&mut one.pages);
        assert_eq!(one.answers.epoch, 1);
        assert_eq!(one.class(HOST, 5), None, "it was given in an epoch of that number");
    }
}
