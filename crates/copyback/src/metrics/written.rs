//! Bytes written by a host, and bytes programmed into flash for that: write amplification as SMART, the logs of NVMe and
//! vendors' reports count it.

use derive_more::Add;

use crate::checkpoint::Checkpointed;
use crate::less::Less;
use crate::ssd::Counters;

/// Bytes written, on both sides of a drive or of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Add, Less, Checkpointed)]
pub struct Written {
    /// Bytes that the host wrote.
    pub host: u64,
    /// Bytes programmed into flash: whole pages, whatever is in them.
    pub media: u64,
}

impl Written {
    /// Bytes that the host wrote, and bytes of the pages programmed in `counters`, of `page_bytes` each.
    pub const fn new(host: u64, counters: &Counters, page_bytes: u64) -> Self {
        Self { host, media: counters.pages_programmed() * page_bytes }
    }

    /// Bytes programmed for each that the host wrote; `None` if it wrote none.
    pub fn amplification(self) -> Option<f64> {
        (self.host > 0).then(|| self.media as f64 / self.host as f64)
    }

    /// Write amplification if these bytes had not been programmed.
    pub fn amplification_without(self, media: u64) -> Option<f64> {
        Self { media: self.media.less(media), ..self }.amplification()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_count_whole_whatever_is_in_them() {
        let counters =
            Counters { programs: 7, copybacks: 2, summary_pages: 1, ..Counters::default() };
        // Ten pages of 16 KiB for ten writes of 4 KiB.
        let written = Written::new(10 * 4096, &counters, 16_384);
        assert_eq!(written.amplification(), Some(4.0));
        assert_eq!(written.amplification_without(5 * 16_384), Some(2.0));
        assert_eq!(Written { host: 0, ..written }.amplification(), None);
    }
}
