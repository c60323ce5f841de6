//! Random choice: one block (random), one with an invalid page (random+), or the one with the
//! fewest valid pages of d drawn with replacement (RGA, d-choices; Van Houdt, SIGMETRICS 2013).

use rand::{Rng, RngExt};

use crate::checkpoint::Checkpointed;
use crate::ids::{BlockId, PlaneId};
use crate::rng::Stream;

use super::{BlockView, Memory, Shape, Victims};

/// Closed blocks of each plane in a table to draw from.
#[derive(Debug, Checkpointed)]
pub struct Sample {
    closed: Vec<Vec<BlockId>>,
    /// Index of a closed block in its plane's table.
    position: Vec<u32>,
    draw: Draw,
    pages_per_block: u16,
    random: Stream,
}

#[derive(Debug, Clone, Copy, Checkpointed)]
enum Draw {
    FewestValidOf(u32),
    UntilOneIsInvalid,
}

impl Sample {
    pub(super) fn of(d: u32, shape: Shape, random: Stream) -> Self {
        Self::new(Draw::FewestValidOf(d), shape, random)
    }

    pub(super) fn with_an_invalid_page(shape: Shape, random: Stream) -> Self {
        Self::new(Draw::UntilOneIsInvalid, shape, random)
    }

    fn new(draw: Draw, shape: Shape, random: Stream) -> Self {
        Self {
            closed: vec![Vec::new(); shape.planes],
            position: vec![0; shape.blocks],
            draw,
            pages_per_block: shape.pages_per_block,
            random,
        }
    }
}

impl Victims for Sample {
    fn closed(&mut self, plane: PlaneId, block: BlockId, _: u16, _: &impl BlockView) {
        let closed = &mut self.closed[plane.index()];
        self.position[block.index()] = closed.len() as u32;
        closed.push(block);
    }

    fn removed(&mut self, plane: PlaneId, block: BlockId, _: u16) {
        let closed = &mut self.closed[plane.index()];
        let position = self.position[block.index()] as usize;
        closed.swap_remove(position);
        if let Some(moved) = closed.get(position) {
            self.position[moved.index()] = position as u32;
        }
    }

    fn choose(&mut self, plane: PlaneId, blocks: &impl BlockView) -> Option<BlockId> {
        let closed = &self.closed[plane.index()];
        if closed.is_empty() {
            return None;
        }
        match self.draw {
            Draw::FewestValidOf(d) => Some(fewest_valid_of(d, closed, &mut self.random, blocks)),
            Draw::UntilOneIsInvalid => loop {
                let block = closed[self.random.random_range(0..closed.len())];
                if blocks.valid_pages(block) < self.pages_per_block {
                    return Some(block);
                }
            },
        }
    }

    fn closed_in_order(&self) -> Vec<BlockId> {
        self.closed.concat()
    }

    fn memory(&self) -> Memory {
        Memory::Random(self.random.clone())
    }

    fn remember(&mut self, memory: Memory, _: &[(PlaneId, BlockId)]) -> bool {
        remember_random(&mut self.random, memory)
    }
}

/// The block with the fewest valid pages of `d` of `closed` that are drawn with replacement.
pub(super) fn fewest_valid_of(
    d: u32,
    closed: &[BlockId],
    random: &mut Stream,
    blocks: &impl BlockView,
) -> BlockId {
    let mut draw = || closed[random.random_range(0..closed.len())];
    let first = draw();
    let fewer = |best: BlockId, next: BlockId| {
        if blocks.valid_pages(next) < blocks.valid_pages(best) { next } else { best }
    };
    (1..d).fold(first, |best, _| fewer(best, draw()))
}

/// Goes on with the stream that a file tells of. Returns whether it tells of one that can be drawn from.
pub(super) fn remember_random(random: &mut Stream, memory: Memory) -> bool {
    let Memory::Random(saved) = memory else { return false };
    *random = saved;
    can_draw(random)
}

/// Whether a stream that comes from a file gives anything but zeros: one whose state is all zero
/// never does, and would draw the same block for ever.
fn can_draw(random: &Stream) -> bool {
    let mut copy = random.clone();
    (0..4).any(|_| copy.next_u64() != 0)
}
