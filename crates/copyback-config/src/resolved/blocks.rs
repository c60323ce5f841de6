//! Uses of the blocks of a plane.

use super::parity::{without_parity, without_parity_and_lost};
use super::{Capacity, Pages, Shape, Slc, Thresholds};
use crate::{FreeBlocks, Mapping, Placement, Ssd};

/// Free blocks of a plane that are kept to take the place of bad ones. The second is for a failure that
/// comes before collections have made up for the first.
const SPARE: u32 = 2;

/// Uses of the blocks of a plane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    /// Blocks that must be free to the goal of collections, or spare.
    pub free: u32,
    /// Blocks that are being filled; where logical blocks have blocks of their own, the least that there must be room
    /// for.
    pub open: u32,
    /// Free blocks that are kept to take the place of bad ones.
    pub spare: u32,
    /// Blocks of a non-volatile buffer.
    pub buffer: u32,
    /// Blocks that are always in the mode of an SLC cache.
    pub slc: u32,
    /// Blocks that are full or open once the plane is collected.
    pub in_use: u32,
    /// Most free blocks of a plane that is full of data and has its open blocks: what over-provisioning reserves.
    pub reserve: u32,
    /// Good blocks without which the plane cannot hold its logical pages beside the blocks that must be free, open, of a
    /// buffer or spare.
    pub needed: u32,
    /// Pages of the other blocks, which may hold data.
    pub room: u64,
    /// Full blocks that each generation but the last may hold, if pages are placed by generations.
    pub generations: Vec<u32>,
}

impl Blocks {
    pub(super) fn of(
        ssd: &Ssd,
        (shape, pages): (&Shape, &Pages),
        cache: Option<&Slc>,
        capacity: &Capacity,
        thresholds: &Thresholds,
    ) -> Self {
        let all = ssd.geometry.blocks_per_plane;
        let resolve = |size: &FreeBlocks| size.resolve(all, 1);
        let is_lent = cache.is_some_and(|cache| cache.most_lent > 0);
        let open = open(ssd, capacity.translation_pages > 0, is_lent);
        let spare = if ssd.faults.retires_blocks() { SPARE } else { 0 };
        let buffer = match &ssd.ftl.mapping {
            Mapping::BufferedLogBlock { buffer } => resolve(buffer),
            _ => 0,
        };
        let slc = cache.map_or(0, |cache| cache.fixed);
        let of_data = blocks_of_data(ssd, shape, pages, capacity);
        let free = sum([thresholds.least_goal, thresholds.hysteresis, spare]);
        let beside_data = sum([free, open, buffer, slc]);
        let taken = of_data.saturating_add(sum([open, buffer, spare, slc]).into());
        Self {
            free,
            open,
            spare,
            buffer,
            slc,
            in_use: all.saturating_sub(thresholds.soft),
            reserve: u64::from(all).saturating_sub(taken) as u32,
            needed: sum([of_data as u32, beside_data]),
            room: room(ssd, shape, pages, all.saturating_sub(beside_data)),
            generations: match &ssd.ftl.placement {
                Placement::Generations { sizes } => sizes.iter().map(resolve).collect(),
                _ => Vec::new(),
            },
        }
    }
}

/// Blocks of a plane that are being filled.
fn open(ssd: &Ssd, has_translation_pages: bool, is_lent: bool) -> u32 {
    if !ssd.ftl.mapping.is_page_mapping() {
        return 1;
    }
    let classes = ssd.ftl.placement.classes();
    let beside = ssd.gc.width.is_parallel() || has_translation_pages;
    // Full blocks are not reclaimed yet as long as the reclaim unit that they are of is not full.
    let of_open_units = sum([classes, beside.into()])
        .saturating_mul(ssd.ftl.placement.reclaim_unit().saturating_sub(1));
    sum([
        classes,
        // A line of a class is opened while some planes have not filled theirs of the line before.
        if ssd.gc.has_lines() { classes } else { 0 },
        // The die that holds the parity of a line may need another one for what it moves.
        if ssd.ftl.rain { classes } else { 0 },
        // What is rebuilt goes to lines beside those.
        if ssd.faults.lost_die.is_some() { sum([classes, 1]) } else { 0 },
        of_open_units,
        ssd.gc.width.is_parallel().into(),
        has_translation_pages.into(),
        is_lent.into(),
    ])
}

/// Blocks of a plane that hold its data, the parity of these included.
fn blocks_of_data(ssd: &Ssd, shape: &Shape, pages: &Pages, capacity: &Capacity) -> u64 {
    let dies = shape.dies;
    let per_stripe = without_parity(ssd, dies, dies).saturating_mul(pages.data_per_block);
    capacity.most_data_of_a_plane().saturating_mul(dies).div_ceil(per_stripe.max(1))
}

/// Pages of so many blocks of a plane that may hold data.
fn room(ssd: &Ssd, shape: &Shape, pages: &Pages, blocks: u32) -> u64 {
    // A victim gives back more than may be filled up with nothing for its erase.
    let lost = match pages.filled_up_per_victim {
        0 => 0,
        pages => u64::from(pages) + 1,
    };
    let of_a_block = pages.data_per_block.saturating_sub(lost);
    without_parity_and_lost(ssd, shape.dies, of_a_block.saturating_mul(blocks.into()))
}

fn sum<const N: usize>(counts: [u32; N]) -> u32 {
    counts.into_iter().fold(0, u32::saturating_add)
}
