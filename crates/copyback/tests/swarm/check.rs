//! What must hold of every run, whatever its configuration.

use std::fmt::Debug;

use copyback::config::{Config, Idle, Mapping, Preemption, Resolved};
use copyback::nand::{Timing, transfer_time};
use copyback::ssd::Part;
use copyback::units::Duration;
use copyback::workload::{Operation, Request};

use crate::closed_loops;
use crate::draw::Case;
use crate::flows;
use crate::measured;
use crate::run::{Outcome, prepared};
use crate::written;

/// Percentiles are at most this much high: the histogram has three digits.
const HISTOGRAM_ERROR: f64 = 1.001;

pub fn equal<T: PartialEq + Debug>(what: &str, found: &T, expected: &T) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}: found {found:?} instead of {expected:?}"))
}

pub fn holds(what: &str, condition: bool) -> Result<(), String> {
    if condition { Ok(()) } else { Err(what.to_owned()) }
}

pub fn close(what: &str, found: f64, expected: f64) -> Result<(), String> {
    let tolerance = 1e-9 * expected.abs().max(1.0);
    holds(&format!("{what}: {found}, not {expected}"), (found - expected).abs() <= tolerance)
}

impl Outcome {
    /// A whole number of the summary.
    pub fn number(&self, pointer: &str) -> u64 {
        let value = self.summary.pointer(pointer);
        value.and_then(serde_json::Value::as_u64).unwrap_or_else(|| panic!("no {pointer}"))
    }

    pub fn float(&self, pointer: &str) -> Option<f64> {
        self.summary.pointer(pointer).unwrap_or_else(|| panic!("no {pointer}")).as_f64()
    }

    /// Response times of a class, shortest first.
    pub fn responses(&self, of: &[u8]) -> Vec<u64> {
        let rows = self.requests.operation.iter().zip(&self.requests.response_ns);
        let mut responses: Vec<u64> =
            rows.filter(|(operation, _)| of.contains(operation)).map(|(_, ns)| *ns).collect();
        responses.sort_unstable();
        responses
    }

    pub fn series_sum(&self, name: &str) -> f64 {
        let column = self.series.iter().find(|(column, _)| *column == name);
        column.map_or(f64::NAN, |(_, values)| values.iter().sum())
    }
}

/// Checks a finished run.
pub fn check(case: &Case, outcome: &Outcome) -> Result<(), String> {
    every_request_completes_once(case, outcome)?;
    responses_add_up(outcome)?;
    responses_are_possible(case, outcome)?;
    classes_agree(outcome)?;
    series_agrees(outcome)?;
    measured::check(&case.config, outcome)?;
    flows::check(&case.config, outcome)?;
    closed_loops::check(&case.config, outcome)?;
    written::check(&case.config, outcome)?;
    flash_counters(&case.config, outcome)?;
    nothing_waits_for_collections(&case.config, outcome)?;
    host_operations(case, outcome)?;
    wear(&case.config, outcome)
}

/// Checks what holds of an array as of a drive.
pub fn check_array(case: &Case, outcome: &Outcome) -> Result<(), String> {
    every_request_completes_once(case, outcome)?;
    responses_add_up(outcome)?;
    classes_agree(outcome)?;
    series_agrees(outcome)?;
    flows::check(&case.config, outcome)?;
    closed_loops::check(&case.config, outcome)?;
    written::check(&case.config, outcome)?;
    measured::check(&case.config, outcome)
}

