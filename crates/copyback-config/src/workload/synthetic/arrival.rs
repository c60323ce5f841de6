//! When requests arrive.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    choice::{choice, quantity_or_choice},
    quantity::Time,
};

quantity_or_choice! {
    /// A time, always the same, or a distribution of times.
    #[derive(Debug, Clone, PartialEq)]
    pub enum TimeDistribution
    or
    /// Always the same.
    Fixed(Time),
    "a time such as \"3ms\", or a table such as { type = \"exponential\", mean = \"3ms\" }"
    {
        /// Exponential: gaps of this kind make Poisson arrivals.
        Exponential {
            /// Mean.
            mean: Time,
        },
        /// Pareto: most times are short, a few very long.
        Pareto {
            /// Mean.
            mean: Time,
            /// Weight of the tail, above 1; the smaller the heavier, without a variance up to 2.
            #[schemars(range(min = 1.0, max = 1e6))]
            shape: f64,
        },
        /// One of several times, each as often as its weight says.
        Histogram {
            /// The times.
            times: Vec<Time>,
            /// Weight of each: positive numbers of any sum.
            #[schemars(inner(range(min = 0.0, max = 1e12)))]
            weights: Vec<f64>,
        },
        /// Between quantiles that were measured, each stretch as likely as the next.
        Quantiles {
            /// The quantiles, in steps of equal probability from the shortest time to the longest:
            /// five times are minimum, quartiles and maximum.
            times: Vec<Time>,
        },
        /// One of the times in a file, drawn at random each time.
        Empirical {
            /// The file: one time with its unit a line, and after a comma how often it comes, if that
            /// differs. Lines that start with `#` are passed over.
            path: PathBuf,
        },
    }
}

choice! {
    /// Busy and quiet periods in turn.
    #[derive(Debug, Clone, PartialEq)]
    pub enum Bursts {
        /// No bursts: requests arrive alike at all times.
        None,
        /// Bursts: `inter_arrival` holds within them, and its clock stands still between them.
        OnOff {
            /// Length of a burst.
            on: TimeDistribution,
            /// Length of the quiet between two bursts.
            off: TimeDistribution,
            /// Time between the few arrivals in the quiet; absent if there are none.
            #[serde(default)]
            background: Option<TimeDistribution>,
        },
    }
}

#[allow(clippy::derivable_impls, reason = "the macro repeats the variants' attributes on a twin")]
impl Default for Bursts {
    fn default() -> Self {
        Self::None
    }
}
