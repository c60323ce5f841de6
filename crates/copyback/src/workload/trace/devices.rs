//! Which devices, volumes or storage units the lines name.

use std::collections::BTreeSet;

/// Devices told apart; of more, only their presence is known.
const MOST: usize = 1000;

/// The devices met so far.
#[derive(Debug, Default)]
pub struct Devices {
    last: Option<u64>,
    seen: BTreeSet<u64>,
}

impl Devices {
    /// Notes that a request names `device`.
    #[inline]
    pub fn note(&mut self, device: u64) {
        if self.last != Some(device) {
            self.last = Some(device);
            if self.seen.len() < MOST {
                self.seen.insert(device);
            }
        }
    }

    /// How many there are, up to 1000.
    pub fn count(&self) -> usize {
        self.seen.len()
    }
}
