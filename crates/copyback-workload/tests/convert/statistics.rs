//! Statistics of real traces, against the table that is kept with them.

use copyback_config::Loader;
use copyback_workload::AddressSpace;
use copyback_workload::Status;
use copyback_workload::statistics::Survey;
use serde_json::Value;

use crate::real::without_stray_lines;
use crate::support::{real_trace, repository};

fn survey(path: &std::path::Path, settings: &[(&str, &str)]) -> Value {
    let path = format!("{:?}", path.display().to_string());
    let mut loader = Loader::new()
        .set("workload", "{ type = \"synthetic\" }")
        .set("workload", &format!("{{ type = \"trace\", path = {path} }}"));
    for (key, value) in settings {
        loader = loader.set(key, value);
    }
    let config = loader.load().unwrap();
    let mut survey = Survey::new(&config, AddressSpace::UNLIMITED).unwrap();
    while survey.advance(1000).unwrap() == Status::Running {}
    assert_eq!(survey.fraction(), 1.0);
    serde_json::to_value(survey.summary()).unwrap()
}

/// Requests, seconds, read share in percent, mean KiB, sectors in millions, thousands of pages
/// touched and written; the numbers of the table are rounded.
type Row = (u64, f64, f64, f64, Option<f64>, Option<(f64, f64)>);

fn check(name: &str, format: Option<&str>, row: Row) {
    let Some(path) = real_trace(name) else { return };
    let settings: Vec<_> = format.map(|format| ("workload.format", format)).into_iter().collect();
    let found = survey(&path, &settings);
    let (requests, seconds, reads, mean_kib, sectors, pages) = row;
    let near = |key: &str, value: &Value, expected: f64, within: f64| {
        let value = value.as_f64().unwrap_or_else(|| panic!("{name}: {key}: {value}"));
        assert!((value - expected).abs() <= within, "{name}: {key}: {value}, not {expected}");
    };
    assert_eq!(found["requests"], requests, "{name}");
    near("seconds", &found["seconds"], seconds, if seconds < 1.0 { 0.001 } else { 1.0 });
    near("read share", &found["read_share"], reads / 100.0, 0.0051);
    near("mean size", &found["mean_bytes"], mean_kib * 1024.0, mean_kib * 30.0);
    if let Some(millions) = sectors {
        near("sectors", &found["sectors"], millions * 1e6, 0.6e6);
    }
    if let Some((touched, written)) = pages {
        let footprint = &found["footprint"];
        near("touched", &footprint["touched_pages"], touched * 1e3, 0.006 * touched * 1e3 + 500.0);
        near("written", &footprint["written_pages"], written * 1e3, 0.006 * written * 1e3 + 500.0);
    }
}

