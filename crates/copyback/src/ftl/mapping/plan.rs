//! Plan of reclaiming a block.

use std::num::NonZeroU32;

use super::by_lun::ByLun;
use crate::checkpoint::Checkpointed;
use crate::ftl::Ftl;
use crate::ftl::idle_time::Expected;
use crate::ids::{BlockId, DieId, PlaneId, Ppn};

/// Kind of reclaiming.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum ReclaimKind {
    /// Collection: the valid pages of the block are moved, and it is erased.
    Collection,
    /// An update block that was filled in order becomes the data block; the old one is erased.
    SwitchMerge,
    /// The rest of the data block is copied behind the pages of an update block that has been filled in
    /// order so far, which becomes the data block; the old one is erased.
    PartialMerge,
    /// The newest pages of a logical block are copied to a fresh block, and its old ones are erased.
    FullMerge,
    /// The newest pages of a logical block, some of them out of a buffer, are copied to a fresh block.
    Cleaning,
    /// A block of a buffer is erased in which nothing is valid any more.
    BufferErase,
    /// The valid pages of a superblock's blocks that hold invalid ones are moved together, and the
    /// blocks are erased.
    Compaction,
}

impl ReclaimKind {
    /// The name in outputs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Collection => "collection",
            Self::SwitchMerge => "switch_merge",
            Self::PartialMerge => "partial_merge",
            Self::FullMerge => "full_merge",
            Self::Cleaning => "cleaning",
            Self::BufferErase => "buffer_erase",
            Self::Compaction => "compaction",
        }
    }
}

/// Occasion of reclaiming a block.
#[derive(Clone, Copy)]
pub enum Occasion<'a> {
    /// A plane is short of free blocks, or a write waits there.
    Demand(PlaneId),
    /// A plane would soon be short of free blocks: any block that is worth it, or one of the group that has been used up
    /// longest.
    Advance(PlaneId),
    /// A die has idle time for the merge that it has owed longest.
    Owed(DieId),
    /// Expected writes call for it.
    Writes {
        /// The writes.
        expected: &'a Expected,
        /// Whether there is time for what it takes.
        fits: &'a dyn Fn(Cost) -> bool,
    },
}

/// Cost of reclaiming a block, with those that are reclaimed with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Pages that are moved.
    pub pages: u64,
    /// Blocks that are erased.
    pub blocks: u64,
}

/// One step of reclaiming a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReclaimStep {
    /// Move this valid page.
    Move(Ppn),
    /// Erase this block; nothing in it is valid any more.
    Erase(BlockId),
}

/// Work that is left to reclaim a block. It keeps no list of pages: what is valid is looked up at each step.
#[derive(Debug, Checkpointed)]
pub struct ReclaimPlan {
    victim: BlockId,
    kind: ReclaimKind,
    work: Work,
}

/// Pages that are moved.
#[derive(Debug, Checkpointed)]
enum Work {
    /// Pages of the victim alone; those before this offset have been moved, or are out of date.
    Victim { moved: u32 },
    /// Pages of the victim alone, LUN by LUN.
    ByLun(ByLun),
    /// Pages of the victim alone; one that cannot be read waits for the others of its stripe.
    Striped,
    /// Pages that the merge under way on this plane needs.
    Merge(PlaneId),
    /// No page: the victim is being erased, and may be in use again after that.
    Done,
}

impl ReclaimPlan {
    /// All of `victim` is to be moved, and it is to be erased.
    pub const fn of_block(victim: BlockId) -> Self {
        Self { victim, kind: ReclaimKind::Collection, work: Work::Victim { moved: 0 } }
    }

    /// All of `victim` is to be moved, LUN by LUN, and it is to be erased.
    pub const fn by_lun(victim: BlockId, luns: NonZeroU32) -> Self {
        let work = Work::ByLun(ByLun::new(luns));
        Self { victim, kind: ReclaimKind::Collection, work }
    }

    /// All of `victim` is to be moved, and it is to be erased; what cannot be read is made up.
    pub const fn of_striped_block(victim: BlockId) -> Self {
        Self { victim, kind: ReclaimKind::Collection, work: Work::Striped }
    }

    /// `victim`, a block of a buffer in which nothing is valid, is to be erased.
    pub const fn of_buffer_block(victim: BlockId) -> Self {
        Self { victim, kind: ReclaimKind::BufferErase, work: Work::Victim { moved: 0 } }
    }

    /// The merge that has begun on `plane` is to be carried out.
    pub const fn of_merge(victim: BlockId, kind: ReclaimKind, plane: PlaneId) -> Self {
        Self { victim, kind, work: Work::Merge(plane) }
    }

    /// The block that is reclaimed, with others if they are merged.
    pub const fn victim(&self) -> BlockId {
        self.victim
    }

    /// Kind of reclaiming.
    pub const fn kind(&self) -> ReclaimKind {
        self.kind
    }

    /// The page that is moved next, if one is before a block is erased.
    pub fn first_page(&self, ftl: &Ftl) -> Option<Ppn> {
        match self.work {
            Work::Victim { moved } => ftl.next_valid(self.victim, moved),
            Work::ByLun(mut left) => left.next_valid(self.victim, ftl),
            Work::Striped => ftl.lines()?.next_to_move(self.victim),
            Work::Merge(plane) => match ftl.next_of_merge(plane, None)? {
                ReclaimStep::Move(page) => Some(page),
                ReclaimStep::Erase(_) => None,
            },
            Work::Done => None,
        }
    }

