//! Data of the last array read of each die that the controller still holds.

use crate::checkpoint::Checkpointed;
use crate::ids::{DieId, Ppn, ProgramId};

use super::Geometry;

/// Kept where a page of the chips holds several units of mapping: an array read brings all of them, and the
/// controller keeps them until the die reads another page, or erases.
#[derive(Debug, Checkpointed)]
pub struct ReadOut {
    /// For each die, the [program](Geometry::program_of) whose pages were read last.
    last: Vec<Option<ProgramId>>,
}

impl ReadOut {
    /// Creates an empty record; `None` if an array read brings one unit of mapping only.
    pub fn new(geometry: &Geometry) -> Option<Self> {
        (geometry.units_per_program > 1).then(|| Self { last: vec![None; geometry.dies()] })
    }

    /// Whether `page` is here; if not, it is from now on.
    pub fn holds_or_brings(&mut self, geometry: &Geometry, page: Ppn) -> bool {
        let die = geometry.die_of_plane(geometry.plane_of(page));
        let wanted = Some(geometry.program_of(page));
        std::mem::replace(&mut self.last[die.index()], wanted) == wanted
    }

    /// `die` erases.
    pub fn forget(&mut self, die: DieId) {
        self.last[die.index()] = None;
    }
}
