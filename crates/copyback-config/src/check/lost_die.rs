//! Checks of the choices beside a die that is lost (`ssd.faults.lost_die`).

use super::*;

/// Dies that there are at least: of what is left, two hold data and one parity.
const LEAST_DIES: u64 = 4;

/// The faults of a drive that loses a die.
pub(super) fn check(config: &Resolved, faults: &mut Report) {
    let (ssd, dies) = (&config.ssd, config.drive.shape.dies);
    let Some(lost) = ssd.faults.lost_die else { return };
    let key = "ssd.faults.lost_die";
    if !ssd.ftl.rain {
        let problem =
            "found one; allowed with ssd.ftl.rain = true, as without parity what was there is gone";
        faults.add(key, problem);
    }
    if dies < LEAST_DIES {
        let problem = format!(
            "found one of {dies}; allowed on a drive of at least {LEAST_DIES} dies, as stripes go on over those that are left"
        );
        faults.add(key, problem);
    } else if u64::from(lost.die) >= dies {
        let problem = format!("found {}; allowed: 0 to {}", lost.die, dies - 1);
        faults.add("ssd.faults.lost_die.die", problem);
    }
    if lost.rebuild_pages == 0 {
        faults.add("ssd.faults.lost_die.rebuild_pages", "found 0; allowed: 1 or more");
    }
    if config.array.devices > 1 {
        let problem =
            "found one; allowed with array.devices = 1, as each drive would lose that die at once";
        faults.add(key, problem);
    }
    if ssd.gc.zero_cost {
        let problem =
            "found true; allowed with ssd.faults.lost_die: false, as what is rebuilt takes time";
        faults.add("ssd.gc.zero_cost", problem);
    }
}
