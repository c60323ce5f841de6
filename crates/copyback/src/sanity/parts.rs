//! Flows and drives, which add up to the run.

use serde_json::Value;

use super::{Checked, equal};

/// Counts of requests that flows have.
const OF_FLOWS: [&str; 9] = [
    "count",
    "reads",
    "writes",
    "trims",
    "flushes",
    "read_bytes",
    "write_bytes",
    "write_pages",
    "of_ramp",
];
/// Sections about the work of drives.
const OF_DRIVES: [&str; 9] = [
    "flash",
    "media_bytes_written",
    "gc",
    "mapping",
    "idle_time",
    "placement",
    "slc_cache",
    "lines",
    "faults",
];
/// Keys of what drives have or do that does not add up: shares and quotients, the most of anything, points in time, and requests,
/// of which each may be commands of several drives.
const NOT_ADDED: [&str; 19] = [
    "valid_share",
    "share",
    "busy_share",
    "idle_share",
    "hit_ratio",
    "pages_moved_per_collection",
    "steps_per_page",
    "write_amplification_without",
    "added_page_write_amplification",
    "block_life_pages",
    "page_life_pages",
    "most_blocks",
    "most_held_pages",
    "reclaim_unit_bytes",
    "host_bytes_written",
    "read_only_since_s",
    "rejected_writes",
    "rejected_trims",
    "rejected_flushes",
];

/// Checks the flows and the drives of a summary, if it has several.
pub fn check(summary: &Value) -> Checked {
    if let Some(Value::Array(flows)) = summary.get("flows") {
        OF_FLOWS.iter().try_for_each(|key| {
            add_up(&format!("/requests/{key}"), summary, &flows.iter().collect::<Vec<_>>())
        })?;
    }
    if let Some(Value::Array(drives)) = summary.get("devices") {
        OF_DRIVES.iter().try_for_each(|key| {
            add_up(&format!("/{key}"), summary, &drives.iter().collect::<Vec<_>>())
        })?;
    }
    Ok(())
}

/// Every number of `whole` at `path`, and below, is the sum of those of `parts` there.
fn add_up(path: &str, whole: &Value, parts: &[&Value]) -> Checked {
    let Some(found) = whole.pointer(path) else { return Ok(()) };
    match found {
        Value::Object(fields) => {
            let mut added = fields.keys().filter(|key| !NOT_ADDED.contains(&key.as_str()));
            added.try_for_each(|key| add_up(&format!("{path}/{key}"), whole, parts))
        }
        Value::Array(items) => {
            (0..items.len()).try_for_each(|item| add_up(&format!("{path}/{item}"), whole, parts))
        }
        Value::Number(number) => {
            let of_parts = parts.iter().filter_map(|part| super::number(part, path)).sum();
            let found = number.as_f64().unwrap_or(f64::NAN);
            equal(path, found, "that of all flows or drives", of_parts)
        }
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}
