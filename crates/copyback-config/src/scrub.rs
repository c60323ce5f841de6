//! `array.scrub`: passes that read all of an array's drives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::array::{default_least_rate, default_most_rate, default_rebuild_unit};
use super::choice::choice;
use super::quantity::{Rate, Size, Time};

choice! {
    /// Scrubs: passes that read all drives from their first byte to their last, while requests are served. What a drive
    /// cannot read any more is made up from the others, and written to it again.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Scrub {
        /// No scrubs.
        None,
        /// Passes at regular times, slower while requests come, as Linux md does for `check` (`sync_speed_min`,
        /// `sync_speed_max`).
        Throttled {
            /// Time from the start of a pass to that of the next. The first begins so long after the start of the run.
            #[serde(default = "weekly")]
            #[schemars(extend("shortest" = "1us"))]
            every: Time,
            /// Bytes read of each drive in a second while requests come.
            #[serde(default = "default_least_rate")]
            least: Rate,
            /// Bytes read of each drive in a second while none do, if the drives keep up.
            #[serde(default = "default_most_rate")]
            most: Rate,
            /// Bytes of each drive that are read at a time; whole stripe units.
            #[serde(default = "default_rebuild_unit")]
            unit: Size,
        },
    }
}

#[allow(clippy::derivable_impls, reason = "the macro repeats the variants' attributes on a twin")]
impl Default for Scrub {
    fn default() -> Self {
        Self::None
    }
}

const fn weekly() -> Time {
    Time::from_us(7 * 86_400_000_000)
}
