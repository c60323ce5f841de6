//! Lifetime of drives, in the units of vendors' data sheets: terabytes written (TBW), drive writes per day
//! (DWPD) and years at the load of the run.

use schemars::JsonSchema;
use serde::Serialize;

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ssd::Counters;
use crate::units::Duration;

use super::{WearStats, Written};

/// Bytes of a terabyte, which is decimal as on data sheets.
const TERABYTE: f64 = 1e12;
const SECONDS_A_DAY: f64 = 86_400.0;
/// Vendors' years have no leap days.
const DAYS_A_YEAR: f64 = 365.0;

/// Wear by a run, and the lifetime of the flash at this rate. Terabytes are decimal, as on data sheets; null is
/// what nothing written or erased leaves unknown.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EnduranceSummary {
    /// Erases that a block is rated for.
    pub rated_cycles: f64,
    /// Years of the warranty, of 365 days.
    pub warranty_years: f64,
    /// Bytes that are offered to whoever writes.
    pub capacity_bytes: u64,
    /// Bytes that all blocks hold together, the over-provisioned ones and summary pages included.
    pub flash_bytes: f64,
    /// Terabytes that the host can write at this write amplification.
    pub tbw: Option<f64>,
    /// Terabytes that the host can write at this number of erases.
    pub tbw_by_erases: Option<f64>,
    /// Drive writes a day that the flash bears through the warranty.
    pub dwpd: Option<f64>,
    /// Drive writes a day of this run.
    pub dwpd_of_this_load: Option<f64>,
    /// Years until the rated cycles are used up at the load of this run.
    pub years_at_this_load: Option<f64>,
    /// Erases of this run, for each block.
    pub erases_per_block: f64,
    /// Erases of the most worn block as a multiple of the mean.
    pub most_worn_to_mean: Option<f64>,
    /// Rated cycles that have been used since the drive was new, in percent.
    pub percentage_used: f64,
    /// Terabytes that were written to the drive in its life, if that has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured_tbw: Option<f64>,
}

/// Rating of a drive's flash.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct Rating {
    cycles: f64,
    warranty_years: f64,
    blocks: f64,
    /// Bytes that all blocks hold together, the over-provisioned ones and summary pages included.
    flash_bytes: f64,
    /// Bytes of a page, as pages are counted.
    page_bytes: f64,
    /// Pages of a native block for each page of a block of the SLC cache.
    native_for_slc: f64,
}

impl Rating {
    /// Rating of each drive of a checked configuration, if it says how many cycles its blocks last.
    pub fn of(config: &Resolved) -> Option<Self> {
        let endurance = &config.ssd.endurance;
        let geometry = &config.ssd.geometry;
        let pages = &config.drive.pages;
        let native_for_slc = config
            .drive
            .slc
            .as_ref()
            .map_or(1.0, |slc| pages.per_block as f64 / f64::from(slc.pages_per_block));
        let blocks = f64::from(geometry.channels)
            * f64::from(geometry.chips_per_channel)
            * f64::from(geometry.dies_per_chip)
            * f64::from(geometry.planes_per_die)
            * f64::from(geometry.blocks_per_plane);
        endurance.rated_cycles.map(|cycles| Self {
            cycles: f64::from(cycles),
            warranty_years: endurance.warranty_years,
            blocks,
            flash_bytes: blocks * f64::from(geometry.pages_per_block) * geometry.page_size.0 as f64,
            page_bytes: pages.counted_size.0 as f64,
            native_for_slc,
        })
    }

    /// Bytes that native blocks could have taken in the erases that pages of the SLC cache cost beyond their own: an erase
    /// counts as one in either mode, and a block holds fewer pages in that of the cache.
    fn lost_to_slc(self, counters: &Counters) -> f64 {
        counters.slc_programs as f64 * self.page_bytes * (self.native_for_slc - 1.0)
    }

    /// Rating of `drives` drives together.
    #[must_use]
    pub fn of_drives(self, drives: usize) -> Self {
        let drives = drives as f64;
        Self { blocks: self.blocks * drives, flash_bytes: self.flash_bytes * drives, ..self }
    }
}

/// Wear by a run, of a drive or of several together.
#[derive(Debug, Clone, Copy)]
pub struct Endurance {
    /// Rating of their flash.
    pub rating: Rating,
    /// Bytes that they offer to whoever writes.
    pub capacity_bytes: u64,
    /// From the start of the run to its last request.
    pub time: Duration,
    /// Bytes that were written to them in their life, if that has ended: they take no writes any more.
    pub life_bytes: Option<u64>,
}

