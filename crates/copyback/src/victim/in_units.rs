//! Victims that are reclaimed in units of several blocks, as a drive with flexible data placement does: what a handle (a
//! class) fills on a plane makes a unit, block after block. The policy of the drive knows whole units only, each by its
//! first block; the blocks of the unit that it chooses are collected one after the other, whatever is in them.
//!
//! Blocks of no class make units of their own.

use crate::checkpoint::Checkpointed;
use crate::ids::{BlockId, PlaneId};
use crate::lists::Lists;

use super::{BlockView, Memory, Shape, VictimSelector, Victims};

/// The full blocks of a drive, by the units that they are of.
#[derive(Debug, Checkpointed)]
pub struct InUnits {
    policy: VictimSelector,
    /// Blocks of a unit.
    size: usize,
    planes: usize,
    classes: usize,
    pages_per_block: u16,
    /// Of each block, where it stands.
    places: Vec<UnitPlace>,
    lists: Lists,
    /// Of each plane and class, blocks of the unit that is not full.
    waiting: Vec<usize>,
    /// Of each unit, by its first block, its valid pages.
    valid: Vec<u16>,
    /// Of each plane, invalid pages of full units.
    invalid: Vec<u64>,
    tally: UnitTally,
}

/// Counts of units since the run began.
#[derive(Debug, Clone, Default, PartialEq, Eq, Checkpointed)]
pub struct UnitTally {
    /// Of each class, units that were filled.
    pub filled: Vec<u64>,
    /// Units whose valid pages were moved.
    pub reallocated: u64,
}

/// Place of a block among the units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
enum UnitPlace {
    /// Block that is not full.
    Nowhere,
    /// In the list of a unit that is not full.
    Waiting(u32),
    /// In the full unit that begins with this block.
    Unit(BlockId),
    /// In a unit that is being reclaimed.
    Reclaimed,
    /// Block that will be in a reclaimed unit, once a file has told that it is full.
    ReclaimedOnceFull,
}

impl InUnits {
    /// Units of so many blocks each, of which `policy` makes the policy; a placement has so many classes.
    pub fn new(
        size: usize,
        classes: usize,
        shape: Shape,
        policy: impl FnOnce(Shape) -> VictimSelector,
    ) -> Self {
        let classes = classes + 1;
        let pages = size * usize::from(shape.pages_per_block);
        // A list for each unit, for each class of each plane, and for what each plane reclaims.
        let lists = shape.blocks + shape.planes * (classes + 1);
        Self {
            policy: policy(Shape { pages_per_block: pages as u16, ..shape }),
            size,
            planes: shape.planes,
            classes,
            pages_per_block: shape.pages_per_block,
            places: vec![UnitPlace::Nowhere; shape.blocks],
            lists: Lists::new(shape.blocks, lists),
            waiting: vec![0; shape.planes * classes],
            valid: vec![0; shape.blocks],
            invalid: vec![0; shape.planes],
            tally: UnitTally { filled: vec![0; classes], reallocated: 0 },
        }
    }

    /// Blocks of a unit.
    pub const fn size(&self) -> usize {
        self.size
    }

    /// Counts of units.
    pub const fn tally(&self) -> &UnitTally {
        &self.tally
    }

    /// Counts from now on.
    pub fn reset_tally(&mut self) {
        self.tally = UnitTally { filled: vec![0; self.classes], reallocated: 0 };
    }

    /// Goes on counting from there.
    pub fn counts_on(&mut self, before: &UnitTally) {
        self.tally.clone_from(before);
    }

    /// Full blocks of the unit of a class on `plane` that is not full.
    pub fn waiting_blocks(&self, plane: PlaneId, class: usize) -> usize {
        self.waiting[plane.index() * self.classes + class]
    }

    /// Marks these blocks as being reclaimed, once they have been reported as closed. False if there can't be
    /// such blocks.
    pub(super) fn expect_reclaimed(&mut self, blocks: &[BlockId]) -> bool {
        blocks.iter().all(|block| {
            let place = self.places.get_mut(block.index());
            place.map(|place| *place = UnitPlace::ReclaimedOnceFull).is_some()
        })
    }

