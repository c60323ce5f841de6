//! SepBIT: pages are sorted by when they are likely to be overwritten, which is inferred from how long the last
//! version lived and, of those that have survived a collection, from how old they are (Wang et al., FAST 2022,
//! section 3: classes 1 to 6 of the paper are 0 to 5 here).
//!
//! A page of the host is short-lived if the version that it replaces was younger than `l`, the mean life of the blocks
//! of class 0 that were collected last (algorithm 1). Only the pages in a queue of recent writes are known to be young;
//! its length follows `l` by taking up to two off for each that comes, so that it shrinks as fast as it grows. It is
//! never longer than there are pages with data.

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;
use crate::ids::Lpn;

use super::write_times::WriteTimes;
use super::{Class, Drive, Life, Origin, Placement};

const SHORT_LIVED: Class = Class::new(0);
const LONG_LIVED: Class = Class::new(1);
const SHORT_LIVED_MOVED: Class = Class::new(2);

/// Blocks of class 0 that a mean is taken over.
const COLLECTED: u64 = 16;
/// Ages, in multiples of `l`, at which the last two classes begin.
const AGES: [u64; 2] = [4, 16];

/// What is known of lives and ages, in pages that the host has written to the drive.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
pub struct SepBit {
    times: WriteTimes,
    /// `l`, once enough blocks have been collected.
    mean_life: Option<u64>,
    /// Length of the queue of recent writes. Who is in it follows from when it was written.
    queue: u64,
    /// Pages that hold data.
    pages: u64,
    /// Lives of blocks that were collected since `l` was computed.
    lives: u64,
    collected: u64,
}

impl SepBit {
    pub(super) fn new(drive: Drive) -> Self {
        let times = WriteTimes::new(drive.pages);
        Self { times, mean_life: None, queue: 0, pages: 0, lives: 0, collected: 0 }
    }

    #[inline(always)]
    fn is_younger_than_mean(&self, age: u64) -> bool {
        age < self.queue && self.mean_life.is_none_or(|mean| age < mean)
    }

    fn class_of_age(&self, age: Option<u64>) -> Class {
        let begins = |multiple: &&u64| match (age, self.mean_life) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(age), Some(mean)) => age >= mean.saturating_mul(**multiple),
        };
        Class::new(3 + AGES.iter().filter(begins).count())
    }
}

impl Placement for SepBit {
    fn classes(&self) -> usize {
        6
    }

    fn takes_host(&self, class: Class) -> bool {
        class <= LONG_LIVED
    }

    fn takes_moved(&self, class: Class) -> bool {
        class > LONG_LIVED
    }

    #[inline(always)]
    fn class_of(&self, lpn: Lpn, origin: Origin, now: u64) -> Class {
        let age = self.times.age(lpn, now);
        match origin {
            Origin::Host { .. } if age.is_some_and(|age| self.is_younger_than_mean(age)) => {
                SHORT_LIVED
            }
            Origin::Host { .. } => LONG_LIVED,
            Origin::Moved { class: Some(SHORT_LIVED) } => SHORT_LIVED_MOVED,
            Origin::Moved { .. } => self.class_of_age(age),
        }
    }

    #[inline(always)]
    fn wrote(&mut self, lpn: Lpn, origin: Origin, now: u64) {
        if let Origin::Moved { .. } = origin {
            return;
        }
        self.pages += u64::from(self.times.wrote(lpn, now).is_none());
        self.queue += 1;
        let most = self.mean_life.unwrap_or(u64::MAX);
        self.queue -= u64::from(self.queue > most.min(self.pages));
        self.queue -= u64::from(self.queue > most);
    }

    fn trimmed(&mut self, lpn: Lpn) {
        self.pages -= u64::from(self.times.forget(lpn).is_some());
    }

    fn chosen(&mut self, block: Life, now: u64) {
        if block.class != SHORT_LIVED {
            return;
        }
        self.lives += now - block.opened;
        self.collected += 1;
        if self.collected == COLLECTED {
            self.mean_life = Some(self.lives / COLLECTED);
            (self.lives, self.collected) = (0, 0);
        }
    }

    fn fetch(&self, lpn: Lpn) {
        self.times.fetch(lpn);
    }

    fn bytes(&self) -> usize {
        self.times.bytes()
    }

    fn memory(&self) -> Vec<u8> {
        super::to_bytes(self)
    }

    fn remember(&mut self, memory: &[u8], now: u64) -> bool {
        let Some(saved) = super::from_bytes::<Self>(memory) else { return false };
        let is_sound = saved.times.is_sound(self.times.pages(), now)
            && saved.collected < COLLECTED
            && saved.queue <= now
            && saved.pages == saved.times.written()
            && saved.mean_life.is_none_or(|mean| mean <= now)
            && saved.lives <= now.saturating_mul(COLLECTED);
        *self = saved;
        is_sound
    }
}
