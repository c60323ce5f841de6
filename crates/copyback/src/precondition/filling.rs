//! Pages that are written in order to begin with, and how often each.

use std::ops::Range;

use super::mean_field::{Repeats, plane_of};
use super::overwritten::BATCH;
use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ftl::Ftl;
use crate::ids::{Lpn, PlaneId};

/// Logical pages of a drive that are filled in order.
#[derive(Debug, Checkpointed)]
pub struct Filling {
    filled: usize,
    fill: usize,
    /// Writes of each page with which a mean-field model lays out the blocks, if one does.
    repeats: Option<Repeats>,
}

impl Filling {
    /// No page of `fill` is filled yet.
    pub const fn new(fill: usize) -> Self {
        Self { filled: 0, fill, repeats: None }
    }

    /// Lays the blocks out by the mean-field model of a checked configuration, if it has one.
    pub fn lay_out(&mut self, config: &Resolved, ftl: &Ftl) {
        let model = config.mean_field.as_ref().filter(|_| self.fill > 0);
        self.repeats = model.map(|model| Repeats::new(config, model, ftl, self.fill));
    }

    /// All pages are filled from now on.
    pub const fn end(&mut self) {
        self.filled = self.fill;
    }

    /// Pages that are filled in all.
    pub const fn pages(&self) -> u64 {
        self.fill as u64
    }

    /// Pages filled so far.
    pub const fn filled(&self) -> u64 {
        self.filled as u64
    }

    /// Whether all pages are filled.
    pub const fn is_over(&self) -> bool {
        self.filled == self.fill
    }

    /// The pages whose table entries are fetched together before the next page; none where they have been.
    pub fn batch(&self) -> Option<Range<usize>> {
        let next = self.filled..self.fill.min(self.filled + BATCH);
        (!next.is_empty() && self.filled.is_multiple_of(BATCH)).then_some(next)
    }

    /// The next page and, if a model lays it out, its plane and the number of times that it is written there; none if
    /// all are filled.
    pub fn next(&mut self, ftl: &Ftl) -> Option<(Lpn, Option<(PlaneId, u32)>)> {
        if self.is_over() {
            return None;
        }
        let lpn = Lpn::from_index(self.filled);
        self.filled += 1;
        let laid_out = self.repeats.as_mut().map(|repeats| {
            let plane = plane_of(ftl, lpn);
            (plane, repeats.next(plane))
        });
        Some((lpn, laid_out))
    }
}
