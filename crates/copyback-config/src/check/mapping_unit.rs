//! Checks of units of mapping that are smaller than a page.

use super::*;

/// The faults of `ssd.ftl.mapping_unit` and of what does not go with it.
pub(super) fn check(config: &Resolved, faults: &mut Report) {
    let ssd = &config.ssd;
    let Some(unit) = ssd.ftl.mapping_unit else { return };
    let page = ssd.geometry.page_size;
    if !(unit.0.is_power_of_two() && unit.0 >= SMALLEST_PAGE && unit < page) {
        let problem = format!(
            "found {unit}; allowed: a power of two from 512B to less than the page size of {page}, or no key"
        );
        return faults.add("ssd.ftl.mapping_unit", problem);
    }
    let pages = config.drive.pages.per_block;
    if pages > MOST_PAGES_OF_A_UNIT {
        let problem = format!(
            "found {unit}, {pages} to a block; allowed: at most {MOST_PAGES_OF_A_UNIT} of them"
        );
        faults.add("ssd.ftl.mapping_unit", problem);
    }
    mapping(ssd, faults);
    commands(ssd, faults);
    troubles(ssd, faults);
}

fn mapping(ssd: &Ssd, faults: &mut Report) {
    if !ssd.ftl.mapping.is_page_mapping() {
        let problem = "found one that binds pages to blocks; allowed with ssd.ftl.mapping_unit: \"page\" or \
                       \"demand_paged\", as the units of a page need not belong together";
        faults.add("ssd.ftl.mapping", problem);
    }
    if ssd.ftl.summary_page != SummaryPage::None {
        let problem = "found a summary page; allowed with ssd.ftl.mapping_unit: \"none\", as every unit of a \
                       block holds data";
        faults.add("ssd.ftl.summary_page", problem);
    }
}

fn commands(ssd: &Ssd, faults: &mut Report) {
    if ssd.gc.width.is_parallel() {
        let problem = "found a width of several planes; allowed with ssd.ftl.mapping_unit: \"serial\" or \
                       \"superblock\", as planes that are collected in step move whole pages";
        faults.add("ssd.gc.width", problem);
    }
    if ssd.gc.copyback {
        let problem =
            "found true; allowed with ssd.ftl.mapping_unit: false, as copyback moves whole pages";
        faults.add("ssd.gc.copyback", problem);
    }
}

fn troubles(ssd: &Ssd, faults: &mut Report) {
    if !ssd.faults.are_none() {
        let problem = "found faults of the flash; allowed with ssd.ftl.mapping_unit: none, as programs and reads \
                       are told by unit, and pages fail";
        faults.add("ssd.faults", problem);
    }
    if ssd.refresh.reads.is_some() {
        let problem = "found a count of reads; allowed with ssd.ftl.mapping_unit: no key, as reads are counted by \
                       unit, and pages are disturbed";
        faults.add("ssd.refresh.reads", problem);
    }
    if ssd.power.protection == Protection::None {
        unprotected(ssd, faults);
    }
}

/// The faults of a drive whose units of a page that is not full are lost with the power.
fn unprotected(ssd: &Ssd, faults: &mut Report) {
    if ssd.buffer.capacity == Size(0) {
        let problem = "found 0B; allowed with ssd.ftl.mapping_unit and ssd.power.protection = \"none\": more, as the \
                       units of a page that is not full wait there";
        faults.add("ssd.buffer.capacity", problem);
    }
    if matches!(ssd.ftl.mapping, Mapping::DemandPaged { .. }) {
        let problem = "found \"demand_paged\"; allowed with ssd.ftl.mapping_unit and ssd.power.protection = \"none\": \
                       \"page\", as nothing fills up the pages of the mapping table";
        faults.add("ssd.ftl.mapping", problem);
    }
    if ssd.gc.has_lines() {
        let problem = "found \"line\"; allowed with ssd.ftl.mapping_unit and ssd.power.protection = \"none\": \
                       \"block\", as nothing fills up the pages of a line";
        faults.add("ssd.gc.unit", problem);
    }
}
