//! When flows start, and how long they last.

use super::*;

/// The faults of the keys that say when `flow`, which comes at `index` of `flows`, runs.
pub(super) fn check(key: &str, index: usize, flows: &[Flow], faults: &mut Report) {
    let flow = &flows[index];
    if flow.duration() == Some(Time::default()) {
        faults.add(&format!("{key}.duration"), "found 0s; allowed: more than 0s");
    } else if let Some(duration) = flow.duration().filter(|duration| *duration <= flow.ramp()) {
        let problem = format!("found {}; allowed: less than the duration, {duration}", flow.ramp());
        faults.add(&format!("{key}.ramp"), problem);
    }
    let key = format!("{key}.starts_after");
    for awaited in flow.starts_after().iter().map(|awaited| usize::from(*awaited)) {
        if awaited >= index {
            let allowed = match index {
                0 => "none, as no flow comes before this one".to_owned(),
                _ => format!("the numbers of flows before this one, 0 to {}", index - 1),
            };
            faults.add(&key, format!("found {awaited}; allowed: {allowed}"));
        } else if flows[awaited].is_endless() {
            let problem = format!(
                "found {awaited}, a flow without end; allowed: flows with a number of requests, an \
                 io_size or a duration"
            );
            faults.add(&key, problem);
        }
    }
}
