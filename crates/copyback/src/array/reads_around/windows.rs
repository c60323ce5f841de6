//! Reads around windows: the array knows whose window it is, and reads nothing from that drive, whether it collects or not (PL_Win
//! of IODA without failing fast, Li et al., SOSP 2021). Collections outside windows are waited for.

use super::{Around, Decision, Read};
use crate::array::coordination::whose_window;
use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::layout::Plan;
use crate::units::Duration;

/// The policy.
#[derive(Debug, Checkpointed)]
pub struct Windows {
    window: Duration,
    drives: u64,
}

impl Windows {
    pub(super) fn new(config: &Resolved) -> Self {
        let window = config.window_length().expect("drives have windows").0;
        Self { window, drives: config.array.devices.into() }
    }
}

impl Around for Windows {
    fn decide(&mut self, read: &Read<'_>, plan: &mut Plan, other: &mut Plan) -> Decision {
        let avoid = whose_window(read.now, self.window, self.drives);
        let touches = plan.first.iter().any(|piece| piece.device == avoid);
        if !touches || !read.plan_around(&[avoid], other) {
            return Decision::PLAIN;
        }
        std::mem::swap(plan, other);
        Decision { goes_around: true, delay: Duration::ZERO }
    }
}
