//! Does the audit see that a number of a summary cannot be?

use copyback::sanity::check;
use serde_json::Value;

use super::{number, summary};

const CLOSED_LOOP: &str =
    "{ type = \"synthetic\", requests = 200, iodepth = 4, read_share = 0.5, ramp = \"1ms\" }";

/// The summary of an array of two small drives with lines, classes, idle times and two flows.
fn array() -> Value {
    let flows = format!("{{ type = \"flows\", flows = [{CLOSED_LOOP}, {CLOSED_LOOP}] }}");
    let settings = [
        ("audit", "true"),
        ("array.layout", "raid0"),
        ("array.devices", "2"),
        ("ssd.geometry.channels", "2"),
        ("ssd.geometry.chips_per_channel", "1"),
        ("ssd.geometry.blocks_per_plane", "32"),
        ("ssd.geometry.pages_per_block", "8"),
        ("ssd.ftl.over_provisioning", "0.5"),
        ("ssd.ftl.allocation", "dynamic"),
        ("ssd.gc.unit", "line"),
        ("ssd.gc.copyback", "false"),
        ("metrics.idle_time", "true"),
        ("precondition", "{ fill = 1.0, overwrites = 1.0 }"),
        ("workload", &flows),
    ];
    summary("", &settings)
}

#[test]
fn a_number_that_cannot_be_is_named() {
    let summary = array();
    assert_eq!(check(&summary), Ok(()));
    let more = |pointer: &str, by: f64| Value::from(number(&summary, pointer) + by);
    let count = |pointer: &str| {
        let count = summary.pointer(pointer).and_then(Value::as_u64);
        Value::from(count.unwrap_or_else(|| panic!("no {pointer}")) + 1)
    };
    for (pointer, changed) in [
        ("/placement/classes/0/valid_share", Value::from(1.2)),
        ("/gc/planes/busy_share", Value::from(1.01)),
        ("/idle_time/short/periods", Value::from(u64::MAX)),
        ("/idle_time/short/us", Value::from(3.4e35)),
        ("/gc/stalled_us", Value::from(-1.0)),
        ("/response_us/all/p90", more("/response_us/all/p99", 1.0)),
        ("/wear/erase_count/mean", more("/wear/erase_count/max", 0.1)),
        ("/requests/reads", count("/requests/reads")),
        ("/gc/joined", count("/gc/joined")),
        ("/response_us/read/mean", more("/response_us/read/mean", 0.1)),
        ("/breakdown_us/bus", more("/breakdown_us/bus", 0.1)),
        ("/breakdown_by_class_us/write/bus", more("/breakdown_by_class_us/write/bus", 0.1)),
        ("/idle_time/long/us", more("/idle_time/long/us", 1.0)),
        ("/idle_time/all/die_us/nothing", more("/idle_time/all/die_us/nothing", 1.0)),
        ("/write_amplification", more("/write_amplification", 0.1)),
        ("/throughput/iops", more("/throughput/iops", 1.0)),
        ("/collecting_together/0", more("/collecting_together/0", -0.1)),
        ("/lines/valid_share", more("/lines/valid_share", -0.01)),
        ("/flows/0/requests/write_bytes", count("/flows/0/requests/write_bytes")),
        ("/devices/0/flash/programs", count("/devices/0/flash/programs")),
        ("/devices/1/gc/busy_us", more("/devices/1/gc/busy_us", 1.0)),
    ] {
        let mut wrong = summary.clone();
        *wrong.pointer_mut(pointer).expect("it is there") = changed;
        assert!(check(&wrong).is_err(), "{pointer}");
    }
}
