//! Drives of an array that collect at the same time.

use crate::checkpoint::Checkpointed;
use crate::ids::SsdId;
use crate::units::{Duration, Instant};

use super::CollectionColumns;

/// Drives that collect, and the times for which each number of them did together.
#[derive(Debug, Checkpointed)]
pub struct Overlap {
    /// Since when each drive collects, if it does.
    collecting: Vec<Option<Instant>>,
    together: usize,
    since: Instant,
    /// Time with 0, 1, 2 ... drives collecting.
    time: Vec<Duration>,
    /// Times that each drive began.
    begun: Vec<u64>,
    /// Time that each drive has collected, by intervals that have ended.
    collected: Vec<Duration>,
    intervals: Option<CollectionColumns>,
}

impl Overlap {
    /// Of so many drives; keeps each interval if `keeps` is set.
    pub fn new(drives: usize, keeps: bool) -> Self {
        Self {
            collecting: vec![None; drives],
            together: 0,
            since: Instant::START,
            time: vec![Duration::ZERO; drives + 1],
            begun: vec![0; drives],
            collected: vec![Duration::ZERO; drives],
            intervals: keeps.then(CollectionColumns::default),
        }
    }

    /// At the end of an instant: whether `device` collects now.
    pub fn note(&mut self, device: SsdId, collects: bool, now: Instant) {
        let began = self.collecting[device.index()];
        if began.is_some() == collects {
            return;
        }
        self.time[self.together] += now - self.since;
        self.since = now;
        match began {
            None => {
                self.together += 1;
                self.begun[device.index()] += 1;
                self.collecting[device.index()] = Some(now);
            }
            Some(began) => {
                self.together -= 1;
                self.collecting[device.index()] = None;
                self.collected[device.index()] += now - began;
                if let Some(intervals) = &mut self.intervals {
                    intervals.push(device, began, now);
                }
            }
        }
    }

    /// The intervals that have ended since the last call, if they are kept.
    pub fn take_intervals(&mut self) -> CollectionColumns {
        self.intervals.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Time until `now` with 0, 1, 2 ... drives collecting.
    pub fn times(&self, now: Instant) -> Vec<Duration> {
        let mut times = self.time.clone();
        times[self.together] += now - self.since;
        times
    }

    /// Time that `device` has collected until `now`.
    pub fn collected(&self, device: SsdId, now: Instant) -> Duration {
        let running = self.collecting[device.index()].map_or(Duration::ZERO, |since| now - since);
        self.collected[device.index()] + running
    }

    /// Times that `device` began to collect.
    pub fn begun(&self, device: SsdId) -> u64 {
        self.begun[device.index()]
    }

    /// Share of the time until `now` with 0, 1, 2 ... drives collecting.
    pub fn shares(&self, now: Instant) -> Vec<f64> {
        let whole = (now - Instant::START).as_us_f64();
        let share = |time: Duration| if whole > 0.0 { time.as_us_f64() / whole } else { 0.0 };
        self.times(now).into_iter().map(share).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_by_the_number_of_drives_that_collect() {
        let at = |us: u64| Instant::START + Duration::from_us(us);
        let [a, b] = [0, 1].map(SsdId);
        let mut overlap = Overlap::new(3, true);
        overlap.note(a, false, at(1));
        overlap.note(a, true, at(10));
        overlap.note(b, true, at(15));
        overlap.note(b, true, at(17));
        overlap.note(a, false, at(30));
        overlap.note(b, false, at(40));
        overlap.note(a, true, at(90));
        let us = overlap.times(at(100)).iter().map(|time| time.as_ns() / 1000).collect::<Vec<_>>();
        assert_eq!(us, [60, 25, 15, 0]);
        assert_eq!(overlap.collected(a, at(100)), Duration::from_us(30));
        assert_eq!(overlap.begun(a), 2);
        let kept = overlap.take_intervals();
        assert_eq!((kept.device, kept.begin_ns), (vec![0, 1], vec![10_000, 15_000]));
    }
}
