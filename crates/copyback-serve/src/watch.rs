//! Live view of a served drive: a row of numbers for each interval.

use copyback::embedded::{DieStand, Embedded};
use hdrhistogram::Histogram;
use serde_json::{Value, json};

use crate::live::Done;

/// Longer responses count as this one: an hour.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Gathers a row.
#[derive(Debug)]
pub struct Watch {
    reads: Kind,
    writes: Kind,
    /// States of the dies at the end of the last row, and its time, in simulated nanoseconds.
    before: (Vec<DieStand>, u64),
}

/// Requests of a kind in an interval.
#[derive(Debug)]
struct Kind {
    bytes: u64,
    /// Responses that the drive gave, in nanoseconds.
    took: Histogram<u64>,
}

impl Default for Watch {
    fn default() -> Self {
        let kind = || Kind {
            bytes: 0,
            took: Histogram::new_with_max(LONGEST_NS, 3).expect("an hour in three digits"),
        };
        Self { reads: kind(), writes: kind(), before: (Vec::new(), 0) }
    }
}

impl Watch {
    /// A request has been answered.
    pub fn note(&mut self, done: &Done) {
        let kind = match done.read {
            Some(_) => &mut self.reads,
            None if done.held > 0 => &mut self.writes,
            None => return,
        };
        kind.bytes += done.held as u64;
        kind.took.saturating_record(done.took_ns);
    }

    /// Ends an interval; `None` if no time has passed for the drive.
    pub fn row(&mut self, drive: &Embedded) -> Option<Value> {
        let now = drive.now().as_ns();
        let stand = drive.stand();
        let (before, since) = std::mem::replace(&mut self.before, (stand.dies.clone(), now));
        let passed = now.checked_sub(since).filter(|passed| *passed > 0)?;
        let collecting = |(index, die): (usize, &DieStand)| {
            let before = before.get(index).map_or(0, |before| before.collecting.as_ns());
            die.collecting.as_ns().saturating_sub(before) as f64 / passed as f64
        };
        let shares: Vec<f64> = stand.dies.iter().enumerate().map(collecting).collect();
        let (counters, written) = (drive.counters(), drive.written());
        Some(json!({
            "at_s": now as f64 * 1e-9,
            "passed_s": passed as f64 * 1e-9,
            "read": self.reads.take(),
            "write": self.writes.take(),
            "outstanding": drive.outstanding(),
            "host_bytes_written": written.host,
            "media_bytes_written": written.media,
            "collections": counters.collections,
            "free_blocks": stand.free_blocks,
            "free_blocks_least": stand.free_blocks_least,
            "die_free_blocks": stand.dies.iter().map(|die| die.free_blocks).collect::<Vec<_>>(),
            "die_collecting": shares,
        }))
    }
}

impl Kind {
    fn take(&mut self) -> Value {
        let us = |share: f64| self.took.value_at_quantile(share) as f64 / 1e3;
        let is_empty = self.took.is_empty();
        let times = |share| (!is_empty).then(|| us(share));
        let row = json!({
            "count": self.took.len(),
            "bytes": self.bytes,
            "p50_us": times(0.5),
            "p99_us": times(0.99),
            "max_us": times(1.0),
        });
        self.took.reset();
        self.bytes = 0;
        row
    }
}
