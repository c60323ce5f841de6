//! Victims of a placement that has a say in them: it sorts classes into groups, and says which group the next victim
//! of a plane comes from, and whether that is its oldest block or what the policy of the drive takes of them.
//!
//! Each group has a policy of its own, which knows no other blocks.

use crate::checkpoint::Checkpointed;
use crate::ids::{BlockId, PlaneId};
use crate::lists::Lists;
use crate::outside::{Device, Failed, Supply};
use crate::placement::{Class, FullBlocks, Order, Regrouping, Wanted};

use super::supply::ExternalVictims;
use super::{BlockView, Memory, Shape, VictimSelector, Victims};

/// Closed blocks of each plane and group.
#[derive(Debug, Checkpointed)]
pub struct InGroups {
    /// One for each group.
    policies: Vec<VictimSelector>,
    /// Of each class its group.
    group_of_class: Vec<usize>,
    /// Of each closed block its group.
    group_of_block: Vec<u8>,
    /// List `plane x groups + group`: its blocks in the order in which they came into it.
    by_age: Lists,
    /// Of each plane, then of each group.
    full: Vec<FullBlocks>,
    pages_per_block: u16,
}

impl InGroups {
    /// Creates the policies of a placement that puts classes into these groups, counted from 0 and no more than
    /// there are classes. `policy` makes that of one group.
    pub fn new(
        group_of_class: Vec<usize>,
        shape: Shape,
        policy: impl Fn(usize) -> VictimSelector,
    ) -> Self {
        let groups = group_of_class.len();
        Self {
            policies: (0..groups).map(policy).collect(),
            group_of_class,
            group_of_block: vec![0; shape.blocks],
            by_age: Lists::new(shape.blocks, shape.planes * groups),
            full: vec![FullBlocks::default(); shape.planes * groups],
            pages_per_block: shape.pages_per_block,
        }
    }

    /// Full blocks of each group on `plane`.
    pub fn full_blocks(&self, plane: PlaneId) -> &[FullBlocks] {
        &self.full[self.place(plane, 0)..self.place(plane, self.policies.len())]
    }

    /// The block of `plane` that the placement wants to be collected; if there is none such, what the policy takes of
    /// the group with most invalid pages.
    pub fn choose_wanted(
        &mut self,
        plane: PlaneId,
        wanted: Wanted,
        blocks: &impl BlockView,
    ) -> Option<BlockId> {
        let victim = match wanted.order {
            Order::OldestFirst => self.oldest(plane, wanted.group),
            Order::AsPolicySays => self.choose_in(plane, wanted.group, blocks),
        };
        victim.or_else(|| self.choose(plane, blocks))
    }

    /// Classes are of these groups from now on.
    pub fn set_groups(&mut self, group_of_class: Vec<usize>) {
        debug_assert_eq!(group_of_class.len(), self.group_of_class.len());
        self.group_of_class = group_of_class;
    }

    /// Takes away all blocks of `plane`. Returns them in the order of their groups, each with the class that it is of
    /// from now on.
    pub fn take_all(
        &mut self,
        plane: PlaneId,
        regrouping: &Regrouping,
        blocks: &impl BlockView,
    ) -> Vec<(BlockId, Option<Class>)> {
        let lists = self.place(plane, 0)..self.place(plane, self.policies.len());
        let all: Vec<_> =
            lists.flat_map(|list| self.by_age.items(list)).map(BlockId::from_index).collect();
        all.iter().for_each(|block| self.removed(plane, *block, blocks.valid_pages(*block)));
        let mut left = regrouping.most.clone();
        // The youngest keep their class.
        let renamed = all.into_iter().rev().map(|block| {
            let class = blocks.class(block).map(|class| regrouping.classes[class]);
            let is_too_many =
                class.and_then(|class| left.get_mut(class.index())).is_some_and(|left| {
                    let is_full = *left == 0;
                    *left = left.saturating_sub(1);
                    is_full
                });
            (block, if is_too_many { Some(regrouping.rest) } else { class })
        });
        let mut renamed: Vec<_> = renamed.collect();
        renamed.reverse();
        renamed
    }

    /// Closes `block` of `plane` in the group that these have for its class.
    pub fn put(
        &mut self,
        plane: PlaneId,
        block: BlockId,
        valid: u16,
        groups: &[usize],
        blocks: &impl BlockView,
    ) {
        let group = blocks.class(block).map_or(groups[groups.len() - 1], |class| groups[class]);
        let place = self.place(plane, group);
        self.group_of_block[block.index()] = group as u8;
        self.by_age.push_back(place, block.index());
        self.full[place].blocks += 1;
        self.full[place].valid_pages += u64::from(valid);
        self.policies[group].closed(plane, block, valid, blocks);
    }

