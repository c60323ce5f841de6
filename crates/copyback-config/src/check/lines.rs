//! What lines over all dies (`ssd.gc.unit`) ask of the other choices.

use super::*;

/// The faults of a drive with lines.
pub(super) fn check(config: &Config, faults: &mut Report) {
    let ssd = &config.ssd;
    if !ssd.has_lines() {
        return;
    }
    shape(ssd, faults);
    collections(&ssd.gc, faults);
    translation_layer(&ssd.ftl, faults);
    blocks(ssd, faults);
}

fn shape(ssd: &Ssd, faults: &mut Report) {
    let pages = ssd.pages_per_unit();
    if pages > MOST_PAGES_OF_A_UNIT {
        let problem = format!(
            "found a line of {pages} pages; allowed with ssd.gc.unit = \"line\": at most {MOST_PAGES_OF_A_UNIT}, \
             which fewer planes or pages give"
        );
        faults.add("ssd.geometry.pages_per_block", problem);
    }
}

/// What `[ssd.gc]` may say beside it.
fn collections(gc: &Gc, faults: &mut Report) {
    let mut refuse = |is_so: bool, key: &str, problem: &str| {
        if is_so {
            faults.add(&format!("ssd.gc.{key}"), problem);
        }
    };
    let is_one_lane = matches!(gc.width, Width::Serial | Width::Superblock);
    let problem = "found planes that are collected in step; allowed with ssd.gc.unit = \"line\": \"serial\" or \
                   \"superblock\", as each plane moves its own pages of a line";
    refuse(!is_one_lane, "width", problem);
    let problem = "found a use of idle time; allowed with ssd.gc.unit = \"line\": \"none\", as what is begun in \
                   the idle time of one die is to be ended by all";
    refuse(gc.idle != Idle::None, "idle", problem);
    let problem = "found free blocks that are counted together; allowed with ssd.gc.unit = \"line\": \"plane\", as \
                   every plane has a block of each free line";
    refuse(gc.threshold_scope != ThresholdScope::Plane, "threshold_scope", problem);
    let problem = "found \"free_pages\"; allowed with ssd.gc.unit = \"line\": \"free_blocks\", which are free lines";
    refuse(gc.threshold_unit != ThresholdUnit::FreeBlocks, "threshold_unit", problem);
    let problem = "found a share; allowed with ssd.gc.unit = \"line\": none, as lines are not collected for the \
                   sake of one plane";
    refuse(gc.invalid_threshold.is_some(), "invalid_threshold", problem);
    let loses = matches!(gc.victim, VictimPolicy::Fifo { ineligible: Ineligible::Drop, .. });
    let problem = "found ineligible = \"drop\"; allowed with ssd.gc.unit = \"line\": \"collect\", as a line that \
                   is lost is lost to every plane";
    refuse(loses, "victim", problem);
    let problem = "found a policy that draws; allowed with ssd.gc.unit = \"line\": those that say the same when they \
                   are asked again, as every die may ask while none has room for the line";
    refuse(gc.victim.draws(), "victim", problem);
    let problem = "found a policy in Python; allowed with ssd.gc.unit = \"line\": the others, as such a policy \
                   chooses among the blocks of a plane";
    refuse(matches!(gc.victim, VictimPolicy::Python { .. }), "victim", problem);
}

/// What `[ssd.ftl]` may say beside it.
fn translation_layer(ftl: &Ftl, faults: &mut Report) {
    if ftl.mapping != Mapping::Page {
        let problem =
            "found one that has blocks of its own; allowed with ssd.gc.unit = \"line\": \"page\"";
        faults.add("ssd.ftl.mapping", problem);
    }
    if ftl.allocation != Allocation::Choice(AllocationChoice::Dynamic) {
        let problem = "found an order; allowed with ssd.gc.unit = \"line\": \"dynamic\", as a die that has filled \
                       its share of a line waits for the others";
        faults.add("ssd.ftl.allocation", problem);
    }
    let problem = match &ftl.placement {
        Placement::Python { .. } => {
            "found a placement in Python; allowed with ssd.gc.unit = \"line\": the others, as such a placement \
             knows the blocks of planes"
        }
        placement if placement.chooses_victims() => {
            "found one that says where victims come from; allowed with ssd.gc.unit = \"line\": the others"
        }
        _ => return,
    };
    faults.add("ssd.ftl.placement", problem);
}

