//! What a placement from outside has answered about each page, as long as that holds.

use copyback_memory::{prefetch, table};

use crate::checkpoint::Checkpointed;
use crate::ids::Lpn;
use crate::placement::supply::Answer;
use crate::placement::{Class, Origin};

/// Most origins that are told apart. There are as many as placement handles and classes, and flows that name handles.
const MOST_ORIGINS: usize = 1 << 12;

/// The last answer about each page.
#[derive(Debug, Checkpointed)]
pub struct Answers {
    known: Vec<Known>,
    /// Answers that were given in another epoch do not hold any more.
    epoch: u32,
    /// Those that hold only until something happens have epochs of their own.
    fleeting_epoch: u32,
    /// Whether there are any of this epoch.
    are_fleeting: bool,
    /// Where pages were said to come from. Answers have their places, so that one takes no more than sixteen bytes.
    origins: Vec<Origin>,
}

#[derive(Debug, Clone, Copy, Checkpointed)]
struct Known {
    /// When it may be another.
    until: u64,
    epoch: u32,
    class: u8,
    is_fleeting: bool,
    /// Where the page was said to come from.
    origin: u16,
}

impl Answers {
    /// None about so many pages.
    pub fn new(pages: usize) -> Self {
        let unknown = Known { until: 0, epoch: 0, class: 0, is_fleeting: false, origin: 0 };
        Self {
            known: table(pages, unknown),
            epoch: 1,
            fleeting_epoch: 1,
            are_fleeting: false,
            origins: Vec::new(),
        }
    }

    /// Brings what is known of `lpn` into the cache, without waiting for it.
    #[inline(always)]
    pub fn fetch(&self, lpn: Lpn) {
        prefetch(&self.known, lpn.index());
    }

    /// The class of `lpn`, which comes from `origin`, at `now`, if that is known.
    #[inline(always)]
    pub fn class(&self, lpn: Lpn, origin: Origin, now: u64) -> Option<Class> {
        self.known(lpn, origin, now).map(|known| Class::new(known.class.into()))
    }

    /// Until when the answer about `lpn`, which comes from `origin`, holds, if it is known at `now`.
    #[inline(always)]
    pub fn until(&self, lpn: Lpn, origin: Origin, now: u64) -> Option<u64> {
        self.known(lpn, origin, now).map(|known| known.until)
    }

    #[inline(always)]
    fn known(&self, lpn: Lpn, origin: Origin, now: u64) -> Option<Known> {
        let known = self.known[lpn.index()];
        let epoch = if known.is_fleeting { self.fleeting_epoch } else { self.epoch };
        let holds = now < known.until && known.epoch == epoch;
        let is_from_there = || self.origins.get(usize::from(known.origin)) == Some(&origin);
        (holds && is_from_there()).then_some(known)
    }

    /// Remembers an answer that was given at `now`.
    pub fn set(&mut self, lpn: Lpn, origin: Origin, now: u64, answer: Answer) {
        let origin = self.place_of(origin);
        let is_fleeting = answer.until.is_none();
        self.are_fleeting |= is_fleeting;
        self.known[lpn.index()] = Known {
            until: answer.until.unwrap_or(0).max(now + 1),
            epoch: if is_fleeting { self.fleeting_epoch } else { self.epoch },
            class: answer.class as u8,
            is_fleeting,
            origin,
        };
    }

    fn place_of(&mut self, origin: Origin) -> u16 {
        if let Some(place) = self.origins.iter().position(|known| *known == origin) {
            return place as u16;
        }
        if self.origins.len() == MOST_ORIGINS {
            self.forget_all();
            self.origins.clear();
        }
        self.origins.push(origin);
        self.origins.len() as u16 - 1
    }

    /// Forgets what was answered about `lpn`.
    #[inline(always)]
    pub fn forget(&mut self, lpn: Lpn) {
        self.known[lpn.index()].until = 0;
    }

