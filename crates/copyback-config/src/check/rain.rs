//! Checks of the choices beside parity in lines (`ssd.ftl.rain`).

use super::*;

/// Dies of a stripe: with two, parity would be a copy.
const LEAST_DIES: u64 = 3;

/// The faults of a drive with parity.
pub(super) fn check(config: &Resolved, faults: &mut Report) {
    let (ssd, drive) = (&config.ssd, &config.drive);
    if ssd.gc.rotating && !ssd.gc.has_lines() {
        let problem =
            "found true; allowed with ssd.gc.unit = \"line\", whose dies are collected in turn";
        faults.add("ssd.gc.rotating", problem);
    }
    if !ssd.ftl.rain {
        if ssd.ftl.reads_around_gc {
            let problem =
                "found true; allowed with ssd.ftl.rain = true, which reads can be made up from";
            faults.add("ssd.ftl.reads_around_gc", problem);
        }
        return;
    }
    if !ssd.gc.has_lines() {
        let problem =
            "found true; allowed with ssd.gc.unit = \"line\", over whose dies the stripes lie";
        faults.add("ssd.ftl.rain", problem);
    }
    if drive.shape.dies < LEAST_DIES {
        let problem = format!(
            "found true on a drive of {} dies; allowed: at least {LEAST_DIES}, one of which holds parity",
            drive.shape.dies
        );
        faults.add("ssd.ftl.rain", problem);
    }
    if drive.unit.together > 1 {
        let problem = format!(
            "found a reclaim unit of {} lines; allowed with ssd.ftl.rain: 1, as what is moved of a line finds room \
             because its own parity is on a die with no page of it",
            drive.unit.together
        );
        faults.add("ssd.ftl.placement.reclaim_unit", problem);
    }
    if ssd.ftl.mapping_unit.is_some() {
        let problem =
            "found units of a page; allowed with ssd.ftl.rain: no key, as parity is of whole pages";
        faults.add("ssd.ftl.mapping_unit", problem);
    }
}
