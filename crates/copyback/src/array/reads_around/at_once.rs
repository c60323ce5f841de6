//! Reads around collections that the array knows of at no cost. A read goes around if no other drive of the stripe collects
//! where it would read.

use smallvec::SmallVec;

use super::{Around, Decision, Read};
use crate::checkpoint::Checkpointed;
use crate::ids::SsdId;
use crate::layout::Plan;
use crate::units::Duration;

/// The policy.
#[derive(Debug, Checkpointed)]
pub struct AtOnce;

impl Around for AtOnce {
    fn decide(&mut self, read: &Read<'_>, plan: &mut Plan, other: &mut Plan) -> Decision {
        let waiting = plan.first.iter().filter(|piece| read.waits(piece));
        let avoid: SmallVec<[SsdId; 4]> = waiting.map(|piece| piece.device).collect();
        if avoid.is_empty()
            || !read.plan_around(&avoid, other)
            || other.first.iter().any(|piece| read.waits(piece))
        {
            return Decision::PLAIN;
        }
        std::mem::swap(plan, other);
        Decision { goes_around: true, delay: Duration::ZERO }
    }
}
