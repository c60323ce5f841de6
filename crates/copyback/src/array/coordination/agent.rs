//! A drive's side of the protocol (section 4.2 of the paper, the O-SSD): turns changes of the drive's
//! status into messages.
//!
//! A drive speaks of falls below its thresholds, not of being below: one with nothing to gain says
//! so once, and an answer at the same instant cannot make it speak again. While it does what it was
//! told it keeps quiet, and says afterwards what is new.

use crate::checkpoint::Checkpointed;
use crate::ssd::Status;

use super::{Message, Order, Report};

/// State of a drive in the protocol of coordination: the events that it has reported.
#[derive(Debug, Default, Checkpointed)]
pub struct Agent {
    crossings: u64,
    shortages: u64,
    /// Whether it has been told to collect and has not said that it is done.
    collects: bool,
}

impl Agent {
    /// An order has arrived. The drive carries it out, then calls [`watch`](Self::watch).
    pub fn received(&mut self, order: Order) {
        self.collects |= matches!(order, Order::Collect(_));
    }

    /// Whether it has been told to collect and has not said that it is done.
    pub const fn is_collecting(&self) -> bool {
        self.collects
    }

    /// Answer of the drive to a request to [report](Order::Report).
    pub const fn report(status: &Status) -> Message {
        Message::State(Report {
            below_register: status.below_register,
            free_blocks_min: status.free_blocks_min,
        })
    }

    /// Looks at the drive after an instant in which something has happened to it. What it says is
    /// added to `messages`.
    pub fn watch(&mut self, status: &Status, messages: &mut Vec<Message>) {
        if self.collects {
            if status.asked {
                return;
            }
            self.collects = false;
            messages.push(Message::Done { runs_short: status.below_register > 0 });
        }
        if status.crossings > self.crossings && status.below_register > 0 {
            messages.push(Message::RunsShort { writable: status.writable });
        }
        if status.shortages > self.shortages && status.short > 0 {
            messages.push(Message::MustCollect);
        }
        (self.crossings, self.shortages) = (status.crossings, status.shortages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collector::permit::{Asked, Until};

    const COLLECT: Order = Order::Collect(Asked::until(Until::Target(8)));

    const RUNS_SHORT: Message = Message::RunsShort { writable: 0 };

    /// Planes below the register threshold and falls so far, the same for the soft threshold.
    fn status((below_register, crossings): (u32, u64), (short, shortages): (u32, u64)) -> Status {
        Status { below_register, crossings, short, shortages, ..Status::default() }
    }

    fn reported(agent: &mut Agent, status: Status) -> Vec<Message> {
        let mut messages = Vec::new();
        agent.watch(&status, &mut messages);
        messages
    }

    #[test]
    fn a_fall_is_told_once_and_the_next_one_again() {
        let mut agent = Agent::default();
        assert_eq!(reported(&mut agent, status((0, 0), (0, 0))), []);
        assert_eq!(reported(&mut agent, status((1, 1), (0, 0))), [RUNS_SHORT]);
        assert_eq!(reported(&mut agent, status((1, 1), (0, 0))), []);
        assert_eq!(reported(&mut agent, status((2, 2), (0, 0))), [RUNS_SHORT]);
        assert_eq!(reported(&mut agent, status((2, 2), (1, 1))), [Message::MustCollect]);
    }

    #[test]
    fn both_thresholds_at_one_instant() {
        let mut agent = Agent::default();
        let both = [RUNS_SHORT, Message::MustCollect];
        assert_eq!(reported(&mut agent, status((1, 1), (1, 1))), both);
    }

    #[test]
    fn a_plane_that_was_collected_in_no_time_is_not_told_of() {
        let mut agent = Agent::default();
        assert_eq!(reported(&mut agent, status((0, 1), (0, 1))), []);
    }

    #[test]
    fn it_is_done_when_nothing_is_asked_any_more() {
        let mut agent = Agent::default();
        agent.received(COLLECT);
        let busy = Status { asked: true, ..status((1, 0), (0, 0)) };
        assert_eq!(reported(&mut agent, busy), []);
        let done = Message::Done { runs_short: false };
        assert_eq!(reported(&mut agent, status((0, 0), (0, 0))), [done]);
        assert_eq!(reported(&mut agent, status((0, 0), (0, 0))), []);
    }

    #[test]
    fn what_fell_meanwhile_is_told_after_it_is_done() {
        let mut agent = Agent::default();
        agent.received(COLLECT);
        let busy = Status { asked: true, ..status((1, 1), (1, 1)) };
        assert_eq!(reported(&mut agent, busy), []);
        let then = [Message::Done { runs_short: true }, RUNS_SHORT, Message::MustCollect];
        assert_eq!(reported(&mut agent, status((1, 1), (1, 1))), then);
    }

    #[test]
    fn a_drive_that_can_gain_nothing_does_not_speak_again() {
        let mut agent = Agent::default();
        assert_eq!(reported(&mut agent, status((1, 1), (0, 0))), [RUNS_SHORT]);
        for _ in 0..3 {
            agent.received(COLLECT);
            let done = [Message::Done { runs_short: true }];
            assert_eq!(reported(&mut agent, status((1, 1), (0, 0))), done);
        }
    }

    #[test]
    fn orders_that_are_not_to_collect_need_no_answer_that_it_is_done() {
        let mut agent = Agent::default();
        agent.received(Order::Stop);
        agent.received(Order::Report);
        assert_eq!(reported(&mut agent, status((0, 0), (0, 0))), []);
    }
}
