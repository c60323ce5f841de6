//! Lines out of a file.

use serde::{Deserialize, Serialize};

use crate::ftl::block_manager::BlockManager;
use crate::ftl::space::Following;
use crate::ids::{BlockId, PlaneId};
use crate::placement::Class;
use crate::victim::{SavedVictims, VictimSelector};

use super::parity_saved::SavedParity;
use super::view::LinesAt;
use super::{Line, Lines, LinesOn};

/// Saved state of lines, as far as it does not follow from the blocks.
#[derive(Debug, Serialize, Deserialize)]
pub struct SavedLines {
    /// Of each plane, the blocks of open lines that it has not begun, in the order in which it fills them.
    following: Vec<Vec<(Class, BlockId)>>,
    found_no_victim: bool,
    parity: Option<SavedParity>,
}

impl Lines {
    /// Makes the lines of a device whose blocks are known those that were saved. False if they can't be theirs.
    pub(in crate::ftl) fn restore(
        &mut self,
        manager: &mut BlockManager,
        saved: &SavedLines,
    ) -> bool {
        let planes = manager.space.planes();
        saved.following.len() == planes.len()
            && planes.zip(&saved.following).all(|(plane, listed)| {
                let BlockManager { space, blocks, geometry, streams, .. } = &mut *manager;
                let may_follow = |class: Class, block: BlockId| {
                    block.index() < geometry.blocks()
                        && geometry.plane_of_block(block) == plane
                        && class.index() < streams.classes.count()
                        && blocks.last_valid(block).is_none()
                };
                follow(space.following_mut(), plane, listed, may_follow)
            })
            && self.restore_known(manager, saved)
            && self.restore_parity(manager, saved.parity.as_ref())
            && self.on(manager).check().is_ok()
    }

    fn restore_known(&mut self, manager: &BlockManager, saved: &SavedLines) -> bool {
        self.found_no_victim = saved.found_no_victim;
        for line in 0..self.blocks {
            let blocks = || self.blocks_of(line).map(|(_, block)| block);
            let full = blocks().filter(|block| manager.blocks.is_closed(*block));
            let valid = blocks().map(|block| u32::from(manager.blocks.valid_pages(block)));
            let sealed = blocks().map(|block| manager.blocks.sealed_at(block)).max();
            self.lines[line] = Line {
                full_blocks: full.count() as u32,
                valid: valid.sum(),
                sealed: sealed.unwrap_or(0),
                is_sealed: false,
            };
            if self.is_full(line) {
                self.lines[line].is_sealed = true;
                self.invalid += self.invalid_of(self.lines[line].valid);
            }
        }
        true
    }

    /// Makes the victim policy, which knows no line, the one that was saved. False if it can't be that of these lines.
    pub(in crate::ftl) fn restore_victims(
        &self,
        victims: &mut VictimSelector,
        view: &LinesAt<'_>,
        saved: SavedVictims,
    ) -> bool {
        let listed = |line: BlockId| {
            let valid = self.lines[line.index()].valid as u16;
            self.is_full(line.index()).then_some((super::ALL_PLANES, valid))
        };
        victims.restore(saved, self.blocks, listed, view)
    }
}

impl LinesOn<'_> {
    /// Saved state of lines. None may be under way.
    pub fn saved(&self) -> SavedLines {
        let lines = self.lines;
        let following = |plane| self.manager.space.following().of_plane(plane).collect();
        SavedLines {
            following: self.manager.space.planes().map(following).collect(),
            found_no_victim: lines.found_no_victim,
            parity: lines.parity.as_ref().map(|parity| parity.saved()),
        }
    }

    /// The blocks of `plane` that are open and that no page of data is written to now: those behind another of their class,
    /// and those of parity.
    pub(in crate::ftl) fn following_blocks(&self, plane: PlaneId) -> Vec<BlockId> {
        let following = self.manager.space.following().of_plane(plane).map(|(_, block)| block);
        let of_parity = self
            .manager
            .geometry
            .blocks_of_plane(plane)
            .filter(|block| self.is_open_parity(*block));
        following.chain(of_parity).collect()
    }

    fn is_open_parity(&self, block: BlockId) -> bool {
        self.manager.blocks.is_open(block) && self.is_parity(block)
    }
}

/// Queues the blocks that `plane` fills after its open ones. False if they can't be there.
fn follow(
    following: &mut Following,
    plane: PlaneId,
    listed: &[(Class, BlockId)],
    may_follow: impl Fn(Class, BlockId) -> bool,
) -> bool {
    listed.iter().all(|(class, block)| {
        let is_here = may_follow(*class, *block);
        if is_here {
            following.add(plane, *class, *block);
        }
        is_here
    })
}
