//! Checks of the choices beside parity in lines (`ssd.ftl.rain`).

use super::*;

/// Dies of a stripe: with two, parity would be a copy.
const LEAST_DIES: u64 = 3;

/// The faults of a drive with parity.
pub(super) fn check(ssd: &Ssd, faults: &mut Report) {
    if ssd.gc.rotating && !ssd.has_lines() {
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
    if !ssd.has_lines() {
        let problem =
            "found true; allowed with ssd.gc.unit = \"line\", over whose dies the stripes lie";
        faults.add("ssd.ftl.rain", problem);
    }
    if ssd.dies() < LEAST_DIES {
        let problem = format!(
            "found true on a drive of {} dies; allowed: at least {LEAST_DIES}, one of which holds parity",
            ssd.dies()
        );
        faults.add("ssd.ftl.rain", problem);
    }
    if ssd.reclaim_unit() > 1 {
        let problem = format!(
            "found a reclaim unit of {} lines; allowed with ssd.ftl.rain: 1, as what is moved of a line finds room \
             because its own parity is on a die with no page of it",
            ssd.reclaim_unit()
        );
        faults.add("ssd.ftl.placement.reclaim_unit", problem);
    }
    if ssd.ftl.mapping_unit.is_some() {
        let problem =
            "found units of a page; allowed with ssd.ftl.rain: no key, as parity is of whole pages";
        faults.add("ssd.ftl.mapping_unit", problem);
    }
}
