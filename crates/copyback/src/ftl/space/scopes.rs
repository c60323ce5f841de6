//! Dies, or the drive, whose free blocks are counted together against a threshold (`threshold_scope`).

use std::ops::Range;

use crate::checkpoint::Checkpointed;
use crate::config::{Resolved, ThresholdScope};
use crate::ids::PlaneId;
use crate::nand::Geometry;

/// The free blocks of each, and whether they are few. A block that is being reclaimed counts as free: it soon is, and
/// no more are reclaimed than it takes.
#[derive(Debug, Checkpointed)]
pub struct Scopes {
    planes: usize,
    soft: usize,
    clear: usize,
    free_of_planes: Vec<usize>,
    scopes: Vec<Scope>,
    /// Whether one has become short since that was asked.
    has_become_short: bool,
}

#[derive(Debug, Clone, Copy, Checkpointed)]
struct Scope {
    free: usize,
    is_short: bool,
}

/// Planes of which each counts for itself against a threshold, or which are counted together.
pub fn planes_together(config: &Resolved, geometry: &Geometry) -> usize {
    match config.ssd.gc.threshold_scope {
        ThresholdScope::Plane => 1,
        ThresholdScope::Die => geometry.planes_per_die as usize,
        ThresholdScope::Drive => geometry.planes(),
    }
}

impl Scopes {
    /// Creates scopes of `planes` planes each, of `all`, none of which has a free block yet. A plane's share of
    /// the thresholds at which a scope becomes short and is so no more is `soft` and `clear`.
    pub fn new(planes: usize, all: usize, soft: usize, clear: usize) -> Self {
        Self {
            planes,
            soft: planes * soft,
            clear: planes * clear,
            free_of_planes: vec![0; all],
            scopes: vec![Scope { free: 0, is_short: false }; all / planes],
            has_become_short: false,
        }
    }

    /// Planes of each.
    pub const fn planes(&self) -> usize {
        self.planes
    }

    /// Notes how many blocks of `plane` are free or about to be. Returns whether its scope is short now and was not, or
    /// the other way round.
    pub fn note(&mut self, plane: PlaneId, free: usize) -> bool {
        let before = std::mem::replace(&mut self.free_of_planes[plane.index()], free);
        let scope = &mut self.scopes[plane.index() / self.planes];
        scope.free = scope.free - before + free;
        let was_short = scope.is_short;
        scope.is_short = scope.free < self.soft || (was_short && scope.free < self.clear);
        self.has_become_short |= scope.is_short && !was_short;
        scope.is_short != was_short
    }

    /// Free blocks of the scope of `plane`.
    pub fn free(&self, plane: PlaneId) -> usize {
        self.scopes[plane.index() / self.planes].free
    }

    /// Whether the scope of `plane` is short.
    pub fn is_short(&self, plane: PlaneId) -> bool {
        self.scopes[plane.index() / self.planes].is_short
    }

    /// The planes that are counted together with `plane`, itself included.
    pub fn planes_with(&self, plane: PlaneId) -> impl Iterator<Item = PlaneId> + use<> {
        let first = plane.index() - plane.index() % self.planes;
        let planes: Range<usize> = first..first + self.planes;
        planes.map(PlaneId::from_index)
    }

    /// Whether a scope has become short since this was asked: the planes of other dies may be due, too.
    pub const fn take_has_become_short(&mut self) -> bool {
        std::mem::replace(&mut self.has_become_short, false)
    }

    /// Makes the next question whether a scope has become short look at all planes.
    pub const fn look_at_all(&mut self) {
        self.has_become_short = true;
    }

    /// Marks the scope of `plane` as short, or not, as a file says. False if that can't be.
    pub fn restore(&mut self, plane: PlaneId, is_short: bool) -> bool {
        let scope = &mut self.scopes[plane.index() / self.planes];
        scope.is_short = is_short;
        if is_short { scope.free < self.clear } else { scope.free >= self.soft }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_dies_of_two_planes() -> Scopes {
        let mut scopes = Scopes::new(2, 4, 3, 4);
        (0..4).for_each(|plane| _ = scopes.note(PlaneId(plane), 4));
        scopes
    }

    #[test]
    fn a_scope_is_short_of_what_its_planes_have_together() {
        let mut scopes = two_dies_of_two_planes();
        scopes.take_has_become_short();
        assert!(!scopes.note(PlaneId(2), 2), "six blocks are enough");
        assert!(scopes.note(PlaneId(3), 3));
        assert!(scopes.is_short(PlaneId(2)) && !scopes.is_short(PlaneId(1)));
        assert_eq!([1, 2, 3].map(|plane| scopes.free(PlaneId(plane))), [8, 5, 5]);
        assert!(scopes.take_has_become_short() && !scopes.take_has_become_short());
        assert!(!scopes.note(PlaneId(3), 5), "it stays short until it has eight");
        assert!(scopes.note(PlaneId(2), 3));
        assert!(!scopes.is_short(PlaneId(3)));
    }
}
