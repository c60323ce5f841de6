//! Partial (Choudhuri, Givargis: Deterministic service guarantees for NAND flash using partial block
//! cleaning, CODES+ISSS 2008; real-time collection by Chang, Kuo, Lo, TECS 2004).
//!
//! A collection is cut into steps: the move of a page, or an erase. While operations of the host wait
//! for the die, at most so many steps are done between two of them, and so many are done:
//!
//! ```text
//!  steps = 2    │ host │ move │ move │ host │ move │ erase │ host │
//! ```
//!
//! So an operation waits for that many steps at most, and a collection gets ahead however busy the host
//! is. A page that has been read is written before anybody is served. When a write waits that no plane
//! can take, the collection is finished first.

use crate::checkpoint::Checkpointed;
use crate::ids::DieId;
use crate::shortcut::Undisturbed;

use super::{Admitted, AtDie, Begun, Point, Situation, When};

/// The steps that collections have done on each die.
#[derive(Debug, Checkpointed)]
pub struct Partial {
    /// Most steps between two operations of the host that wait.
    steps: u32,
    /// Steps since the last operation of the host began, as far as they count.
    done: Vec<u32>,
}

impl Partial {
    /// At most `steps` between two operations of the host on any of this many dies.
    pub(super) fn new(steps: u32, dies: usize) -> Self {
        Self { steps, done: vec![0; dies] }
    }

    /// An operation of the host has begun on `die`.
    fn begin_anew(&mut self, die: DieId) {
        self.done[die.index()] = 0;
    }

    fn at(&self, die: DieId, point: Point, situation: &Situation) -> Admitted {
        let is_their_turn = point == Point::BetweenMoves && self.done[die.index()] == self.steps;
        match is_their_turn && !situation.write_finds_no_block {
            true => Admitted::ALL,
            false => Admitted::NOTHING,
        }
    }
}

impl When for Partial {
    fn admitted(&mut self, at: &AtDie<'_>) -> Admitted {
        self.at(at.die, at.point(), &at.situation())
    }

    fn step_begins(&mut self, die: DieId, _: u64) {
        let done = &mut self.done[die.index()];
        *done = (*done + 1).min(self.steps);
    }

    fn host_begins(&mut self, at: &mut AtDie<'_>, _: Begun) {
        self.begin_anew(at.die);
    }

    fn undisturbed(&self) -> Undisturbed {
        Undisturbed::UntilOperationEnds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EASY: Situation =
        Situation { collecting: true, below_hard: false, write_finds_no_block: false };

    #[test]
    fn the_host_goes_first_after_so_many_steps() {
        let mut partial = Partial::new(2, 2);
        let mut seen = Vec::new();
        for _ in 0..4 {
            seen.push(partial.at(DieId(1), Point::BetweenMoves, &EASY) == Admitted::ALL);
            partial.step_begins(DieId(1), 1);
        }
        assert_eq!(seen, [false, false, true, true], "it stays its turn until it comes");
        partial.begin_anew(DieId(1));
        assert_eq!(partial.at(DieId(1), Point::BetweenMoves, &EASY), Admitted::NOTHING);
    }

    #[test]
    fn nobody_goes_before_the_write_of_a_page_that_has_been_read() {
        let mut partial = Partial::new(1, 1);
        partial.step_begins(DieId(0), 1);
        assert_eq!(partial.at(DieId(0), Point::BeforeWrite, &EASY), Admitted::NOTHING);
    }

    #[test]
    fn nobody_goes_first_while_a_write_finds_no_block() {
        let mut partial = Partial::new(1, 1);
        partial.step_begins(DieId(0), 1);
        let full = Situation { write_finds_no_block: true, ..EASY };
        assert_eq!(partial.at(DieId(0), Point::BetweenMoves, &full), Admitted::NOTHING);
    }
}
