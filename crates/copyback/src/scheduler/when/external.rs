//! A schedule from outside of this crate.

use super::supply::{DieView, ExternalSchedule};
use crate::checkpoint::{Checkpointed, Loaded, Reader, Writer};
use crate::ids::DieId;
use crate::shortcut::Undisturbed;
use crate::units::Duration;
use crate::victim::supply::Failed;

use super::{Admitted, AtDie, Begun, When};

/// The schedule, and what the configuration says of it.
#[derive(Debug)]
pub struct External {
    policy: Option<Box<dyn ExternalSchedule>>,
    failed: Option<Failed>,
    /// Time of a look at the queue.
    poll: Duration,
    /// Whether it may yield between the read and the write of a page that is moved.
    inside_moves: bool,
    /// Steps that the collections of each die have begun since the host was last served there.
    steps: Vec<u32>,
    /// Memory to be restored once the policy is there.
    memory: Option<Vec<u8>>,
}

impl External {
    pub(super) fn new(poll: Duration, inside_moves: bool, dies: usize) -> Self {
        let steps = vec![0; dies];
        Self { policy: None, failed: None, poll, inside_moves, steps, memory: None }
    }

    fn ask<T>(
        &mut self,
        question: impl FnOnce(&mut dyn ExternalSchedule) -> Result<T, Failed>,
    ) -> Option<T> {
        if self.failed.is_some() {
            return None;
        }
        let answer = match &mut self.policy {
            Some(policy) => question(policy.as_mut()),
            None => Err(Failed::not_supplied("ssd.gc.preemption")),
        };
        answer.map_err(|failed| self.failed = Some(failed)).ok()
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
        self.ask(|policy| policy.admitted(&view)).unwrap_or(Admitted::NOTHING)
    }

    /// Asked when anything waits, whether that could be served or not.
    fn undisturbed(&self) -> Undisturbed {
        Undisturbed::UntilNextInstant
    }

    fn plane_to_collect(&mut self, die: DieId, to_collect: u32) -> Option<u32> {
        let chosen = self.ask(|policy| match policy.plane_to_collect(die, to_collect)? {
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

    fn supply(&mut self, mut policy: Box<dyn ExternalSchedule>) {
        if let Some(memory) = self.memory.take()
            && let Err(failed) = policy.remember(&memory)
        {
            self.failed = Some(failed);
        }
        self.policy = Some(policy);
    }

    fn failed(&self) -> Option<&Failed> {
        self.failed.as_ref()
    }
}

/// Saves the memory alone: the caller that resumes a run supplies the schedule again.
impl Checkpointed for External {
    fn keep(&self, out: &mut Writer<'_>) {
        let memory = match (&self.policy, &self.memory) {
            (Some(policy), _) => policy.memory(),
            (None, memory) => Ok(memory.clone().unwrap_or_default()),
        };
        let memory = memory.unwrap_or_else(|failed| {
            out.fail(&failed);
            Vec::new()
        });
        self.poll.keep(out);
        self.inside_moves.keep(out);
        self.steps.keep(out);
        memory.keep(out);
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        let (poll, inside_moves) = (Duration::load(from)?, bool::load(from)?);
        let (steps, memory) = (Vec::load(from)?, Some(Vec::load(from)?));
        Ok(Self { policy: None, failed: None, poll, inside_moves, steps, memory })
    }
}

#[cfg(test)]
mod tests {
    use super::super::supply::DieView;
    use super::*;

    /// Collects this plane first, and lets everybody in.
    #[derive(Debug)]
    struct First(Option<u32>);

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
        let told = external.failed().map(|Failed(told)| told.as_str());
        assert_eq!(
            told,
            Some("ssd.gc.preemption: found plane 2 of a die; allowed: one that is short of space")
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
