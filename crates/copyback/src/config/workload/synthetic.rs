//! `[workload]` of type `synthetic`: the distributions that requests are drawn from.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::config::{
    choice::{choice, quantity_or_exponential, write_exponential},
    quantity::{Share, Size, Time},
};

/// Generate requests from distributions. The defaults are Table III of Lee et al. (ISPASS 2011). One
/// of `inter_arrival` (open loop) and `iodepth` (closed loop) is needed; asking for one takes away
/// the other of a preset or default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SyntheticWorkload {
    /// Number of requests.
    pub requests: u64,
    /// Size of a request.
    pub request_size: RequestSize,
    /// Sizes and addresses are multiples of this. Default: a fixed request size itself, as fio's
    /// blockalign; else the device's page size.
    pub alignment: Option<Size>,
    /// Share of requests that read.
    pub read_share: Share,
    /// Probability that a request starts where the previous one of its kind ended.
    pub sequential_share: Share,
    /// Time between arrivals; absent for a closed loop.
    pub inter_arrival: Option<InterArrival>,
    /// Outstanding requests of a closed loop; absent for an open one.
    pub iodepth: Option<u32>,
    /// Where random requests go.
    pub address: AddressDistribution,
    /// Start of the addresses used, as a share of the logical capacity.
    pub offset: Share,
    /// Extent of the addresses used, as a share of the logical capacity.
    pub footprint: Share,
}

impl SyntheticWorkload {
    /// What sizes and addresses are multiples of, on a device with pages of `page_size`.
    pub fn alignment_on(&self, page_size: Size) -> Size {
        self.alignment.unwrap_or(match self.request_size {
            RequestSize::Fixed(size) => size,
            RequestSize::Exponential { .. } => page_size,
        })
    }
}

impl Default for SyntheticWorkload {
    fn default() -> Self {
        Self {
            requests: 100_000,
            request_size: RequestSize::Exponential { mean: Size(32 << 10) },
            alignment: None,
            read_share: Share(0.4),
            sequential_share: Share(0.4),
            inter_arrival: None,
            iodepth: None,
            address: AddressDistribution::Uniform,
            offset: Share(0.0),
            footprint: Share(1.0),
        }
    }
}

/// Distribution of request sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestSize {
    /// Every request has this size.
    Fixed(Size),
    /// Exponential, rounded up to the alignment.
    Exponential {
        /// Mean before rounding.
        mean: Size,
    },
}

/// Distribution of the time between arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InterArrival {
    /// Always the same.
    Fixed(Time),
    /// Exponential: Poisson arrivals.
    Exponential {
        /// Mean.
        mean: Time,
    },
}

/// Reading, writing and schema of a quantity that may be drawn from a distribution.
macro_rules! quantity_or_distribution {
    ($name:ident of $quantity:ident, $expecting:literal, $description:literal) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    Self::Fixed(quantity) => quantity.serialize(serializer),
                    Self::Exponential { mean } => write_exponential(mean, serializer),
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
                let exponential = |mean| Self::Exponential { mean };
                quantity_or_exponential(reader, $expecting, Self::Fixed, exponential)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let quantity = generator.subschema_for::<$quantity>();
                json_schema!({
                    "description": $description,
                    "anyOf": [quantity, {
                        "type": "object",
                        "description": "Exponentially distributed.",
                        "properties": { "type": { "const": "exponential" }, "mean": quantity },
                        "required": ["type", "mean"],
                        "additionalProperties": false
                    }]
                })
            }
        }
    };
}

quantity_or_distribution!(
    RequestSize of Size,
    "a size such as \"4KiB\", or { type = \"exponential\", mean = \"32KiB\" }",
    "A size, the same for every request, or a distribution."
);
quantity_or_distribution!(
    InterArrival of Time,
    "a time such as \"3ms\", or { type = \"exponential\", mean = \"3ms\" }",
    "A time, always the same, or a distribution."
);

choice! {
    /// Where random requests go.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum AddressDistribution {
        /// Every page alike.
        Uniform,
        /// A share of the requests goes to a share of the pages: 0.8 to 0.2 is Rosenblum's 80/20.
        HotCold {
            /// Share of requests that go to hot pages.
            requests: Share,
            /// Share of pages that are hot.
            pages: Share,
        },
    }
}
