//! Lines are opened, and filled plane by plane.

use crate::ftl::block_manager::BlockManager;
use crate::ftl::space::{Frontier, Space, Stream};
use crate::ids::{BlockId, PlaneId};
use crate::placement::Class;
use crate::victim::Victims;

use super::{ALL_PLANES, LineId, Lines, LinesOn};

impl Lines {
    /// Opens a free line for a class whose blocks on `plane` are full. Returns the block there, which is for the caller to
    /// note; a plane that has an open block fills that first.
    pub(in crate::ftl) fn open_line(
        &mut self,
        manager: &mut BlockManager,
        plane: PlaneId,
        class: Class,
    ) -> Frontier {
        let now = manager.streams.clock;
        let parity = self.on(manager).take_parity_die(plane);
        let mut opened = None;
        for other in manager.space.planes() {
            let block = manager.space.take_free(other);
            manager.space.opened(other);
            manager.blocks.open(block, Some(class), now);
            manager.streams.opened(Some(class));
            let next = Frontier { block, next_page: 0 };
            if other == plane {
                opened = Some(next);
            } else if parity != Some(manager.geometry.die_of_plane(other))
                && !self.is_lost(manager.geometry.die_of_plane(other))
            {
                take_block_of_line(&mut manager.space, other, class, next);
            }
        }
        let opened = opened.expect("a plane is one of all");
        self.wakes_others = true;
        self.tally.opened += 1;
        let line = self.line_of(opened.block);
        debug_assert!(
            self.blocks_of(line).all(|(_, block)| manager.blocks.is_open(block)),
            "planes free their blocks in the same order"
        );
        manager.victims.opened(ALL_PLANES, BlockId::from_index(line));
        if let Some(die) = parity {
            self.begin_parity(line, class, die);
            self.leave_out_lost(manager, line);
        }
        opened
    }

    /// Goes on with the next block of an open line on `plane`, if it has not begun one. Returns whether it has.
    pub(in crate::ftl) fn goes_on_in_line(
        &mut self,
        manager: &mut BlockManager,
        plane: PlaneId,
        stream: Stream,
    ) -> bool {
        let Stream::Class(class) = stream else { return false };
        let Some(block) = manager.space.following_mut().take(plane, class) else { return false };
        // The host may open a line on another plane again.
        self.wakes_others |= !manager.space.is_behind(class);
        *manager.space[plane].frontier_mut(stream) = Some(Frontier { block, next_page: 0 });
        true
    }

    /// `block`, which was open, is full.
    pub(in crate::ftl) fn close_in_line(&mut self, manager: &mut BlockManager, block: BlockId) {
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

    /// A page of `block`, which is full, has become invalid.
    #[inline(never)]
    pub(in crate::ftl) fn lost_in_line(&mut self, manager: &mut BlockManager, block: BlockId) {
        let line = self.line_of(block);
        if self.is_of_lost(manager.geometry.plane_of_block(block)) {
            return self.lost_page_went(manager, block);
        }
        if !self.is_full(line) {
            return;
        }
        let before = self.invalid_of(self.lines[line].valid);
        self.lines[line].valid -= 1;
        let valid = self.lines[line].valid;
        self.invalid += self.invalid_of(valid) - before;
        manager.victims.lost_page(ALL_PLANES, BlockId::from_index(line), valid as u16);
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
fn take_block_of_line(space: &mut Space, plane: PlaneId, class: Class, next: Frontier) {
    let open = space[plane].frontier_mut(Stream::Class(class));
    match open {
        None => *open = Some(next),
        Some(_) => space.following_mut().add(plane, class, next.block),
    }
}
