//! Single blocks: each is opened, collected and freed by itself.

use crate::checkpoint::Checkpointed;
use crate::ftl::block_manager::BlockManager;
use crate::ftl::mapping::ReclaimPlan;
use crate::ftl::space::Stream;
use crate::ids::{BlockId, PlaneId};
use crate::placement::Placement;
use crate::victim::{VictimSelector, Victims};

use super::{UnitOfReclaiming, offset_in, reopen_for_host};

/// Blocks, each of which is a unit. All that is known of them is with the [manager](BlockManager).
#[derive(Debug, Checkpointed)]
pub struct SingleBlocks;

impl UnitOfReclaiming for SingleBlocks {
    fn choose(&mut self, manager: &mut BlockManager, plane: PlaneId) -> Option<BlockId> {
        choose_by_policy(manager, plane)
    }

    fn begin(&mut self, manager: &mut BlockManager, victim: BlockId) -> ReclaimPlan {
        let (plane, valid) =
            (manager.geometry.plane_of_block(victim), manager.blocks.valid_pages(victim));
        manager.victims.removed(plane, victim, valid);
        manager.begin_to_move(plane, victim);
        manager.space.take_invalid(plane, manager.limits.data_pages - u32::from(valid));
        manager.limits.plan_of(victim)
    }

    fn erased(&mut self, manager: &mut BlockManager, plane: PlaneId, block: BlockId) {
        manager.end_collection(plane, block);
        manager.free(plane, block, false);
        // Moved pages may have filled the host's block when there was none to follow it.
        reopen_for_host(self, manager, plane);
    }

    #[inline(always)]
    fn offset_for_host(
        &self,
        manager: &BlockManager,
        stream: Stream,
        plane: PlaneId,
    ) -> Option<u32> {
        offset_in(self, manager, stream, plane)
    }
}

/// The block of `plane` that the victim policy chooses, if its pages have room.
pub(in crate::ftl) fn choose_by_policy(
    manager: &mut BlockManager,
    plane: PlaneId,
) -> Option<BlockId> {
    if manager.space[plane].closed_invalid == 0 && !manager.victims.refuses() {
        return None;
    }
    let mut victim = look(manager, plane);
    // Where the host can open no block, nothing else would call for another look.
    while victim.is_none()
        && !manager.space.may_open_for_host(plane)
        && manager.victims.look_again(plane)
    {
        victim = look(manager, plane);
    }
    let victim = victim?;
    if !manager.rooms().has_room_for(victim, plane) {
        return emptiest_instead(manager, plane);
    }
    is_worth_it(manager, victim).then_some(victim)
}

/// The block of `plane` with fewest valid pages, where what the policy names finds no room and the host can open no block:
/// nothing would bring the next look. Only of policies that know single blocks.
#[cold]
fn emptiest_instead(manager: &BlockManager, plane: PlaneId) -> Option<BlockId> {
    let knows_others = matches!(
        manager.victims,
        VictimSelector::InGroups(_)
            | VictimSelector::InUnits(_)
            | VictimSelector::External(_)
            | VictimSelector::FifoOpened(_)
            | VictimSelector::FifoDropping(_)
    );
    if knows_others || manager.space.may_open_for_host(plane) {
        return None;
    }
    let is_native = |block: &BlockId| {
        manager.blocks.is_closed(*block) && !manager.blocks.is_full_in_cache(*block)
    };
    let closed = manager.geometry.blocks_of_plane(plane).filter(is_native);
    let emptiest = closed.min_by_key(|block| manager.blocks.valid_pages(*block))?;
    let gives = u32::from(manager.blocks.valid_pages(emptiest)) < manager.limits.data_pages;
    (gives && manager.rooms().has_room_for(emptiest, plane)).then_some(emptiest)
}

/// Whether enough of `victim` is invalid, or the host can open no block, so that little must do.
fn is_worth_it(manager: &BlockManager, victim: BlockId) -> bool {
    let invalid = manager.limits.data_pages - u32::from(manager.blocks.valid_pages(victim));
    let plane = manager.geometry.plane_of_block(victim);
    invalid >= manager.limits.least_invalid || !manager.space.may_open_for_host(plane)
}

/// The block of `plane` that the victim policy chooses, where the placement says if that has a say.
fn look(manager: &mut BlockManager, plane: PlaneId) -> Option<BlockId> {
    manager.regroup();
    let BlockManager { victims, streams, blocks, .. } = manager;
    match victims {
        VictimSelector::InGroups(groups) => {
            let wanted = streams.placement.grouping()?.wanted(groups.full_blocks(plane));
            groups.choose_wanted(plane, wanted, &blocks.at(streams))
        }
        policy => policy.choose(plane, &blocks.at(streams)),
    }
}

impl BlockManager {
    /// Begins to move what is valid in `victim` of `plane`.
    pub(super) fn begin_to_move(&mut self, plane: PlaneId, victim: BlockId) {
        self.streams.chosen(self.blocks.life(victim), self.limits.data_pages);
        let Self { blocks, geometry, map, streams, .. } = self;
        let mut offset = 0;
        let valid = std::iter::from_fn(|| {
            let next = blocks.next_valid(victim, offset)?;
            offset = next + 1;
            Some(map.logical(geometry.page(victim, next)))
        });
        streams.expect_moves(blocks.class(victim), valid);
        self.blocks.set_open(victim);
        self.space.set_reclaiming(plane, Some(victim));
    }

    /// Ends the collection of `block` of `plane`, if that was collected and has been erased.
    pub(super) fn end_collection(&mut self, plane: PlaneId, block: BlockId) {
        if self.space[plane].reclaiming == Some(block) {
            self.space.set_reclaiming(plane, None);
            self.streams.collected(self.blocks.life(block));
        }
    }
}