    /// Checks units against their blocks: `valid` says of a block that is full how many valid pages it has.
    pub fn check(&self, valid: impl Fn(BlockId) -> Option<u16>) -> Result<(), String> {
        let all = (0..self.places.len()).map(BlockId::from_index);
        for block in all {
            let (place, valid) = (self.places[block.index()], valid(block));
            if valid.is_some() == (place == UnitPlace::Nowhere) {
                return Err(format!("{block:?}: {place:?}, with {valid:?} valid pages"));
            }
        }
        for unit in (0..self.places.len()).map(BlockId::from_index) {
            let of_unit: u32 = self.blocks_of(unit).filter_map(&valid).map(u32::from).sum();
            let is_full = self.places[unit.index()] == UnitPlace::Unit(unit);
            if is_full && of_unit != u32::from(self.valid[unit.index()]) {
                return Err(format!("unit {unit:?}: {of_unit} valid pages, not as counted"));
            }
        }
        Ok(())
    }

    fn blocks_of(&self, unit: BlockId) -> impl Iterator<Item = BlockId> {
        self.lists.items(unit.index()).map(BlockId::from_index)
    }

    const fn waiting_list(&self, plane: PlaneId, class: usize) -> usize {
        self.places.len() + plane.index() * self.classes + class
    }

    const fn reclaimed_list(&self, plane: PlaneId) -> usize {
        self.places.len() + self.planes * self.classes + plane.index()
    }

    fn is_reclaimed(&mut self, plane: PlaneId, block: BlockId) {
        self.places[block.index()] = UnitPlace::Reclaimed;
        self.lists.push_back(self.reclaimed_list(plane), block.index());
    }

    /// Makes a full unit of the blocks that wait in `list` of `plane`.
    fn fill_unit(&mut self, plane: PlaneId, list: usize, blocks: &impl BlockView) {
        let Some(unit) = self.lists.front(list) else { return };
        let mut valid = 0;
        while let Some(block) = self.lists.front(list) {
            self.lists.remove(list, block);
            self.lists.push_back(unit, block);
            self.places[block] = UnitPlace::Unit(BlockId::from_index(unit));
            valid += blocks.valid_pages(BlockId::from_index(block));
        }
        self.valid[unit] = valid;
        self.invalid[plane.index()] += self.invalid_of(valid);
        let Self { policy, lists, valid: of_units, .. } = self;
        let view = UnitsAt { lists, valid: of_units, blocks };
        policy.closed(plane, BlockId::from_index(unit), valid, &view);
    }

    fn invalid_of(&self, valid: u16) -> u64 {
        (self.size * usize::from(self.pages_per_block)) as u64 - u64::from(valid)
    }
}

/// Units as a policy sees them.
struct UnitsAt<'a> {
    lists: &'a Lists,
    valid: &'a [u16],
    // A policy could itself be one of units, for all that its type says: behind a reference of one type there is no end
    // to fear.
    blocks: &'a dyn BlockView,
}

impl BlockView for UnitsAt<'_> {
    fn valid_pages(&self, unit: BlockId) -> u16 {
        self.valid[unit.index()]
    }

    fn erase_count(&self, unit: BlockId) -> u32 {
        self.blocks.erase_count(unit)
    }

    fn class(&self, unit: BlockId) -> Option<usize> {
        self.blocks.class(unit)
    }

    fn opened_at(&self, unit: BlockId) -> u64 {
        self.blocks.opened_at(unit)
    }

    fn sealed_at(&self, unit: BlockId) -> u64 {
        let of_unit = self.lists.items(unit.index()).map(BlockId::from_index);
        of_unit.map(|block| self.blocks.sealed_at(block)).max().unwrap_or(0)
    }

    fn hotness(&self, unit: BlockId) -> Option<f64> {
        self.blocks.hotness(unit)
    }

    fn now(&self) -> u64 {
        self.blocks.now()
    }
}

