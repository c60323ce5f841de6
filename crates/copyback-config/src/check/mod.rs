//! Checks that a well-formed configuration makes physical sense. Every check reports; none stops at the first
//! fault.

mod array;
mod consistency;
mod controller;
mod failures;
mod faults;
mod flows;
mod gc;
mod handles;
mod limits;
mod lines;
mod lost_die;
mod mapping;
mod mapping_unit;
mod mean_field;
mod mirrors;
mod placement;
mod power;
mod precondition;
mod python;
mod rain;
mod reads_around;
mod slc_cache;
mod slow_drives;
mod space;
mod steady;
mod synthetic;
mod windows;
mod workload;

use super::*;
use quantity::{Rate, Share, Size, Time};
use resolved::{ROUNDING, Thresholds};

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
    let config = &config.resolve();
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
fn senseless(config: &Resolved, scope: Scope) -> Vec<(String, String)> {
    let mut faults = Report(Vec::new());
    let ssd = &config.ssd;
    geometry(&ssd.geometry, &mut faults);
    timing(ssd, &mut faults);
    shares(ssd, &mut faults);
    gc::check(config, &mut faults);
    mapping::check(config, &mut faults);
    mapping_unit::check(config, &mut faults);
    placement::check(config, &mut faults);
    buffer(config, &mut faults);
    controller::check(&ssd.controller, &mut faults);
    endurance(&ssd.endurance, &mut faults);
    power::check(&ssd.power, &ssd.geometry, &mut faults);
    power::companions(config, &mut faults);
    consistency::check(config, &mut faults);
    faults::check(ssd, &mut faults);
    slc_cache::check(config, &mut faults);
    lines::check(config, &mut faults);
    rain::check(config, &mut faults);
    lost_die::check(config, &mut faults);
    if scope == Scope::Whole && faults.0.is_empty() {
        thresholds(&config.drive.thresholds, &mut faults);
    }
    if scope == Scope::Whole && faults.0.is_empty() {
        space::check(config, &mut faults);
    }
    if scope == Scope::Whole && faults.0.is_empty() {
        array::space(config, &mut faults);
    }
    if scope == Scope::Whole && faults.0.is_empty() {
        mean_field::space(config, &mut faults);
    }
    array::check(&config.array, &mut faults);
    host(&config.host, &mut faults);
    workload::check(&config.workload, &config.array, &mut faults);
    precondition::check(config, &mut faults);
    mean_field::check(config, &mut faults);
    steady::stop(config, &mut faults);
    metrics(&config.metrics, &mut faults);
    array::records(config, &mut faults);
    failures::against_flash(config, &mut faults);
    faults.0
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

fn buffer(config: &Resolved, faults: &mut Report) {
    let (buffer, drive) = (&config.ssd.buffer, &config.drive);
    faults.share("ssd.buffer.high_watermark", buffer.high_watermark);
    faults.share("ssd.buffer.low_watermark", buffer.low_watermark);
    if buffer.low_watermark >= buffer.high_watermark {
        let (low, high) = (buffer.low_watermark, buffer.high_watermark);
        let problem = format!("found {low}; allowed: below the high watermark of {high}");
        faults.add("ssd.buffer.low_watermark", problem);
    }
    let (capacity, page) = (buffer.capacity, drive.pages.size);
    if capacity != Size(0) && capacity < page {
        let what = match (config.ssd.ftl.mapping_unit, drive.shape.striped_planes) {
            (None, planes @ 2..) => format!(" (all {planes} planes that are striped)"),
            _ => String::new(),
        };
        let problem = format!("found {capacity}; allowed: 0, or at least one page of {page}{what}");
        faults.add("ssd.buffer.capacity", problem);
    }
    throttle(config, faults);
}

fn throttle(config: &Resolved, faults: &mut Report) {
    let page = config.drive.pages.size;
    let name = match config.ssd.buffer.throttle {
        Throttle::None => return,
        Throttle::Tokens { burst, share } => {
            if burst < page {
                let problem = format!("found {burst}; allowed: at least one page of {page}");
                faults.add("ssd.buffer.throttle.burst", problem);
            }
            throttle_share(share, faults);
            "tokens"
        }
        Throttle::SetRate { rate } => {
            if rate == Rate::None {
                faults.add("ssd.buffer.throttle.rate", "found none; allowed: bytes a second");
            }
            throttle_rate("ssd.buffer.throttle.rate", rate, page, faults);
            "a rate"
        }
        Throttle::RecentRate { share, least, window } => {
            throttle_rate("ssd.buffer.throttle.least", least, page, faults);
            throttle_share(share, faults);
            if window.0.is_zero() {
                faults.add("ssd.buffer.throttle.window", "found 0s; allowed: above 0");
            }
            "a rate"
        }
    };
    let key = "ssd.buffer.throttle";
    if config.ssd.buffer.capacity == Size(0) {
        faults.add(key, format!("found {name} without a buffer; allowed: a capacity, or \"none\""));
    }
    if config.drive.slc.is_some() {
        faults.add(key, format!("found {name} with an SLC cache; allowed: \"none\""));
    }
}

fn throttle_rate(key: &str, rate: Rate, page: Size, faults: &mut Report) {
    if matches!(rate, Rate::BytesPerSecond(bytes) if bytes < page.0) {
        let problem = format!("found {rate}; allowed: at least one page of {page} a second");
        faults.add(key, problem);
    }
}

fn throttle_share(share: Share, faults: &mut Report) {
    if !(0.001..=1.0).contains(&share.0) {
        let problem = format!("found {share}; allowed: 0.001 to 1");
        faults.add("ssd.buffer.throttle.share", problem);
    }
}

fn endurance(endurance: &Endurance, faults: &mut Report) {
    let years = endurance.warranty_years;
    if !(years.is_finite() && years > 0.0) {
        let problem = format!("found {years}; allowed: above 0");
        faults.add("ssd.endurance.warranty_years", problem);
    }
}

fn thresholds(thresholds: &Thresholds, faults: &mut Report) {
    let Thresholds { soft, hard, kept_for_collections, .. } = *thresholds;
    let least_soft = 1 + kept_for_collections;
    for (key, count, least) in
        [("ssd.gc.soft_threshold", soft, least_soft), ("ssd.gc.hard_threshold", hard, 1)]
    {
        if count < least {
            faults.add(key, format!("found {count} blocks; allowed: at least {least}"));
        }
    }
    let least_open = hard.max(least_soft);
    if soft < thresholds.least_soft && soft >= least_open {
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
    if host.command_slots.is_some() {
        if host.queue_depth.is_some() {
            faults.add("host.command_slots", "found beside host.queue_depth; allowed: one of them");
        } else if host.interface != Interface::Nvme {
            let problem =
                "found with this interface; allowed: queue_depth, or interface = \"nvme\"";
            faults.add("host.command_slots", problem);
        }
    }
    faults.share("host.low_watermark", host.low_watermark);
    if !host.low_watermark.is_all() && host.command_slots.is_none() {
        let problem = format!("found {}; allowed: 1, or host.command_slots", host.low_watermark);
        faults.add("host.low_watermark", problem);
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
