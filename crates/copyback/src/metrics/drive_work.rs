//! Work of drives, as it is written to `summary.json`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::checkpoint::Checkpointed;
use crate::drive::Rejected;
use crate::ssd::{Counters, FaultReport, IdleTimes, LineTally, PlaneUse, SlcState, SortingReport};
use crate::units::{Instant, TotalTime};
use crate::workload::{Operation, Request};

use super::endurance::{Endurance, EnduranceSummary};
use super::faults::FaultsSummary;
use super::gc::{GcSummary, PacingSummary, RefreshSummary};
use super::idle_time::IdleTimeSummary;
use super::lines::{LinesSummary, ParityState};
use super::lost_die::LostDieSummary;
use super::mapping::MappingSummary;
use super::placement::PlacementSummary;
use super::slc_cache::SlcCacheSummary;
use super::written::Written;

/// Counts by kind.
#[derive(Debug, Clone, Copy, Default, Checkpointed)]
pub struct Totals {
    /// Bytes read by the host.
    pub read_bytes: u64,
    /// Bytes written by the host.
    pub write_bytes: u64,
    /// Logical pages that these writes touched, each counted for every request.
    pub write_pages: u64,
    /// Trim requests.
    pub trims: u64,
    /// Bytes of them.
    pub trim_bytes: u64,
    /// Flush requests.
    pub flushes: u64,
    /// Requests that were not carried out; in no other count.
    pub rejected: Rejected,
    /// Requests that were simulated before their flows were measured; in no other count.
    pub of_ramp: u64,
    /// Completion of the last request.
    pub end: Instant,
}

impl Totals {
    /// Counts a request that was carried out, on a drive with pages of `page_size` bytes.
    pub(super) fn count(&mut self, request: &Request, page_size: u64) {
        let Request { operation, offset, length, .. } = *request;
        match operation {
            Operation::Read => self.read_bytes += length,
            Operation::Write => {
                self.write_bytes += length;
                self.write_pages += (offset + length).div_ceil(page_size) - offset / page_size;
            }
            Operation::Trim => {
                self.trims += 1;
                self.trim_bytes += length;
            }
            Operation::Flush => self.flushes += 1,
        }
    }
}

/// Erases of a block since the device was new, over all blocks.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
#[schemars(rename = "EraseCountSummary")]
pub struct WearStats {
    /// Mean.
    #[schemars(extend("page" = "Mean"))]
    pub mean: f64,
    /// Standard deviation.
    #[schemars(extend("page" = "Spread: {} (std. deviation)"))]
    pub stddev: f64,
    /// Fewest.
    #[schemars(extend("page" = "Least and most: {} and {max}"))]
    pub min: u32,
    /// Most.
    pub max: u32,
}

impl WearStats {
    /// Statistics of these erase counts.
    pub fn of(counts: impl Iterator<Item = u32> + Clone) -> Self {
        let blocks = counts.clone().count() as f64;
        let mean = counts.clone().map(f64::from).sum::<f64>() / blocks;
        let square = |count: u32| (f64::from(count) - mean).powi(2);
        Self {
            mean,
            min: counts.clone().min().unwrap_or(0),
            max: counts.clone().max().unwrap_or(0),
            stddev: (counts.map(square).sum::<f64>() / blocks).sqrt(),
        }
    }
}

/// Work of a drive, or of several together.
#[derive(Debug, Clone)]
pub struct DriveWork {
    /// Flash operations and collections.
    pub counters: Counters,
    /// Bytes that were written to them, and to their flash.
    pub written: Written,
    /// Bytes of a page, as pages are counted.
    pub page_bytes: u64,
    /// Die time spent collecting.
    pub collecting: TotalTime,
    /// Use of the planes' time.
    pub planes: PlaneUse,
    /// Use of idle time, if an account is kept.
    pub idle_times: Option<IdleTimes>,
    /// Erase counts.
    pub wear: WearStats,
    /// Wear by the run, if it is known how much the flash can bear.
    pub endurance: Option<Endurance>,
    /// Faults of the flash, and commands that were rejected for them, if there can be any.
    pub faults: Option<(FaultReport, Rejected)>,
    /// Quality of the placement's sorting, if it has several classes.
    pub sorting: Option<SortingReport>,
    /// Use of its cache of blocks in another cell mode, and the bytes of a page, if it has one.
    pub slc_cache: Option<(SlcState, u64)>,
    /// Counts of its lines, if it has any.
    pub lines: Option<LineTally>,
    /// Parity of these, if they have any.
    pub parity: Option<ParityState>,
    /// Report on a die that was lost, if one was to be.
    pub lost_die: Option<LostDieSummary>,
    /// Whether writes were charged steps of collections.
    pub is_paced: bool,
    /// Full blocks that the victim policy has refused for good, if it does such a thing.
    pub lost_victims: Option<u64>,
    /// Whether reads or time do anything to data.
    pub data_age: bool,
    /// Whether one of them had no power for some time.
    pub was_off: bool,
}

