//! Dies that collect, for all who have to go round them.

use derive_more::AddAssign;

use crate::checkpoint::Checkpointed;
use crate::ids::DieId;
use crate::less::Less;
use crate::observer::{Entry, Observer};
use crate::purpose::Reason;
use crate::units::Instant;

use super::Counters;

/// The collections of a drive's dies.
#[derive(Debug, Checkpointed)]
pub struct Collecting {
    dies: Vec<Option<Underway>>,
    running: usize,
    begun: Outlook,
}

/// Prospect of collections as they begin.
#[derive(Debug, Clone, Copy, Default, AddAssign, Less, Checkpointed)]
pub struct Outlook {
    /// Pages to be moved, if none is overwritten meanwhile.
    pub moves: u64,
    /// Pages that come free.
    pub frees: u64,
    /// Blocks to be erased.
    pub erases: u64,
}

/// A collection under way on a die.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
struct Underway {
    /// Whether it was begun in idle time, and stops for commands.
    in_idle_time: bool,
    /// Whether the die works for it, and not for the host instead.
    runs: bool,
}

impl Collecting {
    /// No die collects.
    pub fn new(dies: usize) -> Self {
        Self { dies: vec![None; dies], running: 0, begun: Outlook::default() }
    }

    /// Counts what begins from now on together with what had begun `before`, when the power failed.
    pub const fn counts_on(&mut self, before: &Self) {
        self.begun = before.begun;
    }

    /// Sum of the outlooks of all collections for space that have begun so far.
    pub const fn begun(&self) -> Outlook {
        self.begun
    }

    /// Adds the outlook of a collection for space that begins.
    pub fn look_forward(&mut self, outlook: Outlook) {
        self.begun += outlook;
    }

    /// A collection is put on `die`, perhaps in idle time.
    pub fn begins(&mut self, die: DieId, in_idle_time: bool) {
        self.dies[die.index()] = Some(Underway { in_idle_time, runs: false });
    }

    /// The collection of `die` begins, or goes on, on the planes of `mask`.
    #[inline]
    pub fn run(
        &mut self,
        observer: &mut Observer,
        die: DieId,
        (mask, reason): (u32, Reason),
        now: Instant,
    ) {
        let rested = self.dies[die.index()].as_mut().filter(|underway| !underway.runs);
        if let Some(underway) = rested {
            underway.runs = true;
            self.running += 1;
            observer.collection_runs(die, mask, reason.into(), now);
        }
    }

    /// The collection of `die` rests, at its end or to serve the host. Returns whether it ran.
    pub fn rest(&mut self, observer: &mut Observer, die: DieId, now: Instant) -> bool {
        let ran = self.dies[die.index()].as_mut().filter(|underway| underway.runs);
        let Some(underway) = ran else { return false };
        underway.runs = false;
        self.running -= 1;
        observer.collection_rests(die, now);
        true
    }

    /// The host has been served in the middle of the collection of `die`.
    pub fn yield_to_host(
        &mut self,
        observer: &mut Observer,
        counters: &mut Counters,
        die: DieId,
        now: Instant,
    ) {
        counters.preemptions += u64::from(self.rest(observer, die, now));
    }

    /// The collection of `die` has ended.
    pub fn end(&mut self, observer: &mut Observer, die: DieId, now: Instant) {
        self.rest(observer, die, now);
        observer.record(|| Entry::Ends { die, at: now });
        self.dies[die.index()] = None;
    }

    /// Whether any die works for a collection at this moment.
    pub const fn is_any_running(&self) -> bool {
        self.running > 0
    }

    /// Whether a collection is under way that is not of idle time, on whatever die, be it that it rests.
    pub fn is_for_space(&self) -> bool {
        self.dies.iter().flatten().any(|underway| !underway.in_idle_time)
    }

    /// Whether `die` works for a collection at this moment.
    pub fn is_running(&self, die: DieId) -> bool {
        self.dies[die.index()].is_some_and(|underway| underway.runs)
    }

    /// Whether the collection of `die` was begun in idle time.
    pub fn is_in_idle_time(&self, die: DieId) -> bool {
        self.dies[die.index()].is_some_and(|underway| underway.in_idle_time)
    }

    /// Whether the collection of `die` was begun in idle time and rests.
    pub fn is_interrupted(&self, die: DieId) -> bool {
        self.is_in_idle_time(die) && !self.is_running(die)
    }

    /// Whether no collection keeps `die` from taking writes: there is none, or it stops for commands.
    pub fn leaves_free(&self, die: DieId) -> bool {
        self.dies[die.index()].is_none() || self.is_interrupted(die)
    }
}
