//! Allocation: the plane that a logical page is written to.
//!
//! A static order such as CWDP gives successive logical pages to successive channels, then chips
//! (ways), then dies, then planes: the first letter varies fastest. All 24 orders are tables over
//! one period. Where pages are bound to blocks, those of a group take their turn together ([`Layout`]).

use crate::checkpoint::Checkpointed;
use crate::config::{self, AllocationOrder, PlaneChoice, Resolved};
use crate::ids::{DieId, Lpn, PlaneId};
use crate::nand::{Address, Geometry};

use super::mapping::Layout;

/// Rule for the plane of a die when the order does not fix it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum PlaneRule {
    /// The plane with most free pages; ties go round.
    MostFree,
    /// Each plane in turn.
    RoundRobin,
}

/// Allocation of writes to planes.
#[derive(Debug, Checkpointed)]
pub enum Allocation {
    /// A logical page has one plane.
    Static {
        /// The planes of one period of logical pages, or of groups of them.
        planes: Vec<PlaneId>,
        /// The groups whose pages lie on one plane, unless each page goes to the next plane.
        groups: Option<Layout>,
    },
    /// A logical page has one die; the plane is chosen for each write.
    PerDie {
        /// The dies of one period of logical pages.
        dies: Vec<DieId>,
        /// Rule for the plane.
        rule: PlaneRule,
        /// The plane of each die whose turn it is.
        turns: Vec<u32>,
    },
    /// The next free die takes the oldest waiting write.
    Dynamic {
        /// The plane of each die whose turn it is.
        turns: Vec<u32>,
    },
}

impl Allocation {
    /// The allocation that a checked configuration describes.
    pub fn new(config: &Resolved, geometry: &Geometry) -> Self {
        let turns = || vec![0; geometry.dies()];
        match config.ssd.ftl.allocation {
            config::Allocation::Order(order) => {
                let layout = Layout::new(config);
                let groups = (layout.stripe_width() < geometry.planes()).then_some(layout);
                Self::Static { planes: period(order, geometry), groups }
            }
            config::Allocation::Choice(config::AllocationChoice::Dynamic) => {
                Self::Dynamic { turns: turns() }
            }
            config::Allocation::Mixed { order, plane } => {
                let Geometry { channels, chips_per_channel, dies_per_chip, .. } = *geometry;
                let one_plane =
                    Geometry::of([channels, chips_per_channel, dies_per_chip], [1, 1, 1], 1);
                let dies = period(order, &one_plane).into_iter().map(|plane| DieId(plane.0));
                let rule = match plane {
                    PlaneChoice::MostFree => PlaneRule::MostFree,
                    PlaneChoice::RoundRobin => PlaneRule::RoundRobin,
                };
                Self::PerDie { dies: dies.collect(), rule, turns: turns() }
            }
        }
    }

    /// The plane of `lpn`, if the allocation fixes it.
    pub fn plane_of(&self, lpn: Lpn) -> Option<PlaneId> {
        match self {
            Self::Static { planes, groups } => {
                // The groups are numbered in the order in which they are dealt out.
                let turn =
                    groups.as_ref().map_or(lpn.index(), |layout| layout.group_of(lpn).index());
                Some(planes[turn % planes.len()])
            }
            Self::PerDie { .. } | Self::Dynamic { .. } => None,
        }
    }

    /// The die of `lpn`, if the allocation fixes it.
    pub fn die_of(&self, lpn: Lpn, geometry: &Geometry) -> Option<DieId> {
        match self {
            Self::Static { .. } => self.plane_of(lpn).map(|plane| geometry.die_of_plane(plane)),
            Self::PerDie { dies, .. } => Some(dies[lpn.index() % dies.len()]),
            Self::Dynamic { .. } => None,
        }
    }

    /// The plane of each die whose turn it is, where planes take turns.
    pub(super) fn turns(&self) -> &[u32] {
        match self {
            Self::PerDie { turns, .. } | Self::Dynamic { turns } => turns,
            Self::Static { .. } => &[],
        }
    }