fn every_request_completes_once(case: &Case, outcome: &Outcome) -> Result<(), String> {
    let rows = &outcome.requests;
    let mut found: Vec<_> = (0..rows.len())
        .map(|row| {
            let is_untimed = case.flows[usize::from(rows.flow[row])].is_untimed;
            let arrival = if is_untimed { 0 } else { rows.arrival_ns[row] };
            (rows.flow[row], arrival, rows.operation[row], rows.offset[row], rows.bytes[row])
        })
        .collect();
    let row = |flow: usize, is_untimed: bool, request: &Request| {
        let arrival = if is_untimed { 0 } else { request.arrival.as_ns() };
        (flow as u16, arrival, request.operation as u8, request.offset, request.length)
    };
    let mut expected: Vec<_> = case
        .flows
        .iter()
        .enumerate()
        .flat_map(|(index, flow)| {
            flow.requests.iter().map(move |request| row(index, flow.is_untimed, request))
        })
        .collect();
    found.sort_unstable();
    expected.sort_unstable();
    equal("requests", &found.len(), &expected.len())?;
    match found.iter().zip(&expected).find(|(found, expected)| found != expected) {
        Some((found, expected)) => equal("a request", found, expected),
        None => Ok(()),
    }
}

pub fn responses_add_up(outcome: &Outcome) -> Result<(), String> {
    let rows = &outcome.requests;
    for row in 0..rows.len() {
        let parts: u64 = rows.parts_ns.iter().map(|part| part[row]).sum();
        equal("the parts of a response", &parts, &rows.response_ns[row])?;
    }
    let ends = rows.arrival_ns.iter().zip(&rows.response_ns).map(|(start, span)| start + span);
    holds("rows are in order of completion", ends.is_sorted())
}

/// The least that the link, the controller and the flash take.
struct Floor {
    config: Resolved,
    read: Duration,
    program: Duration,
    buffered: bool,
    /// Whether every page holds data all the time.
    always_mapped: bool,
}

impl Floor {
    fn new(case: &Case) -> Self {
        let config = case.config.resolve();
        let timing = Timing::new(&config);
        let pages = 0..config.drive.pages.per_block as u32;
        let units = config.drive.pages.per_program;
        let read = pages.clone().map(|offset| timing.read(offset)).min().unwrap_or_default();
        let program = pages.map(|offset| timing.program(offset)).min().unwrap_or_default();
        // A page may lie in either cell mode.
        let (read, program) = match timing.cache {
            Some(cache) => (read.min(cache.read), program.min(cache.program(0))),
            None => (read, program),
        };
        // A read may be served from a register, from DRAM that collections use, or from the array read before it.
        let short_cut = config.drive.pages.in_cache_of_width > 0 || merges(&config) || units > 1;
        Self {
            read: match short_cut {
                true => Duration::ZERO,
                false => timing.command + read + timing.page_transfer,
            },
            program: timing.command + timing.page_transfer + program,
            buffered: buffered(&config),
            always_mapped: always_mapped(case),
            config,
        }
    }

    fn response(&self, operation: u8, bytes: u64) -> Duration {
        let host = &self.config.host;
        let link = match operation {
            0 | 1 => host.link_overhead.0 + transfer_time(bytes, host.link_rate),
            _ => Duration::ZERO,
        };
        let flash = match operation {
            0 if self.always_mapped && !self.buffered => self.read,
            1 if !self.buffered => self.program,
            1 => self.config.ssd.buffer.latency.0,
            _ => Duration::ZERO,
        };
        host.command_overhead.0 + link + flash
    }
}

fn merges(config: &Config) -> bool {
    matches!(config.ssd.gc.preemption, Preemption::SemiPreemptive { merge: true, .. })
}

pub fn buffered(config: &Config) -> bool {
    config.ssd.buffer.capacity.0 > 0
}

fn always_mapped(case: &Case) -> bool {
    let mut requests = case.flows.iter().flat_map(|flow| &flow.requests);
    case.config.precondition.fill.0 == 1.0
        && case.config.precondition.addresses.is_uniform()
        && requests.all(|request| request.operation != Operation::Trim)
}

fn responses_are_possible(case: &Case, outcome: &Outcome) -> Result<(), String> {
    let floor = Floor::new(case);
    let always_fits = closed_loops::always_fit(&case.config);
    let rows = &outcome.requests;
    for row in 0..rows.len() {
        let least = floor.response(rows.operation[row], rows.bytes[row]).as_ns();
        let found = rows.response_ns[row];
        // What is lost takes no time, nor what is made up in DRAM.
        let is_lost = case.config.ssd.faults.lost_die.is_some() && rows.operation[row] == 0;
        let least = if is_lost { 0 } else { least };
        holds(&format!("row {row}: {found} ns, at least {least} are needed"), found >= least)?;
        let waited = rows.parts_ns[Part::HostQueue as usize][row];
        let fits = always_fits[usize::from(rows.flow[row])];
        holds("who fits into a queue does not wait for it", !fits || waited == 0)?;
    }
    Ok(())
}

