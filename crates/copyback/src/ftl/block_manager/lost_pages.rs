//! Marks of lost pages go where the pages go.

use crate::ids::Ppn;

use super::BlockManager;
use crate::ftl::lost_pages::Lost;

impl BlockManager {
    /// Carries the mark of a lost page from `from` to `to`.
    pub(in crate::ftl) fn carry_loss(&mut self, from: Ppn, to: Ppn) {
        if self.takes_loss(from) {
            self.lost_pages.mark(to);
        }
    }

    /// Whether the data of `from`, which are moved, are lost.
    pub(in crate::ftl) fn takes_loss(&mut self, from: Ppn) -> bool {
        let found = self.lost_pages.take(from);
        if found == Some(Lost::Now)
            && let Some(audit) = &mut self.audit
        {
            audit.lost_in(from);
        }
        found.is_some()
    }
}
