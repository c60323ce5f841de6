//! Round-robin: planes of a die that are short of space are collected in turn.

use crate::checkpoint::Checkpointed;
use crate::ids::PlaneId;

/// Round-robin state of each die.
#[derive(Debug, Checkpointed)]
pub struct Turns {
    /// The plane of each die, counted inside the die, that is looked at first.
    next: Vec<u32>,
    planes_per_die: u32,
}

impl Turns {
    pub(super) fn new(dies: usize, planes_per_die: u32) -> Self {
        Self { next: vec![0; dies], planes_per_die }
    }

    /// The first plane that is short of space, going round from the one after the last collected.
    pub(super) fn next(
        &mut self,
        die: usize,
        first_plane: PlaneId,
        to_collect: u32,
    ) -> Option<PlaneId> {
        if to_collect == 0 {
            return None;
        }
        let next = self.next[die];
        let at_or_after = to_collect & (u32::MAX << next);
        let chosen = if at_or_after != 0 { at_or_after } else { to_collect }.trailing_zeros();
        self.next[die] = (chosen + 1) % self.planes_per_die;
        Some(PlaneId(first_plane.0 + chosen))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_to_collect_take_turns() {
        let mut turns = Turns::new(2, 4);
        let mut turn = |to_collect| turns.next(1, PlaneId(4), to_collect).map(|p| p.0);
        assert_eq!(turn(0b0000), None);
        assert_eq!(turn(0b1010), Some(5));
        assert_eq!(turn(0b1010), Some(7));
        assert_eq!(turn(0b1010), Some(5));
        assert_eq!(turn(0b0001), Some(4));
    }
}
