//! Host and GC apart: what collections move is colder than what the host has just written, and is not mixed with it.

use crate::checkpoint::Checkpointed;
use crate::ids::Lpn;

use super::{Class, Origin, Placement};

const HOST: Class = Class::new(0);
const MOVED: Class = Class::new(1);

/// Has nothing to remember.
#[derive(Debug, Checkpointed)]
pub struct HostAndGcApart;

impl Placement for HostAndGcApart {
    fn classes(&self) -> usize {
        2
    }

    fn takes_host(&self, class: Class) -> bool {
        class == HOST
    }

    fn takes_moved(&self, class: Class) -> bool {
        class == MOVED
    }

    fn class_of(&self, _: Lpn, origin: Origin) -> Class {
        match origin {
            Origin::Host { .. } => HOST,
            Origin::Moved { .. } => MOVED,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;
    use crate::placement::AnyPlacement;

    #[test]
    fn only_what_is_moved_leaves_the_class_of_the_host() {
        let placement = AnyPlacement::new(config::Placement::HostAndGcApart);
        assert!(!placement.mixes());
        assert_eq!(placement.class_of(Lpn(3), Origin::Host { hint: None }), HOST);
        let moved = Origin::Moved { class: HOST, age: 5 };
        assert_eq!(placement.class_of(Lpn(3), moved), MOVED);
        assert!(AnyPlacement::new(config::Placement::OneClass).mixes());
    }
}
