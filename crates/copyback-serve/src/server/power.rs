//! Cuts of power: the drive loses its power, and so do its clients.

use std::time::Instant;

use copyback::Error;
use copyback::embedded::PowerCut;
use serde_json::{Value, json};

use crate::client::Stage;

use super::Server;

impl Server {
    /// Cuts the power; what came of it, or why it cannot be cut.
    pub(super) fn cut_power(&mut self) -> Result<Value, Error> {
        match self.live.cut_power(Instant::now(), &mut self.done) {
            Ok(()) => {}
            Err(Error::Input(why)) => return Ok(json!({ "refused": why })),
            Err(error) => return Err(error),
        }
        self.answer();
        self.follow_cuts();
        Ok(self.shared.last_cut())
    }

    /// Lets clients go whose power has failed with that of the drive. What they were to be answered before, they were.
    pub(super) fn follow_cuts(&mut self) {
        for cut in self.live.take_cuts() {
            let is_command = |stage: &Stage| matches!(stage, Stage::Commanding);
            let clients = self.clients.len();
            self.clients.retain(|_, client| is_command(&client.stage));
            let clients = clients - self.clients.len();
            self.stalled.clear();
            self.shared.report("cuts of power", || in_words(&cut, clients));
            self.shared.add_cut(record(&cut));
        }
    }
}

/// Record of a cut of power, as JSON.
fn record(cut: &PowerCut) -> Value {
    json!({
        "at_ns": cut.at.as_ns(),
        "back_at_ns": cut.back_at.as_ns(),
        "buffered_pages_lost": cut.buffered_pages_lost,
        "flushed_pages_lost": cut.flushed_pages_lost,
        "paired_pages_lost": cut.paired_pages_lost,
        "torn_pages": cut.torn_pages,
    })
}

fn in_words(cut: &PowerCut, clients: usize) -> String {
    let PowerCut { at, back_at, buffered_pages_lost, flushed_pages_lost, torn_pages, .. } = cut;
    let with_torn_ones = match cut.paired_pages_lost {
        0 => String::new(),
        pages => format!(", and {pages} that were lost with them though they were durable"),
    };
    format!(
        "the power failed {:.6} s after the first request, in the drive's time; clients that were cut off: {clients}; \
         pages of acknowledged writes that were lost: {buffered_pages_lost}, of these flushed: {flushed_pages_lost}; torn \
         pages: {torn_pages}{with_torn_ones}; the drive is back {:.3} ms later",
        at.as_secs_f64(),
        (*back_at - *at).as_us_f64() / 1e3
    )
}
