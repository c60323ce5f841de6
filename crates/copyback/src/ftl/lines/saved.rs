//! Lines out of a file.

use serde::{Deserialize, Serialize};

use crate::ftl::tables::Tables;
use crate::ids::{BlockId, PlaneId};
use crate::placement::Class;
use crate::victim::SavedVictims;

use super::Line;
use super::parity_saved::SavedParity;

/// What a file tells of lines that does not follow from the blocks.
#[derive(Debug, Serialize, Deserialize)]
pub struct SavedLines {
    /// Of each plane, the blocks of open lines that it has not begun, in the order in which it fills them.
    following: Vec<Vec<(Class, BlockId)>>,
    found_no_victim: bool,
    parity: Option<SavedParity>,
}

impl Tables {
    /// What a file has to tell of lines, if there are any. None may be under way.
    pub fn saved_lines(&self) -> Option<SavedLines> {
        let lines = self.lines.as_ref()?;
        let following = |plane| lines.following.of_plane(plane).collect();
        Some(SavedLines {
            following: self.space.planes().map(following).collect(),
            found_no_victim: lines.found_no_victim,
            parity: lines.parity.as_ref().map(|parity| parity.saved()),
        })
    }

    /// Makes the lines of a device whose blocks are known those that were saved. False if they can't be theirs.
    pub(in crate::ftl) fn restore_lines(&mut self, saved: Option<&SavedLines>) -> bool {
        let (Some(_), Some(saved)) = (&self.lines, saved) else {
            return self.lines.is_none() && saved.is_none();
        };
        let planes = self.space.planes();
        saved.following.len() == planes.len()
            && planes.zip(&saved.following).all(|(plane, blocks)| self.follow(plane, blocks))
            && self.restore_known(saved)
            && self.restore_parity(saved.parity.as_ref())
            && self.check_lines().is_ok()
    }

    fn follow(&mut self, plane: PlaneId, blocks: &[(Class, BlockId)]) -> bool {
        blocks.iter().all(|(class, block)| {
            let is_here = block.index() < self.geometry.blocks()
                && self.geometry.plane_of_block(*block) == plane
                && class.index() < self.streams.classes.count()
                && self.blocks.last_valid(*block).is_none();
            if let Some(lines) = self.lines.as_mut().filter(|_| is_here) {
                lines.following.add(plane, *class, *block);
            }
            is_here
        })
    }

    fn restore_known(&mut self, saved: &SavedLines) -> bool {
        let Some(lines) = &mut self.lines else { return false };
        lines.found_no_victim = saved.found_no_victim;
        for line in 0..lines.blocks {
            let blocks = || lines.blocks_of(line).map(|(_, block)| block);
            let full = blocks().filter(|block| self.blocks.is_closed(*block));
            let valid = blocks().map(|block| u32::from(self.blocks.valid_pages(block)));
            let sealed = blocks().map(|block| self.blocks.sealed_at(block)).max();
            lines.lines[line] = Line {
                full_blocks: full.count() as u32,
                valid: valid.sum(),
                sealed: sealed.unwrap_or(0),
                is_sealed: false,
            };
            if lines.is_full(line) {
                lines.lines[line].is_sealed = true;
                lines.invalid += lines.invalid_of(lines.lines[line].valid);
            }
        }
        true
    }

    /// The blocks of `plane` that are open and that no page of data is written to now: those behind another of their class,
    /// and those of parity.
    pub(in crate::ftl) fn following_blocks(&self, plane: PlaneId) -> Vec<BlockId> {
        let Some(lines) = &self.lines else { return Vec::new() };
        let following = lines.following.of_plane(plane).map(|(_, block)| block);
        let of_parity =
            self.geometry.blocks_of_plane(plane).filter(|block| self.is_open_parity(*block));
        following.chain(of_parity).collect()
    }

    fn is_open_parity(&self, block: BlockId) -> bool {
        self.blocks.is_open(block) && self.is_parity(block)
    }

    /// Makes the victim policy, which knows no line, the one that was saved. False if it can't be that of these lines.
    pub(in crate::ftl) fn restore_victims_of_lines(&mut self, saved: SavedVictims) -> bool {
        let Self { lines: Some(lines), victims, blocks, streams, .. } = self else { return false };
        let listed = |line: BlockId| {
            let valid = lines.lines[line.index()].valid as u16;
            lines.is_full(line.index()).then_some((super::ALL_PLANES, valid))
        };
        victims.restore(saved, lines.blocks, listed, &lines.at(blocks, streams))
    }
}
