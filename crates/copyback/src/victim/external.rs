//! A policy from outside of this crate. What happens to blocks is noted here, and told when a block is
//! to be chosen: a policy that is slow to be called is called once a collection, not once a page.

use crate::checkpoint::Checkpointed;
use crate::ids::{BlockId, PlaneId};
use crate::outside::{Device, Failed, Slot, Supply};
use crate::rng::Stream;

use super::supply::{BlockState, ClosedBlock, ExternalVictims};
use super::{BlockView, Memory, Outside, Shape, Victims};

/// Choices in a row, for each block of a plane, that may give nothing back: more than chance explains.
const MOST_USELESS: u32 = 64;

/// The blocks as the policy is to see them, and the policy.
#[derive(Debug, Checkpointed)]
pub struct External {
    /// Name in the configuration.
    name: String,
    slot: Slot<dyn ExternalVictims>,
    shape: Shape,
    random: Stream,
    records: Vec<Record>,
    planes: Vec<Plane>,
    /// Kept to reuse its memory.
    #[checkpoint(skip)]
    updates: Vec<BlockState>,
}

#[derive(Debug, Clone, Copy, Default, Checkpointed)]
struct Record {
    closed: Option<Closed>,
    /// Whether it is among those that the policy is to be told of.
    is_news: bool,
}

#[derive(Debug, Clone, Copy, Checkpointed)]
struct Closed {
    valid: u16,
    closed_at: u64,
    changed_at: u64,
}

#[derive(Debug, Clone, Default, Checkpointed)]
struct Plane {
    news: Vec<BlockId>,
    /// Time, in changes.
    clock: u64,
    /// Closed blocks of which some pages need not be moved.
    worthwhile: u32,
    /// Choices in a row of blocks of which all pages had to be moved.
    useless: u32,
}

impl External {
    pub(super) fn new(name: &str, shape: Shape, random: Stream) -> Self {
        Self {
            name: name.to_owned(),
            slot: Slot::default(),
            shape,
            random,
            records: vec![Record::default(); shape.blocks],
            planes: vec![Plane::default(); shape.planes],
            updates: Vec::new(),
        }
    }

    /// Takes the policy that `supplier` makes for `device`.
    pub(super) fn supply(
        &mut self,
        device: Device,
        supplier: &dyn Supply<dyn ExternalVictims>,
    ) -> Result<(), Failed> {
        self.slot.install(supplier.supply((device, self.shape), self.random.clone())?)
    }

    pub(super) fn failed(&self) -> Option<Failed> {
        self.slot.failed()
    }

    /// The closed blocks, plane by plane, in the order of closing.
    fn closed_records(&self) -> Vec<(BlockId, Closed)> {
        let records = self.records.iter().enumerate();
        let closed = records
            .filter_map(|(place, record)| Some((BlockId::from_index(place), record.closed?)));
        let mut closed: Vec<_> = closed.collect();
        closed.sort_by_key(|(block, closed)| (self.plane_of(*block), closed.closed_at));
        closed
    }

    /// Takes what a file tells of the blocks that have just been closed again, in their order. Returns whether it is
    /// about just these.
    fn take_times(&mut self, closed: &[(PlaneId, BlockId)], times: &[(u64, u64)]) -> bool {
        let mut fits = closed.len() == times.len();
        for ((plane, block), &(closed_at, changed_at)) in closed.iter().zip(times) {
            fits &= closed_at <= changed_at && changed_at <= self.planes[plane.index()].clock;
            if let Some(known) = &mut self.records[block.index()].closed {
                (known.closed_at, known.changed_at) = (closed_at, changed_at);
            }
        }
        fits
    }

    /// Takes the blocks that the policy is to be told of. Returns whether they are blocks, each named once.
    fn take_news(&mut self, news: &[BlockId]) -> bool {
        self.records.iter_mut().for_each(|record| record.is_news = false);
        self.planes.iter_mut().for_each(|plane| plane.news.clear());
        news.iter().all(|block| {
            let plane = self.plane_of(*block);
            let Some(record) = self.records.get_mut(block.index()) else { return false };
            self.planes[plane.index()].news.push(*block);
            !std::mem::replace(&mut record.is_news, true)
        })
    }

    fn tick(&mut self, plane: PlaneId) -> u64 {
        let clock = &mut self.planes[plane.index()].clock;
        *clock += 1;
        *clock
    }

    /// Notes what is true of a block now, for the policy to be told.
    fn set(&mut self, plane: PlaneId, block: BlockId, closed: Option<Closed>) {
        let pages = self.shape.pages_per_block;
        let counts = |closed: Option<Closed>| u32::from(closed.is_some_and(|c| c.valid < pages));
        let record = &mut self.records[block.index()];
        let plane = &mut self.planes[plane.index()];
        plane.worthwhile = plane.worthwhile + counts(closed) - counts(record.closed);
        record.closed = closed;
        if !record.is_news {
            record.is_news = true;
            plane.news.push(block);
        }
    }

