//! `stop` and `precondition.overwrites`: going on until a measure is steady.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::choice::{choice, quantity_or_choice};
use super::quantity::{Limit, MOST_REQUESTS, Share, Time};

choice! {
    /// Stop condition that ends a run before its requests do.
    #[derive(Debug, Clone, PartialEq)]
    pub enum Stop {
        /// No stop condition.
        None,
        /// A measure of the last rounds is steady (SNIA's Performance Test Specification), or there have
        /// been many.
        SteadyState(SteadyStop),
        /// A drive takes no writes any more, as too few good blocks are left.
        ReadOnly,
    }
}

/// A measure of the last rounds is steady: none of the limits is exceeded over the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SteadyStop {
    /// Metric that is measured in each round.
    pub metric: SteadyMetric,
    /// Length of a round: a time, or a number of completed reads and writes.
    pub round: RoundLength,
    /// The first round begins here.
    pub ramp: Time,
    /// Number of rounds that are looked at together.
    #[schemars(range(min = 2, max = 1000))]
    pub window: u32,
    /// Most that the greatest and the least round may lie apart, as a share of their mean; `"none"` does not
    /// ask.
    pub excursion: Limit,
    /// Most that the best-fit line may rise or fall over the window, as a share of the mean.
    pub slope: Limit,
    /// Most that any round may lie from the mean, as a share of it.
    pub deviation: Limit,
    /// The run ends after so many rounds, steady or not.
    #[schemars(range(min = 2, max = 100_000))]
    pub most_rounds: u32,
}

// The twin that `choice` reads through has the same variants and derives no default.
#[allow(clippy::derivable_impls)]
impl Default for Stop {
    fn default() -> Self {
        Self::None
    }
}

impl Default for SteadyStop {
    fn default() -> Self {
        Self {
            metric: SteadyMetric::Iops,
            round: RoundLength::Time(Time::from_us(1_000_000)),
            ramp: Time::default(),
            window: default_window(),
            excursion: default_excursion(),
            slope: default_slope(),
            deviation: default_deviation(),
            most_rounds: 1000,
        }
    }
}

/// Metric that is measured in each round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SteadyMetric {
    /// Reads and writes completed a second.
    Iops,
    /// Bandwidth: bytes a second.
    Bandwidth,
    /// Mean response time.
    MeanResponse,
    /// Pages written to flash for each that the host wrote.
    WriteAmplification,
}

/// Length of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(untagged)]
pub enum RoundLength {
    /// Simulated time.
    Time(Time),
    /// Number of completed reads and writes.
    Requests(#[schemars(range(min = 1, max = MOST_REQUESTS))] u64),
}

impl fmt::Display for RoundLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => time.fmt(f),
            Self::Requests(requests) => requests.fmt(f),
        }
    }
}

impl Serialize for RoundLength {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Time(time) => time.serialize(serializer),
            Self::Requests(requests) => requests.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for RoundLength {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(RoundVisitor)
    }
}

struct RoundVisitor;

impl de::Visitor<'_> for RoundVisitor {
    type Value = RoundLength;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time such as \"1s\", or a number of requests")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<RoundLength, E> {
        text.parse().map(RoundLength::Time).map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, requests: u64) -> Result<RoundLength, E> {
        Ok(RoundLength::Requests(requests))
    }
}

quantity_or_choice! {
    /// Random overwrites of single pages.
    #[derive(Debug, Clone, PartialEq)]
    pub enum Overwrites or
        /// Multiple of the filled capacity.
        Fixed(#[schemars(range(min = 0.0, max = 1000.0))] f64), "a number of times the filled capacity, or a table with the key type"
    {
        /// Until the write amplification of the last rounds is steady: none of the limits is exceeded over
        /// the window.
        UntilSteady {
            /// Length of a round, in multiples of the filled capacity.
            #[serde(default = "default_round")]
            #[schemars(extend("exclusiveMinimum" = 0), range(max = 1000.0))]
            round: f64,
            /// Number of rounds that are looked at together.
            #[serde(default = "default_window")]
            #[schemars(range(min = 2, max = 1000))]
            window: u32,
            /// Most that the greatest and the least round may lie apart, as a share of their mean; `"none"`
            /// does not ask.
            #[serde(default = "default_excursion")]
            excursion: Limit,
            /// Most that the best-fit line may rise or fall over the window, as a share of the mean.
            #[serde(default = "default_slope")]
            slope: Limit,
            /// Most that any round may lie from the mean, as a share of it.
            #[serde(default = "default_deviation")]
            deviation: Limit,
            /// Overwriting ends after so many rounds, steady or not.
            #[serde(default = "default_most_rounds")]
            #[schemars(range(min = 2, max = 100_000))]
            most_rounds: u32,
        },
    }
}

const fn default_round() -> f64 {
    1.0
}

const fn default_window() -> u32 {
    5
}

const fn default_excursion() -> Limit {
    Limit::Share(Share(0.2))
}

const fn default_slope() -> Limit {
    Limit::Share(Share(0.1))
}

const fn default_deviation() -> Limit {
    Limit::None
}

const fn default_most_rounds() -> u32 {
    25
}
