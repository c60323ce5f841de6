//! Pages of the flash that hold some of their units of mapping, and are programmed when the others come; or filled up
//! with nothing.

use super::Ftl;
use super::block_manager::BlockManager;
use super::space::Stream;
use super::tables::Tables;
use crate::ids::{PlaneId, Ppn, ProgramId};

/// A page that has been filled up.
#[derive(Debug, Clone, Copy)]
pub struct Filled {
    /// The last unit of the page.
    pub last: Ppn,
    /// Units that hold nothing.
    pub units: u32,
    /// Whether its block is full now.
    pub closes_block: bool,
}

impl Ftl {
    /// Fills up the page that `program` writes, which must [hold some units](Tables::is_filled_in_part).
    pub fn fill_up(&mut self, program: ProgramId) -> Filled {
        let tables = &mut self.tables;
        let open = tables.open_at(program).expect("it holds some units");
        let plane = tables.geometry.plane_of_program(program);
        for units in 1.. {
            let (last, closes_block) = tables.skip_page(plane, open);
            if tables.geometry.program_ended_by(last).is_some() {
                return Filled { last, units, closes_block };
            }
        }
        unreachable!("a page has a last unit")
    }

    /// Fills up all pages that hold some units.
    pub fn fill_up_all(&mut self) {
        for plane in self.tables.space.planes() {
            let filled_in_part: Vec<_> = self.tables.filled_in_part(plane).collect();
            for (program, _) in filled_in_part {
                self.fill_up(program);
            }
        }
    }
}

/// The open block that is filled.
#[derive(Debug, Clone, Copy)]
enum Open {
    /// Of a stream.
    Stream(Stream),
    /// Of the blocks in the mode of the SLC cache.
    SlcPool,
}

impl Tables {
    /// Whether the page that `program` writes holds some of its units, and not all.
    pub fn is_filled_in_part(&self, program: ProgramId) -> bool {
        self.open_at(program).is_some()
    }

    /// Whether the page that `program` writes may be filled up: it holds some units and not all, and what is being reclaimed on
    /// its plane keeps its room.
    pub fn may_be_filled(&self, program: ProgramId) -> bool {
        let plane = self.geometry.plane_of_program(program);
        self.is_filled_in_part(program)
            && self.rooms().leaves_room_for(plane, self.geometry.units_per_program - 1)
    }

    /// The open block with the page that `program` writes, if that is filled in part.
    fn open_at(&self, program: ProgramId) -> Option<Open> {
        let mut open = self.filled_in_part(self.geometry.plane_of_program(program));
        open.find(|(of, _)| *of == program).map(|(_, open)| open)
    }

    /// The pages of `plane` that are filled in part, and the open blocks that they are in.
    fn filled_in_part(&self, plane: PlaneId) -> impl Iterator<Item = (ProgramId, Open)> {
        let of_stream =
            move |stream| Some((self.space[plane].frontier(stream)?, Open::Stream(stream)));
        let pool = self.units.slc_pool();
        let in_pool = pool.and_then(|pool| Some((pool.frontier(plane)?, Open::SlcPool)));
        let open = self.streams.all().filter_map(of_stream).chain(in_pool);
        open.filter(|(next, _)| !self.geometry.begins_program(next.next_page)).map(
            |(next, open)| {
                let page = self.geometry.page(next.block, next.next_page);
                (self.geometry.program_of(page), open)
            },
        )
    }

    /// Leaves the next page of an open block without data. Returns it, and whether its block is full now.
    fn skip_page(&mut self, plane: PlaneId, open: Open) -> (Ppn, bool) {
        let (page, closes_block) = match open {
            Open::Stream(stream) => {
                let place = self.take_next_page(plane, stream);
                let closes_block = self.end_page(plane, stream, place, place.block);
                (self.geometry.page(place.block, place.next_page), closes_block)
            }
            Open::SlcPool => {
                let pool = self.units.slc_pool_mut().expect("it has an open block");
                let place =
                    pool.take_page(&mut self.manager, plane).expect("a block of it is open");
                pool.close_if_full(&mut self.manager, place, place.block);
                (self.geometry.page(place.block, place.next_page), false)
            }
        };
        let is_in_cache = self.is_in_cache(page);
        let BlockManager { audit, geometry, .. } = &mut self.manager;
        if let Some(audit) = audit {
            audit.skipped(page, is_in_cache, geometry);
        }
        (page, closes_block)
    }
}
