//! Lines are opened, and filled plane by plane.

use crate::ftl::block_manager::BlockManager;
use crate::ftl::space::{Frontier, Space, Stream};
use crate::ids::{BlockId, PlaneId};
use crate::placement::Class;
use crate::victim::Victims;

use super::{ALL_PLANES, LineId, Lines, LinesOn};

impl Lines {
    /// `block`, which was open, is full.
    pub(super) fn close_in_line(&mut self, manager: &mut BlockManager, block: BlockId) {
        let line = self.line_of(block);
        self.lines[line].full_blocks += 1;
        if self.is_full(line) {
            self.line_is_full(manager, line);
        }
    }

    /// `line` may be a victim from now on.
    pub(super) fn line_is_full(&mut self, manager: &mut BlockManager, line: LineId) {
        let valid =
            self.blocks_of(line).map(|(_, block)| u32::from(manager.blocks.valid_pages(block)));
        let valid = valid.sum();
        self.invalid += self.invalid_of(valid);
        let full = &mut self.lines[line];
        full.valid = valid;
        if !std::mem::replace(&mut full.is_sealed, true) {
            full.sealed = manager.streams.clock;
            manager.streams.sealed(self.life(line, &manager.blocks));
        }
        let view = self.at(&manager.blocks, &manager.streams);
        manager.victims.closed(ALL_PLANES, BlockId::from_index(line), valid as u16, &view);
    }
}

impl LinesOn<'_> {
    /// Whether the host may open a line on `plane` for this stream: not while another plane has not begun the line of the
    /// class that was opened last.
    pub(super) fn may_open_line(&self, plane: PlaneId, stream: Stream) -> bool {
        let lines = self.lines;
        let (free, kept) = (
            self.manager.space.free_blocks(plane),
            self.manager.space.thresholds().kept_for_collections,
        );
        self.manager.space.may_open_for_host(plane)
            && !stream.class().is_some_and(|class| self.manager.space.is_behind(class))
            && !lines.is_of_lost(plane)
            && lines.leaves_room_to_rebuild(free, kept)
            && lines.takes_part(plane, stream)
            && (lines.parity.is_none() || self.leaves_parity_to_others(plane))
    }
}

/// `plane` fills `next` when its other blocks of the class are full.
pub(super) fn take_block_of_line(space: &mut Space, plane: PlaneId, class: Class, next: Frontier) {
    let open = space[plane].frontier_mut(Stream::Class(class));
    match open {
        None => *open = Some(next),
        Some(_) => space.following_mut().add(plane, class, next.block),
    }
}
