//! Stripe of a page: the other pages that it can be reconstructed from.

use smallvec::SmallVec;

use crate::ids::{PlaneId, Ppn};

use super::{Lines, LinesOn};

/// Pages that are read to make up another.
pub type StripePages = SmallVec<[Ppn; 8]>;

impl LinesOn<'_> {
    /// The pages that `page`, which has been programmed with data, is made up from, if lines have parity and none of its
    /// stripe has been erased or lost. Of a stripe whose parity is not programmed the drive has that in DRAM; there may be no other.
    pub fn others_of_stripe(&self, page: Ppn) -> Option<StripePages> {
        let lines = self.lines;
        let parity = lines.parity.as_ref()?;
        let (block, offset) =
            (self.manager.geometry.block_of(page), self.manager.geometry.page_offset(page));
        let (line, own) = (lines.line_of(block), self.manager.geometry.plane_of_block(block));
        let is_collected = lines.collected.is(line);
        let mut others = StripePages::new();
        for plane in lines.planes_of_number(own) {
            if lines.is_of_lost(plane) {
                let is_needed =
                    lines.holds_parity(line, plane) || offset < parity.held_by_lost(line, plane);
                if plane != own && is_needed {
                    return None;
                }
                continue;
            }
            if is_collected && lines.collected.is_erased(plane) {
                return None;
            }
            let programmed = match lines.holds_parity(line, plane) {
                true => parity.written(line, plane),
                false if is_collected => self.manager.limits.data_pages,
                false => self.programmed_data(lines.block_of(line, plane)),
            };
            if plane != own && offset < programmed {
                others.push(self.manager.geometry.page(lines.block_of(line, plane), offset));
            }
        }
        Some(others)
    }
}

impl Lines {
    /// The planes of all dies that have the number of `plane`.
    fn planes_of_number(&self, plane: PlaneId) -> impl Iterator<Item = PlaneId> + use<> {
        let (number, step) = (plane.0 % self.planes_per_die, self.planes_per_die as usize);
        (number as usize..self.planes).step_by(step).map(PlaneId::from_index)
    }
}
