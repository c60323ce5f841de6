//! Checks that a well-formed configuration makes physical sense. Every check reports; none stops at the first
//! fault.

mod array;
mod controller;
mod faults;
mod flows;
mod gc;
mod handles;
mod limits;
mod lines;
mod lost_die;
mod mapping;
mod mapping_unit;
mod placement;
mod power;
mod python;
mod rain;
mod slc_cache;
mod space;
mod steady;
mod synthetic;
mod workload;

use super::*;
use quantity::{Share, Size, Time};

/// Page numbers are stored off by one in 32 bits.
const PAGE_LIMIT: u128 = u32::MAX as u128;
/// More than any drive has; each is kept account of over time.
const MOST_DIES: u128 = 65_536;
const SMALLEST_PAGE: u64 = 512;
/// The sectors of a page are bits of one word.
const LARGEST_PAGE: u64 = 64 * SMALLEST_PAGE;
/// Pages of what is collected as one are counted in 16 bits.
const MOST_PAGES_OF_A_UNIT: u64 = u16::MAX as u64;
/// Shorter than what a flash does: rows would be kept of times in which nothing happens.
const SHORTEST_ROW: Time = Time::from_us(1);
/// HdrHistogram logs tell times in milliseconds.
const LOG_RESOLUTION_NS: u64 = 1_000_000;
/// Decimal shares are not exact in binary: counts this close to a whole number are that number.
const ROUNDING: f64 = 1e-4;

/// Scope of the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Everything.
    Whole,
    /// Each key for itself: some others could not be read, so what follows from several together
    /// would mislead.
    KeyByKey,
}

