//! Whether a plane is to be collected.

use copyback::config::{Config, ThresholdUnit};

use crate::allocation::free_pages;
use crate::state::State;

#[derive(Debug)]
pub struct Thresholds {
    soft: u32,
    hysteresis: u32,
    unit: ThresholdUnit,
}

impl Thresholds {
    pub fn new(config: &Config) -> Self {
        Self {
            soft: config.resolve().drive.thresholds.soft,
            hysteresis: config.ssd.gc.hysteresis_blocks,
            unit: config.ssd.gc.threshold_unit,
        }
    }

    /// Looks again whether `plane` is below its threshold. Where pages are counted, it also is while the host can open no
    /// block.
    pub fn look(&self, state: &mut State, plane: u32, host_may_open: bool) {
        let block = match self.unit {
            ThresholdUnit::FreeBlocks => 1,
            ThresholdUnit::FreePages => state.shape.data_pages,
        };
        let free = match self.unit {
            ThresholdUnit::FreeBlocks => state.plane(plane).free.len() as u32,
            ThresholdUnit::FreePages => free_pages(state, plane),
        };
        let is_short = state.plane(plane).is_short;
        let wanted = if is_short { self.soft + self.hysteresis } else { self.soft };
        let is_stuck = self.unit == ThresholdUnit::FreePages && !host_may_open;
        state.plane_mut(plane).is_short = free < wanted * block || is_stuck;
    }
}