/// Checks each class of response times that the summary has, and that it has those of all operations.
fn classes_agree(outcome: &Outcome) -> Result<(), String> {
    for (class, of) in [("all", &[0, 1][..]), ("read", &[0]), ("write", &[1])] {
        statistics_agree(class, &outcome.responses(of), outcome)?;
    }
    for (class, of) in [("trim", 2), ("flush", 3)] {
        let responses = outcome.responses(&[of]);
        let is_there = !outcome.summary["response_us"][class].is_null();
        equal(&format!("a class {class}"), &is_there, &!responses.is_empty())?;
        if is_there {
            statistics_agree(class, &responses, outcome)?;
        }
    }
    Ok(())
}

pub fn statistics_agree(class: &str, sorted: &[u64], outcome: &Outcome) -> Result<(), String> {
    let key = |name: &str| format!("/response_us/{class}/{name}");
    let count = sorted.len();
    equal(&key("count"), &outcome.number(&key("count")), &(count as u64))?;
    let distribution = outcome.distributions.iter().find(|(name, _)| *name == class);
    let points = distribution.map(|(_, points)| points.as_slice()).unwrap_or_default();
    holds("a distribution rises", points.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1))?;
    let (Some(min), Some(max)) = (sorted.first(), sorted.last()) else {
        return equal(&key("mean"), &outcome.float(&key("mean")), &None);
    };
    equal(&key("min"), &outcome.float(&key("min")), &Some(*min as f64 / 1e3))?;
    equal(&key("max"), &outcome.float(&key("max")), &Some(*max as f64 / 1e3))?;
    let mean = sorted.iter().map(|ns| u128::from(*ns)).sum::<u128>() as f64 / count as f64 / 1e3;
    close(&key("mean"), outcome.float(&key("mean")).unwrap_or(f64::NAN), mean)?;
    for (name, quantile) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99_99", 0.9999)] {
        let rank = (quantile * count as f64).ceil().max(1.0) as usize;
        let exact = sorted[rank - 1] as f64 / 1e3;
        let found = outcome.float(&key(name)).unwrap_or(f64::NAN);
        let fits = found >= exact && found <= exact * HISTOGRAM_ERROR + 0.001;
        holds(&format!("{}: {found}, exactly {exact}", key(name)), fits)?;
    }
    breakdown_adds_up(class, mean, outcome)?;
    let last = points.last().copied().unwrap_or_default();
    equal("the last point of a distribution", &last, &(*max as f64 / 1e3, 1.0))
}

fn breakdown_adds_up(class: &str, mean: f64, outcome: &Outcome) -> Result<(), String> {
    let key = match class {
        "all" => "/breakdown_us".to_owned(),
        _ => format!("/breakdown_by_class_us/{class}"),
    };
    let parts = Part::ALL.iter().map(|part| format!("{key}/{}", part.name()));
    let sum: f64 = parts.map(|part| outcome.float(&part).unwrap_or(f64::NAN)).sum();
    close(&key, sum, mean)
}

