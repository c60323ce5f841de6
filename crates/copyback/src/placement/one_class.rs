//! One class: every page goes to the plane's only open block, whoever writes it.

use crate::checkpoint::Checkpointed;
use crate::ids::Lpn;

use super::{ByOrigin, Class, Classes, Origin, Placement};

/// Has nothing to remember.
#[derive(Debug, Checkpointed)]
pub struct OneClass;

impl Placement for OneClass {
    fn classes(&self) -> Classes {
        Classes::shared(1)
    }

    fn by_origin(&self) -> Option<ByOrigin> {
        Some(ByOrigin { host: Class::new(0), moved: Class::new(0) })
    }

    fn class_of(&self, _: Lpn, _: Origin, _: u64) -> Class {
        Class::new(0)
    }
}