    fn oldest(&self, plane: PlaneId, group: usize) -> Option<BlockId> {
        self.by_age.front(self.place(plane, group)).map(BlockId::from_index)
    }

    fn choose_in(
        &mut self,
        plane: PlaneId,
        group: usize,
        blocks: &impl BlockView,
    ) -> Option<BlockId> {
        // A policy may count on an invalid page.
        let has_invalid = self.invalid(&self.full[self.place(plane, group)]) > 0;
        has_invalid.then(|| self.policies[group].choose(plane, blocks)).flatten()
    }

    fn invalid(&self, full: &FullBlocks) -> u64 {
        u64::from(full.blocks) * u64::from(self.pages_per_block) - full.valid_pages
    }

    fn place(&self, plane: PlaneId, group: usize) -> usize {
        plane.index() * self.policies.len() + group
    }

    /// Group of `block`, which is closed.
    fn group(&self, block: BlockId) -> usize {
        self.group_of_block[block.index()].into()
    }

    pub(super) fn supply(
        &mut self,
        device: Device,
        supplier: &dyn Supply<dyn ExternalVictims>,
    ) -> Result<(), Failed> {
        self.policies.iter_mut().try_for_each(|policy| policy.supply(device, supplier))
    }

    pub(super) fn failed(&self) -> Option<Failed> {
        self.policies.iter().find_map(VictimSelector::failed)
    }
}

impl Victims for InGroups {
    /// A block of no class belongs to the group of the last class.
    fn closed(&mut self, plane: PlaneId, block: BlockId, valid: u16, blocks: &impl BlockView) {
        let groups = std::mem::take(&mut self.group_of_class);
        self.put(plane, block, valid, &groups, blocks);
        self.group_of_class = groups;
    }

    fn changed(&mut self, plane: PlaneId, block: BlockId, from: u16, to: u16) {
        let group = self.group(block);
        let place = self.place(plane, group);
        let valid = &mut self.full[place].valid_pages;
        *valid = *valid + u64::from(to) - u64::from(from);
        self.policies[group].changed(plane, block, from, to);
    }

    fn removed(&mut self, plane: PlaneId, block: BlockId, valid: u16) {
        let group = self.group(block);
        let place = self.place(plane, group);
        self.by_age.remove(place, block.index());
        self.full[place].blocks -= 1;
        self.full[place].valid_pages -= u64::from(valid);
        self.policies[group].removed(plane, block, valid);
    }

    fn choose(&mut self, plane: PlaneId, blocks: &impl BlockView) -> Option<BlockId> {
        let groups = self.full_blocks(plane).iter().enumerate();
        let emptiest = groups.rev().max_by_key(|(_, full)| self.invalid(full))?.0;
        self.choose_in(plane, emptiest, blocks)
    }

    fn fetch(&self, block: BlockId) {
        self.policies[self.group(block)].fetch(block);
    }

    fn closed_in_order(&self) -> Vec<BlockId> {
        self.policies.iter().flat_map(Victims::closed_in_order).collect()
    }

    fn memory(&self) -> Memory {
        Memory::Groups {
            policies: self.policies.iter().map(Victims::memory).collect(),
            by_age: self.by_age.all_items().map(BlockId::from_index).collect(),
        }
    }

    fn remember(&mut self, memory: Memory, closed: &[(PlaneId, BlockId)]) -> bool {
        let Memory::Groups { policies, by_age } = memory else { return false };
        if policies.len() != self.policies.len() || !self.line_up(by_age, closed) {
            return false;
        }
        let mut of_group = vec![Vec::new(); self.policies.len()];
        closed.iter().for_each(|block| of_group[self.group(block.1)].push(*block));
        let mut each = self.policies.iter_mut().zip(policies).zip(of_group);
        each.all(|((policy, memory), closed)| policy.remember(memory, &closed))
    }
}

impl InGroups {
    /// Lists the `closed` blocks in the order of `by_age`. Returns whether that names each of them once.
    fn line_up(&mut self, by_age: Vec<BlockId>, closed: &[(PlaneId, BlockId)]) -> bool {
        let mut missing = vec![None; self.group_of_block.len()];
        for (plane, block) in closed {
            let list = self.place(*plane, self.group(*block));
            self.by_age.remove(list, block.index());
            missing[block.index()] = Some(list);
        }
        let names_all = by_age.len() == closed.len();
        let mut known = by_age.into_iter().map_while(|block| {
            let list = missing.get_mut(block.index())?.take()?;
            self.by_age.push_back(list, block.index());
            Some(())
        });
        names_all && known.by_ref().count() == closed.len()
    }
}