pub fn series_agrees(outcome: &Outcome) -> Result<(), String> {
    for (column, pointer) in [
        ("requests", "/requests/count"),
        ("reads", "/requests/reads"),
        ("writes", "/requests/writes"),
        ("read_bytes", "/requests/read_bytes"),
        ("write_bytes", "/requests/write_bytes"),
        ("host_programs", "/flash/host_programs"),
        ("gc_programs", "/gc/pages_moved"),
        ("erases", "/flash/erases"),
        ("collections", "/gc/collections"),
    ] {
        let found = outcome.series_sum(column);
        close(&format!("series {column}"), found, outcome.number(pointer) as f64)?;
    }
    let column = |name| outcome.series.iter().find(|(column, _)| *column == name);
    let (Some((_, starts)), Some((_, ends))) = (column("start_s"), column("end_s")) else {
        return Err("the series has no times".into());
    };
    // A run that takes no time at all has one row.
    let long = |(start, end): (&f64, &f64)| start < end || ends.len() == 1 && *end == 0.0;
    holds("rows of the series end after they start", starts.iter().zip(ends).all(long))?;
    let joined = starts.iter().skip(1).zip(ends).all(|(start, end)| start == end);
    holds("rows of the series follow one another", joined)
}

/// Pages of parity that were programmed: one for each stripe that became whole.
fn parity(config: &Config, outcome: &Outcome) -> Result<u64, String> {
    if !config.ssd.ftl.rain {
        return Ok(0);
    }
    let programs = outcome.number("/lines/parity/programs");
    let lost = |key: &str| outcome.summary["lost_die"][key].as_u64().unwrap_or(0);
    let data = outcome.number("/flash/host_programs")
        + outcome.number("/gc/pages_moved")
        + lost("pages_rebuilt");
    let shape = &config.ssd.geometry;
    // Stripes of lines that were open when the run began, or are now: hardly more than a drive is expected to have open.
    let lines = 4 * u64::from(config.resolve().drive.blocks.open * config.array.devices);
    let stripes = lines * u64::from(shape.planes_per_die * shape.pages_per_block);
    let (members, off) = (dies(config) - 1, stripes * (dies(config) - 1));
    // Without the die that is lost a stripe has a page less.
    let is_lost = outcome.summary["lost_die"]["lost_at_s"].is_number();
    let fewest = members - u64::from(is_lost);
    let line = fewest * u64::from(shape.planes_per_die * shape.pages_per_block);
    let unprotected = lost("unprotected_lines") * line;
    holds("a page of parity a stripe, at most", programs * fewest <= data + off)?;
    holds("a page of parity a stripe", programs * members + unprotected + off >= data)?;
    Ok(programs)
}

fn flash_counters(config: &Config, outcome: &Outcome) -> Result<(), String> {
    let flash = |name: &str| outcome.number(&format!("/flash/{name}"));
    let moved = outcome.number("/gc/pages_moved");
    let written = flash("host_programs")
        + outcome.number("/mapping/translation_writes")
        + parity(config, outcome)?
        + outcome.summary["flash"]["padding"].as_u64().unwrap_or(0)
        + outcome.summary["lost_die"]["pages_rebuilt"].as_u64().unwrap_or(0);
    let gc = &config.ssd.gc;
    if gc.copyback {
        let unparked = moved - flash("copybacks");
        let cached = outcome.number("/gc/moves/cached");
        holds("what is programmed from DRAM was put there", unparked <= cached)?;
        equal("programs", &flash("programs"), &(written + unparked))?;
    } else {
        equal("copybacks", &flash("copybacks"), &0)?;
        equal("programs", &flash("programs"), &(written + moved))?;
        holds("moved pages are read", flash("reads") >= moved)?;
    }
    if !config.ssd.commands.multi_plane {
        let joined = flash("multi_plane_reads") + flash("multi_plane_programs");
        equal("multi-plane commands", &joined, &0)?;
    }
    if gc.zero_cost {
        equal("busy time of free collections", &outcome.float("/gc/busy_us"), &Some(0.0))?;
    }
    let refreshed = ["read_reclaims", "refreshes"]
        .map(|key| outcome.summary["gc"]["refresh"][key].as_u64().unwrap_or(0));
    let emptied = outcome.number("/gc/collections")
        + outcome.number("/wear/levelling_runs")
        + refreshed.iter().sum::<u64>();
    // Every plane of a die may be collected.
    let planes = config.ssd.geometry.planes_per_die as u64 * dies(config);
    // A collection counts when it ends, its erase when it starts. A logical block that has all its pages
    // in a buffer has no block to be erased.
    let erases = flash("erases");
    let without = outcome.number("/mapping/nv_buffer/merges");
    holds(&format!("{erases} erases, {emptied} blocks emptied"), erases + without >= emptied)?;
    let most = (emptied + planes) * most_erases(config);
    holds(&format!("{erases} erases, {emptied} blocks emptied"), erases <= most)?;
    let group = config.ssd.ftl.mapping.blocks_per_group().unwrap_or(1);
    let most = (emptied + planes) * u64::from(group) * counted_pages_per_block(config);
    holds(&format!("{moved} pages moved, {emptied} blocks emptied"), moved <= most)?;
    kinds_of_merges(config, outcome, emptied)
}

