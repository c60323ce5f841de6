//! Checks of a mapping: its own numbers, and the other choices.

use super::*;
use resolved::Pages;

/// A superblock's pages are counted in 16 bits, and one more.
const MOST_PAGES: u64 = u16::MAX as u64 - 1;

/// The faults of `ssd.ftl.mapping` and of what does not go with it.
pub(super) fn check(config: &Resolved, faults: &mut Report) {
    let ssd = &config.ssd;
    demand_paging(ssd, &config.drive.pages, faults);
    let Some(blocks) = ssd.ftl.mapping.blocks_per_group() else { return };
    if let Mapping::BufferedLogBlock { buffer } = ssd.ftl.mapping {
        nv_buffer(buffer, ssd, faults);
    }
    let pages = u64::from(blocks).saturating_mul(ssd.geometry.pages_per_block.into());
    if pages > MOST_PAGES {
        let problem = format!("found {pages} pages in a group; allowed: at most {MOST_PAGES}");
        faults.add("ssd.ftl.mapping", problem);
    }
    companions(ssd, faults);
    logical_blocks(ssd, config.drive.shape.planes, faults);
}

/// Whether the planes of a drive can be dealt out to superpages.
fn logical_blocks(ssd: &Ssd, all: u64, faults: &mut Report) {
    let LogicalBlocks::Superpage { planes } = ssd.ftl.logical_blocks else { return };
    if !all.is_multiple_of(planes.into()) {
        let problem =
            format!("found {planes}; allowed: a divisor of the {all} planes of the drive");
        faults.add("ssd.ftl.logical_blocks.planes", problem);
    }
}

fn nv_buffer(buffer: FreeBlocks, ssd: &Ssd, faults: &mut Report) {
    match buffer {
        FreeBlocks::Share(share) => {
            faults.share_above_zero("ssd.ftl.mapping.buffer", share, true);
        }
        FreeBlocks::Blocks { blocks } => {
            if blocks == 0 {
                faults.add("ssd.ftl.mapping.buffer.blocks", "found 0; allowed: 1 or more");
            }
        }
    }
    if ssd.gc.idle != Idle::None {
        let problem = "found a use of idle time; allowed: \"none\" with mapping = \"buffered_log_block\", \
                       whose merges are put off already, to the time between two operations of the host";
        faults.add("ssd.gc.idle", problem);
    }
}

/// The sizes of the entries of a table in flash, and of their cache.
fn demand_paging(ssd: &Ssd, pages: &Pages, faults: &mut Report) {
    let Mapping::DemandPaged { cache, cached_entry, entry, unit, unwritten } = ssd.ftl.mapping
    else {
        return;
    };
    let page = pages.counted_size;
    for (key, size) in [("cached_entry", cached_entry), ("entry", entry)] {
        if size == Size(0) || size > page {
            let problem = format!("found {size}; allowed: 1B to the page size of {page}");
            faults.add(&format!("ssd.ftl.mapping.{key}"), problem);
        }
    }
    let (place, size) = match unit {
        CachedUnit::Entry => ("entry", cached_entry),
        CachedUnit::Segment => ("translation page", pages.size),
    };
    if cache < size {
        let problem = format!("found {cache}; allowed: at least one {place} of {size}");
        faults.add("ssd.ftl.mapping.cache", problem);
    }
    if unwritten != Size(0) && unwritten < cached_entry {
        let problem =
            format!("found {unwritten}; allowed: 0B, or at least one entry of {cached_entry}");
        faults.add("ssd.ftl.mapping.unwritten", problem);
    }
}

/// The choices that make no sense with blocks of a logical block's own.
fn companions(ssd: &Ssd, faults: &mut Report) {
    if !matches!(ssd.ftl.allocation, Allocation::Order(_)) {
        let problem = "found an allocation that decides at the time of writing; allowed: an order such \
                       as \"CWDP\" with this mapping, as a logical block lies in one plane";
        faults.add("ssd.ftl.allocation", problem);
    }
    if ssd.gc.width.is_parallel() {
        let problem = "found a width of several planes; allowed: \"serial\" or \"superblock\" with this \
                       mapping, as each merge copies to places of its own";
        faults.add("ssd.gc.width", problem);
    }
    if ssd.gc.victim == VictimPolicy::RandomPlus {
        let problem = "found \"random+\"; allowed: \"random\" with this mapping, as every logical block \
                       that it looks at gives a block back";
        faults.add("ssd.gc.victim", problem);
    }
    if matches!(ssd.gc.victim, VictimPolicy::Fifo { .. }) && ssd.gc.victim != VictimPolicy::FIFO {
        let problem = "found a queue of opened blocks, or one that drops some; allowed: \"fifo\" with this \
                       mapping, whose queue is of logical blocks that a merge is worth for";
        faults.add("ssd.gc.victim", problem);
    }
    if let VictimPolicy::CostBenefit { age, .. } | VictimPolicy::CostAgeTimes { age } =
        ssd.gc.victim
        && age.is_of_life()
    {
        let problem = "found the age since a block was filled or opened; allowed: \"since_invalidated\" with this \
                       mapping, as the blocks of a logical block were opened and filled at different times";
        faults.add("ssd.gc.victim.age", problem);
    }
    if ssd.ftl.mapping.has_log_blocks()
        && let Preemption::SemiPreemptive { reorder: true, .. } = ssd.gc.preemption
    {
        let problem = "found true; allowed: false with logical blocks that have a data block each, as \
                       a merge copies pages in the order of their places";
        faults.add("ssd.gc.preemption.reorder", problem);
    }
}
