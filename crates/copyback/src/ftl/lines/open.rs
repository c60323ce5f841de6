//! Lines are opened, and filled plane by plane.

use crate::ftl::space::{Frontier, Stream};
use crate::ftl::tables::Tables;
use crate::ids::{BlockId, PlaneId};
use crate::placement::Class;
use crate::victim::Victims;

use super::{ALL_PLANES, LineId, Lines};

impl Tables {
    /// Opens a free line for a class whose blocks on `plane` are full. Returns the block there, which is for the caller to
    /// note; a plane that has an open block fills that first.
    pub(in crate::ftl) fn open_line(&mut self, plane: PlaneId, class: Class) -> Frontier {
        let now = self.streams.clock;
        let parity = self.take_parity_die(plane);
        let mut opened = None;
        for other in self.space.planes() {
            let block = self.space.take_free(other);
            self.space.opened(other);
            self.blocks.open(block, Some(class), now);
            self.streams.opened(Some(class));
            let next = Frontier { block, next_page: 0 };
            if other == plane {
                opened = Some(next);
            } else if parity != Some(self.geometry.die_of_plane(other))
                && !self.is_lost(self.geometry.die_of_plane(other))
            {
                self.take_block_of_line(other, class, next);
            }
        }
        let opened = opened.expect("a plane is one of all");
        if let Some(lines) = &mut self.lines {
            lines.wakes_others = true;
            lines.tally.opened += 1;
            let line = lines.line_of(opened.block);
            debug_assert!(
                lines.blocks_of(line).all(|(_, block)| self.blocks.is_open(block)),
                "planes free their blocks in the same order"
            );
            self.victims.opened(ALL_PLANES, BlockId::from_index(line));
            if let Some(die) = parity {
                self.begin_parity(line, class, die);
                self.leave_out_lost(line, class);
            }
        }
        opened
    }

    /// `plane` fills `next` when its other blocks of the class are full.
    fn take_block_of_line(&mut self, plane: PlaneId, class: Class, next: Frontier) {
        let Some(lines) = &mut self.lines else { return };
        let open = self.space[plane].frontier_mut(Stream::Class(class));
        match open {
            None => *open = Some(next),
            Some(_) => lines.following.add(plane, class, next.block),
        }
    }

    /// Goes on with the next block of an open line on `plane`, if it has not begun one. Returns whether it has.
    pub(in crate::ftl) fn goes_on_in_line(&mut self, plane: PlaneId, stream: Stream) -> bool {
        let (Some(lines), Stream::Class(class)) = (&mut self.lines, stream) else { return false };
        let Some(block) = lines.following.take(plane, class) else { return false };
        // The host may open a line on another plane again.
        lines.wakes_others |= !lines.following.any_of(class);
        *self.space[plane].frontier_mut(stream) = Some(Frontier { block, next_page: 0 });
        true
    }

    /// `block`, which was open, is full.
    pub(in crate::ftl) fn close_in_line(&mut self, block: BlockId) {
        let Some(lines) = &mut self.lines else { return };
        let line = lines.line_of(block);
        lines.lines[line].full_blocks += 1;
        if lines.is_full(line) {
            self.line_is_full(line);
        }
    }

    /// `line` may be a victim from now on.
    pub(super) fn line_is_full(&mut self, line: LineId) {
        let Some(lines) = &mut self.lines else { return };
        let valid =
            lines.blocks_of(line).map(|(_, block)| u32::from(self.blocks.valid_pages(block)));
        let valid = valid.sum();
        lines.invalid += lines.invalid_of(valid);
        let full = &mut lines.lines[line];
        full.valid = valid;
        if !std::mem::replace(&mut full.is_sealed, true) {
            full.sealed = self.streams.clock;
            self.streams.sealed(lines.life(line, &self.blocks));
        }
        let view = lines.at(&self.blocks, &self.streams);
        self.victims.closed(ALL_PLANES, BlockId::from_index(line), valid as u16, &view);
    }

    /// A page of `block`, which is full, has become invalid.
    #[inline(never)]
    pub(in crate::ftl) fn lost_in_line(&mut self, block: BlockId) {
        let Some(lines) = &mut self.lines else { return };
        let line = lines.line_of(block);
        if lines.is_of_lost(self.geometry.plane_of_block(block)) {
            return self.lost_page_went(block);
        }
        if !lines.is_full(line) {
            return;
        }
        let before = lines.invalid_of(lines.lines[line].valid);
        lines.lines[line].valid -= 1;
        let valid = lines.lines[line].valid;
        lines.invalid += lines.invalid_of(valid) - before;
        self.victims.lost_page(ALL_PLANES, BlockId::from_index(line), valid as u16);
    }

    /// Pages of blocks of open lines which `plane` has not begun, of a class.
    pub(in crate::ftl) fn following_pages(&self, plane: PlaneId, stream: Stream) -> u32 {
        match (&self.lines, stream) {
            (Some(lines), Stream::Class(class)) => {
                lines.following.count(plane, class) as u32 * self.limits.data_pages
            }
            _ => 0,
        }
    }

    /// Pages of blocks of open lines which `plane` has not begun.
    pub(in crate::ftl) fn all_following_pages(&self, plane: PlaneId) -> u32 {
        match self.lines.is_some() {
            true => self.streams.all().map(|stream| self.following_pages(plane, stream)).sum(),
            false => 0,
        }
    }

    /// Whether the host may open a block on `plane` for this stream: not while another plane has not begun the line of the
    /// class that was opened last.
    #[inline]
    pub(in crate::ftl) fn may_open(&self, plane: PlaneId, stream: Stream) -> bool {
        self.space.may_open_for_host(plane)
            && (self.limits.is_plain || self.may_open_line(plane, stream))
    }
}

impl Tables {
    // Apart, as few drives have lines.
    #[inline(never)]
    fn may_open_line(&self, plane: PlaneId, stream: Stream) -> bool {
        let Some(lines) = &self.lines else { return true };
        let (free, kept) =
            (self.space.free_blocks(plane), self.space.thresholds().kept_for_collections);
        !lines.is_behind(stream)
            && !lines.is_of_lost(plane)
            && lines.leaves_room_to_rebuild(free, kept)
            && lines.takes_part(plane, stream)
            && (lines.parity.is_none() || self.leaves_parity_to_others(plane))
    }
}

impl Lines {
    fn is_behind(&self, stream: Stream) -> bool {
        matches!(stream, Stream::Class(class) if self.following.any_of(class))
    }
}
