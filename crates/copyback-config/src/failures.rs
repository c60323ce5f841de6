//! `array.failures`: drives of an array that fail in a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::choice::choice;
use super::quantity::Time;

choice! {
    /// Failures of drives in a run. A drive that has failed answers all that is under way in it with an error, and is
    /// sent nothing more. Whatever is chosen but `none`, a drive has also failed once it rejects a write, because too many
    /// of its blocks are bad (`ssd.faults`): Linux md takes a drive out of its array for that. Only a drive without which
    /// data would be lost stays, and the array takes no writes of what lies there.
    #[derive(Debug, Clone, PartialEq)]
    pub enum Failures {
        /// No drive fails. One that rejects writes stays in the array, and requests that write to it fail.
        None,
        /// A drive fails when it rejects a write, and not before.
        EndOfLife,
        /// Drives fail at set times.
        At {
            /// The drives, each with its time.
            drives: Vec<Failure>,
        },
        /// Each drive fails after a random time in service, of a Weibull distribution. Spares are in service once they
        /// have taken the place of another.
        Random {
            /// Characteristic life: the time in which 63.2% of drives fail, the mean for a shape of 1.
            life: Time,
            /// Shape of the distribution: 1 for a constant rate of failures, below that for drives that fail early,
            /// above for drives that wear out.
            #[serde(default = "constant_rate")]
            #[schemars(range(min = 0.1, max = 20.0))]
            shape: f64,
        },
    }
}

#[allow(clippy::derivable_impls, reason = "the macro repeats the variants' attributes on a twin")]
impl Default for Failures {
    fn default() -> Self {
        Self::None
    }
}

const fn constant_rate() -> f64 {
    1.0
}

/// Failure of a drive at a set time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// The drive, counted from 0; spares come behind the others.
    #[schemars(range(max = 1279))]
    pub drive: u32,
    /// When it fails, from the start of the run.
    pub at: Time,
}