impl Endurance {
    /// Summary of the endurance for `summary.json`.
    pub fn summary(
        &self,
        written: Written,
        counters: &Counters,
        wear: &WearStats,
    ) -> EnduranceSummary {
        let Rating { cycles, warranty_years, blocks, flash_bytes, .. } = self.rating;
        let ratio = |of: f64, by: f64| (by > 0.0).then(|| of / by);
        let host_bytes = written.host as f64;
        let worn_bytes = written.media as f64 + self.rating.lost_to_slc(counters);
        let erases = counters.erases as f64;
        let capacity_tb = self.capacity_bytes as f64 / TERABYTE;
        let tbw = ratio(flash_bytes * cycles * host_bytes / TERABYTE, worn_bytes);
        let tbw_by_erases = ratio(blocks * cycles * host_bytes / TERABYTE, erases);
        let days = self.time.as_secs_f64() / SECONDS_A_DAY;
        let tb_a_day = ratio(host_bytes / TERABYTE, days);
        let days_left = tbw.zip(tb_a_day).and_then(|(tbw, tb_a_day)| ratio(tbw, tb_a_day));
        EnduranceSummary {
            rated_cycles: cycles,
            warranty_years,
            capacity_bytes: self.capacity_bytes,
            flash_bytes,
            tbw,
            tbw_by_erases,
            dwpd: tbw.map(|tbw| tbw / (DAYS_A_YEAR * warranty_years * capacity_tb)),
            dwpd_of_this_load: tb_a_day.map(|tb| tb / capacity_tb),
            years_at_this_load: days_left.map(|days| days / DAYS_A_YEAR),
            erases_per_block: erases / blocks,
            most_worn_to_mean: ratio(f64::from(wear.max), wear.mean),
            percentage_used: 100.0 * wear.mean / cycles,
            measured_tbw: self.life_bytes.map(|bytes| bytes as f64 / TERABYTE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Loader;

    /// 1,000 blocks of 1 MiB, 1,000 cycles each, 3 years.
    fn rating() -> Rating {
        rating_with("")
    }

    /// Rating of these blocks with more settings.
    fn rating_with(settings: &str) -> Rating {
        let text = "ssd.geometry = { channels = 1, chips_per_channel = 1, dies_per_chip = 1, \
                    planes_per_die = 2, blocks_per_plane = 500, pages_per_block = 256 }\n\
                    ssd.endurance = { rated_cycles = 1000, warranty_years = 3 }";
        let text = format!("{text}\n{settings}");
        let config =
            Loader::new().toml(&text, "test", None).load().expect("it makes sense").resolve();
        Rating::of(&config).expect("it is rated")
    }

    /// A run of a day in which the host wrote `pages` pages of 4 KiB, and as many were moved.
    fn a_day(pages: u64) -> EnduranceSummary {
        let endurance = Endurance {
            rating: rating(),
            capacity_bytes: 500 << 20,
            time: Duration::from_us(86_400_000_000),
            life_bytes: None,
        };
        let written = Written { host: pages * 4096, media: 2 * pages * 4096 };
        let counters = Counters { erases: 2 * pages / 256, ..Counters::default() };
        let wear = WearStats { mean: 4.0, max: 6, ..WearStats::default() };
        endurance.summary(written, &counters, &wear)
    }

    #[test]
    fn half_of_what_the_flash_can_bear_is_the_hosts_if_each_page_is_written_twice() {
        let found = a_day(256_000);
        let close = |found: Option<f64>, expected: f64| {
            let found = found.expect("it is known");
            assert!((found / expected - 1.0).abs() < 1e-12, "{found}, not {expected}");
        };
        // 1,000 x 1 MiB x 1,000 / 2; all blocks hold twice what the host sees.
        let tbw = 0.5 * 1e6 * f64::from(1 << 20) / 1e12;
        close(found.tbw, tbw);
        close(found.tbw_by_erases, tbw);
        close(found.dwpd, 1000.0 / (365.0 * 3.0));
        close(found.dwpd_of_this_load, 2.0);
        close(found.years_at_this_load, 500.0 / 365.0);
        close(Some(found.erases_per_block), 2.0);
        close(found.most_worn_to_mean, 1.5);
        close(Some(found.percentage_used), 0.4);
    }

    #[test]
    fn a_block_of_the_cache_wears_as_a_native_one_and_holds_less() {
        let slc = "ssd.slc_cache = { static = { blocks = 20 }, native_bits = 4, bits = 1 }";
        let rating = rating_with(slc);
        let time = Duration::from_us(86_400_000_000);
        let endurance = Endurance { rating, capacity_bytes: 500 << 20, time, life_bytes: None };
        // 64 pages fill a block of the cache, and 256 a native one: 1,000 erases of each.
        let (in_cache, native) = (64_000, 256_000);
        let counters = Counters { erases: 2_000, slc_programs: in_cache, ..Counters::default() };
        let written = Written { host: in_cache * 4096, media: (in_cache + native) * 4096 };
        let found = endurance.summary(written, &counters, &WearStats::default());
        let tbw = found.tbw.expect("it is known");
        assert!((tbw / found.tbw_by_erases.expect("it is known") - 1.0).abs() < 1e-12);
        // Half of 1,000 blocks x 1,000 cycles is the cache's, 256 KiB each.
        assert!((tbw / (0.5 * 1e6 * f64::from(256 << 10) / 1e12) - 1.0).abs() < 1e-12, "{tbw}");
    }

    #[test]
    fn nothing_written_tells_nothing() {
        let found = a_day(0);
        let unknown = [found.tbw, found.tbw_by_erases, found.dwpd, found.years_at_this_load];
        assert_eq!(unknown, [None; 4]);
        assert_eq!(found.dwpd_of_this_load, Some(0.0));
    }
}
