//! A schedule from outside of this crate.

use crate::gc::external::{DieView, ExternalSchedule, Outlook};
use crate::ids::{DieId, PlaneId};
use crate::units::Duration;
use crate::victim::supply::Failed;

use super::{Admitted, Point, Situation};

/// The schedule, and what the configuration says of it.
#[derive(Debug)]
pub struct External {
    policy: Option<Box<dyn ExternalSchedule>>,
    failed: Option<Failed>,
    /// What a look at the queue takes.
    pub(super) poll: Duration,
    /// Whether it may yield between the read and the write of a page that is moved.
    pub(super) inside_moves: bool,
    /// Steps that the collections of each die have begun since the host was last served there.
    steps: Vec<u32>,
}

impl External {
    pub(super) fn new(poll: Duration, inside_moves: bool, dies: usize) -> Self {
        Self { policy: None, failed: None, poll, inside_moves, steps: vec![0; dies] }
    }

    pub(super) fn supply(&mut self, policy: Box<dyn ExternalSchedule>) {
        self.policy = Some(policy);
    }

    pub(super) const fn failed(&self) -> Option<&Failed> {
        self.failed.as_ref()
    }

    pub(super) fn begin_step(&mut self, die: usize) {
        self.steps[die] = self.steps[die].saturating_add(1);
    }

    pub(super) fn serve_host(&mut self, die: usize) {
        self.steps[die] = 0;
    }

    /// Which of the `hungry` planes of a die is collected now; `None` if they take turns.
    pub(super) fn plane_to_collect(
        &mut self,
        die: usize,
        first_plane: PlaneId,
        hungry: u32,
    ) -> Option<PlaneId> {
        let chosen = self.ask(|policy| {
            let chosen = policy.plane_to_collect(DieId::from_index(die), hungry)?;
            match chosen {
                Some(plane) if hungry.checked_shr(plane).unwrap_or(0) & 1 == 0 => {
                    Err(Failed(format!(
                        "ssd.gc.preemption: found plane {plane} of a die; allowed: one that is short of \
                         space"
                    )))
                }
                chosen => Ok(chosen),
            }
        });
        chosen.flatten().map(|plane| PlaneId(first_plane.0 + plane))
    }

    pub(super) fn admitted(
        &mut self,
        die: usize,
        point: Point,
        situation: Situation,
        outlook: Outlook,
    ) -> Admitted {
        let (steps, die) = (self.steps[die], DieId::from_index(die));
        let view = DieView { die, point, steps, situation, outlook };
        // Who has failed yields no more: collections always get ahead then.
        self.ask(|policy| policy.admitted(&view)).unwrap_or(Admitted::NOTHING)
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
