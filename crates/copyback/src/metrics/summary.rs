//! The summary of a run, as it is written to `summary.json`.

use serde_json::{Map, Value, json};

use crate::drive::Rejected;
use crate::ssd::{Counters, FaultReport, IdleTimes, Part, PlaneUse};
use crate::units::{Instant, TotalTime};
use crate::workload::{Operation, Request};

use super::flows::flows;
use super::{
    Amplification, Endurance, LatencyStats, Recorder, Responses, faults, idle_time, verdict,
};

/// Counts by kind.
#[derive(Debug, Clone, Copy, Default)]
pub struct Totals {
    /// Bytes read by the host.
    pub read_bytes: u64,
    /// Bytes written by the host.
    pub write_bytes: u64,
    /// Logical pages that these writes touched, each counted for every request.
    pub write_pages: u64,
    /// Trim requests.
    pub trims: u64,
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
            Operation::Trim => self.trims += 1,
            Operation::Flush => self.flushes += 1,
        }
    }
}

/// What the summary tells about wear.
#[derive(Debug, Clone, Copy, Default)]
pub struct WearStats {
    /// Mean number of erases of a block, since the device was new.
    pub mean: f64,
    /// Fewest.
    pub min: u32,
    /// Most.
    pub max: u32,
    /// Standard deviation over the blocks.
    pub stddev: f64,
}

