//! Whether what a plane must hold fits into its blocks.
//!
//! What is advised is tried first: a drive with the advised value is never refused for that key again.

use super::*;
use resolved::{Blocks, Capacity, Drive};

/// The logical pages of a plane, its translation pages, its free and spare blocks, its open blocks and
/// those of a buffer must fit in its data pages, or collection cannot reach its goal.
pub(super) fn check(config: &Resolved, faults: &mut Report) {
    let (ssd, drive) = (&config.ssd, &config.drive);
    let (all, thresholds) = (ssd.geometry.blocks_per_plane, &drive.thresholds);
    let Blocks { free, open, spare, buffer, slc, room, .. } = drive.blocks;
    // Blocks beside those for the soft threshold: a block of data among them, and the smallest buffer.
    let beside = thresholds.hysteresis + spare + open + buffer.min(1) + slc + 1;
    let most_buffer = all.saturating_sub(free + open + slc + 1);
    if all < thresholds.least_soft + beside {
        let problem = format!(
            "found {all}; allowed: at least {}, as {} must be free, {}{}{}, and one hold \
             data",
            thresholds.least_soft + beside,
            thresholds.least_soft + thresholds.hysteresis + spare,
            filling(drive),
            buffering(buffer.min(1)),
            caching(slc),
        );
        faults.add("ssd.geometry.blocks_per_plane", problem);
    } else if most_buffer > 0 && buffer > most_buffer {
        let problem = format!(
            "found {buffer} blocks; allowed: at most {{ blocks = {most_buffer} }}, as {free} of \
             {all} must be free, {}, and some hold data",
            filling(drive)
        );
        faults.add("ssd.ftl.mapping.buffer", problem);
    } else if room == 0 {
        let problem = format!(
            "found {free} blocks to keep free (hysteresis included) and {}{}, of {all} \
             in a plane; allowed: at most {{ blocks = {} }}",
            filling(drive),
            buffering(buffer) + &caching(slc),
            all - beside,
        );
        faults.add("ssd.gc.soft_threshold", problem);
    } else {
        over_provisioning(ssd, drive, faults);
    }
}

fn filling(Drive { unit, blocks, .. }: &Drive) -> String {
    let units = if unit.together > 1 { " or in reclaim units that are not full" } else { "" };
    format!("{} open{units}", blocks.open)
}

fn buffering(blocks: u32) -> String {
    if blocks > 0 { format!(", {blocks} a buffer") } else { String::new() }
}

fn caching(blocks: u32) -> String {
    if blocks > 0 { format!(", {blocks} of a static SLC cache") } else { String::new() }
}

fn over_provisioning(ssd: &Ssd, drive: &Drive, faults: &mut Report) {
    let Capacity { logical_pages_per_plane: logical, most_of_a_plane: most, .. } = drive.capacity;
    if logical > 0 && fits(drive) {
        return;
    }
    let found = ssd.ftl.over_provisioning;
    let Blocks { free, buffer, slc, room, .. } = drive.blocks;
    let blocks = ssd.geometry.blocks_per_plane;
    let translation = match drive.capacity.translation_pages_per_plane {
        0 => String::new(),
        pages => format!(", {pages} translation pages"),
    };
    let some = if most > logical { "a plane has up to" } else { "each plane has" };
    let why = format!(
        "{some} {most} logical pages{translation} and room for {room}, as {free} of its \
         {blocks} blocks must be free and {}{}",
        filling(drive),
        buffering(buffer) + &caching(slc)
    );
    let (key, problem) = match allowed_shares(ssd) {
        None => ("ssd.geometry.blocks_per_plane", format!("found {blocks}: {why}; allowed: more")),
        Some((_, most)) if logical == 0 => {
            let problem = format!("found {found}, which leaves no logical page");
            ("ssd.ftl.over_provisioning", format!("{problem}; allowed: at most {most}"))
        }
        Some((least, _)) => (
            "ssd.ftl.over_provisioning",
            format!("found {found}: {why}; allowed: at least {least}"),
        ),
    };
    faults.add(key, problem);
}

fn fits(drive: &Drive) -> bool {
    drive.capacity.most_data_of_a_plane() <= drive.blocks.room
}

/// Decimals of an advised share, and how many there may be if fewer hit no possible share.
const DECIMALS: std::ops::RangeInclusive<u32> = 4..=8;

/// The smallest share of over-provisioning with which the pages fit, and the largest that leaves each plane
/// a logical page; none if there is no share with both.
fn allowed_shares(ssd: &Ssd) -> Option<(Share, Share)> {
    DECIMALS.map(|decimals| 10_u64.pow(decimals)).find_map(|parts| {
        let with = |part: u64| {
            let mut ssd = ssd.clone();
            ssd.ftl.over_provisioning = Share(part as f64 / parts as f64);
            Drive::of(&ssd)
        };
        let least = first(1..parts, |part| fits(&with(part)));
        let beyond = first(1..parts, |part| with(part).capacity.logical_pages_per_plane == 0);
        let share = |part: u64| Share(part as f64 / parts as f64);
        (least < beyond).then(|| (share(least), share(beyond - 1)))
    })
}

/// The first of `range` that `is_beyond`, as all behind it are; its end if none is.
fn first(range: std::ops::Range<u64>, is_beyond: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low.midpoint(high);
        if is_beyond(middle) { high = middle } else { low = middle + 1 }
    }
    low
}
