//! Does whoever looks on change nothing?

use serde_json::Value;

use super::summary;

/// The summary of a run, without what tells runs apart that are looked at: the digest of the configuration, which names those who
/// look, and how many events the simulator took.
fn comparable(settings: &[(&str, &str)]) -> Value {
    let mut summary = summary(include_str!("inputs/looked-at.toml"), settings);
    summary["config_digest"] = Value::Null;
    summary["simulator"]["events"] = Value::Null;
    summary
}

/// Lines with parity, dies that collect one after the other, a lost die, operations that may be suspended.
#[test]
fn to_look_at_every_operation_changes_no_figure() {
    let plain = comparable(&[]);
    for observers in [
        &[("metrics.slowest", "3")][..],
        &[("metrics.timeline", "{ from = \"0s\" }")],
        &[("metrics.slowest", "1"), ("metrics.timeline", "{ from = \"1ms\", to = \"2ms\" }")],
        &[("metrics.histogram_interval", "1ms"), ("metrics.interval", "1ms")],
    ] {
        assert_eq!(comparable(observers), plain, "{observers:?}");
    }
}
