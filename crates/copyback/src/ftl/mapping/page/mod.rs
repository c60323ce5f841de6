//! Page mapping: any page may lie in any block of its plane. A block is reclaimed by moving its valid pages and
//! erasing it.

use crate::checkpoint::Checkpointed;
use crate::ftl::Placed;
use crate::ftl::tables::Tables;
use crate::ftl::units::{UnitOfReclaiming, Units, each};
use crate::ids::{BlockId, PlaneId};
use crate::placement::HostPage;

use super::{Change, Cost, Mapping, Occasion, Put, ReclaimPlan};

/// Page mapping: all that it knows is in the tables.
#[derive(Debug, Checkpointed)]
pub struct Page;

impl Mapping for Page {
    #[inline(always)]
    fn put(&mut self, tables: &mut Tables, put: Put) -> Placed {
        match put {
            Put::Write(plane, page) => {
                tables.append_for_host(self, plane, tables.streams.of_host(page), page.lpn)
            }
            Put::Move(from) => tables.relocate_as_placed(self, from),
        }
    }

    #[inline(always)]
    fn next_offset(&self, tables: &Tables, plane: PlaneId, page: HostPage) -> Option<u32> {
        tables.offset_for_host(tables.streams.of_host(page), plane)
    }

    /// Chooses a block to collect: one that the victim policy names. No merge is owed here.
    fn choose_victim(&mut self, tables: &mut Tables, occasion: Occasion<'_>) -> Option<BlockId> {
        match occasion {
            Occasion::Demand(plane) | Occasion::Advance(plane) => choose_on(tables, plane),
            Occasion::Owed(_) => None,
            Occasion::Writes { expected, fits } => {
                let opened =
                    tables.rooms().opened_by(expected.plane, expected.pages.len()) as usize;
                let least = tables.space.thresholds().soft + opened;
                if tables.space.free_blocks(expected.plane) >= least {
                    return None;
                }
                let victim = choose_on(tables, expected.plane)?;
                let cost = Cost { pages: tables.blocks.valid_pages(victim).into(), blocks: 1 };
                fits(cost).then_some(victim)
            }
        }
    }

    fn plan(&mut self, tables: &mut Tables, victim: BlockId) -> ReclaimPlan {
        let Tables { manager, units, .. } = tables;
        each!(units, unit => unit.begin(manager, victim))
    }

    /// Frees what has been erased, and takes over what a loss of power has left.
    #[inline(always)]
    fn note(&mut self, tables: &mut Tables, change: Change<'_>) {
        match change {
            Change::Erased { plane, block } => {
                let Tables { manager, units, .. } = tables;
                each!(units, unit => unit.erased(manager, plane, block));
            }
            Change::PlaneFound { plane, blocks, survey } => {
                tables.recover_streams(plane, blocks, survey);
            }
            _ => {}
        }
    }
}

/// The unit of `plane` to collect.
fn choose_on(tables: &mut Tables, plane: PlaneId) -> Option<BlockId> {
    let Tables { manager, units, .. } = tables;
    each!(units, unit => unit.choose(manager, plane))
}