/// Blocks that one collection of a plane erases at most.
fn most_erases(config: &Config) -> u64 {
    match config.ssd.ftl.mapping {
        mapping if mapping.is_page_mapping() => 1,
        // Update blocks are replaced as long as any is free.
        _ if config.ssd.gc.idle != Idle::None => config.ssd.geometry.blocks_per_plane.into(),
        Mapping::Superblock { data_blocks, update_blocks } => {
            u64::from(data_blocks + update_blocks)
        }
        _ => 2,
    }
}

/// Every collection is a merge where logical pages are bound to blocks, and its kind is that of the
/// mapping.
fn kinds_of_merges(config: &Config, outcome: &Outcome, emptied: u64) -> Result<(), String> {
    let count = |name: &str| outcome.number(&format!("/mapping/{name}"));
    let merged = count("switch_merges") + count("partial_merges") + count("full_merges");
    let cleaned = count("nv_buffer/merges") + count("nv_buffer/erases");
    let (expected, by_buffer) = match config.ssd.ftl.mapping {
        Mapping::LogBlock => ((emptied, 0), 0),
        Mapping::BufferedLogBlock { .. } => ((emptied - cleaned, 0), cleaned),
        Mapping::Superblock { .. } => ((0, emptied), 0),
        _ => ((0, 0), 0),
    };
    equal("merges", &(merged, count("compactions")), &expected)?;
    equal("collections of a buffer", &cleaned, &by_buffer)?;
    let blocks = u64::from(config.resolve().drive.blocks.buffer);
    holds("a buffer has so many blocks", count("nv_buffer/most_blocks") <= blocks)
}

/// Dies of a drive.
pub fn dies(config: &Config) -> u64 {
    config.resolve().drive.shape.dies
}

/// Whether no collection has taken any time.
fn undisturbed(config: &Config, outcome: &Outcome) -> bool {
    let emptied = outcome.number("/gc/pages_moved") + outcome.number("/flash/erases");
    // A page may have been read out that is not moved yet, unless one command does both.
    let gc = &config.ssd.gc;
    let one_command = gc.copyback && gc.preemption == Preemption::None && !gc.width.is_parallel();
    gc.zero_cost || one_command && emptied == 0
}

fn nothing_waits_for_collections(config: &Config, outcome: &Outcome) -> Result<(), String> {
    // Work of idle time that requests break off has moved nothing yet, and has taken some: nobody waits longer for it. Who
    // waits for those that did may.
    let is_broken_off = !config.ssd.gc.zero_cost && outcome.number("/gc/preemptions") > 0;
    let taken = (outcome.summary["gc"]["busy_us"].as_f64().unwrap_or(0.0) * 1e3).round() as u64;
    for part in [Part::GcSamePlane, Part::GcOtherPlane, Part::Late] {
        let most = match (is_broken_off, part) {
            (false, _) => 0,
            (true, Part::Late) => u64::MAX,
            (true, _) => taken,
        };
        let waits = &outcome.requests.parts_ns[part as usize];
        let longest = waits.iter().copied().max().unwrap_or(0);
        let fits = longest <= most || !undisturbed(config, outcome);
        holds(&format!("{longest} ns of {} without collections", part.name()), fits)?;
    }
    Ok(())
}

