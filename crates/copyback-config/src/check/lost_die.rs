//! What a die that is lost (`ssd.faults.lost_die`) asks of the other choices.

use super::*;

/// Dies that there are at least: of what is left, two hold data and one parity.
const LEAST_DIES: u64 = 4;

/// The faults of a drive that loses a die.
pub(super) fn check(config: &Config, faults: &mut Report) {
    let ssd = &config.ssd;
    let Some(lost) = ssd.faults.lost_die else { return };
    let key = "ssd.faults.lost_die";
    if !ssd.ftl.rain {
        let problem =
            "found one; allowed with ssd.ftl.rain = true, as without parity what was there is gone";
        faults.add(key, problem);
    }
    if ssd.dies() < LEAST_DIES {
        let problem = format!(
            "found one of {}; allowed on a drive of at least {LEAST_DIES} dies, as stripes go on over those that are left",
            ssd.dies()
        );
        faults.add(key, problem);
    } else if u64::from(lost.die) >= ssd.dies() {
        let problem = format!("found {}; allowed: 0 to {}", lost.die, ssd.dies() - 1);
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

#[cfg(test)]
mod tests {
    use crate::check::tests::problem_of;

    fn problem(settings: &[(&str, &str)]) -> String {
        let lines = [
            ("ssd.gc.unit", "\"line\""),
            ("ssd.ftl.allocation", "\"dynamic\""),
            ("ssd.ftl.over_provisioning", "0.5"),
            ("ssd.ftl.rain", "true"),
            ("ssd.faults.lost_die", "{ die = 2, at = \"1s\" }"),
        ];
        problem_of(&[&lines[..], settings].concat())
    }

    #[test]
    fn a_die_is_lost_where_parity_can_make_up_for_it() {
        assert_eq!(problem(&[]), "");
        let found = problem(&[("ssd.ftl.rain", "false")]);
        assert!(
            found.contains("ssd.faults.lost_die: found one; allowed with ssd.ftl.rain"),
            "{found}"
        );
        let found = problem(&[("ssd.faults.lost_die", "{ die = 4096, at = \"1s\" }")]);
        assert!(found.contains("ssd.faults.lost_die.die: found 4096; allowed: 0 to"), "{found}");
        let found = problem(&[("ssd.gc.zero_cost", "true")]);
        assert!(found.contains("ssd.gc.zero_cost: found true"), "{found}");
        let found = problem(&[("array.devices", "4"), ("array.layout", "\"raid5\"")]);
        assert!(
            found.contains("ssd.faults.lost_die: found one; allowed with array.devices = 1"),
            "{found}"
        );
    }

    #[test]
    fn what_is_left_must_hold_what_the_host_wrote() {
        let dies = [
            ("ssd.geometry.channels", "4"),
            ("ssd.geometry.chips_per_channel", "1"),
            ("ssd.geometry.dies_per_chip", "1"),
        ];
        let with = |share| problem(&[&dies[..], &[("ssd.ftl.over_provisioning", share)]].concat());
        // Of four dies one holds parity, and one is lost.
        assert_eq!(with("0.65"), "");
        let found = with("0.4");
        assert!(found.contains("ssd.ftl.over_provisioning: found 0.4"), "{found}");
    }
}
