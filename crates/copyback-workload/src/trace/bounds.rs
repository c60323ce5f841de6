//! Addresses of the trace against the size of the device.

use super::fault::Fault;

/// Treatment of an address beyond the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beyond {
    /// Refuses the address: the replay ends.
    Refused,
    /// Refuses an address of a pipe, which can't be read first to make it fit: the replay ends.
    RefusedOfPipe,
    /// Wraps the address: it counts modulo the capacity.
    Wrapped,
}

/// Fits the ranges of a trace to a device.
#[derive(Debug)]
pub struct Bounds {
    capacity: u64,
    policy: Beyond,
    wrapped: u64,
}

impl Bounds {
    /// For a device of `capacity` bytes.
    pub fn new(capacity: u64, policy: Beyond) -> Self {
        Self { capacity, policy, wrapped: 0 }
    }

    /// The first byte on the device of a range that starts at `offset` in the trace.
    ///
    /// # Errors
    /// If the range reaches beyond the device and may not be wrapped, or is longer than the device.
    #[inline]
    pub fn fit(&mut self, offset: u64, length: u64) -> Result<u64, Fault> {
        match offset.checked_add(length) {
            Some(end) if end <= self.capacity => Ok(offset),
            _ => self.beyond(offset, length),
        }
    }

    /// Note for the user about addresses beyond the device.
    pub fn note(&self) -> Option<String> {
        let wrapped = self.wrapped;
        (wrapped > 0).then(|| format!("{wrapped} requests beyond the device were wrapped"))
    }

    #[cold]
    fn beyond(&mut self, offset: u64, length: u64) -> Result<u64, Fault> {
        if length > self.capacity {
            return Err(Fault::other(format!(
                "size: found {length} bytes; expected at most the device's {}",
                self.capacity
            )));
        }
        let advice = match self.policy {
            Beyond::Wrapped => return Ok(self.wrap(offset, length)),
            Beyond::Refused => {
                "workload.beyond_device = \"wrap\" folds them, \"compact\" closes the gaps"
            }
            Beyond::RefusedOfPipe => {
                "workload.beyond_device = \"wrap\" folds them; those of a file are made to fit, \
                 for which a pipe would have to be read twice"
            }
        };
        Err(Fault::other(format!(
            "offset: found bytes {offset} to {}; expected them within the device's {} ({advice})",
            u128::from(offset) + u128::from(length),
            self.capacity,
        )))
    }

    fn wrap(&mut self, offset: u64, length: u64) -> u64 {
        self.wrapped += 1;
        (offset % self.capacity).min(self.capacity - length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_what_fits() {
        let mut bounds = Bounds::new(1000, Beyond::Refused);
        assert_eq!(bounds.fit(0, 1000), Ok(0));
        assert_eq!(bounds.fit(999, 1), Ok(999));
        assert_eq!(bounds.note(), None);
    }

    #[test]
    fn refuses_what_does_not() {
        let mut bounds = Bounds::new(1000, Beyond::Refused);
        assert_eq!(
            bounds.fit(999, 2).unwrap_err().to_string(),
            "offset: found bytes 999 to 1001; expected them within the device's 1000 \
             (workload.beyond_device = \"wrap\" folds them, \"compact\" closes the gaps)"
        );
        assert!(bounds.fit(u64::MAX, u64::MAX).is_err());
        assert!(bounds.fit(u64::MAX, 7).is_err());
    }

    #[test]
    fn wraps_and_keeps_a_range_in_one_piece() {
        let mut bounds = Bounds::new(1000, Beyond::Wrapped);
        assert_eq!(bounds.fit(2300, 10), Ok(300));
        assert_eq!(bounds.fit(995, 10), Ok(990), "moved back from the end");
        assert_eq!(bounds.fit(1995, 10), Ok(990));
        assert_eq!(bounds.note().unwrap(), "3 requests beyond the device were wrapped");
        assert_eq!(
            bounds.fit(0, 1001).unwrap_err().to_string(),
            "size: found 1001 bytes; expected at most the device's 1000"
        );
    }
}