/// Pages that a request touches, and those of them that it covers only in part.
fn pages(request: &Request, page_size: u64) -> (u64, u64) {
    let end = request.offset + request.length;
    let pages = end.div_ceil(page_size) - request.offset / page_size;
    let whole = (end / page_size).saturating_sub(request.offset.div_ceil(page_size));
    (pages, pages - whole)
}

fn host_operations(case: &Case, outcome: &Outcome) -> Result<(), String> {
    let page_size = case.config.resolve().drive.pages.size.0;
    let counted = page_size / case.config.resolve().drive.pages.counted_size.0;
    let (mut reads, mut writes, mut partial) = (0, 0, 0);
    for request in case.flows.iter().flat_map(|flow| &flow.requests) {
        let (touched, in_part) = pages(request, page_size);
        match request.operation {
            Operation::Read => reads += touched,
            Operation::Write => {
                writes += touched;
                partial += in_part;
            }
            Operation::Trim | Operation::Flush => {}
        }
    }
    equal("pages that commands read", &outcome.number("/requests/page_reads"), &reads)?;
    let programs = outcome.number("/flash/host_programs");
    if buffered(&case.config) {
        return holds("the buffer merges writes", programs <= counted * writes);
    }
    equal("host programs", &programs, &(counted * writes))?;
    if case.config.resolve().drive.table.is_some() {
        let looked_up = outcome.number("/mapping/hits") + outcome.number("/mapping/misses");
        equal("mappings looked up", &looked_up, &(reads + writes))?;
    }
    let gc = &case.config.ssd.gc;
    if always_mapped(case) {
        let lost = |key: &str| outcome.summary["lost_die"][key].as_u64().unwrap_or(0);
        equal("reads of no page", &outcome.number("/requests/unmapped_page_reads"), &0)?;
        let elsewhere = outcome.number("/gc/merged_reads") + outcome.number("/gc/cached_reads");
        // A page of a lost die that is made up may need nothing but DRAM.
        let elsewhere = elsewhere + lost("degraded_reads");
        let all = outcome.number("/flash/reads") + counted * elsewhere;
        let moved = if gc.copyback { 0 } else { outcome.number("/gc/pages_moved") };
        // An update whose page is in DRAM reads nothing.
        let partial =
            if case.config.resolve().drive.pages.in_cache_of_width > 0 { 0 } else { partial };
        let least =
            counted * (reads + partial) + moved + outcome.number("/mapping/translation_reads");
        let is_whole = lost("pages_lost") == 0;
        holds("every page is read", all >= least || !is_whole)?;
        // A page that a timed collection has read out may not have been moved yet, or be in DRAM.
        let for_others = outcome.summary.pointer("/lines/parity/pages_read_for_others");
        let exact = (gc.copyback || gc.zero_cost)
            && case.config.resolve().drive.pages.in_cache_of_width == 0
            && for_others.and_then(|pages| pages.as_u64()).unwrap_or(0) == 0
            && lost("pages_read_to_rebuild") == 0;
        holds("no page is read twice", all == least || !exact)?;
    }
    Ok(())
}

fn wear(config: &Config, outcome: &Outcome) -> Result<(), String> {
    let devices = prepared(config);
    let device = &devices.devices()[0];
    let tally = device.tally();
    let before: u64 = device.ftl.blocks().erase_counts().map(u64::from).sum();
    equal("erases of the preparation", &before, &tally.erases)?;
    let blocks = device.ftl.geometry().blocks() as f64;
    let striped = u64::from(config.resolve().drive.shape.striped_planes);
    let mean = outcome.float("/wear/erase_count/mean").unwrap_or(f64::NAN);
    let after = (mean * blocks).round() as u64;
    let most = before + outcome.number("/flash/erases") / striped;
    let under_way = device.ftl.geometry().planes() as u64;
    holds(&format!("{after} erases in all, not {most}"), after <= most && after + under_way >= most)
}

/// Pages of a block of one plane, as they are counted.
fn counted_pages_per_block(config: &Config) -> u64 {
    let bytes = u64::from(config.ssd.geometry.pages_per_block) * config.ssd.geometry.page_size.0;
    bytes / config.resolve().drive.pages.counted_size.0
}
