//! Checks of a cache in another cell mode.

use super::*;
use resolved::Slc;

/// The faults of `[ssd.slc_cache]`.
pub(super) fn check(config: &Resolved, faults: &mut Report) {
    let cache = &config.ssd.slc_cache;
    for (key, blocks) in [("static", cache.fixed), ("dynamic", cache.dynamic)] {
        if let FreeBlocks::Share(share) = blocks {
            faults.share(&format!("ssd.slc_cache.{key}"), share);
        }
    }
    faults.share_above_zero("ssd.slc_cache.dynamic_until", cache.dynamic_until, false);
    if cache.bits >= cache.native_bits {
        let (found, native) = (cache.bits, cache.native_bits);
        let problem = format!("found {found}; allowed: fewer than the {native} of native blocks");
        faults.add("ssd.slc_cache.bits", problem);
    }
    if let Some(slc) = &config.drive.slc {
        companions(&config.ssd, slc, faults);
    }
}

/// Checks for choices that do not go with it.
fn companions(ssd: &Ssd, slc: &Slc, faults: &mut Report) {
    if slc.pages_per_block == 0 {
        let pages = ssd.geometry.pages_per_block;
        let problem = format!(
            "found {pages}, of which none is left in the mode of ssd.slc_cache; allowed: at least {}",
            ssd.slc_cache.native_bits.div_ceil(ssd.slc_cache.bits.max(1))
        );
        faults.add("ssd.geometry.pages_per_block", problem);
    }
    if !ssd.ftl.mapping.is_page_mapping() {
        let problem = "found one that binds pages to blocks; allowed with ssd.slc_cache: \"page\" or \
                       \"demand_paged\", as folding moves any page to any block";
        faults.add("ssd.ftl.mapping", problem);
    }
    if ssd.ftl.summary_page != SummaryPage::None {
        let problem = "found a summary page; allowed with ssd.slc_cache: \"none\", as what the page of a \
                       block in another mode holds is not known";
        faults.add("ssd.ftl.summary_page", problem);
    }
    if ssd.gc.invalid_threshold.is_some() {
        let problem = "found a share; allowed with ssd.slc_cache: none, as invalid pages of the cache are \
                       not counted";
        faults.add("ssd.gc.invalid_threshold", problem);
    }
    if ssd.wear.static_threshold > 0 {
        let found = ssd.wear.static_threshold;
        let problem = format!(
            "found {found}; allowed with ssd.slc_cache: 0, as erases in one mode don't compare with \
             those in another"
        );
        faults.add("ssd.wear.static_threshold", problem);
    }
}
