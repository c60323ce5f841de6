//! Which plane a page of the host goes to.

use copyback::config::{Allocation, AllocationChoice, PlaneChoice};

use crate::state::State;

/// The planes on which `lpn` may be written by this allocation, as far as it is fixed before a die takes it: one, those of a
/// die, or all.
pub fn planes_for(state: &State, allocation: Allocation, lpn: u32) -> Vec<u32> {
    match allocation {
        Allocation::Order(order) => vec![state.shape.plane_in_order(lpn, order)],
        Allocation::Mixed { order, .. } => {
            state.shape.planes_of_die(state.shape.die_in_order(lpn, order))
        }
        Allocation::Choice(AllocationChoice::Dynamic) => (0..state.shape.all_planes()).collect(),
    }
}

/// The plane of `die` that takes the next page, which is of `class`, of those in `accepting`. Turns start after `last`, the
/// plane of the die that was written last.
pub fn next_plane(
    state: &State,
    allocation: Allocation,
    die: u32,
    last: Option<u32>,
    class: Option<u8>,
    accepting: &[u32],
) -> Option<u32> {
    let planes = state.shape.planes_of_die(die);
    let first = last.map_or(0, |last| (last % state.shape.planes + 1) as usize);
    let mut round: Vec<u32> =
        planes.iter().cycle().skip(first).take(planes.len()).copied().collect();
    round.retain(|plane| accepting.contains(plane));
    match allocation {
        Allocation::Mixed { plane: PlaneChoice::MostFree, .. } => {
            let free = |plane: &u32| free_pages_for(state, *plane, class);
            let most = round.iter().map(free).max();
            round.into_iter().find(|plane| Some(free(plane)) == most)
        }
        _ => round.first().copied(),
    }
}

/// The pages of a plane that a page of `class` can be written to: of its free blocks, and of its open one of that class.
fn free_pages_for(state: &State, plane: u32, class: Option<u8>) -> u32 {
    let known = state.plane(plane);
    let open = known.open.get(&class).map_or(0, |block| state.room_in(*block));
    known.free.len() as u32 * state.shape.data_pages + open
}

/// The pages of a plane that nothing has been written to: of its free blocks, and of its open ones.
pub fn free_pages(state: &State, plane: u32) -> u32 {
    let known = state.plane(plane);
    let open: u32 = known.open.values().map(|block| state.room_in(*block)).sum();
    known.free.len() as u32 * state.shape.data_pages + open
}
