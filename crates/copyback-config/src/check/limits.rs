//! Checks of a closed loop's rate, and of the distance between its requests.

use super::synthetic::times;
use super::*;
use quantity::Rate;

/// The faults of the keys that bound and order the requests of the generator at `key`.
pub(super) fn check(key: &str, workload: &SyntheticWorkload, faults: &mut Report) {
    let key_of = |name: &str| format!("{key}.{name}");
    if workload.rate != RateLimit::None && workload.iodepth.is_none() {
        let problem = "found a limit of an open loop, whose arrivals are set by inter_arrival; \
                       allowed: with iodepth";
        faults.add(&key_of("rate"), problem);
    }
    rate(&key_of("rate"), &workload.rate, false, faults);
    skip(&key_of("sequential_skip"), workload.sequential_skip, faults);
    if let Some(size) = workload.size_alignment {
        sectors(&key_of("size_alignment"), size, faults);
    }
    if workload.io_size == Some(Size(0)) {
        faults.add(&key_of("io_size"), "found 0B; allowed: 1B or more");
    }
    thinktime(&key_of("thinktime"), workload, faults);
}

fn thinktime(key: &str, workload: &SyntheticWorkload, faults: &mut Report) {
    let ThinkTime::Pause { time, .. } = workload.thinktime else { return };
    if workload.iodepth.is_none() {
        let problem = "found pauses in an open loop, whose arrivals are set by inter_arrival; \
                       allowed: \"none\", or iodepth";
        faults.add(key, problem);
    }
    if time == Time::default() {
        faults.add(&format!("{key}.time"), "found 0s; allowed: more than 0s");
    }
}

fn rate(key: &str, limit: &RateLimit, is_part: bool, faults: &mut Report) {
    match limit {
        RateLimit::None if is_part => {
            let problem = "found \"none\" for one of both; allowed: a limit of reads and one of \
                           the others";
            faults.add(key, problem);
        }
        RateLimit::None => {}
        RateLimit::Requests { gap } => times(&format!("{key}.gap"), gap, faults),
        RateLimit::Bytes { per_second: Rate::None } => {
            let problem = "found \"none\"; allowed: a rate such as \"100MB/s\"";
            faults.add(&format!("{key}.per_second"), problem);
        }
        RateLimit::Bytes { .. } => {}
        RateLimit::ByOperation { .. } if is_part => {
            faults.add(key, "found by_operation again; allowed: a limit of requests or bytes");
        }
        RateLimit::ByOperation { read, write } => {
            for (name, part) in [("read", read), ("write", write)] {
                rate(&format!("{key}.{name}"), part, true, faults);
            }
        }
    }
}

fn skip(key: &str, skip: Skip, faults: &mut Report) {
    let (bytes, every) = match skip {
        Skip::None => return,
        Skip::Forward { bytes, every } => (bytes, every),
        Skip::Backward { bytes } => (bytes, None),
    };
    sectors(&format!("{key}.bytes"), bytes, faults);
    if let Some(every) = every {
        sectors(&format!("{key}.every"), every, faults);
    }
}

fn sectors(key: &str, size: Size, faults: &mut Report) {
    if size == Size(0) || !size.0.is_multiple_of(SMALLEST_PAGE) {
        faults.add(key, format!("found {size}; allowed: a multiple of 512B"));
    }
}
