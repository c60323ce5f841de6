//! Page mapping: any page may lie in any block of its plane. A block is reclaimed by moving its valid pages and
//! erasing it.

use crate::checkpoint::Checkpointed;
use crate::ftl::Placed;
use crate::ftl::tables::Tables;
use crate::ids::{BlockId, PlaneId, Ppn};
use crate::placement::{HostPage, Placement};
use crate::victim::{VictimSelector, Victims};

use super::{Mapping, ReclaimPlan};

/// Page mapping: all that it knows is in the tables.
#[derive(Debug, Checkpointed)]
pub struct Page;

impl Mapping for Page {
    #[inline(always)]
    fn place(&mut self, tables: &mut Tables, plane: PlaneId, page: HostPage) -> Placed {
        tables.append_for_host(self, plane, tables.streams.of_host(page), page.lpn)
    }

    #[inline(always)]
    fn next_offset(&self, tables: &Tables, plane: PlaneId, page: HostPage) -> Option<u32> {
        tables.host_offset_in(tables.streams.of_host(page), plane)
    }

    #[inline(always)]
    fn relocate(&mut self, tables: &mut Tables, from: Ppn) -> Placed {
        tables.relocate_as_placed(self, from)
    }

    fn choose_victim(&mut self, tables: &mut Tables, plane: PlaneId) -> Option<BlockId> {
        choose_victim(tables, plane)
    }

    fn plan(&mut self, tables: &mut Tables, victim: BlockId) -> ReclaimPlan {
        plan(tables, victim)
    }

    fn erased(&mut self, tables: &mut Tables, plane: PlaneId, block: BlockId) {
        erased(tables, plane, block);
    }
}

/// The block of `plane` to collect: one that the victim policy chooses, if its pages have room. Where there is a cache
/// of blocks in another mode, what was lent to it comes back first, and what is full is folded where native blocks are
/// not short.
pub(super) fn choose_victim(tables: &mut Tables, plane: PlaneId) -> Option<BlockId> {
    if tables.lines.is_some() {
        return tables.choose_in_line(plane);
    }
    if tables.slc_cache().is_none() {
        return choose_native(tables, plane);
    }
    let lent = tables.victim_that_was_lent(plane);
    let is_due = tables.slc_cache().is_some_and(|cache| cache.is_due(plane));
    let native = match lent {
        None if tables.space.is_below_threshold(plane) || !is_due => choose_native(tables, plane),
        _ => None,
    };
    lent.or(native).or_else(|| tables.victim_to_fold(plane))
}

/// The block of `plane` that the victim policy chooses, if its pages have room.
pub(in crate::ftl) fn choose_native(tables: &mut Tables, plane: PlaneId) -> Option<BlockId> {
    if tables.space[plane].closed_invalid == 0 && !tables.victims.refuses() {
        return None;
    }
    let mut victim = look(tables, plane);
    // Where the host can open no block, nothing else would call for another look.
    while victim.is_none()
        && !tables.space.may_open_for_host(plane)
        && tables.victims.look_again(plane)
    {
        victim = look(tables, plane);
    }
    let victim = victim?;
    if !tables.has_room_for(victim, plane) {
        return emptiest_instead(tables, plane);
    }
    is_worth_it(tables, victim).then_some(victim)
}

/// The block of `plane` with fewest valid pages, where what the policy names finds no room and the host can open no block:
/// nothing would bring the next look. Only of policies that know single blocks.
#[cold]
fn emptiest_instead(tables: &Tables, plane: PlaneId) -> Option<BlockId> {
    let knows_others = matches!(
        tables.victims,
        VictimSelector::InGroups(_)
            | VictimSelector::InUnits(_)
            | VictimSelector::External(_)
            | VictimSelector::FifoOpened(_)
            | VictimSelector::FifoDropping(_)
    );
    if knows_others || tables.space.may_open_for_host(plane) {
        return None;
    }
    let is_native = |block: &BlockId| {
        tables.blocks.is_closed(*block) && !tables.blocks.is_full_in_cache(*block)
    };
    let closed = tables.geometry.blocks_of_plane(plane).filter(is_native);
    let emptiest = closed.min_by_key(|block| tables.valid_pages(*block))?;
    let gives = u32::from(tables.valid_pages(emptiest)) < tables.limits.data_pages;
    (gives && tables.has_room_for(emptiest, plane)).then_some(emptiest)
}

/// Whether enough of `victim` is invalid, or the host can open no block, so that little must do.
fn is_worth_it(tables: &Tables, victim: BlockId) -> bool {
    let invalid = tables.limits.data_pages - u32::from(tables.valid_pages(victim));
    let plane = tables.geometry.plane_of_block(victim);
    invalid >= tables.limits.least_invalid || !tables.space.may_open_for_host(plane)
}

/// The block of `plane` that the victim policy chooses, where the placement says if that has a say.
fn look(tables: &mut Tables, plane: PlaneId) -> Option<BlockId> {
    tables.regroup();
    let Tables { victims, streams, blocks, .. } = tables;
    let blocks = blocks.at(streams);
    match victims {
        VictimSelector::InGroups(groups) => {
            let wanted = streams.placement.wanted(groups.full_blocks(plane));
            groups.choose_wanted(plane, wanted, &blocks)
        }
        policy => policy.choose(plane, &blocks),
    }
}

/// Begins to move what is valid in `victim`.
pub(super) fn plan(tables: &mut Tables, victim: BlockId) -> ReclaimPlan {
    if tables.lines.is_some() {
        tables.begin_line(victim);
        return match tables.makes_up_what_moves() {
            true => ReclaimPlan::of_striped_block(victim),
            false => ReclaimPlan::of_block(victim),
        };
    }
    let plane = tables.geometry.plane_of_block(victim);
    let valid = tables.valid_pages(victim);
    let is_native = !tables.begin_fold(plane, victim);
    if is_native {
        tables.victims.removed(plane, victim, valid);
    }
    tables.streams.chosen(tables.blocks.life(victim), tables.limits.data_pages);
    expect_moves(tables, victim);
    tables.blocks.set_open(victim);
    tables.space.set_reclaiming(plane, Some(victim));
    if is_native {
        tables.space.take_invalid(plane, tables.limits.data_pages - u32::from(valid));
    }
    ReclaimPlan::of_block(victim)
}

/// Announces what is valid in `victim`.
fn expect_moves(tables: &mut Tables, victim: BlockId) {
    let Tables { blocks, geometry, map, streams, .. } = tables;
    let mut offset = 0;
    let valid = std::iter::from_fn(|| {
        let next = blocks.next_valid(victim, offset)?;
        offset = next + 1;
        Some(map.logical(geometry.page(victim, next)))
    });
    streams.expect_moves(blocks.class(victim), valid);
}

/// Frees `block`, which has been erased.
pub(super) fn erased(tables: &mut Tables, plane: PlaneId, block: BlockId) {
    if tables.lines.is_some() {
        return tables.erased_in_line(plane, block);
    }
    if tables.space[plane].reclaiming == Some(block) {
        tables.space.set_reclaiming(plane, None);
        tables.streams.collected(tables.blocks.life(block));
    }
    if !tables.take_back(plane, block) {
        tables.free(plane, block, false);
    }
    // Moved pages may have filled the host's block when there was none to follow it.
    tables.reopen_for_host(plane);
}