    fn ask(&mut self, plane: PlaneId, blocks: &impl BlockView) -> Option<BlockId> {
        self.gather_news(plane, blocks);
        let clock = self.planes[plane.index()].clock;
        let block = self.slot.ask(|policy| policy.choose(plane, clock, &self.updates))?;
        let checked = self.check(plane, block);
        self.slot.noted(checked)
    }

    fn check(&mut self, plane: PlaneId, block: BlockId) -> Result<BlockId, Failed> {
        let record = self.records.get(block.index()).filter(|_| self.plane_of(block) == plane);
        let Some(closed) = record.and_then(|record| record.closed) else {
            return Err(self.wrong(&format!(
                "found {block:?}, not closed on {plane:?}; allowed: a closed block of that plane"
            )));
        };
        self.note_gain(plane, closed)?;
        Ok(block)
    }

    fn gather_news(&mut self, plane: PlaneId, blocks: &impl BlockView) {
        self.updates.clear();
        for block in self.planes[plane.index()].news.drain(..) {
            let record = &mut self.records[block.index()];
            record.is_news = false;
            let closed = record.closed.map(|closed| ClosedBlock {
                valid_pages: closed.valid,
                erase_count: blocks.erase_count(block),
                closed_at: closed.closed_at,
                changed_at: closed.changed_at,
            });
            self.updates.push(BlockState { block, closed });
        }
    }

    /// Refuses a policy that never chooses a block which gives anything back: the collections that the
    /// plane needs would never end.
    fn note_gain(&mut self, plane: PlaneId, chosen: Closed) -> Result<(), Failed> {
        let pages = self.shape.pages_per_block;
        let most = MOST_USELESS * self.blocks_per_plane() as u32;
        let useless = &mut self.planes[plane.index()].useless;
        *useless = if chosen.valid < pages { 0 } else { *useless + 1 };
        if *useless < most {
            return Ok(());
        }
        Err(self.wrong(&format!(
            "found {most} blocks in a row of plane {}, all of whose pages were valid: nothing is gained; \
             allowed: to choose one with an invalid page sooner or later",
            plane.0
        )))
    }

    fn wrong(&self, problem: &str) -> Failed {
        Failed(format!("ssd.gc.victim.policy: {}: choose: {problem}", self.name))
    }

    /// Choice that replaces a policy which has failed: the block with the fewest valid pages.
    fn fewest_valid(&self, plane: PlaneId) -> Option<BlockId> {
        let per_plane = self.blocks_per_plane();
        let first = plane.index() * per_plane;
        let records = self.records[first..first + per_plane].iter().enumerate();
        let closed = records.filter_map(|(place, record)| Some((record.closed?.valid, place)));
        closed.min().map(|(_, place)| BlockId::from_index(first + place))
    }

    fn plane_of(&self, block: BlockId) -> PlaneId {
        PlaneId::from_index(block.index() / self.blocks_per_plane())
    }

    const fn blocks_per_plane(&self) -> usize {
        self.shape.blocks / self.shape.planes
    }
}

impl Victims for External {
    fn closed(&mut self, plane: PlaneId, block: BlockId, valid: u16, _: &impl BlockView) {
        let now = self.tick(plane);
        let closed = Closed { valid, closed_at: now, changed_at: now };
        self.set(plane, block, Some(closed));
    }

    fn changed(&mut self, plane: PlaneId, block: BlockId, from: u16, to: u16) {
        if from == to {
            return;
        }
        let now = self.tick(plane);
        let before = self.records[block.index()].closed;
        let after = before.map(|closed| Closed { valid: to, changed_at: now, ..closed });
        self.set(plane, block, after);
    }

    fn removed(&mut self, plane: PlaneId, block: BlockId, _: u16) {
        self.set(plane, block, None);
    }

    fn choose(&mut self, plane: PlaneId, blocks: &impl BlockView) -> Option<BlockId> {
        if self.planes[plane.index()].worthwhile == 0 {
            return None;
        }
        self.ask(plane, blocks).or_else(|| self.fewest_valid(plane))
    }

    fn closed_in_order(&self) -> Vec<BlockId> {
        self.closed_records().into_iter().map(|(block, _)| block).collect()
    }

    fn memory(&self) -> Memory {
        let of_block = |(_, closed): (_, Closed)| (closed.closed_at, closed.changed_at);
        Memory::Outside(Outside {
            planes: self.planes.iter().map(|plane| (plane.clock, plane.useless)).collect(),
            times: self.closed_records().into_iter().map(of_block).collect(),
            news: self.planes.iter().flat_map(|plane| plane.news.iter().copied()).collect(),
            policy: self.slot.memory(),
        })
    }

    fn remember(&mut self, memory: Memory, closed: &[(PlaneId, BlockId)]) -> bool {
        let Memory::Outside(Outside { planes, times, news, policy }) = memory else { return false };
        if planes.len() != self.planes.len() {
            return false;
        }
        for (plane, (clock, useless)) in self.planes.iter_mut().zip(planes) {
            (plane.clock, plane.useless) = (clock, useless);
        }
        self.slot.remember(policy);
        self.take_times(closed, &times) && self.take_news(&news)
    }
}
