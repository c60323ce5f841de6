//! Numbers that are out of their range, by the key that they have anywhere in a summary.

use serde_json::{Map, Number, Value};

use super::{Checked, holds};

/// Counts and times beyond this have gone below zero, and wrapped. A run that uses its whole clock comes to as many nanoseconds.
const MOST: f64 = (1_u64 << 63) as f64;
/// Keys of numbers that any value may have.
const FREE: [&str; 2] = ["seed", "variance"];
/// Keys of numbers that may be below zero: trends.
const SIGNED: [&str; 2] = ["slope", "t"];
/// Keys of shares that do not end in "share".
const SHARES: [&str; 2] = ["hit_ratio", "collecting_together"];
/// Keys whose numbers, in one object, rise; or are parts of the next.
const RISING: [&[&str]; 8] = [
    &["min", "p50", "p90", "p95", "p99", "p99_9", "p99_99", "max"],
    &["min", "mean", "max", "total"],
    &["min_mib_per_s", "mean_mib_per_s", "max_mib_per_s"],
    &["measured_s", "simulated_s"],
    &["dirty_evictions", "evictions"],
    &["free_bytes", "capacity_bytes"],
    &["cuts_in_recovery", "cuts"],
    &["flushed_pages_lost", "buffered_pages_lost"],
];

/// Checks the numbers below `path`.
pub fn check(path: &str, value: &Value) -> Checked {
    match value {
        Value::Object(fields) => {
            rise(path, fields)?;
            fields.iter().try_for_each(|(key, field)| check(&format!("{path}/{key}"), field))
        }
        Value::Array(items) => {
            let mut numbered = items.iter().enumerate();
            numbered.try_for_each(|(index, item)| check(&format!("{path}/{index}"), item))
        }
        Value::Number(number) => is_possible(path, number),
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}

fn is_possible(path: &str, number: &Number) -> Checked {
    let key = key_of(path);
    if FREE.contains(&key) {
        return Ok(());
    }
    // A quotient may be of any size.
    let is_sum = !number.is_f64() || path.split('/').any(|key| key.ends_with("us"));
    let number = number.as_f64().unwrap_or(f64::NAN);
    let is_share = key.ends_with("share") || SHARES.contains(&key);
    holds(number < MOST || !is_sum, || format!("{path}: {number} is near 2^64, or beyond"))?;
    holds(number >= 0.0 || SIGNED.contains(&key), || format!("{path}: {number} is below zero"))?;
    holds(!is_share || number <= 1.0 + 1e-9, || format!("{path}: a share of {number} is above one"))
}

/// The last name of a path that is no number: that of a list for what is in it.
fn key_of(path: &str) -> &str {
    let is_name = |part: &&str| part.parse::<usize>().is_err();
    path.rsplit('/').find(is_name).unwrap_or_default()
}

fn rise(path: &str, fields: &Map<String, Value>) -> Checked {
    RISING.iter().try_for_each(|keys| {
        let known = keys.iter().filter_map(|key| Some((*key, fields.get(*key)?.as_f64()?)));
        let known: Vec<_> = known.collect();
        known.windows(2).try_for_each(|pair| {
            let ((lower, low), (higher, high)) = (pair[0], pair[1]);
            let is_rising = low <= high * (1.0 + 1e-9);
            holds(is_rising, || {
                format!("{path}: {lower} is {low}, above {higher}, which is {high}")
            })
        })
    })
}
