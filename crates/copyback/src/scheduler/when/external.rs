//! A schedule from outside of this crate.

use super::supply::{DieView, ExternalSchedule};
use crate::checkpoint::Checkpointed;
use crate::ids::DieId;
use crate::outside::{Failed, Slot};
use crate::shortcut::Undisturbed;
use crate::units::Duration;

use super::{Admitted, AtDie, Begun, When};

/// The schedule, and what the configuration says of it.
#[derive(Debug, Checkpointed)]
pub struct External {
    slot: Slot<dyn ExternalSchedule>,
    /// Time of a look at the queue.
    poll: Duration,
    /// Whether it may yield between the read and the write of a page that is moved.
    inside_moves: bool,
    /// Steps that the collections of each die have begun since the host was last served there.
    steps: Vec<u32>,
}

impl External {
    pub(super) fn new(poll: Duration, inside_moves: bool, dies: usize) -> Self {
        Self { slot: Slot::default(), poll, inside_moves, steps: vec![0; dies] }
    }
}

impl When for External {
    /// Operations that may go first, as the policy says; it is not called when nothing waits. After a failure
    /// it yields no more: collections always get ahead then.
    fn admitted(&mut self, at: &AtDie<'_>) -> Admitted {
        if !at.host_waits() {
            return Admitted::NOTHING;
        }
        let view = DieView {
            die: at.die,
            point: at.point(),
            steps: self.steps[at.die.index()],
            situation: at.situation(),
            outlook: at.outlook(),
        };
        self.slot.ask(|policy| policy.admitted(&view)).unwrap_or(Admitted::NOTHING)
    }

    /// Asked when anything waits, whether that could be served or not.
    fn undisturbed(&self) -> Undisturbed {
        Undisturbed::UntilNextInstant
    }

    fn plane_to_collect(&mut self, die: DieId, to_collect: u32) -> Option<u32> {
        let chosen = self.slot.ask(|policy| match policy.plane_to_collect(die, to_collect)? {
            Some(plane) if to_collect.checked_shr(plane).unwrap_or(0) & 1 == 0 => Err(Failed(format!(
                "ssd.gc.preemption: found plane {plane} of a die; allowed: one that is short of space"
            ))),
            chosen => Ok(chosen),
        });
        chosen.flatten()
    }

    fn step_begins(&mut self, die: DieId, _: u64) {
        let steps = &mut self.steps[die.index()];
        *steps = steps.saturating_add(1);
    }

    fn host_begins(&mut self, at: &mut AtDie<'_>, _: Begun) {
        self.steps[at.die.index()] = 0;
    }

    fn poll(&self) -> Duration {
        self.poll
    }

    fn splits_moves(&self) -> bool {
        self.inside_moves
    }

    fn supply(&mut self, policy: Box<dyn ExternalSchedule>) {
        // What fails is recorded.
        let _ = self.slot.install(policy);
    }

    fn failed(&self) -> Option<Failed> {
        self.slot.failed()
    }
}

#[cfg(test)]
mod tests {
    use super::super::supply::DieView;
    use super::*;
    use crate::outside::Policy;

    /// Collects this plane first, and lets everybody in.
    #[derive(Debug)]
    struct First(Option<u32>);

    impl Policy for First {
        fn memory(&self) -> Result<Vec<u8>, Failed> {
            Ok(Vec::new())
        }

        fn remember(&mut self, _: &[u8]) -> Result<(), Failed> {
            Ok(())
        }
    }

    impl ExternalSchedule for First {
        fn plane_to_collect(&mut self, _: DieId, _: u32) -> Result<Option<u32>, Failed> {
            Ok(self.0)
        }

        fn admitted(&mut self, _: &DieView) -> Result<Admitted, Failed> {
            Ok(Admitted::ALL)
        }
    }

    fn external(policy: First) -> External {
        let mut external = External::new(Duration::ZERO, false, 1);
        external.supply(Box::new(policy));
        external
    }

    #[test]
    fn the_plane_that_it_names_is_collected_if_that_is_short_of_space() {
        let mut external = external(First(Some(2)));
        assert_eq!(external.plane_to_collect(DieId(0), 0b101), Some(2));
        assert_eq!(external.plane_to_collect(DieId(0), 0b011), None);
        let failed = external.failed().expect("plane 2 is not short of space");
        assert_eq!(
            failed.to_string(),
            "ssd.gc.preemption: found plane 2 of a die; allowed: one that is short of space"
        );
        assert_eq!(external.plane_to_collect(DieId(0), 0b101), None, "it is not asked again");
    }

    #[test]
    fn planes_take_turns_if_it_names_none() {
        let mut external = external(First(None));
        assert_eq!(external.plane_to_collect(DieId(0), 0b101), None);
        assert!(external.failed().is_none());
    }
}
