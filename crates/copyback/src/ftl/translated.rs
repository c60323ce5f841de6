//! Translation, for a mapping that keeps its table in flash. Others answer that all is known and nothing out of date.

use crate::ids::Lpn;

use super::Ftl;
use super::mapping::{AnyMapping, Mapping, Outdated, Stage, Translated, each};

impl Ftl {
    /// Says what it takes to know where `lpn` lies, at this stage of its translation.
    pub fn translate(&mut self, lpn: Lpn, stage: Stage) -> Translated {
        let Self { mapping, tables } = self;
        each!(mapping, mapping => mapping.translate(tables, lpn, stage))
    }

    /// Pages of a table in flash that are to be written because entries that are not in RAM have changed.
    pub fn outdated(&mut self, which: Outdated) -> Vec<Lpn> {
        each!(&mut self.mapping, mapping => mapping.outdated(which))
    }
}
