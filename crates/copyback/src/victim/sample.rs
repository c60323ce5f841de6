//! Random choice: one block (random), one with an invalid page (random+), or the one with the
//! fewest valid pages of d drawn with replacement (RGA, d-choices; Van Houdt, SIGMETRICS 2013).

use serde::{Deserialize, Serialize};

use rand::{Rng, RngExt};

use crate::ids::{BlockId, PlaneId};
use crate::rng::Stream;

use super::{BlockView, Closed, Shape};

/// Closed blocks of each plane in a table to draw from.
#[derive(Debug, Serialize, Deserialize)]
pub struct Sample {
    closed: Vec<Vec<BlockId>>,
    /// Where a closed block stands in its plane's table.
    position: Vec<u32>,
    draw: Draw,
    pages_per_block: u16,
    random: Stream,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

    pub(super) fn insert(&mut self, plane: PlaneId, block: BlockId) {
        let closed = &mut self.closed[plane.index()];
        self.position[block.index()] = closed.len() as u32;
        closed.push(block);
    }

    pub(super) fn remove(&mut self, plane: PlaneId, block: BlockId) {
        let closed = &mut self.closed[plane.index()];
        let position = self.position[block.index()] as usize;
        closed.swap_remove(position);
        if let Some(moved) = closed.get(position) {
            self.position[moved.index()] = position as u32;
        }
    }

    pub(super) fn is_sound(&self, fresh: &Self, closed: Closed<'_>) -> bool {
        self.draw == fresh.draw
            && self.pages_per_block == fresh.pages_per_block
            && self.position.len() == fresh.position.len()
            && self.closed.len() == fresh.closed.len()
            && self.holds_just(closed)
            && can_draw(&self.random)
    }

    fn holds_just(&self, closed: Closed<'_>) -> bool {
        let stands_at = |plane: usize, place: usize, block: BlockId| {
            block.index() < self.position.len()
                && closed(block).is_some_and(|(home, _)| home.index() == plane)
                && self.position[block.index()] as usize == place
        };
        // A block has one position, so none stands in the table twice.
        let stand = |(plane, table): (usize, &Vec<BlockId>)| {
            table.iter().enumerate().all(|(place, block)| stands_at(plane, place, *block))
        };
        let all = (0..self.position.len()).map(BlockId::from_index);
        let count = all.filter(|block| closed(*block).is_some()).count();
        self.closed.iter().enumerate().all(stand)
            && self.closed.iter().map(Vec::len).sum::<usize>() == count
    }

    pub(super) fn choose(&mut self, plane: PlaneId, blocks: &impl BlockView) -> Option<BlockId> {
        let closed = &self.closed[plane.index()];
        if closed.is_empty() {
            return None;
        }
        let mut draw = || closed[self.random.random_range(0..closed.len())];
        match self.draw {
            Draw::FewestValidOf(d) => {
                let first = draw();
                let fewer = |best: BlockId, next: BlockId| {
                    if blocks.valid_pages(next) < blocks.valid_pages(best) { next } else { best }
                };
                Some((1..d).fold(first, |best, _| fewer(best, draw())))
            }
            Draw::UntilOneIsInvalid => loop {
                let block = draw();
                if blocks.valid_pages(block) < self.pages_per_block {
                    return Some(block);
                }
            },
        }
    }
}

/// Whether a stream that comes from a file gives anything but zeros: one whose state is all zero
/// never does, and would draw the same block for ever.
fn can_draw(random: &Stream) -> bool {
    let mut copy = random.clone();
    (0..4).any(|_| copy.next_u64() != 0)
}
