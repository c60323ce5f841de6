//! Way of a command from the controller to its pages: writes may be throttled.

use crate::event::Event;
use crate::ids::CommandId;
use crate::ssd::For;
use crate::workload::Operation;

use super::command::Stage;
use super::throttle::{First, Throttle, Turn, Wait};
use super::{Command, Drive, pages};

impl Drive {
    /// Lets a command go on, a write once the throttle admits it.
    #[inline]
    pub(super) fn admit(&mut self, id: CommandId) {
        if self.front_end.throttle().is_none() {
            return self.dispatch(id);
        }
        let Command { operation, offset, length, .. } = self.queue[id].command;
        if operation != Operation::Write {
            return self.dispatch(id);
        }
        let pages = pages::pages_of(self.settings.page_size, offset, length).len() as u64;
        self.admit_write(id, pages);
    }

    fn admit_write(&mut self, id: CommandId, pages: u64) {
        let (collecting, now) = (&self.ssd.backend().collecting, self.now);
        match self.front_end.throttle() {
            Some(Throttle::Tokens(tokens)) => {
                let Wait { length, late } = tokens.admit(pages, collecting.begun(), now);
                if length.is_zero() {
                    return self.dispatch(id);
                }
                self.active(id).stage = Stage::Throttled { late };
                self.agenda.add(now + length, Event::ControllerDone(id));
            }
            Some(Throttle::Collecting(queue)) => {
                let turn = queue.arrives(id, pages, collecting.is_for_space(), now);
                if turn == Turn::Now {
                    return self.dispatch(id);
                }
                self.active(id).stage = Stage::Held;
                if let Turn::In(length) = turn {
                    self.agenda.add(now + length, Event::ControllerDone(id));
                }
            }
            None => self.dispatch(id),
        }
    }

    /// Lets those go that have waited while the drive collected, as far as it is their turn.
    pub(super) fn let_held_go(&mut self) {
        let now = self.now;
        loop {
            let collects = self.ssd.backend().collecting.is_for_space();
            let Some(Throttle::Collecting(queue)) = self.front_end.throttle() else { return };
            match queue.first(collects, now) {
                Some(First::Goes(id)) => {
                    let late = now - self.active(id).accounted;
                    self.spend_in_buffer(id, For::Room, late);
                    self.dispatch(id);
                }
                Some(First::Waits(id, length)) => {
                    return self.agenda.add(now + length, Event::ControllerDone(id));
                }
                None => return,
            }
        }
    }
}