    /// Goes on with `saved` turns. False if they are none of this allocation.
    pub(super) fn restore_turns(&mut self, saved: Vec<u32>, geometry: &Geometry) -> bool {
        let is_sound = saved.len() == self.turns().len()
            && saved.iter().all(|plane| *plane < geometry.planes_per_die);
        match self {
            Self::PerDie { turns, .. } | Self::Dynamic { turns } => *turns = saved,
            Self::Static { .. } => {}
        }
        is_sound
    }

    /// Rule for the plane of a die, where the allocation does not fix it.
    pub const fn plane_rule(&self) -> PlaneRule {
        match self {
            Self::PerDie { rule, .. } => *rule,
            Self::Static { .. } | Self::Dynamic { .. } => PlaneRule::RoundRobin,
        }
    }

    /// The plane of `die` whose turn it is, counted inside the die.
    pub fn turn_of(&self, die: DieId) -> u32 {
        match self {
            Self::PerDie { turns, .. } | Self::Dynamic { turns } => turns[die.index()],
            Self::Static { .. } => 0,
        }
    }

    /// A write has gone to `plane`: the next of its die has the turn.
    pub(super) fn end_turn(&mut self, plane: PlaneId, geometry: &Geometry) {
        match self {
            Self::PerDie { turns, .. } | Self::Dynamic { turns } => {
                let next = (plane.0 + 1) % geometry.planes_per_die;
                turns[geometry.die_of_plane(plane).index()] = next;
            }
            Self::Static { .. } => {}
        }
    }
}

/// The planes of successive logical pages until they repeat.
fn period(order: AllocationOrder, geometry: &Geometry) -> Vec<PlaneId> {
    let place = |index: usize| {
        let mut rest = index as u32;
        let mut address = Address { channel: 0, chip: 0, die: 0, plane: 0 };
        for letter in order.letters().chars() {
            let (coordinate, size) = match letter {
                'C' => (&mut address.channel, geometry.channels),
                'W' => (&mut address.chip, geometry.chips_per_channel),
                'D' => (&mut address.die, geometry.dies_per_chip),
                _ => (&mut address.plane, geometry.planes_per_die),
            };
            *coordinate = rest % size;
            rest /= size;
        }
        geometry.plane(address)
    };
    (0..geometry.planes()).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Geometry = Geometry::of([2, 3, 2], [4, 1, 1], 1);

    #[test]
    fn every_order_visits_every_plane_once() {
        for order in AllocationOrder::ALL {
            let mut planes = period(order, &SHAPE);
            planes.sort_unstable();
            planes.dedup();
            assert_eq!(planes.len(), SHAPE.planes(), "{order:?}");
        }
    }

    #[test]
    fn the_first_letter_varies_fastest() {
        let plane = |channel, chip, die, plane| SHAPE.plane(Address { channel, chip, die, plane });
        let cwdp = period(AllocationOrder::Cwdp, &SHAPE);
        assert_eq!(cwdp[..3], [plane(0, 0, 0, 0), plane(1, 0, 0, 0), plane(0, 1, 0, 0)]);
        assert_eq!(cwdp[6], plane(0, 0, 1, 0));
        assert_eq!(cwdp[12], plane(0, 0, 0, 1));
        let pcwd = period(AllocationOrder::Pcwd, &SHAPE);
        assert_eq!(pcwd[1], plane(0, 0, 0, 1));
        assert_eq!(pcwd[4], plane(1, 0, 0, 0));
        assert_eq!(pcwd[8], plane(0, 1, 0, 0));
        assert_eq!(pcwd[24], plane(0, 0, 1, 0));
    }

    #[test]
    fn planes_of_a_die_take_turns() {
        let mut allocation = Allocation::Dynamic { turns: vec![0; SHAPE.dies()] };
        let die = DieId(1);
        let turns = [0, 1, 2, 3].map(|plane| {
            allocation.end_turn(PlaneId(die.0 * SHAPE.planes_per_die + plane), &SHAPE);
            allocation.turn_of(die)
        });
        assert_eq!((turns, allocation.turn_of(DieId(0))), ([1, 2, 3, 0], 0));
    }
}