#[test]
fn agree_with_the_table() {
    let check_detected = |name, row| check(name, None, row);
    check_detected(
        "linux-mysql.load.gz",
        (80_794, 3600.0, 9.0, 14.3, Some(63.6), Some((143.0, 124.0))),
    );
    check_detected(
        "linux-webserver-2.load.gz",
        (269_007, 3601.0, 55.0, 17.0, Some(1511.0), Some((488.0, 80.0))),
    );
    check_detected(
        "hp-2003-hourly-77-disks.csv.gz",
        (43_000, 3699.0, 25.0, 15.5, Some(34.0), Some((59.0, 55.0))),
    );
    check_detected("ajw.1week.srt.gz", (44_519, 603_065.0, 29.3, 5.78, None, None));
    check_detected(
        "msr-hm_0-7016req-fragment.csv.gz",
        (7016, 148.0, 83.0, 11.8, Some(29.0), Some((13.5, 1.2))),
    );
    check_detected(
        "msr-rsrch_1.csv.gz",
        (13_780, 576_558.0, 0.3, 12.2, Some(374.0), Some((28.8, 28.8))),
    );
    check_detected(
        "msr-wdev_1.csv.gz",
        (1055, 595_003.0, 0.0, 5.1, Some(107.0), Some((0.369, 0.369))),
    );
    check_detected("Financial_mini.spc.gz", (949, 28.0, 19.0, 2.6, None, None));
    check_detected("fiu-home1-sample.blkparse.gz", (1000, 69.0, 0.0, 4.0, None, None));
    check_detected(
        "pixel6a-telegram_exec.csv.gz",
        (251_879, 7474.0, 10.0, 24.4, Some(250.0), Some((1020.0, 980.0))),
    );
    check_detected("pixel6a-telegram_precond.csv.gz", (5320, 1035.0, 0.0, 27.0, None, None));
    check_detected("nexus5-Installing.txt.gz", (17_952, 978.0, 2.0, 92.0, None, None));
    check_detected("nexus5-twitter.txt.gz", (13_807, 856.0, 12.0, 14.0, None, None));
    check_detected(
        "tencent-cbs-sample.csv.bz2",
        (50_000, 1.0, 49.0, 29.7, Some(3260.0), Some((335.0, 205.0))),
    );
    check_detected(
        "cloudPhysicsIO.vscsi.gz",
        (113_872, 7200.0, 41.0, 36.1, Some(65.0), Some((269.0, 209.0))),
    );
    check(
        "DTRS-300s.trace.gz",
        Some("dtrs"),
        (127_043, 300.0, 89.0, 55.3, Some(321.0), Some((1272.0, 184.0))),
    );
    let units = "{ type = \"disksim\", size_unit = \"4KiB\" }";
    check(
        "financial1-first-50k.trace.gz",
        Some(units),
        (50_000, 853.0, 58.0, 7.0, Some(1.0), Some((31.0, 8.9))),
    );
    check(
        "websearch1-first-50k.trace.gz",
        Some(units),
        (50_000, 129.0, 100.0, 15.1, Some(35.0), Some((185.0, 0.004))),
    );
    check(
        "ssdsim-example-fin1.ascii.gz",
        Some("ssdsim"),
        (10_000, 260.0, 41.0, 5.4, Some(1.0), Some((7.1, 3.6))),
    );
    check(
        "mqsim-tpcc-small.trace.gz",
        Some("mqsim"),
        (6999, 0.137, 63.0, 8.3, Some(455.0), Some((20.0, 7.9))),
    );
    check(
        "mqsim-wsrch-small.trace.gz",
        Some("mqsim"),
        (24_783, 60.0, 100.0, 15.1, Some(35.0), Some((92.0, 0.004))),
    );
    check(
        "iozone-100k.trace.gz",
        Some("disksim"),
        (100_000, 936.0, 0.0, 360.0, Some(33.7), Some((271.0, 271.0))),
    );
}

#[test]
fn discards_are_no_part_of_the_footprint() {
    let Some(scratch) = without_stray_lines("fillrandom10M.blkparse.txt.gz") else { return };
    let found = survey(&scratch.0, &[("workload.format", ISSUED)]);
    assert_eq!(found["requests"], 51_681 + 2054);
    assert_eq!(found["operations"]["trim"]["count"], 2054);
    let pages = found["footprint"]["written_pages"].as_f64().unwrap();
    assert!((pages - 518e3).abs() < 1e3, "{pages}");
}

const ISSUED: &str = "{ type = \"blkparse\", action = \"D\" }";

#[test]
fn both_copies_of_the_hp_trace_agree() {
    let (Some(binary), Some(text)) =
        (real_trace("hp-2003-hourly.03126.srt.bz2"), real_trace("hp-2003-hourly-77-disks.csv.gz"))
    else {
        return;
    };
    let (binary, text) = (survey(&binary, &[]), survey(&text, &[]));
    let mut other = Vec::new();
    for (key, value) in text.as_object().unwrap() {
        match value.as_object() {
            Some(parts) => other.extend(
                parts
                    .iter()
                    .filter(|(part, value)| &binary[key][part.as_str()] != *value)
                    .map(|(part, _)| format!("{key}.{part}")),
            ),
            None if &binary[key] != value => other.push(key.clone()),
            None => {}
        }
    }
    // In the text, twelve requests have changed places with others at the same microsecond, which
    // overwrite at other distances. The notes name the file.
    assert_eq!(other, ["curves.overwrite_distance_bytes", "format", "notes", "source"]);
}

#[test]
fn shaping_comes_first() {
    let path = repository().join("examples/linux-mysql.load.gz");
    let half = [("workload.time_scale", "0.5"), ("workload.limit", "1000")];
    let (shaped, plain) = (survey(&path, &half), survey(&path, &half[1..]));
    assert_eq!(shaped["requests"], 1000);
    let seconds = |told: &Value| told["seconds"].as_f64().unwrap();
    assert!((seconds(&shaped) - seconds(&plain) / 2.0).abs() < 1e-6);
}
