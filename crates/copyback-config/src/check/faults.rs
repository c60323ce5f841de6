//! What `[ssd.faults]` must satisfy.

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
