//! `requests` of a generator: how many it asks for.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::{choice::quantity_or_choice, quantity::MOST_REQUESTS};

quantity_or_choice! {
    /// Number of requests.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RequestCount or
        /// Number of them.
        Fixed(Requests), "a whole number, \"unlimited\", or a table with the key type"
    {
        /// Requests without end.
        Unlimited,
        /// Rounds of requests until what the run reports has settled: the run ends with the first round after which a
        /// longer run would not change its verdict.
        UntilSettled {
            /// Requests of a round.
            #[serde(default = "default_round")]
            #[schemars(range(min = 1, max = MOST_REQUESTS))]
            round: u64,
            /// The run ends after so many rounds, settled or not.
            #[serde(default = "default_most_rounds")]
            #[schemars(range(min = 1, max = 100_000))]
            most_rounds: u32,
        },
    }
}

const fn default_round() -> u64 {
    100_000
}

const fn default_most_rounds() -> u32 {
    20
}

/// A number of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Requests(#[schemars(range(min = 1, max = MOST_REQUESTS))] pub u64);

impl<'de> Deserialize<'de> for Requests {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_u64(RequestsVisitor)
    }
}

struct RequestsVisitor;

impl de::Visitor<'_> for RequestsVisitor {
    type Value = Requests;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number, or \"unlimited\", or a table of type \"until_settled\"")
    }

    fn visit_u64<E: de::Error>(self, requests: u64) -> Result<Requests, E> {
        Ok(Requests(requests))
    }
}

impl From<u64> for RequestCount {
    fn from(requests: u64) -> Self {
        Self::Fixed(Requests(requests))
    }
}

impl RequestCount {
    /// Most requests, if there is an end.
    pub const fn limit(self) -> Option<u64> {
        match self {
            Self::Unlimited => None,
            Self::Fixed(Requests(requests)) => Some(requests),
            Self::UntilSettled { round, most_rounds } => {
                Some(round.saturating_mul(most_rounds as u64))
            }
        }
    }

    /// Requests of a round and most rounds, if there are rounds.
    pub const fn rounds(self) -> Option<(u64, u32)> {
        match self {
            Self::UntilSettled { round, most_rounds } => Some((round, most_rounds)),
            Self::Unlimited | Self::Fixed(_) => None,
        }
    }
}
