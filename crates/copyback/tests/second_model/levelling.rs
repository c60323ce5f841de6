//! Static wear levelling: whether the least erased block of a plane is to be emptied.

use copyback::config::{Config, WearCompare};

use crate::state::{Stage, State};

#[derive(Debug)]
pub struct Levelling {
    threshold: u32,
    compare: WearCompare,
}

impl Levelling {
    pub fn new(config: &Config) -> Self {
        Self { threshold: config.ssd.wear.static_threshold, compare: config.ssd.wear.compare }
    }

    /// The block of `plane` that is to be emptied, if one is: of those erased least the first, if it is closed.
    pub fn wanted(&self, state: &State, plane: u32) -> Option<u32> {
        if self.threshold == 0 {
            return None;
        }
        let blocks = state.shape.blocks_of(plane);
        let erases = |block: &u32| state.block(*block).erases;
        let least = blocks.iter().copied().min_by_key(erases)?;
        let most = blocks.iter().copied().min_by_key(|block| std::cmp::Reverse(erases(block)))?;
        let is_worn = match self.compare {
            WearCompare::EraseCounts => erases(&most) - erases(&least) > self.threshold,
            WearCompare::BlockNumbers => most < least || most - least >= self.threshold,
        };
        let is_closed = state.block(least).stage == Stage::Full;
        (is_worn && is_closed).then_some(least)
    }
}