    /// Something has happened that the placement wants to know of.
    #[inline(always)]
    pub fn something_happened(&mut self) {
        if self.are_fleeting {
            self.are_fleeting = false;
            self.fleeting_epoch = next(self.fleeting_epoch).unwrap_or_else(|| self.begin_epochs());
        }
    }

    /// Forgets all answers.
    pub fn forget_all(&mut self) {
        self.epoch = next(self.epoch).unwrap_or_else(|| self.begin_epochs());
        self.something_happened();
    }

    /// Begins to count epochs anew, where there are no more numbers. Forgets all answers.
    #[cold]
    fn begin_epochs(&mut self) -> u32 {
        self.known.iter_mut().for_each(|known| known.epoch = 0);
        (self.epoch, self.fleeting_epoch) = (1, 1);
        1
    }
}

const fn next(epoch: u32) -> Option<u32> {
    epoch.checked_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: Origin = Origin::Host { hint: None };
    const MOVED: Origin = Origin::Moved { class: None };
    const PAGE: Lpn = Lpn(1);

    fn class(answers: &Answers, origin: Origin, now: u64) -> Option<usize> {
        answers.class(PAGE, origin, now).map(Class::index)
    }

    #[test]
    fn an_answer_holds_until_its_time_for_its_origin() {
        let mut answers = Answers::new(2);
        assert_eq!(class(&answers, HOST, 5), None);
        answers.set(PAGE, HOST, 5, Answer { class: 3, until: Some(7) });
        answers.something_happened();
        assert_eq!([5, 6, 7].map(|now| class(&answers, HOST, now)), [Some(3), Some(3), None]);
        assert_eq!(class(&answers, MOVED, 5), None);
        answers.forget(PAGE);
        assert_eq!(class(&answers, HOST, 5), None);
    }

    #[test]
    fn one_without_a_time_holds_until_anything_happens() {
        let mut answers = Answers::new(2);
        answers.set(PAGE, MOVED, 5, Answer { class: 0, until: None });
        assert_eq!([5, 6].map(|now| class(&answers, MOVED, now)), [Some(0), None]);
        answers.something_happened();
        assert_eq!(class(&answers, MOVED, 5), None);
    }

    #[test]
    fn what_happens_leaves_those_with_a_time_of_other_pages() {
        let mut answers = Answers::new(2);
        answers.set(PAGE, HOST, 5, Answer { class: 3, until: Some(9) });
        answers.set(Lpn(0), HOST, 5, Answer { class: 2, until: None });
        answers.something_happened();
        assert_eq!(class(&answers, HOST, 5), Some(3));
        assert_eq!(answers.class(Lpn(0), HOST, 5), None);
        answers.set(Lpn(0), HOST, 5, Answer { class: 2, until: None });
        answers.forget_all();
        assert_eq!([PAGE, Lpn(0)].map(|page| answers.class(page, HOST, 5)), [None, None]);
        assert_eq!(size_of::<Known>(), 16);
    }

    #[test]
    fn more_origins_than_are_told_apart_are_forgotten_and_not_mixed_up() {
        let mut answers = Answers::new(2);
        let origin =
            |handle: usize| Origin::Host { hint: Some(crate::workload::Hint::new(handle, None)) };
        for handle in 0..=MOST_ORIGINS {
            answers.set(PAGE, origin(handle), 5, Answer { class: handle % 7, until: Some(9) });
            assert_eq!(class(&answers, origin(handle), 5), Some(handle % 7));
        }
        assert_eq!(class(&answers, origin(0), 5), None);
        assert_eq!(answers.origins.len(), 1);
    }

    #[test]
    fn all_may_be_forgotten_any_number_of_times() {
        let mut answers = Answers::new(2);
        answers.set(PAGE, HOST, 5, Answer { class: 3, until: Some(u64::MAX) });
        answers.epoch = u32::MAX;
        answers.forget_all();
        assert_eq!(answers.epoch, 1);
        assert_eq!(class(&answers, HOST, 5), None, "it was given in an epoch of that number");
    }
}
