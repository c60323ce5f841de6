//! Semi-preemptive (Lee, Kim, Shipman, Oral, Wang, Kim: A semi-preemptive garbage collector for
//! solid state drives, ISPASS 2011).
//!
//! A page move is a read into the register and a write from there. A flash operation is never
//! broken off; between two of them the collection looks at the queue, which takes `poll`, and lets
//! requests go first:
//!
//! ```text
//!            (2)        (1)         (2)        (1)         (2)
//!  collection │ read x   │ write x   │ read y   │ write y   │ erase
//! ```
//!
//! At point (2) it serves anything. At point (1) the register holds a page, so that no other page can
//! be read. Four states say who may preempt (figure 7 of the paper):
//!
//! ```text
//!  0 no collection ──free < T_soft──► 1 all may ──free < T_hard──► 2 nobody who takes a free block
//!                  ◄─free ≥ T_soft──            ◄─free ≥ T_hard──   │ high-priority write finds no
//!                                                                   ▼ free block
//!                                                                   3 nobody
//! ```
//!
//! What takes a free block in state 2 is for the translation layer to say: a plane with fewer than
//! `hard_threshold` free blocks opens none for the host.

use crate::units::Duration;

use super::{Admitted, Point, Situation};

/// The settings of the scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SemiPreemptive {
    /// What a look at the queue takes.
    pub poll: Duration,
    /// Whether a request for the page in the register is served from there.
    pub merge: bool,
    /// Whether the page that the oldest request asks for is moved next.
    pub reorder: bool,
    /// Whether an operation of the collection overlaps one of the host of the same kind.
    pub pipeline: bool,
    /// Whether a write that finds no free block keeps everybody from preempting.
    pub high_priority_writes: bool,
}

/// Who may preempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// 0: nothing is collected.
    Off,
    /// 1: every request.
    Open,
    /// 2: every request that takes no free block.
    Guarded,
    /// 3: none.
    Closed,
}

impl SemiPreemptive {
    /// The state of a die.
    pub const fn state(&self, situation: &Situation) -> State {
        if !situation.collecting {
            State::Off
        } else if !situation.below_hard {
            State::Open
        } else if self.high_priority_writes && situation.write_finds_no_block {
            State::Closed
        } else {
            State::Guarded
        }
    }

    /// Which requests may go before the collection's next operation.
    pub const fn admitted(&self, point: Point, situation: &Situation) -> Admitted {
        match (self.state(situation), point) {
            (State::Off, _) => Admitted::ALL,
            (State::Open | State::Guarded, Point::BetweenMoves) => Admitted::ALL,
            (State::Open | State::Guarded, Point::BeforeWrite) => {
                Admitted { reads: false, writes: true }
            }
            (State::Closed, _) => Admitted::NOTHING,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn situation(below_hard: bool, write_finds_no_block: bool) -> Situation {
        Situation { collecting: true, below_hard, write_finds_no_block }
    }

    fn scheme(high_priority_writes: bool) -> SemiPreemptive {
        SemiPreemptive {
            poll: Duration::from_ns(600),
            merge: false,
            reorder: false,
            pipeline: false,
            high_priority_writes,
        }
    }

    #[test]
    fn the_four_states_of_figure_7() {
        let idle = Situation { collecting: false, ..situation(false, false) };
        assert_eq!(scheme(true).state(&idle), State::Off);
        assert_eq!(scheme(true).state(&situation(false, false)), State::Open);
        assert_eq!(scheme(true).state(&situation(true, false)), State::Guarded);
        assert_eq!(scheme(true).state(&situation(true, true)), State::Closed);
        assert_eq!(scheme(false).state(&situation(true, true)), State::Guarded);
    }

    #[test]
    fn a_page_in_the_register_keeps_reads_out() {
        let open = situation(false, false);
        assert_eq!(scheme(false).admitted(Point::BetweenMoves, &open), Admitted::ALL);
        let before_write = scheme(false).admitted(Point::BeforeWrite, &open);
        assert_eq!(before_write, Admitted { reads: false, writes: true });
        let closed = situation(true, true);
        assert_eq!(scheme(true).admitted(Point::BetweenMoves, &closed), Admitted::NOTHING);
    }
}
