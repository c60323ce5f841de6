//! `[ssd.controller]`: what the controller takes for a command beyond `host.command_overhead`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    choice::choice,
    quantity::{Share, Size, Time},
};

/// What the controller takes for a command beyond `host.command_overhead`: nothing, unless the table says so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Controller {
    /// What the first command after idle time waits for.
    pub wake_up: WakeUp,
    /// What a read takes beyond.
    pub read_delay: CommandDelay,
    /// What a write takes beyond.
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
    /// What the first command after idle time waits for.
    #[derive(Debug, Clone, PartialEq)]
    pub enum WakeUp {
        /// Nothing: the drive never sleeps.
        None,
        /// The drive sleeps when no command has been in it for a while, whatever it does on its own. No command
        /// starts before it is awake.
        Sleeps {
            /// How long no command has been in it then.
            after: Time,
            /// How long it takes to wake up.
            #[schemars(extend("longest" = "1min"))]
            time: Time,
        },
    }
}

choice! {
    /// What a command takes beyond the overhead of all.
    #[derive(Debug, Clone, PartialEq)]
    pub enum CommandDelay {
        /// Nothing.
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

/// What commands of one size take.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DelayRow {
    /// The size.
    pub size: Size,
    /// A time for each probability, none shorter than the one before.
    #[schemars(extend("longest" = "1min"))]
    pub times: Vec<Time>,
}