    /// A page that could not be read, has been made up and is to be programmed.
    pub fn made_up_page(&self, ftl: &Ftl) -> Option<Ppn> {
        match self.work {
            Work::Striped => ftl.lines()?.next_made_up(self.victim),
            Work::Victim { .. } | Work::ByLun(_) | Work::Merge(_) | Work::Done => None,
        }
    }

    /// The block that is erased next, where no page is left to be moved before it.
    pub fn next_erase(&self, ftl: &Ftl) -> Option<BlockId> {
        match self.work {
            Work::Victim { .. } | Work::ByLun(_) | Work::Striped => {
                let may_erase = ftl.lines().is_none_or(|lines| lines.may_erase(self.victim));
                may_erase.then_some(self.victim)
            }
            Work::Merge(plane) => match ftl.next_of_merge(plane, None)? {
                ReclaimStep::Move(_) => None,
                ReclaimStep::Erase(block) => Some(block),
            },
            Work::Done => None,
        }
    }

    /// Notes that the block which is erased next is being erased.
    pub const fn begin_erase(&mut self) {
        if let Work::Victim { .. } | Work::ByLun(_) | Work::Striped = self.work {
            self.work = Work::Done;
        }
    }

    /// Whether the victim is still to be erased: where it waits for others, another plan does that.
    pub const fn leaves_erase(&self) -> bool {
        matches!(self.work, Work::Victim { .. } | Work::ByLun(_) | Work::Striped)
    }

    /// Whether `page`, if it is valid, may be moved next, out of turn.
    pub fn may_move(&self, page: Ppn, ftl: &Ftl) -> bool {
        match self.work {
            Work::Merge(plane) => ftl.next_of_merge(plane, Some(page)).is_some(),
            Work::Victim { .. } | Work::ByLun(_) => ftl.geometry.block_of(page) == self.victim,
            // One that is made up is not read again.
            Work::Striped => {
                ftl.geometry.block_of(page) == self.victim
                    && ftl.lines().is_none_or(|lines| lines.collected().is_read_to_move(page))
            }
            // The block may be in use again.
            Work::Done => false,
        }
    }

    /// The page that is read next to be moved, if one is before a block is erased. Those before it have been.
    #[inline]
    pub fn next_read(&mut self, ftl: &Ftl) -> Option<Ppn> {
        let Work::Victim { moved } = &mut self.work else { return self.read_elsewhere(ftl) };
        let offset = ftl.blocks.next_valid(self.victim, *moved)?;
        *moved = offset;
        let page = ftl.geometry.page(self.victim, offset);
        ftl.prefetch().page_to_move(page);
        Some(page)
    }

    /// The page that is moved next, if one is before a block is erased. It counts as moved.
    #[inline(always)]
    pub fn next_move(&mut self, ftl: &Ftl) -> Option<Ppn> {
        let Work::Victim { moved } = &mut self.work else { return self.move_elsewhere(ftl) };
        let offset = ftl.blocks.next_valid(self.victim, *moved)?;
        *moved = offset + 1;
        ftl.prefetch().move_behind(self.victim, offset + 1);
        Some(ftl.geometry.page(self.victim, offset))
    }

    /// The page that is read next of pages in another order.
    fn read_elsewhere(&mut self, ftl: &Ftl) -> Option<Ppn> {
        match &mut self.work {
            Work::ByLun(left) => left.next_valid(self.victim, ftl),
            _ => self.first_page(ftl),
        }
    }

    /// The page that is moved next of pages in another order.
    fn move_elsewhere(&mut self, ftl: &Ftl) -> Option<Ppn> {
        let Work::ByLun(left) = &mut self.work else { return self.first_page(ftl) };
        let page = left.next_valid(self.victim, ftl)?;
        left.skip(ftl.limits.data_pages());
        Some(page)
    }

    /// The next step; `None` after the last erase.
    pub fn next_step(&mut self, ftl: &Ftl) -> Option<ReclaimStep> {
        if let Work::Merge(plane) = self.work {
            return ftl.next_of_merge(plane, None);
        }
        if let Some(page) = self.next_move(ftl) {
            return Some(ReclaimStep::Move(page));
        }
        let block = self.next_erase(ftl)?;
        self.begin_erase();
        Some(ReclaimStep::Erase(block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Lpn;
    use crate::placement::HostPage;
    use crate::test_config::small_drive;

    #[test]
    fn nothing_is_moved_out_of_a_victim_that_has_been_erased_and_is_in_use_again() {
        let changes = [("ssd.ftl.over_provisioning", "0.7"), ("ssd.ftl.free_blocks", "least_worn")];
        let mut ftl = Ftl::new(&small_drive(1, 8, &changes), "ssd/0");
        let plane = PlaneId(0);
        // A block is filled and then holds nothing that is valid.
        for version in 0..8 {
            ftl.write(plane, HostPage::without_hint(Lpn(version % 4)), u64::from(version));
        }
        let victim = ftl.choose_victim(Occasion::Demand(plane)).expect("all of it is invalid");
        let mut plan = ftl.begin_reclaim(victim);
        assert_eq!(plan.next_step(&ftl), Some(ReclaimStep::Erase(victim)));
        ftl.erase(victim);
        // Written on until the block is open again.
        let mut version = 8;
        let page = loop {
            let page =
                ftl.write(plane, HostPage::without_hint(Lpn(version % 4)), u64::from(version)).page;
            if ftl.geometry.block_of(page) == victim {
                break page;
            }
            version += 1;
        };
        assert!(ftl.is_valid(page));
        assert!(!plan.may_move(page, &ftl));
    }
}
