//! Whether what a plane must hold fits into its blocks.
//!
//! What is advised is tried first: a drive with the advised value is never refused for that key again.

use super::*;

/// The logical pages of a plane, its translation pages, its free and spare blocks, its open blocks and
/// those of a buffer must fit in its data pages, or collection cannot reach its goal.
pub(super) fn check(ssd: &Ssd, faults: &mut Report) {
    let blocks = u64::from(ssd.geometry.blocks_per_plane);
    let needs = Needs::of(ssd);
    let Needs { free, open, buffer, slc, .. } = needs;
    let most_buffer = blocks.saturating_sub(free + open + slc + 1);
    if blocks < needs.least_blocks() {
        let problem = format!(
            "found {blocks}; allowed: at least {}, as {} must be free, {}{}{}, and one hold \
             data",
            needs.least_blocks(),
            needs.least_free(),
            filling(ssd, open),
            buffering(buffer.min(1)),
            caching(slc),
        );
        faults.add("ssd.geometry.blocks_per_plane", problem);
    } else if most_buffer > 0 && buffer > most_buffer {
        let problem = format!(
            "found {buffer} blocks; allowed: at most {{ blocks = {most_buffer} }}, as {free} of \
             {blocks} must be free, {}, and some hold data",
            filling(ssd, open)
        );
        faults.add("ssd.ftl.mapping.buffer", problem);
    } else if needs.room(ssd) == 0 {
        let problem = format!(
            "found {free} blocks to keep free (hysteresis included) and {}{}, of {blocks} \
             in a plane; allowed: at most {{ blocks = {} }}",
            filling(ssd, open),
            buffering(buffer) + &caching(slc),
            blocks - needs.least_beside_threshold(),
        );
        faults.add("ssd.gc.soft_threshold", problem);
    } else {
        over_provisioning(ssd, faults);
    }
}

/// Blocks of a plane that hold none of its logical pages.
#[derive(Clone, Copy)]
struct Needs {
    /// Free to the collections' goal, and spare.
    free: u64,
    /// Blocks of these that the soft threshold does not include: hysteresis and spare blocks.
    beside_threshold: u64,
    /// The smallest soft threshold that makes sense.
    least_threshold: u64,
    open: u64,
    /// Blocks of a non-volatile buffer.
    buffer: u64,
    /// Blocks of a static SLC cache.
    slc: u64,
}

impl Needs {
    fn of(ssd: &Ssd) -> Self {
        let (threshold, hysteresis) = ssd.least_goal();
        let beside_threshold = u64::from(hysteresis) + u64::from(ssd.spare_blocks());
        Self {
            free: u64::from(threshold) + beside_threshold,
            beside_threshold,
            least_threshold: ssd.least_soft_threshold().into(),
            open: ssd.open_blocks().into(),
            buffer: ssd.nv_buffer_blocks().into(),
            slc: ssd.static_slc_blocks().into(),
        }
    }

    fn least_free(self) -> u64 {
        self.least_threshold + self.beside_threshold
    }

    /// Blocks that a plane has beside those for its soft threshold: a block of data among them, and the
    /// smallest buffer.
    fn least_beside_threshold(self) -> u64 {
        self.beside_threshold + self.open + self.buffer.min(1) + self.slc + 1
    }

    /// Blocks of a plane with the smallest soft threshold and buffer.
    fn least_blocks(self) -> u64 {
        self.least_threshold + self.least_beside_threshold()
    }

    /// Pages of a plane that may hold data.
    fn room(self, ssd: &Ssd) -> u64 {
        let taken = self.free + self.open + self.buffer + self.slc;
        let left = u64::from(ssd.geometry.blocks_per_plane).saturating_sub(taken);
        // A victim gives back more than may be filled up with nothing for its erase.
        let lost = match ssd.pages_filled_up_per_victim() {
            0 => 0,
            pages => u64::from(pages) + 1,
        };
        ssd.without_parity_and_lost(left * ssd.data_pages_per_block().saturating_sub(lost))
    }
}

fn filling(ssd: &Ssd, blocks: u64) -> String {
    let units = if ssd.reclaim_unit() > 1 { " or in reclaim units that are not full" } else { "" };
    format!("{blocks} open{units}")
}

fn buffering(blocks: u64) -> String {
    if blocks > 0 { format!(", {blocks} a buffer") } else { String::new() }
}

fn caching(blocks: u64) -> String {
    if blocks > 0 { format!(", {blocks} of a static SLC cache") } else { String::new() }
}

fn over_provisioning(ssd: &Ssd, faults: &mut Report) {
    let logical = ssd.logical_pages_per_plane();
    if logical > 0 && fits(ssd) {
        return;
    }
    let found = ssd.ftl.over_provisioning;
    let Needs { free, open, buffer, slc, .. } = Needs::of(ssd);
    let blocks = ssd.geometry.blocks_per_plane;
    let translation = match ssd.translation_pages_per_plane() {
        0 => String::new(),
        pages => format!(", {pages} translation pages"),
    };
    let most = ssd.most_logical_pages_of_a_plane();
    let some = if most > logical { "a plane has up to" } else { "each plane has" };
    let why = format!(
        "{some} {most} logical pages{translation} and room for {}, as {free} of its \
         {blocks} blocks must be free and {}{}",
        Needs::of(ssd).room(ssd),
        filling(ssd, open),
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

fn fits(ssd: &Ssd) -> bool {
    ssd.most_pages_of_a_plane() <= Needs::of(ssd).room(ssd)
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
            ssd
        };
        let least = first(1..parts, |part| fits(&with(part)));
        let beyond = first(1..parts, |part| with(part).logical_pages_per_plane() == 0);
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
