//! Checks of `[ssd.faults]`.

use super::*;

/// Times that a page may be read again: read-retry tables have far fewer entries.
const MOST_LEVELS: u32 = 64;

/// The faults of `ssd.faults`, and what it needs beside it.
pub(super) fn check(ssd: &Ssd, faults: &mut Report) {
    let flash = &ssd.faults;
    for (name, share) in [
        ("factory_bad_blocks", flash.factory_bad_blocks),
        ("program_failures", flash.program_failures),
        ("erase_failures", flash.erase_failures),
        ("read_errors", flash.read_errors),
        ("worn_read_errors", flash.worn_read_errors.unwrap_or(Share(0.0))),
        ("retry_failures", flash.retry_failures),
        ("endurance_spread", flash.endurance_spread.unwrap_or(Share(0.0))),
    ] {
        faults.share(&format!("ssd.faults.{name}"), share);
    }
    what_grows(ssd, faults);
    if flash.retry_levels > MOST_LEVELS {
        let problem = format!("found {}; allowed: at most {MOST_LEVELS}", flash.retry_levels);
        faults.add("ssd.faults.retry_levels", problem);
    }
    let of_rated_cycles = [
        ("endurance_spread", flash.endurance_spread.is_some()),
        ("worn_read_errors", flash.worn_read_errors.is_some()),
    ];
    for (name, is_given) in of_rated_cycles {
        if is_given && ssd.endurance.rated_cycles.is_none() {
            let problem =
                "found without ssd.endurance.rated_cycles, which it is about; allowed: with it";
            faults.add(&format!("ssd.faults.{name}"), problem);
        }
    }
}

/// The errors that reads and time bring, and the refresh of blocks before they do.
fn what_grows(ssd: &Ssd, faults: &mut Report) {
    let mut reads = |key: &str, reads: u32| {
        if !(1..=MOST_READS).contains(&reads) {
            faults.add(key, format!("found {reads}; allowed: 1 to {MOST_READS}"));
        }
    };
    if let Some(disturbed) = ssd.faults.disturbed_read_errors {
        reads("ssd.faults.disturbed_read_errors.reads", disturbed.reads);
    }
    if let Some(limit) = ssd.refresh.reads {
        reads("ssd.refresh.reads", limit);
    }
    let mut age = |key: &str, age: Time| {
        if age == Time::default() {
            faults.add(key, format!("found {age}; allowed: more than that"));
        }
    };
    if let Some(aged) = ssd.faults.aged_read_errors {
        age("ssd.faults.aged_read_errors.age", aged.age);
    }
    if let Some(limit) = ssd.refresh.age {
        age("ssd.refresh.age", limit);
    }
    for (key, errors) in [
        ("disturbed_read_errors", ssd.faults.disturbed_read_errors.map(|of| of.share)),
        ("aged_read_errors", ssd.faults.aged_read_errors.map(|of| of.share)),
    ] {
        if let Some(share) = errors {
            faults.share(&format!("ssd.faults.{key}.share"), share);
        }
    }
}
