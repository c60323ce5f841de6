//! State of a served drive, in numbers.

use serde_json::{Value, json};

use crate::lateness::Lateness;
use crate::live::Live;
use crate::shared::Shared;

/// All that is told of it.
pub fn of(live: &Live, lateness: &Lateness, clients: usize, shared: &Shared) -> Value {
    let counters = live.drive().counters();
    let written = live.drive().written();
    json!({
        "simulated_s": live.drive().now().as_secs_f64(),
        "slower": live.clock().slower(),
        "begun_unix_ns": live.clock().begun_unix_ns(),
        "clients": clients,
        "requests": live.log.count(),
        "outstanding": live.drive().outstanding(),
        "host_bytes_written": written.host,
        "media_bytes_written": written.media,
        "pages_moved": counters.pages_moved,
        "erases": counters.erases,
        "collections": counters.collections,
        "write_amplification": written.amplification(),
        "tail": live.drive().tail(),
        "power_loss": live.drive().power_loss().map(|loss| json!({
            "cuts": loss.cuts,
            "recoveries": loss.recoveries,
            "torn_pages": loss.torn_pages,
            "buffered_pages_lost": loss.buffered_pages_lost,
            "flushed_pages_lost": loss.flushed_pages_lost,
            "paired_pages_lost": loss.paired_pages_lost,
            "durable_pages_lost": loss.durable_pages_lost,
        })),
        "lateness": lateness.summary(),
        "troubles": shared.troubles(),
    })
}
