//! Parts of a summary, of one flow in it or of one drive, that add up to a whole of it.

use serde_json::{Map, Value};

use super::{Checked, are_close, equal, holds, number};

/// A number, and those in the same object that add up to it.
const SUMS: [(&str, &[&str]); 2] =
    [("count", &["reads", "writes"]), ("collections", &["on_demand", "joined", "idle", "forced"])];
/// Response times of requests, or of commands, and where the mean of all of them went.
const BREAKDOWNS: [(&str, &str); 5] = [
    ("/response_us/all", "/breakdown_us"),
    ("/response_us/read", "/breakdown_by_class_us/read"),
    ("/response_us/write", "/breakdown_by_class_us/write"),
    ("/response_us/flush", "/breakdown_by_class_us/flush"),
    ("/service_us/all", "/service_breakdown_us"),
];
/// Numbers that are told twice.
const TWICE: [(&str, &str); 7] = [
    ("/requests/reads", "/response_us/read/count"),
    ("/requests/writes", "/response_us/write/count"),
    ("/requests/flushes", "/response_us/flush/count"),
    ("/requests/trims", "/response_us/trim/count"),
    ("/flash/erases", "/gc/erases"),
    ("/placement/fdp/host_bytes_written", "/host_bytes_written"),
    ("/placement/fdp/media_bytes_written", "/media_bytes_written"),
];

/// Checks the parts of `value` and of all that is in it.
pub fn check(path: &str, value: &Value) -> Checked {
    match value {
        Value::Object(fields) => {
            of_object(path, value)?;
            fields.iter().try_for_each(|(key, field)| check(&format!("{path}/{key}"), field))
        }
        Value::Array(items) => {
            let mut numbered = items.iter().enumerate();
            numbered.try_for_each(|(index, item)| check(&format!("{path}/{index}"), item))
        }
        _ => Ok(()),
    }
}

fn of_object(path: &str, value: &Value) -> Checked {
    fields_add_up(path, value)?;
    operations_add_up(path, value)?;
    breakdowns_add_up(path, value)?;
    bands_add_up(path, value)?;
    agree(path, value)?;
    idle_periods_add_up(path, value)?;
    amplification_is_a_quotient(path, value)?;
    rate_is_a_quotient(path, value)?;
    shares_are_all(path, value)?;
    classes_add_up_to_lines(path, value)?;
    joined_commands_have_several(path, value)?;
    unmapped_reads_are_reads(path, value)?;
    phases_add_up(path, value)
}

fn fields_add_up(path: &str, value: &Value) -> Checked {
    SUMS.iter().try_for_each(|(whole, parts)| {
        let Some(whole_is) = value.get(whole).and_then(Value::as_f64) else { return Ok(()) };
        let parts: Option<Vec<f64>> = parts.iter().map(|part| value.get(part)?.as_f64()).collect();
        let Some(parts) = parts else { return Ok(()) };
        equal(&format!("{path}/{whole}"), whole_is, "the sum of its parts", parts.iter().sum())
    })
}

/// Counts and totals of reads and of writes are those of all.
fn operations_add_up(path: &str, value: &Value) -> Checked {
    let count = |class: &str| number(value, &format!("/{class}/count"));
    let (Some(all), Some(reads), Some(writes)) = (count("all"), count("read"), count("write"))
    else {
        return Ok(());
    };
    equal(&format!("{path}/all/count"), all, "that of reads and writes", reads + writes)?;
    let mean = |class: &str| number(value, &format!("/{class}/mean")).unwrap_or(0.0);
    let parts = mean("read") * reads + mean("write") * writes;
    equal(&format!("{path}/all/mean"), mean("all") * all, "the total of reads and writes", parts)
}

fn breakdowns_add_up(path: &str, value: &Value) -> Checked {
    BREAKDOWNS.iter().try_for_each(|(times, parts)| {
        let Some(Value::Object(parts)) = value.pointer(parts) else { return Ok(()) };
        let Some(mean) = number(value, &format!("{times}/mean")) else { return Ok(()) };
        let sum = parts.values().filter_map(Value::as_f64).sum();
        equal(&format!("{path}{times}/mean"), mean, "the sum of its parts", sum)
    })
}

/// Bands from one percentile to the next hold each response of an operation once, and all of its time.
fn bands_add_up(path: &str, value: &Value) -> Checked {
    let pairs = [("/response_us", "/blame"), ("/service_us", "/service_blame")];
    pairs.iter().try_for_each(|(times, blame)| {
        let Some(Value::Object(classes)) = value.pointer(blame) else { return Ok(()) };
        classes.iter().try_for_each(|(class, bands)| {
            let of = |key: &str| number(value, &format!("{times}/{class}/{key}")).unwrap_or(0.0);
            let bands = bands.as_array().map(Vec::as_slice).unwrap_or_default();
            let counts = bands.iter().filter_map(|band| band["count"].as_u64()).sum::<u64>();
            equal(&format!("{path}{blame}/{class}"), counts as f64, "its requests", of("count"))?;
            let parts = bands.iter().filter_map(|band| band["time_ns"].as_object());
            let ns = parts.flat_map(Map::values).filter_map(Value::as_u64).sum::<u64>();
            let us = ns as f64 / 1e3;
            equal(&format!("{path}{blame}/{class}"), us, "their time", of("mean") * of("count"))
        })
    })
}

fn agree(path: &str, value: &Value) -> Checked {
    TWICE.iter().try_for_each(|(one, other)| {
        let (Some(found), Some(expected)) = (number(value, one), number(value, other)) else {
            return Ok(());
        };
        equal(&format!("{path}{one}"), found, &format!("{path}{other}"), expected)
    })
}

