//! The table of a mapping that keeps it in flash. A drive without one has nothing to bring in or write back.

use crate::ids::{DieId, Lpn};

use super::Ftl;
use super::mapping::{AnyMapping, DemandPaged, Mapping, each};

const HAS_ONE: &str = "asked only where the mapping is demand paged";

impl Ftl {
    /// Whether the mapping table lies in flash.
    pub fn is_demand_paged(&self) -> bool {
        each!(&self.mapping, mapping => mapping.paging()).is_some()
    }

    /// The mapping table that lies in flash.
    ///
    /// # Panics
    /// If the mapping is not demand paged.
    pub fn paging(&self) -> &DemandPaged {
        each!(&self.mapping, mapping => mapping.paging()).expect(HAS_ONE)
    }

    /// The mapping table that lies in flash, to be changed.
    ///
    /// # Panics
    /// If the mapping is not demand paged.
    pub fn paging_mut(&mut self) -> &mut DemandPaged {
        each!(&mut self.mapping, mapping => mapping.paging_mut()).expect(HAS_ONE)
    }

    /// The entry of `lpn` has come into the cache.
    pub fn load_entry(&mut self, lpn: Lpn) {
        let Self { mapping, tables } = self;
        let paging = each!(mapping, mapping => mapping.paging_mut());
        paging.expect(HAS_ONE).load_entry(tables, lpn);
    }

    /// The translation pages that are to be written because the entry of `lpn` may have changed without being in the
    /// cache.
    pub fn outdated_by(&self, lpn: Lpn) -> Vec<Lpn> {
        let paging = each!(&self.mapping, mapping => mapping.paging());
        paging.map(|paging| paging.outdated_by(lpn)).unwrap_or_default()
    }

    /// Takes the translation pages that are to be written because pages were moved on `die`.
    pub fn take_outdated(&mut self, die: DieId) -> Vec<Lpn> {
        let paging = each!(&mut self.mapping, mapping => mapping.paging_mut());
        paging.map(|paging| paging.take_outdated(die)).unwrap_or_default()
    }

    /// All translation pages that wait to be written.
    pub fn pages_waiting(&self) -> Vec<Lpn> {
        let paging = each!(&self.mapping, mapping => mapping.paging());
        paging.map(DemandPaged::pages_waiting).unwrap_or_default()
    }
}
