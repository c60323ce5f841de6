//! Page mapping: any page may lie in any block of its plane. A block is reclaimed by moving its valid pages and
//! erasing it.

use crate::checkpoint::Checkpointed;
use crate::ftl::Placed;
use crate::ftl::tables::Tables;
use crate::ftl::units::{UnitOfReclaiming, Units, each};
use crate::ids::{BlockId, PlaneId, Ppn};
use crate::placement::HostPage;

use super::{Mapping, ReclaimPlan};

/// Page mapping: all that it knows is in the tables.
#[derive(Debug, Checkpointed)]
pub struct Page;

impl Mapping for Page {
    #[inline(always)]
    fn place(&mut self, tables: &mut Tables, plane: PlaneId, page: HostPage) -> Placed {
        tables.append_for_host(self, plane, tables.streams.of_host(page), page.lpn)
    }

    #[inline(always)]
    fn next_offset(&self, tables: &Tables, plane: PlaneId, page: HostPage) -> Option<u32> {
        tables.offset_for_host(tables.streams.of_host(page), plane)
    }

    #[inline(always)]
    fn relocate(&mut self, tables: &mut Tables, from: Ppn) -> Placed {
        tables.relocate_as_placed(self, from)
    }

    fn choose_victim(&mut self, tables: &mut Tables, plane: PlaneId) -> Option<BlockId> {
        choose_victim(tables, plane)
    }

    fn plan(&mut self, tables: &mut Tables, victim: BlockId) -> ReclaimPlan {
        plan(tables, victim)
    }

    fn erased(&mut self, tables: &mut Tables, plane: PlaneId, block: BlockId) {
        erased(tables, plane, block);
    }
}

/// The unit of `plane` to collect.
pub(super) fn choose_victim(tables: &mut Tables, plane: PlaneId) -> Option<BlockId> {
    let Tables { manager, units, .. } = tables;
    each!(units, unit => unit.choose(manager, plane))
}

/// Begins to collect `victim`.
pub(super) fn plan(tables: &mut Tables, victim: BlockId) -> ReclaimPlan {
    let Tables { manager, units, .. } = tables;
    each!(units, unit => unit.begin(manager, victim))
}

/// Frees `block`, which has been erased.
pub(super) fn erased(tables: &mut Tables, plane: PlaneId, block: BlockId) {
    let Tables { manager, units, .. } = tables;
    each!(units, unit => unit.erased(manager, plane, block));
}