/// Classes of idle periods add up to all of them, and what dies did in each to its time, once a die.
fn idle_periods_add_up(path: &str, value: &Value) -> Checked {
    let Some(idle) = value.get("idle_time") else { return Ok(()) };
    let of = |class: &str, key: &str| number(idle, &format!("/{class}/{key}")).unwrap_or(f64::NAN);
    for key in ["periods", "us"] {
        let sum = ["unused", "short", "long"].map(|class| of(class, key)).iter().sum();
        equal(&format!("{path}/idle_time/all/{key}"), of("all", key), "that of its classes", sum)?;
    }
    let mut dies = None;
    ["all", "unused", "short", "long"].iter().try_for_each(|class| {
        let Some(Value::Object(uses)) = idle.pointer(&format!("/{class}/die_us")) else {
            return Ok(());
        };
        let (used, time): (f64, _) =
            (uses.values().filter_map(Value::as_f64).sum(), of(class, "us"));
        if time == 0.0 {
            return equal(&format!("{path}/idle_time/{class}/us"), time, "what dies did", used);
        }
        let dies = *dies.get_or_insert((used / time).round());
        equal(
            &format!("{path}/idle_time/{class}/die_us"),
            used,
            "its time, once a die",
            time * dies,
        )
    })
}

fn amplification_is_a_quotient(path: &str, value: &Value) -> Checked {
    let of = |key: &str| value.get(key).and_then(Value::as_f64);
    let (Some(found), Some(media), Some(host)) =
        (of("write_amplification"), of("media_bytes_written"), of("host_bytes_written"))
    else {
        return Ok(());
    };
    equal(&format!("{path}/write_amplification"), found * host, "media_bytes_written", media)
}

fn rate_is_a_quotient(path: &str, value: &Value) -> Checked {
    let (Some(iops), Some(count)) =
        (number(value, "/throughput/iops"), number(value, "/requests/count"))
    else {
        return Ok(());
    };
    let time =
        ["measured_s", "simulated_s"].map(|key| number(value, &format!("/throughput/{key}")));
    let seconds = time.into_iter().flatten().next().unwrap_or(f64::NAN);
    equal(&format!("{path}/throughput/iops"), iops * seconds, "the count of requests", count)
}

/// Some number of drives collects at any time.
fn shares_are_all(path: &str, value: &Value) -> Checked {
    let Some(Value::Array(shares)) = value.get("collecting_together") else { return Ok(()) };
    let sum: f64 = shares.iter().filter_map(Value::as_f64).sum();
    // No time has passed.
    let is_whole = sum == 0.0 || are_close(sum, 1.0);
    holds(is_whole, || {
        format!("{path}/collecting_together: its shares add up to {sum}, not to one")
    })
}

/// Checks that valid shares of the classes, weighted by their lines, are that of all lines, where all lines have as many pages.
fn classes_add_up_to_lines(path: &str, value: &Value) -> Checked {
    let Some(Value::Array(classes)) = value.pointer("/placement/classes") else { return Ok(()) };
    let Some(share) = number(value, "/lines/valid_share") else { return Ok(()) };
    if value.get("lost_die").is_some() {
        return Ok(());
    }
    let of = |class: &Value, key: &str| class.get(key).and_then(Value::as_f64).unwrap_or(0.0);
    let victims: f64 = classes.iter().map(|class| of(class, "victims")).sum();
    let valid = classes.iter().map(|class| of(class, "valid_share") * of(class, "victims"));
    equal(&format!("{path}/lines/valid_share"), share * victims, "that of all classes", valid.sum())
}

/// Commands that join planes are of two blocks or pages at least.
fn joined_commands_have_several(path: &str, value: &Value) -> Checked {
    let of = |key: &str| number(value, &format!("/flash/{key}"));
    // A copyback is counted as no program, though those of several planes may be one command.
    let kinds =
        if of("copybacks") == Some(0.0) { &["erases", "programs"][..] } else { &["erases"] };
    kinds.iter().try_for_each(|kind| {
        let (Some(joined), Some(all)) = (of(&format!("multi_plane_{kind}")), of(kind)) else {
            return Ok(());
        };
        holds(2.0 * joined <= all, || {
            format!("{path}/flash: {joined} commands that join planes, of only {all} {kind}")
        })
    })
}

/// Pages that hold no data are some of those that were read. At the end of a ramp, a read may wait that has been counted.
fn unmapped_reads_are_reads(path: &str, value: &Value) -> Checked {
    let of = |key: &str| number(value, &format!("/requests/{key}"));
    let (Some(unmapped), Some(all), None) =
        (of("unmapped_page_reads"), of("page_reads"), of("of_ramp"))
    else {
        return Ok(());
    };
    holds(unmapped <= all, || {
        format!("{path}/requests: {unmapped} unmapped pages, of only {all} that were read")
    })
}

/// Reads came before, while or after a lost die was rebuilt.
fn phases_add_up(path: &str, value: &Value) -> Checked {
    let Some(lost) = value.get("lost_die") else { return Ok(()) };
    let phases = ["before_us", "during_us", "after_us"];
    let sum = phases.iter().filter_map(|phase| number(lost, &format!("/{phase}/count"))).sum();
    let reads = number(value, "/response_us/read/count").unwrap_or(f64::NAN);
    equal(&format!("{path}/lost_die"), sum, "the count of reads", reads)
}
