//! The pages that requests touch, and how much is written between two writes of one.
//!
//! Both are exact, so their memory grows with the footprint, and with nothing else: about a bit to
//! two bytes for a page that is touched (a compressed bitmap, Chambi et al., "Better bitmap
//! performance with Roaring bitmaps", 2016), and 20 to 40 bytes for one that is written.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use roaring::RoaringTreemap;
use schemars::JsonSchema;
use serde::Serialize;

use super::distribution::{Curve, Distribution, DistributionStatistics};

/// Bytes of a page.
pub const PAGE: u64 = 4096;

/// The pages that requests touch.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FootprintStatistics {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Pages that were read or written.
    pub touched_pages: u64,
    /// Pages that were written.
    pub written_pages: u64,
}

/// Overwrites: how often and how soon pages are written again.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OverwriteStatistics {
    /// Writes of pages.
    pub page_writes: u64,
    /// Share of them to pages that were written before.
    pub share: Option<f64>,
    /// Bytes written from one write of a page to the next, the first of them included.
    pub distance_bytes: Option<DistributionStatistics>,
}

/// Counts the addresses that requests touch.
#[derive(Debug, Default)]
pub struct Footprint {
    touched: RoaringTreemap,
    touched_pages: u64,
    /// Bytes written before each page's last write. Never iterated over.
    written: HashMap<u64, u64, FixedState>,
    bytes_written: u64,
    overwrites: Distribution,
}

impl Footprint {
    /// Adds a read of the bytes from `offset` to before `end`.
    pub fn read(&mut self, offset: u64, end: u64) {
        self.touch(offset, end);
    }

    /// Adds a write of the bytes from `offset` to before `end`.
    pub fn write(&mut self, offset: u64, end: u64) {
        self.touch(offset, end);
        for page in offset / PAGE..end.div_ceil(PAGE) {
            if let Some(then) = self.written.insert(page, self.bytes_written) {
                self.overwrites.record(self.bytes_written - then);
            }
        }
        self.bytes_written += end - offset;
    }

    fn touch(&mut self, offset: u64, end: u64) {
        self.touched_pages += self.touched.insert_range(offset / PAGE..end.div_ceil(PAGE));
    }

    /// Pages that were read or written.
    pub fn touched(&self) -> u64 {
        self.touched_pages
    }

    /// Pages that were written.
    pub fn written(&self) -> u64 {
        self.written.len() as u64
    }

    /// Pages touched and written.
    pub fn pages(&self) -> FootprintStatistics {
        FootprintStatistics {
            page_bytes: PAGE,
            touched_pages: self.touched(),
            written_pages: self.written(),
        }
    }

    /// Page writes, the share of them that overwrite, and the bytes written between two writes of
    /// a page.
    pub fn overwrites(&self) -> OverwriteStatistics {
        let overwrites = self.overwrites.count();
        let writes = overwrites + self.written();
        OverwriteStatistics {
            page_writes: writes,
            share: (writes > 0).then(|| overwrites as f64 / writes as f64),
            distance_bytes: self.overwrites.statistics(1.0),
        }
    }

    /// The curve of the distances.
    pub fn overwrite_curve(&self) -> Curve {
        self.overwrites.curve(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_pages_touch_whole_ones() {
        let mut footprint = Footprint::default();
        footprint.read(PAGE - 1, PAGE + 1);
        assert_eq!((footprint.touched(), footprint.written()), (2, 0));
        footprint.write(2 * PAGE, 4 * PAGE);
        footprint.read(0, 4 * PAGE);
        assert_eq!((footprint.touched(), footprint.written()), (4, 2));
    }

    #[test]
    fn distance_is_what_was_written_since() {
        let mut footprint = Footprint::default();
        footprint.write(0, 2 * PAGE);
        footprint.write(10 * PAGE, 11 * PAGE);
        footprint.write(0, 512);
        footprint.read(0, PAGE);
        footprint.write(PAGE, 2 * PAGE);
        let told = footprint.overwrites();
        assert_eq!(told.page_writes, 5);
        assert_eq!(told.share, Some(0.4));
        let (first, second) = (3 * PAGE, 3 * PAGE + 512);
        let distance = told.distance_bytes.unwrap();
        assert_eq!((distance.count, distance.min), (2, first as f64));
        assert_eq!(distance.max, second as f64);
    }

    #[test]
    fn the_last_byte_of_all_is_in_a_page() {
        let mut footprint = Footprint::default();
        footprint.write(u64::MAX - 1, u64::MAX);
        assert_eq!(footprint.touched(), 1);
    }
}
