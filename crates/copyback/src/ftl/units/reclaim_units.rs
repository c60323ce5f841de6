//! The reclaim units of placement handles, as a drive with flexible data placement tells of them: what a handle has filled,
//! and what the unit that it writes to still takes.

use std::ops::AddAssign;

use crate::ids::PlaneId;
use crate::placement::{Class, HandleTally};
use crate::victim::{UnitTally, VictimSelector};

use super::{ALL_PLANES, Lines};
use crate::ftl::block_manager::BlockManager;
use crate::ftl::space::Stream;

/// The reclaim units of placement handles: blocks, or lines, that are filled for a handle and collected together.
#[derive(Debug, Clone, Copy)]
pub struct ReclaimUnits<'a> {
    manager: &'a BlockManager,
}

/// The reclaim units of a drive, or of several together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitReport {
    /// Pages of a unit that hold data.
    pub pages: u64,
    /// Reclaim groups: planes, or one, if units are made of lines.
    pub groups: u64,
    /// Of each handle, units that were filled since the run began.
    pub filled: Vec<u64>,
    /// Of each handle, pages that the units which it writes to still take, over all groups.
    pub room: Vec<u64>,
}

impl AddAssign<&Self> for UnitReport {
    fn add_assign(&mut self, other: &Self) {
        self.groups += other.groups;
        let add = |to: &mut [u64], from: &[u64]| {
            to.iter_mut().zip(from).for_each(|(sum, pages)| *sum += pages);
        };
        add(&mut self.filled, &other.filled);
        add(&mut self.room, &other.room);
    }
}

impl<'a> ReclaimUnits<'a> {
    /// The reclaim units of these blocks.
    pub const fn of(manager: &'a BlockManager) -> Self {
        Self { manager }
    }

    /// Pages written with each placement handle, if the placement goes by handles.
    pub fn handle_tally(&self) -> Option<HandleTally> {
        let tally = self.manager.streams.placement.handles()?.clone();
        let reallocations = self.tally().map_or(tally.reallocations, |units| units.reallocated);
        Some(HandleTally { reallocations, ..tally })
    }

    /// The reclaim units of placement handles, if the placement goes by handles.
    pub fn report(&self) -> Option<UnitReport> {
        let handles = self.manager.streams.placement.handles()?.host_pages.len();
        let filled = match self.tally() {
            Some(tally) => tally.filled[..handles].to_vec(),
            None => self
                .manager
                .streams
                .tally
                .classes()
                .iter()
                .take(handles)
                .map(|of| of.filled)
                .collect(),
        };
        let room = (0..handles).map(|handle| self.room_of_handle(handle));
        Some(UnitReport {
            pages: self.unit_blocks() as u64 * u64::from(self.pages_of_part()),
            groups: self.reclaim_groups() as u64,
            filled,
            room: room.collect(),
        })
    }

    pub(in crate::ftl) fn tally(&self) -> Option<&'a UnitTally> {
        match &self.manager.victims {
            VictimSelector::InUnits(units) => Some(units.tally()),
            _ => None,
        }
    }

    /// Blocks of a unit, or lines.
    fn unit_blocks(&self) -> usize {
        match &self.manager.victims {
            VictimSelector::InUnits(units) => units.size(),
            _ => 1,
        }
    }

    /// Pages of one of these.
    fn pages_of_part(&self) -> u32 {
        let blocks =
            if self.manager.limits.victims_are_lines { self.manager.geometry.planes() } else { 1 };
        blocks as u32 * self.manager.limits.data_pages
    }

    fn reclaim_groups(&self) -> usize {
        if self.manager.limits.victims_are_lines { 1 } else { self.manager.geometry.planes() }
    }

    /// Pages that the units of a handle still take: what is left of its open blocks, and the blocks that its units are yet to
    /// get. A handle that has filled its unit writes to an empty one.
    fn room_of_handle(&self, handle: usize) -> u64 {
        let stream = Stream::Class(Class::new(handle));
        let of_plane = |plane| {
            let frontier = self.manager.space[plane].frontier(stream);
            let room = frontier.map_or(0, |frontier| self.manager.rooms().room(frontier));
            let following = self.manager.rooms().pages_behind(plane, stream);
            let open = u32::from(frontier.is_some()) + following / self.manager.limits.data_pages;
            (plane, u64::from(room + following), open as usize)
        };
        let planes = self.manager.space.planes().map(of_plane);
        if !self.manager.limits.victims_are_lines {
            return planes
                .map(|(plane, room, open)| self.room_of_units(handle, plane, room, open))
                .sum();
        }
        // A plane that is behind with an early line is behind with all that were opened after it.
        let all =
            planes.fold((0, 0), |(pages, lines), (_, room, open)| (pages + room, lines.max(open)));
        self.room_of_units(handle, ALL_PLANES, all.0, all.1)
    }

    /// With so much `room` in `open` blocks, or lines.
    fn room_of_units(&self, handle: usize, group: PlaneId, room: u64, open: usize) -> u64 {
        let size = self.unit_blocks();
        let waiting = match &self.manager.victims {
            VictimSelector::InUnits(units) => units.waiting_blocks(group, handle),
            _ => 0,
        };
        let parts = match (waiting + open) % size {
            0 if open == 0 => size,
            0 => 0,
            begun => size - begun,
        };
        room + parts as u64 * u64::from(self.pages_of_part())
    }

    /// Checks what is counted of units against their blocks, or the `lines` that they are made of.
    ///
    /// # Errors
    /// Names the first contradiction.
    pub(in crate::ftl) fn check(&self, lines: Option<&Lines>) -> Result<(), String> {
        let VictimSelector::InUnits(units) = &self.manager.victims else { return Ok(()) };
        let blocks = &self.manager.blocks;
        match lines {
            Some(lines) => units.check(|line| lines.valid_if_full(line)),
            None => units.check(|block| blocks.is_closed(block).then(|| blocks.valid_pages(block))),
        }
    }
}
