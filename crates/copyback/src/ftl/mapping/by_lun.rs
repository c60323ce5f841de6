//! Moves of a victim LUN by LUN.

use std::num::NonZeroU32;

use crate::checkpoint::Checkpointed;
use crate::ftl::Ftl;
use crate::ids::{BlockId, Ppn};

/// Pages that are left of a victim, LUN by LUN, as FEMU moves them: the block stands for a unit that is striped over so
/// many LUNs, page after page.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct ByLun {
    luns: u32,
    /// Offset of the first page that is left.
    next: Option<u32>,
}

impl ByLun {
    /// All pages of a victim.
    pub const fn new(luns: NonZeroU32) -> Self {
        Self { luns: luns.get(), next: Some(0) }
    }

    /// The first valid page of `victim` that is left. Those before it are not looked at again.
    pub fn next_valid(&mut self, victim: BlockId, ftl: &Ftl) -> Option<Ppn> {
        while let Some(offset) = self.next {
            if ftl.blocks.is_valid(victim, offset) {
                return Some(ftl.geometry.page(victim, offset));
            }
            self.skip(ftl.limits.data_pages());
        }
        None
    }

    /// Leaves out the first page that is left, of a victim of so many pages.
    pub const fn skip(&mut self, pages: u32) {
        let Some(offset) = self.next else { return };
        let below = offset + self.luns;
        let next_lun = offset % self.luns + 1;
        self.next = match below < pages {
            true => Some(below),
            false if next_lun < self.luns && next_lun < pages => Some(next_lun),
            false => None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_of_a_lun_follow_each_other() {
        let order = |luns, pages| {
            let mut left = ByLun::new(NonZeroU32::new(luns).expect("not 0"));
            let mut offsets = Vec::new();
            while let Some(offset) = left.next {
                offsets.push(offset);
                left.skip(pages);
            }
            offsets
        };
        assert_eq!(order(4, 8), [0, 4, 1, 5, 2, 6, 3, 7]);
        assert_eq!(order(3, 8), [0, 3, 6, 1, 4, 7, 2, 5], "the last row is short");
        assert_eq!(order(8, 8), [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}