impl WearStats {
    /// Of these erase counts.
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

/// What a drive has done, or several together.
#[derive(Debug, Clone)]
pub struct DeviceSummary {
    /// Flash operations and collections.
    pub counters: Counters,
    /// Die time spent collecting.
    pub collecting: TotalTime,
    /// How the planes' time was used.
    pub planes: PlaneUse,
    /// How idle time was used, if that is kept account of.
    pub idle_times: Option<IdleTimes>,
    /// Erase counts.
    pub wear: WearStats,
    /// What wears them out, if it is known how much they can bear.
    pub endurance: Option<Endurance>,
    /// What went wrong in the flash, and what was not carried out for that, if anything can.
    pub faults: Option<(FaultReport, Rejected)>,
    /// Whether one of them had no power for some time.
    pub was_off: bool,
}

impl DeviceSummary {
    /// Its keys in `summary.json`.
    pub fn put_into(&self, summary: &mut Map<String, Value>) {
        let Self { counters, collecting, planes, idle_times, wear, endurance, faults, was_off: _ } =
            self;
        let mut put = |key: &str, value: Value| summary.insert(key.into(), value);
        put("flash", flash(counters));
        put("write_amplification", json!(counters.write_amplification()));
        put("gc", gc(counters, *collecting, planes));
        put("mapping", mapping(counters));
        if let Some(times) = idle_times {
            put("idle_time", idle_time::summary(times));
        }
        put(
            "wear",
            json!({
                "erase_count": {
                    "mean": wear.mean, "min": wear.min, "max": wear.max, "stddev": wear.stddev,
                },
                "levelling_runs": counters.levelling_runs,
            }),
        );
        if let Some(endurance) = endurance {
            put("endurance", endurance.summary(counters, wear));
        }
        if let Some((report, rejected)) = faults {
            put("faults", faults::summary(report, rejected));
        }
    }
}

/// The part of the summary that the requests and the flash decide: everything but `schema`,
/// `version`, `config_digest`, `seed` and `simulator`.
pub fn summary(
    recorder: &Recorder,
    all: &DeviceSummary,
    dies_per_drive: usize,
) -> Map<String, Value> {
    let mut summary = Map::new();
    recorder.whole.put_into(&mut summary);
    summary["requests"]["unmapped_page_reads"] = json!(all.counters.unmapped_reads);
    summary["requests"]["trimmed_pages"] = json!(all.counters.trimmed);
    all.put_into(&mut summary);
    recorder.whole.put_breakdown_into(&mut summary);
    let spell = recorder.dies.longest_spell(dies_per_drive);
    let amplification = Amplification::of(&recorder.series.written());
    let drives = verdict::Drives { counters: &all.counters, amplification };
    let run = verdict::Run { spell: spell.as_ref(), was_off: all.was_off };
    let found = verdict::summary(&recorder.whole, run, Some(&drives));
    summary.insert("verdict".into(), found);
    if !recorder.flows.is_empty() {
        summary.insert("flows".into(), flows(&recorder.flows, &recorder.names, &all.counters, run));
    }
    summary
}

pub(super) fn responses(responses: &Responses) -> Value {
    responses.classes().into_iter().map(|(name, stats)| (name, latency(&stats))).collect()
}

pub(super) fn latency(stats: &LatencyStats) -> Value {
    let us = |ns: f64| ns / 1e3;
    let quantile = |q: f64| stats.quantile(q).map(|response| response.as_us_f64());
    json!({
        "count": stats.count(),
        "mean": stats.mean().map(us),
        "stddev": stats.variance().map(|variance| us(variance.sqrt())),
        "variance": stats.variance().map(|variance| variance / 1e6),
        "min": stats.min().map(|response| response.as_us_f64()),
        "max": stats.max().map(|response| response.as_us_f64()),
        "p50": quantile(0.50),
        "p90": quantile(0.90),
        "p95": quantile(0.95),
        "p99": quantile(0.99),
        "p99_9": quantile(0.999),
        "p99_99": quantile(0.9999),
    })
}

fn flash(counters: &Counters) -> Value {
    json!({
        "reads": counters.reads,
        "programs": counters.programs,
        "erases": counters.erases,
        "copybacks": counters.copybacks,
        "multi_plane_reads": counters.multi_plane_reads,
        "multi_plane_programs": counters.multi_plane_programs,
        "multi_plane_erases": counters.multi_plane_erases,
        "host_programs": counters.host_programs,
    })
}

fn gc(counters: &Counters, collecting: TotalTime, planes: &PlaneUse) -> Value {
    let per_collection =
        |pages: u64| (counters.collections > 0).then(|| pages as f64 / counters.collections as f64);
    let share = |time: TotalTime| {
        (!planes.whole.is_zero()).then(|| time.as_us_f64() / planes.whole.as_us_f64())
    };
    json!({
        "collections": counters.collections,
        "on_demand": counters.collections - counters.joined - counters.forced - counters.idle,
        "joined": counters.joined,
        "idle": counters.idle,
        "forced": counters.forced,
        "kinds": {
            "look_ahead": counters.look_ahead,
            "compaction": counters.compacted,
            "delayed": counters.delayed,
            "put_off": counters.put_off,
        },
        "pages_moved": counters.pages_moved,
        "pages_moved_per_collection": per_collection(counters.pages_moved),
        "moves": {
            "together": counters.moves.together,
            "paired": counters.moves.paired,
            "single_demanding": counters.moves.single_demanding,
            "single_other": counters.moves.single_other,
            "cached": counters.moves.cached,
        },
        "erases": counters.erases,
        "preemptions": counters.preemptions,
        "merged_reads": counters.merged_reads,
        "merged_writes": counters.merged_writes,
        "cached_reads": counters.cached_reads,
        "pipelined": counters.pipelined,
        "suspends": counters.suspends,
        "stalled_us": counters.stalled.as_us_f64(),
        "busy_us": collecting.as_us_f64(),
        "planes": { "busy_share": share(planes.busy), "idle_share": share(planes.idle) },
    })
}

/// How blocks were reclaimed, where logical pages are bound to blocks, and what it took to know where pages
/// are, where the mapping table lies in flash.
fn mapping(counters: &Counters) -> Value {
    json!({
        "hits": counters.mapping.hits,
        "misses": counters.mapping.misses,
        "hit_ratio": counters.mapping.hit_ratio(),
        "evictions": counters.mapping.evictions,
        "dirty_evictions": counters.mapping.dirty_evictions,
        "translation_reads": counters.mapping.reads,
        "translation_writes": counters.mapping.writes,
        "switch_merges": counters.merges.switch,
        "partial_merges": counters.merges.partial,
        "full_merges": counters.merges.full,
        "compactions": counters.merges.compactions,
        "nv_buffer": {
            "writes": counters.nv_buffer.writes,
            "full": counters.nv_buffer.full,
            "most_blocks": counters.nv_buffer.most_blocks,
            "merges": counters.merges.cleanings,
            "erases": counters.merges.buffer_erases,
        },
    })
}

/// Mean of each part, in microseconds; they add up to the mean response time.
pub(super) fn breakdown(stats: &LatencyStats) -> Value {
    Part::ALL.iter().map(|part| (part.name(), json!(stats.mean_part(*part) / 1e3))).collect()
}
