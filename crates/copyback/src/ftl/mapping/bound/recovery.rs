//! Groups as a cut of power has left their blocks.

use crate::ftl::recovery::Survey;
use crate::ftl::spare::Role;
use crate::ids::BlockId;

use super::groups::Groups;
use super::scheme::Scheme;

impl<S: Scheme> Groups<S> {
    /// Takes over a written block, begun later than those before.
    pub fn recover_block(&mut self, block: BlockId, survey: &Survey<'_>) {
        let Some((_, stamp)) = survey.image.stamps(block).next() else { return };
        let id = self.layout.group_of(stamp.lpn);
        self.owners[block.index()] = Some(id);
        let scheme = self.scheme;
        let blocks = &mut self.get_mut(id).blocks;
        match survey.role(block) {
            Role::Merge => scheme.add_target(blocks, block),
            _ => blocks.push(block),
        }
    }

    /// Finds out how the blocks of every group were used.
    pub fn recover_groups(&mut self, survey: &Survey<'_>) {
        for id in self.layout.ids() {
            let blocks = std::mem::take(&mut self.get_mut(id).blocks);
            *self.get_mut(id) = S::recover(self, blocks, survey);
        }
        self.changed.fill(u32::MAX);
    }
}
