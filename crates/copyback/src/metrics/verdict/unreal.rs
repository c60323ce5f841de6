//! States of a run that no drive in use is in.

use crate::metrics::Ledger;
use crate::ssd::Counters;

/// Share of the pages read that may hold no data before it is said.
const MOST_UNMAPPED: f64 = 0.01;

/// Whether so many reads were of pages that hold no data, and so took no time of the flash, that the numbers are not those
/// of a drive that holds data.
pub(super) fn reads_unmapped_pages(counters: &Counters) -> bool {
    counters.unmapped_reads as f64 > MOST_UNMAPPED * counters.page_reads as f64
}

/// Whether all that was written stayed in DRAM.
pub(super) fn programmed_nothing(counters: &Counters, ledger: &Ledger) -> bool {
    ledger.responses.writes.count() > 0 && counters.programs == 0 && counters.copybacks == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_page_in_a_hundred_may_hold_no_data() {
        let counters = |unmapped_reads, page_reads| Counters {
            unmapped_reads,
            page_reads,
            ..Counters::default()
        };
        assert!(!reads_unmapped_pages(&counters(0, 0)));
        assert!(!reads_unmapped_pages(&counters(10, 1_000)));
        assert!(reads_unmapped_pages(&counters(11, 1_000)));
        assert!(reads_unmapped_pages(&counters(1, 1)));
    }
}
