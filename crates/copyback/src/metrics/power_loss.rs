//! What the summary tells of cuts of power.

use serde_json::{Value, json};

use crate::drive::PowerLoss;
use crate::units::Duration;

/// The section of the summary, of one drive.
pub fn summary(loss: &PowerLoss) -> Value {
    let ms = |time: Duration| time.as_us_f64() / 1e3;
    let mean = |all: f64| if loss.recoveries == 0 { 0.0 } else { all / loss.recoveries as f64 };
    json!({
        "cuts": loss.cuts,
        "cuts_in_recovery": loss.cuts_in_recovery,
        "recoveries": loss.recoveries,
        "recovery_ms": {
            "mean": mean(ms(loss.recovery_time)),
            "max": ms(loss.longest_recovery),
            "total": ms(loss.recovery_time),
        },
        "pages_read": loss.pages_read,
        "torn_pages": loss.torn_pages,
        "cut_erases": loss.cut_erases,
        "blocks_erased": loss.blocks_erased,
        "interrupted_requests": loss.interrupted_commands,
        "buffered_pages_lost": loss.buffered_pages_lost,
        "durable_pages_lost": loss.durable_pages_lost,
    })
}
