//! Forecast: commands that the host has announced, and what its writes will call for.

use crate::checkpoint::Checkpointed;
use crate::ftl::{Expected, Ftl};
use crate::ids::{DieId, Lpn, PlaneId};
use crate::units::Instant;

/// A command that the host has announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub struct Announced {
    /// When it arrives.
    pub arrival: Instant,
    /// First page of the command.
    pub first: Lpn,
    /// Number of its pages.
    pub pages: u32,
    /// Whether it writes them.
    pub writes: bool,
}

/// Predicts the writes of the announced commands, and their planes. Writes that have no place of their own go
/// to the dies in turn, from `next_die` on.
pub(super) fn foresee(commands: &[Announced], ftl: &Ftl, next_die: usize) -> Vec<Expected> {
    let mut turns = vec![0; ftl.geometry().dies()];
    let mut places: Vec<Option<usize>> = vec![None; ftl.geometry().planes()];
    let mut expected: Vec<Expected> = Vec::new();
    let writes = commands.iter().filter(|command| command.writes);
    let pages =
        writes.flat_map(|command| (0..command.pages).map(|page| Lpn(command.first.0 + page)));
    for (number, lpn) in pages.enumerate() {
        let plane = plane_of(lpn, next_die + number, ftl, &mut turns);
        let place = *places[plane.index()].get_or_insert(expected.len());
        if place == expected.len() {
            expected.push(Expected { plane, pages: Vec::new() });
        }
        expected[place].pages.push(lpn);
    }
    expected
}

/// The plane that the write of `lpn` will go to: for sure, if the allocation fixes it; else if dies, of which it
/// is the turn of `die`, and planes take their turns.
fn plane_of(lpn: Lpn, die: usize, ftl: &Ftl, turns: &mut [u32]) -> PlaneId {
    let (allocation, geometry) = (ftl.allocation(), ftl.geometry());
    if let Some(plane) = allocation.plane_of(lpn) {
        return plane;
    }
    let any = DieId::from_index(die % geometry.dies());
    let die = allocation.die_of(lpn, geometry).unwrap_or(any);
    let turn = (allocation.turn_of(die) + turns[die.index()]) % geometry.planes_per_die;
    turns[die.index()] += 1;
    PlaneId(geometry.first_plane(die).0 + turn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_config::small_drive;

    #[test]
    fn writes_without_a_place_of_their_own_go_to_the_dies_in_turn() {
        let changes = [("ssd.ftl.over_provisioning", "0.7"), ("ssd.ftl.allocation", "\"dynamic\"")];
        let ftl = Ftl::new(&small_drive(3, 16, &changes), "ssd/0");
        let write = |first, pages| Announced {
            arrival: Instant::START,
            first: Lpn(first),
            pages,
            writes: true,
        };
        let on = |plane, pages: &[u32]| Expected {
            plane: PlaneId(plane),
            pages: pages.iter().copied().map(Lpn).collect(),
        };
        let found = foresee(&[write(4, 3), write(20, 2)], &ftl, 2);
        assert_eq!(found, [on(2, &[4, 20]), on(0, &[5, 21]), on(1, &[6])]);
        assert_eq!(foresee(&[write(4, 2)], &ftl, 0), [on(0, &[4]), on(1, &[5])]);
    }
}