/// What concerns single blocks.
fn blocks(ssd: &Ssd, faults: &mut Report) {
    if ssd.wear.static_threshold > 0 {
        let problem = format!(
            "found {}; allowed with ssd.gc.unit = \"line\": 0, as the blocks of a line wear alike",
            ssd.wear.static_threshold
        );
        faults.add("ssd.wear.static_threshold", problem);
    }
    if ssd.has_slc_cache() {
        let problem = "found blocks of a cache; allowed with ssd.gc.unit = \"line\": 0, as they are folded plane \
                       by plane";
        faults.add("ssd.slc_cache", problem);
    }
    if !ssd.refresh.is_none() {
        let problem = "found a limit; allowed with ssd.gc.unit = \"line\": none, as it is a block whose data are \
                       refreshed";
        faults.add("ssd.refresh", problem);
    }
    if ssd.faults.retires_blocks() || ssd.faults.factory_bad_blocks.0 > 0.0 {
        let problem = "found blocks that become bad; allowed with ssd.gc.unit = \"line\": errors of reads alone, as \
                       a block that replaces another has another index";
        faults.add("ssd.faults", problem);
    }
    if ssd.power.is_watched() {
        let problem = "found a drive that may lose its power; allowed with ssd.gc.unit = \"line\": capacitors and \
                       no cuts, as a recovery goes by planes";
        faults.add("ssd.power", problem);
    }
}

#[cfg(test)]
mod tests {
    use crate::check::tests::problem_of;

    /// What is said of a drive with lines and these settings.
    fn problem(settings: &[(&str, &str)]) -> String {
        problem_of(&[&[("ssd.gc.unit", "\"line\"")], settings].concat())
    }

    #[test]
    fn what_goes_by_single_planes_or_blocks_does_not_go_with_lines() {
        let dynamic = ("ssd.ftl.allocation", "\"dynamic\"");
        assert!(problem(&[]).contains("ssd.ftl.allocation: found an order"));
        assert_eq!(problem(&[dynamic]), "");
        for (key, value) in [
            ("ssd.gc.width", "\"blind\""),
            ("ssd.gc.idle", "\"advanced\""),
            ("ssd.gc.threshold_scope", "\"drive\""),
            ("ssd.gc.threshold_unit", "\"free_pages\""),
            ("ssd.gc.invalid_threshold", "0.2"),
            ("ssd.gc.victim", "{ type = \"fifo\", ineligible = \"drop\" }"),
            ("ssd.gc.victim", "\"random\""),
            ("ssd.gc.victim", "\"rga\""),
            ("ssd.ftl.mapping", "\"log_block\""),
            ("ssd.ftl.placement", "\"midas\""),
            ("ssd.wear.static_threshold", "5"),
            ("ssd.slc_cache", "{ static = { blocks = 4 } }"),
            ("ssd.refresh", "{ reads = 100 }"),
            ("ssd.faults", "{ program_failures = 0.001 }"),
            ("ssd.power", "{ protection = \"none\" }"),
        ] {
            let found = problem(&[dynamic, (key, value)]);
            let names = found.lines().any(|line| {
                line.contains(&format!("{key}: found")) && line.contains("ssd.gc.unit = \"line\"")
            });
            assert!(names, "{key}: {found}");
        }
    }

    #[test]
    fn a_line_has_as_many_pages_as_sixteen_bits_count() {
        let large = [
            ("ssd.ftl.allocation", "\"dynamic\""),
            ("ssd.geometry.channels", "16"),
            ("ssd.geometry.chips_per_channel", "8"),
            ("ssd.geometry.dies_per_chip", "1"),
            ("ssd.geometry.planes_per_die", "2"),
        ];
        let with =
            |pages| problem(&[&large[..], &[("ssd.geometry.pages_per_block", pages)]].concat());
        assert_eq!(with("255"), "");
        assert!(with("256").contains("found a line of 65536 pages"), "{}", with("256"));
    }
}
