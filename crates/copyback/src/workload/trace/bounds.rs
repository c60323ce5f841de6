//! Addresses of the trace against the size of the device.

use super::fault::Fault;

/// Fits the ranges of a trace to a device.
#[derive(Debug)]
pub struct Bounds {
    capacity: u64,
    wraps: bool,
    wrapped: u64,
}

impl Bounds {
    /// For a device of `capacity` bytes; what lies beyond it is refused unless it `wraps`.
    pub fn new(capacity: u64, wraps: bool) -> Self {
        Self { capacity, wraps, wrapped: 0 }
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

    /// Ranges that were wrapped so far.
    pub fn wrapped(&self) -> u64 {
        self.wrapped
    }

    #[cold]
    fn beyond(&mut self, offset: u64, length: u64) -> Result<u64, Fault> {
        if length > self.capacity {
            return Err(Fault::other(format!(
                "size: found {length} bytes; expected at most the device's {}",
                self.capacity
            )));
        }
        if !self.wraps {
            return Err(Fault::other(format!(
                "offset: found bytes {offset} to {}; expected them within the device's {} \
                 (workload.beyond_device = \"wrap\" folds them, \"compact\" closes the gaps)",
                u128::from(offset) + u128::from(length),
                self.capacity,
            )));
        }
        self.wrapped += 1;
        Ok((offset % self.capacity).min(self.capacity - length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_what_fits() {
        let mut bounds = Bounds::new(1000, false);
        assert_eq!(bounds.fit(0, 1000), Ok(0));
        assert_eq!(bounds.fit(999, 1), Ok(999));
        assert_eq!(bounds.wrapped(), 0);
    }

    #[test]
    fn refuses_what_does_not() {
        let mut bounds = Bounds::new(1000, false);
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
        let mut bounds = Bounds::new(1000, true);
        assert_eq!(bounds.fit(2300, 10), Ok(300));
        assert_eq!(bounds.fit(995, 10), Ok(990), "moved back from the end");
        assert_eq!(bounds.fit(1995, 10), Ok(990));
        assert_eq!(bounds.wrapped(), 3);
        assert_eq!(
            bounds.fit(0, 1001).unwrap_err().to_string(),
            "size: found 1001 bytes; expected at most the device's 1000"
        );
    }
}
