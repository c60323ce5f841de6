//! Answers to clients, once the drive has done what they asked for.

use std::time::{Duration, Instant};

use crate::client::Health;
use crate::live::Done;
use crate::wire::{self, Errno};

use super::Server;

impl Server {
    /// Answers what the drive has done.
    pub(super) fn answer(&mut self) {
        let mut done = std::mem::take(&mut self.done);
        for done in &done {
            self.put_answer(done);
        }
        for done in &done {
            let Some(client) = self.clients.get_mut(&done.client) else { continue };
            if client.has_output() && client.send() == Health::Gone {
                self.let_go(done.client);
            }
        }
        let now = Instant::now();
        for done in done.drain(..) {
            if self.clients.contains_key(&done.client) {
                self.note_answered(&done, now);
            }
        }
        self.done = done;
    }

    fn put_answer(&mut self, done: &Done) {
        if let Some(trouble) = &done.trouble {
            let message = crate::data::words(trouble);
            let place = self.live.data().place();
            self.shared.report("data not written", || format!("{place}: {message}"));
        }
        let Some(client) = self.clients.get_mut(&done.client) else { return };
        client.unanswered -= 1;
        client.held -= done.held;
        let out = client.output();
        let start = out.len();
        wire::put_reply(out, done.outcome.err(), done.cookie);
        let Some((offset, length)) = done.read.filter(|_| done.outcome.is_ok()) else { return };
        if let Err(error) = self.live.data().read(offset, length, out) {
            out.truncate(start);
            wire::put_reply(out, Some(Errno::Io), done.cookie);
            let place = self.live.data().place();
            let message = crate::data::words(&error);
            self.shared.report("data not read", || format!("{place}: {message}"));
        }
    }

    fn note_answered(&mut self, done: &Done, now: Instant) {
        let late = now.saturating_duration_since(done.due);
        let clock = self.live.clock();
        let late_ns = clock.in_drive_ns(late);
        let meant = Duration::from_secs_f64(done.took_ns as f64 * 1e-9 * clock.slower());
        self.lateness.note(meant, late);
        if let Some(watch) = &mut self.watch {
            watch.note(done);
        }
        self.live.log.seen(done.row, done.took_ns + late_ns);
    }
}
