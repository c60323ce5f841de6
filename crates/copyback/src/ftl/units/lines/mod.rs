//! Lines (`ssd.gc.unit`): the blocks of one index over all planes are opened for a class together, and are a victim,
//! collected and freed together. Each plane fills its own blocks, moves the pages of its own block of a victim, and erases
//! it; the line is free when the last plane has.
//!
//! With parity ([`parity`]) one die of a line holds no data, and a line is full once its parity is programmed.
//!
//! A plane's free blocks are those of free lines, so that all planes have equally many, and thresholds count lines. The
//! victim policy sees a drive of one plane, whose blocks are the lines.

mod borrow;
mod check;
mod collect;
mod collected;
mod held;
mod lost;
mod made_up;
mod open;
mod parity;
mod parity_due;
mod parity_saved;
mod saved;
mod stripe;
mod tally;
mod unit;
mod view;

pub use collected::Collected;
pub use parity::Parity;
pub use parity_due::UntimedParity;
pub use saved::SavedLines;
pub use stripe::StripePages;
pub use tally::LineTally;

use std::ops::Deref;

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ftl::block_manager::BlockManager;
use crate::ids::{BlockId, DieId, PlaneId};
use crate::nand::Geometry;
use crate::placement::Classes;

/// Number of a line: the index of its blocks in their planes.
pub type LineId = usize;

/// The plane that a policy is told of which sees lines as the blocks of one.
pub const ALL_PLANES: PlaneId = PlaneId(0);

/// The lines of a drive.
#[derive(Debug, Checkpointed)]
pub struct Lines {
    planes: usize,
    planes_per_die: u32,
    /// Of a plane.
    blocks: usize,
    /// Pages of a line that hold data.
    pages: u32,
    lines: Vec<Line>,
    /// The line that is being collected.
    collected: Collected,
    /// Invalid pages of full lines.
    invalid: u64,
    /// Whether a victim was last looked for in vain.
    found_no_victim: bool,
    /// Whether something has changed for other dies than the one that has changed it, since that was asked.
    wakes_others: bool,
    /// If one die of each line holds parity.
    parity: Option<Box<Parity>>,
    tally: LineTally,
}

/// Lines beside the blocks that they are of.
#[derive(Debug, Clone, Copy)]
pub struct LinesOn<'a> {
    lines: &'a Lines,
    manager: &'a BlockManager,
}

impl Deref for LinesOn<'_> {
    type Target = Lines;

    fn deref(&self) -> &Lines {
        self.lines
    }
}

/// State of a line.
#[derive(Debug, Clone, Copy, Default, Checkpointed)]
struct Line {
    /// Number of its blocks that are full.
    full_blocks: u32,
    /// Valid pages, once all are.
    valid: u32,
    /// When the last of them was filled, in pages that the host had written.
    sealed: u64,
    /// Whether that has happened since it was opened.
    is_sealed: bool,
}

impl Lines {
    /// Creates the lines of an erased device of a checked configuration, if it has any.
    pub fn new(config: &Resolved, geometry: &Geometry, classes: &Classes) -> Option<Box<Self>> {
        if !config.ssd.gc.has_lines() {
            return None;
        }
        let (planes, blocks) = (geometry.planes(), geometry.blocks_per_plane as usize);
        Some(Box::new(Self {
            planes,
            planes_per_die: geometry.planes_per_die,
            blocks,
            pages: config.drive.unit.pages as u32,
            lines: vec![Line::default(); blocks],
            collected: Collected::new(config, geometry),
            invalid: 0,
            found_no_victim: false,
            wakes_others: false,
            parity: config.ssd.ftl.rain.then(|| Box::new(Parity::new(geometry, classes.count()))),
            tally: LineTally::default(),
        }))
    }

    /// The lines beside the blocks that they are of, to be asked what depends on both.
    pub const fn on<'a>(&'a self, manager: &'a BlockManager) -> LinesOn<'a> {
        LinesOn { lines: self, manager }
    }

    /// The line of `block`.
    pub const fn line_of(&self, block: BlockId) -> LineId {
        block.index() % self.blocks
    }

    /// The block of `plane` in `line`.
    pub const fn block_of(&self, line: LineId, plane: PlaneId) -> BlockId {
        BlockId::from_index(plane.index() * self.blocks + line)
    }

    /// The blocks of `line`, one of each plane.
    pub fn blocks_of(
        &self,
        line: LineId,
    ) -> impl ExactSizeIterator<Item = (PlaneId, BlockId)> + Clone + use<> {
        let blocks = self.blocks;
        (0..self.planes).map(move |plane| {
            (PlaneId::from_index(plane), BlockId::from_index(plane * blocks + line))
        })
    }

    /// Whether all blocks of `line` are full, and none of it is being collected.
    pub fn is_full(&self, line: LineId) -> bool {
        self.lines[line].full_blocks as usize == self.planes
    }

    /// The line that is being collected, if one is.
    pub const fn collected(&self) -> &Collected {
        &self.collected
    }

    /// The line that is collected, to be changed.
    pub(in crate::ftl) const fn collected_mut(&mut self) -> &mut Collected {
        &mut self.collected
    }

    /// Number of invalid pages of a full line with `valid` valid ones.
    const fn invalid_of(&self, valid: u32) -> u64 {
        self.pages.saturating_sub(valid) as u64
    }

    /// Whether something has changed for other dies since this was asked.
    pub const fn take_wakes_others(&mut self) -> bool {
        self.collected.take_wakes_others() | std::mem::replace(&mut self.wakes_others, false)
    }

    const fn die_of(&self, plane: PlaneId) -> DieId {
        DieId(plane.0 / self.planes_per_die)
    }
}

#[cfg(test)]
mod tests {
    use super::LinesOn;
    use crate::ftl::Ftl;
    use crate::ids::{Lpn, PlaneId, Ppn};
    use crate::placement::HostPage;
    use crate::test_config::small_drive;

    /// Four dies of one plane with sixteen blocks of four pages, in lines of one class.
    pub fn device(changes: &[(&str, &str)]) -> Ftl {
        let in_lines = [
            ("ssd.ftl.over_provisioning", "0.8"),
            ("ssd.ftl.allocation", "dynamic"),
            ("ssd.ftl.placement", "one_class"),
            ("ssd.gc.unit", "line"),
        ];
        Ftl::new(&small_drive(4, 16, &[&in_lines, changes].concat()), "ssd/0")
    }

    /// The lines of a device that has some.
    pub fn on(ftl: &Ftl) -> LinesOn<'_> {
        ftl.lines().expect("it has lines")
    }

    /// Writes these pages to `plane`; returns where they lie.
    pub fn write(ftl: &mut Ftl, plane: u32, lpns: impl IntoIterator<Item = u32>) -> Vec<Ppn> {
        let one = |lpn: u32| {
            let page = HostPage::without_hint(Lpn(lpn));
            assert!(ftl.accepts(PlaneId(plane), page), "page {lpn}");
            ftl.write(PlaneId(plane), page, u64::from(lpn)).page
        };
        lpns.into_iter().map(one).collect()
    }
}
