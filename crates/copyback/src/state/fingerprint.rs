//! Fingerprint of prepared devices.

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_128;

use crate::config::{FlashFaults, Flow, LineErase, MoveOrder, Overwritten, Resolved};
use crate::workload::{InputError, trace};

/// Digest of every setting that decides what prepared devices look like: runs that share it may
/// start from the same saved ones.
///
/// # Errors
/// If the devices are prepared with a trace that can't be read.
pub fn fingerprint(config: &Resolved) -> Result<String, InputError> {
    let gc = &config.ssd.gc;
    // Nothing is lost while a drive is prepared.
    let faults = &FlashFaults { lost_die: None, ..config.ssd.faults.clone() };
    // Spares are empty, as lost drives are.
    let array = &config.array;
    let empty: Vec<_> = array.failed.iter().copied().chain(array.devices..array.drives()).collect();
    let mut decisive = serde_json::json!([
        config.seed,
        config.ssd.geometry,
        config.drive.shape.striped_planes,
        config.drive.thresholds.kept_for_collections,
        config.ssd.ftl,
        config.ssd.wear,
        gc.victim,
        gc.soft_threshold,
        gc.hard_threshold,
        gc.hysteresis_blocks,
        gc.threshold_scope,
        gc.threshold_unit,
        gc.invalid_threshold,
        config.precondition,
        config.array.drives(),
        empty,
        faults,
        // They decide nothing of perfect flash.
        config.ssd.endurance.rated_cycles.filter(|_| !faults.are_none()),
    ]);
    if let Some(decisive) = decisive.as_array_mut()
        && config.drive.slc.is_some()
    {
        decisive.push(serde_json::json!(config.ssd.slc_cache));
    }
    if let Some(decisive) = decisive.as_array_mut()
        && config.ssd.gc.has_lines()
    {
        decisive.push(serde_json::json!(config.ssd.gc.unit));
        if config.ssd.gc.line_erase != LineErase::default() {
            decisive.push(serde_json::json!(config.ssd.gc.line_erase));
        }
    }
    if let Some(decisive) = decisive.as_array_mut()
        && gc.move_order != MoveOrder::AsWritten
    {
        decisive.push(serde_json::json!(gc.move_order));
    }
    if let Some(decisive) = decisive.as_array_mut()
        && config.precondition.addresses == Overwritten::Workload
    {
        let flows = config.workload.flows();
        decisive.push(flows.iter().map(identity).collect::<Result<_, _>>()?);
        decisive.push(serde_json::json!([config.array.layout, config.array.stripe]));
    }
    Ok(format!("{:032x}", xxh3_128(decisive.to_string().as_bytes())))
}

/// All that decides which pages a flow writes to prepare a drive. A trace is known by its content, wherever it lies.
fn identity(flow: &Flow) -> Result<Value, InputError> {
    let digest = match flow {
        Flow::Trace(trace) => Some(trace::digest(trace)?),
        Flow::Synthetic(_) => None,
    };
    let mut flow = serde_json::json!(flow.without_end());
    if let (Some(digest), Some(trace)) = (digest, flow.as_object_mut()) {
        trace.insert("path".to_owned(), format!("{digest:032x}").into());
    }
    Ok(flow)
}
