//! Parity of lines out of a file, and against the blocks that it is of.

use serde::{Deserialize, Serialize};

use crate::ftl::block_manager::BlockManager;
use crate::ids::{BlockId, DieId, PlaneId};
use crate::nand::Geometry;

use super::parity::Parity;
use super::{LineId, Lines, LinesOn};

/// Saved state of parity, as far as it does not follow from the blocks.
#[derive(Debug, Serialize, Deserialize)]
pub struct SavedParity {
    of_lines: Vec<DieId>,
    last: Vec<Option<usize>>,
    turn: DieId,
}

impl Parity {
    /// Saved state of parity. None may be due.
    pub(super) fn saved(&self) -> SavedParity {
        let (of_lines, last, turn) = (self.of_lines.clone(), self.last.clone(), self.turn);
        SavedParity { of_lines, last, turn }
    }

    fn restore(&mut self, saved: &SavedParity) -> bool {
        let dies = self.dies();
        let are_dies = |all: &[DieId]| all.iter().all(|die| die.index() < dies);
        let fits = saved.of_lines.len() == self.of_lines.len()
            && saved.last.len() == self.last.len()
            && saved.last.iter().flatten().all(|line| *line < saved.of_lines.len())
            && are_dies(&saved.of_lines)
            && are_dies(&[saved.turn]);
        if fits {
            (self.of_lines, self.last) = (saved.of_lines.clone(), saved.last.clone());
            self.turn = saved.turn;
        }
        fits
    }
}

impl Lines {
    /// Makes the parity of lines whose blocks are known that which was saved. False if it can't be theirs.
    pub(super) fn restore_parity(
        &mut self,
        manager: &mut BlockManager,
        saved: Option<&SavedParity>,
    ) -> bool {
        let (Some(parity), Some(saved)) = (&mut self.parity, saved) else {
            return self.parity.is_none() && saved.is_none();
        };
        if !parity.restore(saved) {
            return false;
        }
        let all = manager.geometry.all_blocks();
        for block in all {
            if manager.blocks.is_free(block) {
                continue;
            }
            if self.on(manager).is_parity(block) {
                if manager.blocks.is_closed(block) {
                    // It holds no data that could be invalid.
                    let plane = manager.geometry.plane_of_block(block);
                    let invalid = &mut manager.space[plane].closed_invalid;
                    *invalid = invalid.saturating_sub(manager.limits.data_pages);
                }
                self.count_parity_of(block, &manager.geometry);
                if manager.blocks.valid_pages(block) > 0 {
                    return false;
                }
            } else {
                self.restore_stripes(manager, block);
            }
        }
        self.restore_written();
        true
    }

    /// While a drive is prepared all parity that is due is programmed at once.
    fn restore_written(&mut self) {
        let Some(parity) = &mut self.parity else { return };
        for line in 0..self.blocks {
            for plane in (0..self.planes_per_die).map(PlaneId) {
                parity.set_written(line, plane, parity.whole_stripes(line, plane));
            }
        }
    }

    /// Counts the line of `block`, which holds parity, with the first such block of it.
    fn count_parity_of(&mut self, block: BlockId, geometry: &Geometry) {
        let (line, plane) = (self.line_of(block), geometry.plane_of_block(block));
        let is_first = geometry.first_plane(geometry.die_of_plane(plane)) == plane;
        if let Some(parity) = self.parity.as_mut().filter(|_| is_first) {
            parity.count_line(parity.die_of(line));
        }
    }

    fn restore_stripes(&mut self, manager: &BlockManager, block: BlockId) {
        let pages = self.on(manager).programmed_data(block);
        let plane = manager.geometry.plane_of_block(block);
        let line = self.line_of(block);
        let Some(parity) = &mut self.parity else { return };
        (0..pages).for_each(|offset| _ = parity.add(line, plane, offset));
    }
}

impl LinesOn<'_> {
    /// Pages of data that have been programmed of `block`, which is not free.
    pub(super) fn programmed_data(&self, block: BlockId) -> u32 {
        if self.manager.blocks.is_closed(block) {
            return self.manager.limits.data_pages;
        }
        let plane = self.manager.geometry.plane_of_block(block);
        let mut open = self.manager.space[plane].frontiers();
        open.find(|open| open.block == block).map_or(0, |open| open.next_page)
    }

    /// Checks which stripes of `line`, which is not being collected, are whole, if lines have parity.
    pub(super) fn check_parity(&self, line: LineId) -> Result<(), String> {
        let lines = self.lines;
        let Some(parity) = &lines.parity else { return Ok(()) };
        if lines.is_lost(parity.die_of(line)) {
            return Ok(());
        }
        for number in 0..lines.planes_per_die {
            let planes = (0..lines.planes).map(PlaneId::from_index);
            let planes = planes.filter(|plane| plane.0 % lines.planes_per_die == number);
            let (of_parity, of_data): (Vec<_>, Vec<_>) =
                planes.partition(|plane| lines.holds_parity(line, *plane));
            let block = |plane: &PlaneId| lines.block_of(line, *plane);
            if of_parity.iter().any(|plane| self.manager.blocks.valid_pages(block(plane)) > 0) {
                return Err(format!("line {line}: data where its parity is to be"));
            }
            let is_free = |plane: &PlaneId| self.manager.blocks.is_free(block(plane));
            let programmed = |plane: &PlaneId| match is_free(plane) {
                true => 0,
                // Of stripes beyond what was there it is no part.
                false if lines.is_of_lost(*plane) => self.manager.limits.data_pages,
                false => self.programmed_data(block(plane)),
            };
            let whole = of_data.iter().map(programmed).min().unwrap_or(0);
            let counted = parity.whole_stripes(line, PlaneId(number));
            if whole != counted {
                return Err(format!(
                    "line {line}: {whole} stripes are whole, but {counted} counted"
                ));
            }
            let is_full = of_parity.iter().any(|plane| self.manager.blocks.is_closed(block(plane)));
            let written = parity.written(line, PlaneId(number));
            let is_right = if is_full { written == whole } else { written <= whole };
            if !is_right {
                return Err(format!("line {line}: {written} pages of parity of {whole} stripes"));
            }
            if is_full && whole < self.manager.limits.data_pages {
                return Err(format!(
                    "line {line}: its parity is full, but only {whole} stripes are"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::device;
    use crate::ftl::Tables;

    #[test]
    fn parity_is_told_of_where_lines_have_some_and_nowhere_else() {
        let rain = |on: &str| device(&[("ssd.ftl.rain", on)]);
        let saved = |on: &str| {
            let ftl = rain(on);
            let lines = ftl.lines().expect("it has lines");
            lines.parity.as_ref().map(|parity| parity.saved())
        };
        let is_restored = |on: &str, from: &str| {
            let parity = saved(from);
            let Tables { manager, units, .. } = &mut rain(on).tables;
            let lines = units.lines_mut().expect("it has lines");
            lines.restore_parity(manager, parity.as_ref())
        };
        assert!(is_restored("true", "true") && is_restored("false", "false"));
        assert!(!is_restored("true", "false"), "a line's parity would be on no die");
        assert!(!is_restored("false", "true"), "a line would have no place for it");
    }
}
