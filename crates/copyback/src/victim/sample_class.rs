//! d choices within a class: the block with the fewest valid pages of d that are drawn, with replacement, from the
//! closed blocks of one class of the placement, the one with the greatest share of invalid pages.

use crate::checkpoint::Checkpointed;
use crate::ids::{BlockId, PlaneId};
use crate::rng::Stream;

use super::sample::{fewest_valid_of, remember_random};
use super::{BlockView, Memory, Shape, Victims};

/// Closed blocks of each plane and class in a table to draw from.
#[derive(Debug, Checkpointed)]
pub struct SampleClass {
    /// By plane, then by class, as far as classes have been seen.
    classes: Vec<Vec<ClassMembers>>,
    /// Index of a closed block in the table of its class.
    places: Vec<ClassPlace>,
    d: u32,
    pages_per_block: u16,
    random: Stream,
}

#[derive(Debug, Clone, Default, Checkpointed)]
struct ClassMembers {
    closed: Vec<BlockId>,
    /// Invalid pages in all of them.
    invalid: u64,
}

#[derive(Debug, Clone, Copy, Default, Checkpointed)]
struct ClassPlace {
    class: u32,
    position: u32,
}

impl ClassMembers {
    /// Whether a greater share of its pages is invalid.
    fn is_emptier_than(&self, other: &Self) -> bool {
        self.invalid * other.closed.len() as u64 > other.invalid * self.closed.len() as u64
    }
}

impl SampleClass {
    pub(super) fn new(d: u32, shape: Shape, random: Stream) -> Self {
        Self {
            classes: vec![Vec::new(); shape.planes],
            places: vec![ClassPlace::default(); shape.blocks],
            d,
            pages_per_block: shape.pages_per_block,
            random,
        }
    }

    fn invalid(&self, valid: u16) -> u64 {
        u64::from(self.pages_per_block - valid)
    }
}

/// The class with the greatest share of invalid pages; of equals the first.
fn emptiest(classes: &[ClassMembers]) -> Option<&ClassMembers> {
    let classes = classes.iter().filter(|class| !class.closed.is_empty());
    classes.reduce(|best, next| if next.is_emptier_than(best) { next } else { best })
}

impl Victims for SampleClass {
    fn closed(&mut self, plane: PlaneId, block: BlockId, valid: u16, blocks: &impl BlockView) {
        let (class, invalid) = (blocks.class(block).unwrap_or(0), self.invalid(valid));
        let classes = &mut self.classes[plane.index()];
        if classes.len() <= class {
            classes.resize(class + 1, ClassMembers::default());
        }
        let ClassMembers { closed, invalid: of_all } = &mut classes[class];
        let position = closed.len() as u32;
        self.places[block.index()] = ClassPlace { class: class as u32, position };
        closed.push(block);
        *of_all += invalid;
    }

    fn changed(&mut self, plane: PlaneId, block: BlockId, from: u16, to: u16) {
        let (before, after) = (self.invalid(from), self.invalid(to));
        let class = self.places[block.index()].class as usize;
        let invalid = &mut self.classes[plane.index()][class].invalid;
        *invalid = *invalid + after - before;
    }

    fn removed(&mut self, plane: PlaneId, block: BlockId, valid: u16) {
        let invalid = self.invalid(valid);
        let ClassPlace { class, position } = self.places[block.index()];
        let ClassMembers { closed, invalid: of_all } =
            &mut self.classes[plane.index()][class as usize];
        *of_all -= invalid;
        closed.swap_remove(position as usize);
        if let Some(moved) = closed.get(position as usize) {
            self.places[moved.index()].position = position;
        }
    }

    fn choose(&mut self, plane: PlaneId, blocks: &impl BlockView) -> Option<BlockId> {
        let closed = &emptiest(&self.classes[plane.index()])?.closed;
        Some(fewest_valid_of(self.d, closed, &mut self.random, blocks))
    }

    fn closed_in_order(&self) -> Vec<BlockId> {
        let classes = self.classes.iter().flatten();
        classes.flat_map(|class| class.closed.iter().copied()).collect()
    }

    fn memory(&self) -> Memory {
        Memory::Random(self.random.clone())
    }

    fn remember(&mut self, memory: Memory, _: &[(PlaneId, BlockId)]) -> bool {
        remember_random(&mut self.random, memory)
    }
}