/// All faults of `config`, as key and problem. What is out of its bounds is told once, and nothing that
/// would follow from it.
pub(super) fn check(config: &Config, scope: Scope) -> Vec<(String, String)> {
    let mut faults = bounds::broken(config);
    let scope = if faults.is_empty() { scope } else { Scope::KeyByKey };
    let mut others = senseless(config, scope);
    let is_above = |key: &str, told: &str| {
        told.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    others.retain(|(key, _)| !faults.iter().any(|(told, _)| is_above(key, told)));
    faults.extend(others);
    if scope == Scope::Whole && faults.is_empty() {
        faults.extend(config.estimate().too_much());
    }
    faults
}

/// Faults of values that make no sense although they are within their bounds.
fn senseless(config: &Config, scope: Scope) -> Vec<(String, String)> {
    let mut faults = Report(Vec::new());
    let ssd = &config.ssd;
    geometry(&ssd.geometry, &mut faults);
    timing(ssd, &mut faults);
    shares(ssd, &mut faults);
    gc::check(ssd, &mut faults);
    mapping::check(ssd, &mut faults);
    mapping_unit::check(ssd, &mut faults);
    placement::check(config, &mut faults);
    buffer(ssd, &mut faults);
    controller::check(&ssd.controller, &mut faults);
    endurance(&ssd.endurance, &mut faults);
    power::check(&ssd.power, &ssd.geometry, &mut faults);
    power::companions(config, &mut faults);
    faults::check(ssd, &mut faults);
    slc_cache::check(ssd, &mut faults);
    lines::check(config, &mut faults);
    rain::check(ssd, &mut faults);
    lost_die::check(config, &mut faults);
    if scope == Scope::Whole && faults.0.is_empty() {
        thresholds(ssd, &mut faults);
    }
    if scope == Scope::Whole && faults.0.is_empty() {
        space::check(&config.ssd, &mut faults);
    }
    if scope == Scope::Whole && faults.0.is_empty() {
        array::space(config, &mut faults);
    }
    array::check(&config.array, &mut faults);
    host(&config.host, &mut faults);
    workload::check(&config.workload, &config.array, &mut faults);
    precondition(&config.precondition, &mut faults);
    steady::stop(config, &mut faults);
    metrics(&config.metrics, &mut faults);
    array::records(config, &mut faults);
    faults.0
}

impl Config {
    /// Pages that each drive offers: the physical pages (summary pages included) less the
    /// over-provisioned share, rounded down so that every plane has equally many.
    pub fn logical_pages(&self) -> u64 {
        self.ssd.logical_pages()
    }

    /// Bytes that each drive offers.
    pub fn device_bytes(&self) -> u64 {
        self.logical_pages() * self.ssd.managed_page_size().0
    }

    /// Most free blocks of a plane that is full of data.
    pub fn reserve_blocks(&self) -> u32 {
        self.ssd.reserve_blocks()
    }

    /// Bytes that the host sees.
    pub fn capacity_bytes(&self) -> u64 {
        self.array.capacity(self.device_bytes())
    }
}

impl Ssd {
    /// Pages that the host sees.
    pub(super) fn logical_pages(&self) -> u64 {
        self.logical_pages_per_plane() * self.managed_planes()
    }

    /// Logical pages that fall to each plane under a static allocation.
    fn logical_pages_per_plane(&self) -> u64 {
        let planes = self.managed_planes();
        let physical = planes * u64::from(self.geometry.blocks_per_plane) * self.pages_per_block();
        let exact = physical as f64 * (1.0 - self.ftl.over_provisioning.0);
        (exact + ROUNDING).floor() as u64 / planes
    }

    /// Logical pages that fall to a plane at most: where a plane is given whole groups of pages, some may have one
    /// more than others.
    fn most_logical_pages_of_a_plane(&self) -> u64 {
        let Some(blocks) = self.ftl.mapping.blocks_per_group() else {
            return self.logical_pages_per_plane();
        };
        let (planes, width) = (self.managed_planes(), self.stripe_width());
        let group = u64::from(blocks).saturating_mul(self.data_pages_per_block());
        let stripe = width.saturating_mul(group);
        let whole_groups = self.logical_pages() / stripe * width;
        let of_all = whole_groups / planes * group;
        if whole_groups.is_multiple_of(planes) {
            of_all + (self.logical_pages() % stripe).div_ceil(width)
        } else {
            of_all + group
        }
    }

    /// Pages of data that fall to a plane at most.
    fn most_pages_of_a_plane(&self) -> u64 {
        self.most_logical_pages_of_a_plane() + self.translation_pages_per_plane()
    }

    /// Translation pages that fall to each plane at most.
    fn translation_pages_per_plane(&self) -> u64 {
        self.translation_pages().div_ceil(self.managed_planes())
    }

    /// Free blocks of a plane that is full of data and has its open blocks: what over-provisioning
    /// reserves.
    fn reserve_blocks(&self) -> u32 {
        let pages = self.most_pages_of_a_plane();
        let data = self.blocks_that_hold(pages);
        let aside = self.open_blocks()
            + self.nv_buffer_blocks()
            + self.spare_blocks()
            + self.static_slc_blocks();
        let taken = data + u64::from(aside);
        u64::from(self.geometry.blocks_per_plane).saturating_sub(taken) as u32
    }

    /// Good blocks without which a plane cannot hold its logical pages beside the blocks that must be free,
    /// open, of a buffer or spare.
    pub fn blocks_needed_per_plane(&self) -> u32 {
        let pages = self.most_pages_of_a_plane();
        self.blocks_that_hold(pages) as u32 + self.blocks_without_data()
    }

    /// Blocks of each plane that hold so many pages of its data, the parity of these included.
    fn blocks_that_hold(&self, pages: u64) -> u64 {
        let all = self.dies();
        pages.saturating_mul(all).div_ceil(self.without_parity(all) * self.data_pages_per_block())
    }

    /// Blocks of a plane that hold none of its logical pages: free to the collections' goal, open, of a buffer,
    /// spare.
    fn blocks_without_data(&self) -> u32 {
        let (threshold, hysteresis) = self.least_goal();
        threshold
            + hysteresis
            + self.open_blocks()
            + self.nv_buffer_blocks()
            + self.spare_blocks()
            + self.static_slc_blocks()
    }

    /// Free blocks that collections must be able to reach, beside spare ones: a threshold, and beyond it.
    fn least_goal(&self) -> (u32, u32) {
        match self.gc.least_invalid == Share::default() {
            true => (self.soft_threshold(), self.gc.hysteresis_blocks),
            // Collections end where all victims are refused; only what the host needs must be within reach.
            false => (self.least_soft_threshold(), 0),
        }
    }

    /// Free blocks without which a collection cannot begin.
    fn blocks_to_begin_with(&self) -> u32 {
        1 + self.blocks_kept_for_collections()
    }

    /// The smallest soft threshold that makes sense beside the other settings.
    fn least_soft_threshold(&self) -> u32 {
        // The host opens no block below this. Where logical pages are bound to blocks, merges can be put
        // off above the soft threshold, too.
        let least_open = self.hard_threshold().max(self.blocks_to_begin_with());
        let delays = self.gc.idle.delays() && self.ftl.mapping.is_page_mapping();
        least_open + u32::from(delays)
    }

    /// Planes of the device that are managed apart.
    pub(super) fn managed_planes(&self) -> u64 {
        self.dies() * u64::from(self.managed_planes_per_die())
    }

    /// Dies of the device.
    pub(super) fn dies(&self) -> u64 {
        let Geometry { channels, chips_per_channel, dies_per_chip, .. } = self.geometry;
        [channels, chips_per_channel, dies_per_chip].into_iter().map(u64::from).product()
    }

    /// Pages of a block that hold data: all but a summary page.
    pub fn data_pages_per_block(&self) -> u64 {
        self.pages_per_block() - u64::from(self.ftl.summary_page != SummaryPage::None)
    }
}

struct Report(Vec<(String, String)>);

impl Report {
    fn add(&mut self, key: &str, problem: impl Into<String>) {
        self.0.push((key.into(), problem.into()));
    }

    fn share(&mut self, key: &str, share: Share) {
        if !(0.0..=1.0).contains(&share.0) {
            self.add(key, format!("found {share}; allowed: 0 to 1"));
        }
    }

    fn share_above_zero(&mut self, key: &str, share: Share, below_one: bool) {
        let ends = if below_one { share.0 < 1.0 } else { share.0 <= 1.0 };
        if !(share.0 > 0.0 && ends) {
            let limit = if below_one { "below 1" } else { "at most 1" };
            self.add(key, format!("found {share}; allowed: above 0 and {limit}"));
        }
    }
}

fn geometry(geometry: &Geometry, faults: &mut Report) {
    let product = |counts: &[u32]| counts.iter().map(|count| u128::from(*count)).product::<u128>();
    let dies = product(&[geometry.channels, geometry.chips_per_channel, geometry.dies_per_chip]);
    let of_die =
        product(&[geometry.planes_per_die, geometry.blocks_per_plane, geometry.pages_per_block]);
    // Two products of three numbers of 32 bits may have 192.
    let pages = dies.saturating_mul(of_die);
    if pages >= PAGE_LIMIT {
        let problem = format!("found {pages} pages in all; allowed: fewer than {PAGE_LIMIT}");
        faults.add("ssd.geometry", problem);
    } else if dies > MOST_DIES {
        let problem = format!("found {dies} dies in all; allowed: at most {MOST_DIES}");
        faults.add("ssd.geometry", problem);
    }
    page_size(geometry, faults);
}

fn page_size(geometry: &Geometry, faults: &mut Report) {
    let size = geometry.page_size;
    if !(size.0.is_power_of_two() && (SMALLEST_PAGE..=LARGEST_PAGE).contains(&size.0)) {
        let problem = format!("found {size}; allowed: a power of two from 512B to 32KiB");
        faults.add("ssd.geometry.page_size", problem);
    } else if geometry.spare_size > size {
        let found = geometry.spare_size;
        let problem = format!("found {found}; allowed: at most the page size of {size}");
        faults.add("ssd.geometry.spare_size", problem);
    }
}

fn timing(ssd: &Ssd, faults: &mut Report) {
    let pages = ssd.geometry.pages_per_block;
    for (key, latency) in
        [("ssd.timing.read", &ssd.timing.read), ("ssd.timing.program", &ssd.timing.program)]
    {
        let PageLatency::ByPageType(times) = latency else { continue };
        if times.is_empty() || times.len() > pages as usize {
            let found = times.len();
            let problem =
                format!("found a list of {found}; allowed: 1 to {pages}, the pages of a block");
            faults.add(key, problem);
        }
    }
}

fn shares(ssd: &Ssd, faults: &mut Report) {
    faults.share_above_zero("ssd.ftl.over_provisioning", ssd.ftl.over_provisioning, true);
    for (key, threshold) in [
        ("ssd.gc.soft_threshold", ssd.gc.soft_threshold),
        ("ssd.gc.hard_threshold", ssd.gc.hard_threshold),
    ] {
        if let FreeBlocks::Share(share) = threshold {
            faults.share_above_zero(key, share, false);
        }
    }
    if ssd.ftl.summary_page != SummaryPage::None && ssd.geometry.pages_per_block == 1 {
        let problem = "found a summary page in blocks of 1 page; allowed: 2 pages a block or more";
        faults.add("ssd.ftl.summary_page", problem);
    }
}

fn buffer(ssd: &Ssd, faults: &mut Report) {
    let buffer = &ssd.buffer;
    faults.share("ssd.buffer.high_watermark", buffer.high_watermark);
    faults.share("ssd.buffer.low_watermark", buffer.low_watermark);
    if buffer.low_watermark >= buffer.high_watermark {
        let (low, high) = (buffer.low_watermark, buffer.high_watermark);
        let problem = format!("found {low}; allowed: below the high watermark of {high}");
        faults.add("ssd.buffer.low_watermark", problem);
    }
    let (capacity, page) = (buffer.capacity, ssd.managed_page_size());
    if capacity != Size(0) && capacity < page {
        let what = match (ssd.ftl.mapping_unit, ssd.striped_planes()) {
            (None, planes @ 2..) => format!(" (all {planes} planes that are striped)"),
            _ => String::new(),
        };
        let problem = format!("found {capacity}; allowed: 0, or at least one page of {page}{what}");
        faults.add("ssd.buffer.capacity", problem);
    }
}

fn endurance(endurance: &Endurance, faults: &mut Report) {
    let years = endurance.warranty_years;
    if !(years.is_finite() && years > 0.0) {
        let problem = format!("found {years}; allowed: above 0");
        faults.add("ssd.endurance.warranty_years", problem);
    }
}

fn thresholds(ssd: &Ssd, faults: &mut Report) {
    let (soft, hard) = (ssd.soft_threshold(), ssd.hard_threshold());
    let least_soft = ssd.blocks_to_begin_with();
    for (key, count, least) in
        [("ssd.gc.soft_threshold", soft, least_soft), ("ssd.gc.hard_threshold", hard, 1)]
    {
        if count < least {
            faults.add(key, format!("found {count} blocks; allowed: at least {least}"));
        }
    }
    let least_open = hard.max(least_soft);
    if soft < ssd.least_soft_threshold() && soft >= least_open {
        let problem = format!(
            "found {soft} blocks, of which the host leaves {}: no collection can be put off \
             (ssd.gc.idle); allowed: at least {}",
            least_open - 1,
            least_open + 1
        );
        faults.add("ssd.gc.soft_threshold", problem);
    }
    if hard > soft {
        let problem = format!(
            "found {hard} blocks, above the soft threshold of {soft}; allowed: at most {soft}"
        );
        faults.add("ssd.gc.hard_threshold", problem);
    }
}

fn host(host: &Host, faults: &mut Report) {
    let deepest = match host.interface {
        Interface::Ncq => 32,
        Interface::Tcq => 256,
        Interface::Nvme => 65_536,
    };
    let depth = host.depth();
    if depth == 0 || depth > deepest {
        let problem = format!("found {depth}; allowed: 1 to {deepest} with this interface");
        faults.add("host.queue_depth", problem);
    }
    if host.queues > 1 && host.interface != Interface::Nvme {
        let problem = format!("found {}; allowed: 1, or interface = \"nvme\"", host.queues);
        faults.add("host.queues", problem);
    }
}

fn metrics(metrics: &Metrics, faults: &mut Report) {
    if let Some(interval) = metrics.interval.filter(|interval| *interval < SHORTEST_ROW) {
        let problem = format!("found {interval}; allowed: at least {SHORTEST_ROW}");
        faults.add("metrics.interval", problem);
    }
    for (key, time) in [
        ("metrics.bandwidth_window", metrics.bandwidth_window),
        ("metrics.worst_window", metrics.worst_window),
    ] {
        if time == Time::default() {
            faults.add(key, "found 0s; allowed: more than 0s");
        }
    }
    if let Some(interval) = metrics.histogram_interval
        && (interval == Time::default() || !interval.0.as_ns().is_multiple_of(LOG_RESOLUTION_NS))
    {
        let problem = format!("found {interval}; allowed: a multiple of 1ms");
        faults.add("metrics.histogram_interval", problem);
    }
    if let Some(Window { from, to: Some(to) }) = metrics.timeline
        && to <= from
    {
        let problem = format!("found {to}; allowed: later than from = \"{from}\"");
        faults.add("metrics.timeline.to", problem);
    }
}

fn precondition(precondition: &Precondition, faults: &mut Report) {
    faults.share("precondition.fill", precondition.fill);
    steady::overwrites(&precondition.overwrites, faults);
}