/// Work of drives since requests were measured.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DriveSummary {
    /// Bytes that the host wrote; of a drive of an array, bytes that the controller wrote to it.
    #[schemars(extend("line" = "{} by host, {media_bytes_written} to flash"))]
    pub host_bytes_written: u64,
    /// Bytes programmed into flash: whole pages, whatever is in them, those of moves, parity, padding, mapping and summary
    /// pages among them.
    #[schemars(extend("page" = "Bytes programmed"))]
    pub media_bytes_written: u64,
    /// Bytes programmed into flash for each that the host wrote, as SMART and NVMe count it; null if it wrote none.
    #[schemars(extend(
        "page" = "Write amplification: {:amplification}",
        "line" = "write amplification {:amplification}",
        "column" = "WA: {:factor}",
        "compared" = "less",
    ))]
    pub write_amplification: Option<f64>,
    /// Pages written to flash for each page written for the host, as theory and papers count it; null if there was none.
    #[schemars(extend("page" = "The same in pages: {:factor}"))]
    pub page_write_amplification: Option<f64>,
    /// Operations of the flash.
    pub flash: FlashSummary,
    /// Garbage collection.
    pub gc: GcSummary,
    /// Cost of the mapping, where its table lies in flash or it binds logical pages to blocks.
    pub mapping: MappingSummary,
    /// Use of idle time, if a schedule tells idle periods apart by length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_time: Option<IdleTimeSummary>,
    /// Quality of the placement's sorting, if it has several classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<PlacementSummary>,
    /// Use of the SLC cache, if the drive has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slc_cache: Option<SlcCacheSummary>,
    /// Counts of lines, if blocks are managed in lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<LinesSummary>,
    /// Report on a die that was lost, if one was to be (`ssd.faults.lost_die`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_die: Option<LostDieSummary>,
    /// Erases of blocks.
    pub wear: WearSummary,
    /// Lifetime of the flash, if `ssd.endurance.rated_cycles` is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endurance: Option<EnduranceSummary>,
    /// Faults of the flash, if there can be any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<FaultsSummary>,
}

/// Operations of the flash, in pages, those of erases in blocks.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FlashSummary {
    /// Pages read over the channel, for the host or to be moved.
    #[schemars(extend("page" = "Page reads"))]
    pub reads: u64,
    /// Pages programmed over the channel, for the host or moved.
    #[schemars(extend("page" = "Page programs"))]
    pub programs: u64,
    /// Pages moved with the copyback command.
    #[schemars(extend("page" = "Copybacks"))]
    pub copybacks: u64,
    /// Blocks erased.
    #[schemars(extend("page" = "Block erases", "column" = "erases", "compared" = "less"))]
    pub erases: u64,
    /// Read commands that joined several planes.
    pub multi_plane_reads: u64,
    /// Program commands that joined several planes.
    pub multi_plane_programs: u64,
    /// Erase commands that joined several planes.
    pub multi_plane_erases: u64,
    /// Pages programmed for the host.
    pub host_programs: u64,
    /// Units of mapping programmed with nothing in them, as a flush, a full buffer or an erase waited for the others of their
    /// page; among `programs`. Left out if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub padding: Option<u64>,
}

/// Erases of blocks.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WearSummary {
    /// Erases of a block since the device was new.
    pub erase_count: WearStats,
    /// Blocks emptied to level wear.
    #[schemars(extend("page" = "Levelling runs"))]
    pub levelling_runs: u64,
}

impl DriveWork {
    /// Summary of the work for `summary.json`.
    pub fn summary(&self) -> DriveSummary {
        let Self { counters, written, wear, .. } = self;
        DriveSummary {
            flash: flash(counters),
            host_bytes_written: written.host,
            media_bytes_written: written.media,
            write_amplification: written.amplification(),
            page_write_amplification: counters.page_write_amplification(),
            gc: GcSummary {
                pacing: self.is_paced.then(|| PacingSummary::of(counters)),
                lost_victims: self.lost_victims,
                refresh: self.data_age.then(|| RefreshSummary::of(counters)),
                ..GcSummary::of(counters, self.collecting, &self.planes)
            },
            mapping: MappingSummary::of(counters),
            idle_time: self.idle_times.as_ref().map(IdleTimeSummary::of),
            placement: self.sorting.as_ref().map(|report| PlacementSummary::of(report, *written)),
            slc_cache: self
                .slc_cache
                .as_ref()
                .map(|(state, page_bytes)| SlcCacheSummary::of(state, *page_bytes)),
            lines: self.lines.as_ref().map(|tally| LinesSummary::of(tally, self.parity, self)),
            lost_die: self.lost_die.clone(),
            wear: WearSummary { erase_count: *wear, levelling_runs: counters.levelling_runs },
            endurance: self.endurance.map(|endurance| endurance.summary(*written, counters, wear)),
            faults: self
                .faults
                .as_ref()
                .map(|(report, rejected)| FaultsSummary::of(report, rejected)),
        }
    }
}

fn flash(counters: &Counters) -> FlashSummary {
    FlashSummary {
        reads: counters.reads,
        programs: counters.programs,
        erases: counters.erases,
        copybacks: counters.copybacks,
        multi_plane_reads: counters.multi_plane_reads,
        multi_plane_programs: counters.multi_plane_programs,
        multi_plane_erases: counters.multi_plane_erases,
        host_programs: counters.host_programs,
        padding: (counters.padding > 0).then_some(counters.padding),
    }
}
