//! Host and GC apart: what collections move is colder than what the host has just written, and is not mixed with it.

use crate::checkpoint::Checkpointed;
use crate::ids::Lpn;

use super::{ByOrigin, Class, Classes, Origin, Placement};

const HOST: Class = Class::new(0);
const MOVED: Class = Class::new(1);

/// Has nothing to remember.
#[derive(Debug, Checkpointed)]
pub struct HostAndGcApart;

impl Placement for HostAndGcApart {
    fn classes(&self) -> Classes {
        Classes::apart(0..1, 1..2)
    }

    fn by_origin(&self) -> Option<ByOrigin> {
        Some(ByOrigin { host: HOST, moved: MOVED })
    }

    fn class_of(&self, _: Lpn, origin: Origin, _: u64) -> Class {
        match origin {
            Origin::Host { .. } => HOST,
            Origin::Moved { .. } => MOVED,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::AnyPlacement;
    use crate::placement::one_class::OneClass;

    #[test]
    fn only_what_is_moved_leaves_the_class_of_the_host() {
        let placement = AnyPlacement::HostAndGcApart(HostAndGcApart);
        assert!(!placement.classes().mix());
        assert_eq!(placement.class_of(Lpn(3), Origin::Host { hint: None }, 7), HOST);
        let moved = Origin::Moved { class: Some(HOST) };
        assert_eq!(placement.class_of(Lpn(3), moved, 7), MOVED);
        assert!(AnyPlacement::OneClass(OneClass).classes().mix());
    }
}
