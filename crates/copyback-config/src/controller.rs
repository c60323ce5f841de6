//! `[ssd.controller]`: what the controller takes for a command beyond `host.command_overhead`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    choice::choice,
    quantity::{Share, Size, Time},
};

/// Controller time for a command beyond `host.command_overhead`: zero, unless the table says so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Controller {
    /// Wake-up that the first command after idle time waits for.
    pub wake_up: WakeUp,
    /// Additional time of a read.
    pub read_delay: CommandDelay,
    /// Additional time of a write.
    pub write_delay: CommandDelay,
}

impl Default for Controller {
    fn default() -> Self {
        Self {
            wake_up: WakeUp::None,
            read_delay: CommandDelay::None,
            write_delay: CommandDelay::None,
        }
    }
}

impl Controller {
    /// Whether it takes nothing beyond.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

choice! {
    /// Wake-up that the first command after idle time waits for.
    #[derive(Debug, Clone, PartialEq)]
    pub enum WakeUp {
        /// No wake-up: the drive never sleeps.
        None,
        /// The drive sleeps when no command has been in it for a while, whatever it does on its own. No command
        /// starts before it is awake.
        Sleeps {
            /// Time without a command after which the drive sleeps.
            after: Time,
            /// Time to wake up.
            #[schemars(extend("longest" = "1min"))]
            time: Time,
        },
    }
}

choice! {
    /// Time of a command beyond the overhead of all.
    #[derive(Debug, Clone, PartialEq)]
    pub enum CommandDelay {
        /// No additional time.
        None,
        /// Drawn anew for each command, by its size: fast and slow ways through the controller, and its pauses.
        BySize {
            /// Shares of commands, from 0 to 1, each larger than the one before: that many take no longer than the times of
            /// the same place.
            #[schemars(length(min = 2, max = 256))]
            probabilities: Vec<Share>,
            /// The times of commands of several sizes, the smallest first. Sizes between take what lies between; those
            /// beyond, what the nearest takes.
            #[schemars(length(min = 1, max = 256))]
            rows: Vec<DelayRow>,
        },
    }
}

/// Times of commands of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DelayRow {
    /// The size.
    pub size: Size,
    /// A time for each probability, none shorter than the one before.
    #[schemars(extend("longest" = "1min"))]
    pub times: Vec<Time>,
}