impl Victims for InUnits {
    fn closed(&mut self, plane: PlaneId, block: BlockId, _: u16, blocks: &impl BlockView) {
        if self.places[block.index()] == UnitPlace::ReclaimedOnceFull {
            return self.is_reclaimed(plane, block);
        }
        let class = blocks.class(block).unwrap_or(self.classes - 1);
        let list = self.waiting_list(plane, class);
        self.places[block.index()] = UnitPlace::Waiting(list as u32);
        self.lists.push_back(list, block.index());
        let waiting = &mut self.waiting[list - self.places.len()];
        *waiting += 1;
        if *waiting == self.size {
            *waiting = 0;
            self.tally.filled[class] += 1;
            self.fill_unit(plane, list, blocks);
        }
    }

    fn changed(&mut self, plane: PlaneId, block: BlockId, from: u16, to: u16) {
        let UnitPlace::Unit(unit) = self.places[block.index()] else { return };
        let before = self.valid[unit.index()];
        let after = before - from + to;
        self.valid[unit.index()] = after;
        let invalid = &mut self.invalid[plane.index()];
        *invalid = *invalid + u64::from(before) - u64::from(after);
        self.policy.changed(plane, unit, before, after);
    }

    /// The other blocks of the unit, if it is full, are reclaimed next.
    fn removed(&mut self, plane: PlaneId, block: BlockId, _: u16) {
        match std::mem::replace(&mut self.places[block.index()], UnitPlace::Nowhere) {
            UnitPlace::Waiting(list) => {
                self.lists.remove(list as usize, block.index());
                self.waiting[list as usize - self.places.len()] -= 1;
            }
            UnitPlace::Reclaimed => self.lists.remove(self.reclaimed_list(plane), block.index()),
            UnitPlace::Unit(unit) => {
                let valid = self.valid[unit.index()];
                self.policy.removed(plane, unit, valid);
                self.invalid[plane.index()] -= self.invalid_of(valid);
                self.tally.reallocated += u64::from(valid > 0);
                while let Some(of_unit) = self.lists.front(unit.index()) {
                    self.lists.remove(unit.index(), of_unit);
                    if of_unit != block.index() {
                        self.is_reclaimed(plane, BlockId::from_index(of_unit));
                    }
                }
            }
            UnitPlace::Nowhere | UnitPlace::ReclaimedOnceFull => {
                debug_assert!(false, "only full blocks are taken away");
            }
        }
    }

    fn choose(&mut self, plane: PlaneId, blocks: &impl BlockView) -> Option<BlockId> {
        if let Some(block) = self.lists.front(self.reclaimed_list(plane)) {
            return Some(BlockId::from_index(block));
        }
        if self.invalid[plane.index()] == 0 {
            return None;
        }
        let Self { policy, lists, valid, .. } = self;
        policy.choose(plane, &UnitsAt { lists, valid, blocks })
    }

    fn fetch(&self, block: BlockId) {
        if let UnitPlace::Unit(unit) = self.places[block.index()] {
            self.policy.fetch(unit);
        }
    }

    fn closed_in_order(&self) -> Vec<BlockId> {
        let units = self.policy.closed_in_order();
        let of_units = units.into_iter().flat_map(|unit| self.blocks_of(unit));
        let lists = self.places.len()..self.places.len() + self.planes * (self.classes + 1);
        let others = lists.flat_map(|list| self.lists.items(list)).map(BlockId::from_index);
        of_units.chain(others).collect()
    }

    fn memory(&self) -> Memory {
        let planes = (0..self.planes).map(PlaneId::from_index);
        let reclaimed = planes.flat_map(|plane| self.lists.items(self.reclaimed_list(plane)));
        Memory::Units {
            policy: Box::new(self.policy.memory()),
            reclaimed: reclaimed.map(BlockId::from_index).collect(),
        }
    }

    fn remember(&mut self, memory: Memory, closed: &[(PlaneId, BlockId)]) -> bool {
        let Memory::Units { policy, reclaimed } = memory else { return false };
        let is_unit = |(_, block): &&(PlaneId, BlockId)| {
            self.places[block.index()] == UnitPlace::Unit(*block)
        };
        let units: Vec<_> = closed.iter().filter(is_unit).copied().collect();
        let are_full =
            reclaimed.iter().all(|block| self.places[block.index()] == UnitPlace::Reclaimed);
        are_full && self.policy.remember(*policy, &units)
    }
}
