//! Busy remaining time: how long a die will still collect, as a drive reports it to an array (PL_BRT of IODA, Li et al.,
//! SOSP 2021).

use crate::backend::Backend;
use crate::ftl::Ftl;
use crate::ids::DieId;
use crate::units::Duration;

use super::idle::step_times;
use super::steps::Collection;
use super::{Collector, Settings};

impl Collector {
    /// Estimate of the time until the collection of `die` ends, if nothing comes between: the pages that are left in its
    /// fullest victim, and the erase. Zero if none is under way. Knows neither victims to come nor host operations that
    /// wait.
    pub fn busy_time(&self, backend: &Backend, die: DieId) -> Duration {
        let Some(collection) = self.of(die) else { return Duration::ZERO };
        let moves = collection.moves_left(&backend.ftl);
        let Settings { copyback, poll, .. } = self.settings;
        step_times(&backend.flash.timing, copyback, poll).collection(moves, 1)
    }
}

impl Collection {
    /// Valid pages in the fullest of its victims. Planes that are collected together move theirs at the same time.
    fn moves_left(&self, ftl: &Ftl) -> u64 {
        let lanes = self.lanes.lanes.iter();
        lanes.map(|lane| lane.job.outlook(ftl).moves).max().unwrap_or(0)
    }
}
