//! What a placement from outside has answered about each page, as long as that holds.

use copyback_memory::table;

use crate::checkpoint::Checkpointed;
use crate::ids::Lpn;
use crate::placement::supply::Answer;
use crate::placement::{Class, Origin};

/// The last answer about each page.
#[derive(Debug, Checkpointed)]
pub struct Answers {
    known: Vec<Known>,
    /// Answers that were given in another epoch do not hold any more.
    epoch: u32,
    /// Whether some of this epoch hold only until something happens.
    are_fleeting: bool,
}

#[derive(Debug, Clone, Copy, Checkpointed)]
struct Known {
    /// When it may be another.
    until: u64,
    epoch: u32,
    class: u8,
    /// Where the page was said to come from.
    origin: Origin,
}

impl Answers {
    /// None about so many pages.
    pub fn new(pages: usize) -> Self {
        let unknown = Known { until: 0, epoch: 0, class: 0, origin: Origin::Moved { class: None } };
        Self { known: table(pages, unknown), epoch: 1, are_fleeting: false }
    }

    /// The class of `lpn`, which comes from `origin`, at `now`, if that is known.
    #[inline(always)]
    pub fn class(&self, lpn: Lpn, origin: Origin, now: u64) -> Option<Class> {
        let known = self.known[lpn.index()];
        let holds = now < known.until && known.epoch == self.epoch && known.origin == origin;
        holds.then(|| Class::new(known.class.into()))
    }

    /// Remembers an answer that was given at `now`.
    pub fn set(&mut self, lpn: Lpn, origin: Origin, now: u64, answer: Answer) {
        self.are_fleeting |= answer.until.is_none();
        self.known[lpn.index()] = Known {
            until: answer.until.unwrap_or(0).max(now + 1),
            epoch: self.epoch,
            class: answer.class as u8,
            origin,
        };
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
            self.forget_all();
        }
    }

    /// Forgets all answers.
    pub fn forget_all(&mut self) {
        self.are_fleeting = false;
        self.epoch = self.epoch.checked_add(1).unwrap_or_else(|| {
            self.known.iter_mut().for_each(|known| known.epoch = 0);
            1
        });
    }
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
    fn all_may_be_forgotten_any_number_of_times() {
        let mut answers = Answers::new(2);
        answers.set(PAGE, HOST, 5, Answer { class: 3, until: Some(u64::MAX) });
        answers.epoch = u32::MAX;
        answers.forget_all();
        assert_eq!(answers.epoch, 1);
        assert_eq!(class(&answers, HOST, 5), None, "it was given in an epoch of that number");
    }
}
