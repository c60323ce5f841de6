//! The time in which drives have no command, as the summary tells it.

use serde_json::{Map, Value, json};

use crate::ssd::{Activity, IdlePeriods, IdleTimes};

/// The keys of `idle_time` in `summary.json`. Times of periods and `busy_us` are of drives: they add up
/// to the simulated time, once a drive. Those of `die_us` are of their dies: those of a class add up to
/// its `us`, once a die.
pub fn summary(times: &IdleTimes) -> Value {
    let IdleTimes { busy, unused, short, long } = times;
    let mut all = *unused;
    all += *short;
    all += *long;
    json!({
        "busy_us": busy.as_us_f64(),
        "all": periods(&all),
        "unused": periods(unused),
        "short": periods(short),
        "long": periods(long),
    })
}

fn periods(periods: &IdlePeriods) -> Value {
    let dies = Activity::ALL.into_iter();
    let dies =
        dies.map(|activity| (activity.name().into(), json!(periods.dies[activity].as_us_f64())));
    json!({
        "periods": periods.count,
        "us": periods.time.as_us_f64(),
        "die_us": dies.collect::<Map<String, Value>>(),
    })
}
