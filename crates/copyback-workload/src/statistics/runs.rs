//! Sequentiality: requests that start where an earlier one of their kind, to the same device, ended.

use std::collections::{BTreeMap, VecDeque};

/// Earlier requests that are remembered for interleaved streams.
const RECENT: usize = 32;

/// The runs of one kind of request.
#[derive(Debug, Default)]
pub struct Runs {
    /// End of the last request to each device, in bytes.
    last: BTreeMap<u64, u64>,
    /// Device and end of the most recent requests.
    recent: VecDeque<(u64, u64)>,
    requests: u64,
    next: u64,
    in_stream: u64,
}

impl Runs {
    /// Adds a request to the bytes from `offset` to before `end` of `device`.
    pub fn add(&mut self, device: u64, offset: u64, end: u64) {
        self.requests += 1;
        self.next += u64::from(self.last.insert(device, end) == Some(offset));
        self.in_stream += u64::from(self.recent.contains(&(device, offset)));
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back((device, end));
    }

    /// Share that starts where the one before it ended.
    pub fn share(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.next as f64 / self.requests as f64)
    }

    /// Share that starts where one of the 32 before it ended.
    pub fn share_of_streams(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.in_stream as f64 / self.requests as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_and_two_interleaved() {
        let mut runs = Runs::default();
        assert_eq!(runs.share(), None);
        for start in [0, 8, 16, 100, 24, 108] {
            runs.add(0, start, start + 8);
        }
        assert_eq!(runs.share(), Some(2.0 / 6.0));
        assert_eq!(runs.share_of_streams(), Some(4.0 / 6.0));
    }

    #[test]
    fn devices_have_runs_of_their_own() {
        let mut runs = Runs::default();
        for (device, start) in [(1, 0), (2, 8), (1, 8), (2, 16)] {
            runs.add(device, start, start + 8);
        }
        assert_eq!(runs.share(), Some(0.5));
        assert_eq!(runs.share_of_streams(), Some(0.5));
    }

    #[test]
    fn only_recent_ends_are_remembered() {
        let mut runs = Runs::default();
        runs.add(0, 0, 8);
        (1..=RECENT as u64).for_each(|number| runs.add(0, number * 1000, number * 1000 + 1));
        runs.add(0, 8, 16);
        assert_eq!(runs.share_of_streams(), Some(0.0));
    }
}
