//! Quantities with a unit: times, sizes, rates and shares. Text in, exact integers out; nothing is
//! rounded silently.

use std::{fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::decimal::{self, Unit};
use crate::units::Duration;

// Written units come largest first, so that the largest wins among texts of one length.
const TIME_UNITS: &[Unit] = &[
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];
/// The longest that a configuration may state: a century. Two of them still lie within the clock.
const LONGEST_TIME_NS: u64 = 36_500 * 86_400_000_000_000;
const SIZE_UNITS: &[Unit] = &[
    ("TiB", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("KB", 1_000),
    ("B", 1),
];
const RATE_UNITS: &[Unit] = &[
    ("GB/s", 1_000_000_000),
    ("MB/s", 1_000_000),
    ("KB/s", 1_000),
    ("B/s", 1),
    ("GT/s", 1_000_000_000),
    ("MT/s", 1_000_000),
    ("GiB/s", 1 << 30),
    ("MiB/s", 1 << 20),
];

/// A span of time: a decimal number and `ns`, `us`, `ms`, `s`, `min`, `h` or `d`. Only zero needs
/// no unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Time(pub Duration);

impl Time {
    /// A time of `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        Self(Duration::from_ns(ns))
    }

    /// A time of `us` microseconds.
    pub const fn from_us(us: u64) -> Self {
        Self(Duration::from_us(us))
    }
}

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "0" {
            return Ok(Self::default());
        }
        let text = text.replace(['µ', 'μ'], "u");
        let ns = decimal::parse(&text, TIME_UNITS, "a time", "nanoseconds")?;
        if ns > LONGEST_TIME_NS {
            return Err("a time is too large (allowed: up to 36500d)".into());
        }
        Ok(Self::from_ns(ns))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_ns() {
            0 => f.write_str("0s"),
            ns => f.write_str(&decimal::shortest(ns, TIME_UNITS)),
        }
    }
}

/// A number of bytes: a whole number, or a number and a unit. `KiB`, `MiB`, `GiB`, `TiB` are powers of
/// 1024, `KB`, `MB`, `GB`, `TB` powers of 1000, and `k`, `m`, `g`, `t` powers of 1024, as in fio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Size(pub u64);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let as_in_fio = |unit: char| match unit.to_ascii_lowercase() {
            'k' | 'm' | 'g' | 't' => Some(format!("{}iB", unit.to_ascii_uppercase())),
            '0'..='9' => Some(format!("{unit}B")),
            _ => None,
        };
        let unit = text.chars().next_back().and_then(as_in_fio);
        let text = match unit {
            Some(unit) => format!("{}{unit}", &text[..text.len() - 1]),
            None => text.replace("kB", "KB"),
        };
        decimal::parse(&text, SIZE_UNITS, "a size", "bytes").map(Self)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("0B"),
            bytes => f.write_str(&decimal::shortest(bytes, SIZE_UNITS)),
        }
    }
}

/// A data rate: `MB/s`, or `MT/s` (transfers a second of an eight-bit bus, one byte each).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rate {
    /// No limit: transfers take no time.
    None,
    /// Bytes a second, never zero.
    BytesPerSecond(u64),
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "none" {
            return Ok(Self::None);
        }
        match decimal::parse(text, RATE_UNITS, "a rate", "bytes a second")? {
            0 => Err("a rate must be above zero (\"none\" means no limit)".into()),
            rate => Ok(Self::BytesPerSecond(rate)),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::None => f.write_str("none"),
            Self::BytesPerSecond(rate) => f.write_str(&decimal::shortest(rate, RATE_UNITS)),
        }
    }
}

/// A share of a whole: a number such as 0.05, or a percentage such as "5%".
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Share(pub f64);

impl Share {
    /// The whole.
    pub const ALL: Self = Self(1.0);

    /// Whether it is the whole.
    pub fn is_all(&self) -> bool {
        *self == Self::ALL
    }
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let number = text.strip_suffix('%').unwrap_or(text).trim_end();
        let divisor = if number.len() < text.len() { 100.0 } else { 1.0 };
        match number.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Self(value / divisor)),
            _ => Err("a share is a number such as 0.05 or a percentage such as \"5%\"".into()),
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A limit on a share, or none. A share of a mean may be above one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// Anything is allowed.
    None,
    /// Upper limit: this share.
    Share(Share),
}

impl Limit {
    /// The limit, if there is one.
    pub const fn most(self) -> Option<f64> {
        match self {
            Self::None => None,
            Self::Share(share) => Some(share.0),
        }
    }
}

/// Implements reading and writing as text; `$number` turns a bare number into a value.
macro_rules! serde_as_text {
    ($name:ident, $expecting:literal, $number:expr) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl de::Visitor<'_> for Visitor {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expecting)
                    }

                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$name, E> {
                        text.parse().map_err(E::custom)
                    }

                    fn visit_u64<E: de::Error>(self, number: u64) -> Result<$name, E> {
                        let read: fn(u64) -> Result<$name, String> = $number;
                        read(number).map_err(E::custom)
                    }
                }
                deserializer.deserialize_any(Visitor)
            }
        }
    };
}

serde_as_text!(Time, "a time such as \"25us\", \"1.5ms\" or \"3 s\"", |number| {
    number.to_string().parse()
});
serde_as_text!(Size, "a size such as \"4KiB\", \"2MB\" or a number of bytes", |bytes| {
    Ok(Size(bytes))
});
serde_as_text!(Rate, "a rate such as \"333MT/s\", \"1.2GB/s\" or \"none\"", |number| {
    number.to_string().parse()
});

impl Serialize for Share {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShareVisitor)
    }
}

struct ShareVisitor;

impl de::Visitor<'_> for ShareVisitor {
    type Value = Share;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a share such as 0.05 or \"5%\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Share, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Share, E> {
        Ok(Share(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Share, E> {
        Ok(Share(value as f64))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Share, E> {
        Ok(Share(value as f64))
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => serializer.serialize_str("none"),
            Self::Share(share) => share.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LimitVisitor)
    }
}

struct LimitVisitor;

impl de::Visitor<'_> for LimitVisitor {
    type Value = Limit;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a share such as 0.2 or \"20%\", or \"none\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Limit, E> {
        match text.trim() {
            "none" => Ok(Limit::None),
            text => ShareVisitor.visit_str(text).map(Limit::Share),
        }
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Limit, E> {
        Ok(Limit::Share(Share(value)))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Limit, E> {
        Ok(Limit::Share(Share(value as f64)))
    }
}

/// Most requests that a configuration may ask for: days of work, whatever the drive.
pub const MOST_REQUESTS: u64 = 1_000_000_000_000;

macro_rules! schema {
    ($name:ident, $json:tt) => {
        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($json)
            }
        }
    };
}

schema!(Time, {
    "description": "A time: a decimal number and a unit; only 0 needs none.",
    "anyOf": [
        { "type": "string", "pattern": "^\\s*(0|\\d+(\\.\\d+)?\\s*(ns|us|µs|μs|ms|s|min|h|d))\\s*$" },
        { "const": 0 }
    ],
    "examples": ["25us", "1.5ms", "3 s"]
});
schema!(Size, {
    "description": "A size: bytes, or a number and a unit. KiB, MiB, GiB, TiB and k, m, g, t are \
        powers of 1024; KB, MB, GB, TB are powers of 1000.",
    "anyOf": [
        { "type": "string", "pattern": "^\\s*\\d+(\\.\\d+)?\\s*([KMGT]iB|[kKMGT]B|B|[kmgtKMGT])?\\s*$" },
        { "type": "integer", "minimum": 0, "maximum": (u64::MAX) }
    ],
    "examples": ["4KiB", "528B", "2MB", 4096]
});
schema!(Rate, {
    "description": "A data rate: MB/s, or MT/s of an eight-bit bus; \"none\" means no limit.",
    "type": "string",
    "pattern": "^\\s*(none|\\d+(\\.\\d+)?\\s*([KMG]?B|[MG]iB|[MG]T)/s)\\s*$",
    "examples": ["333MT/s", "1.2GB/s", "none"]
});
schema!(Share, {
    "description": "A share of a whole: 0.05 or \"5%\".",
    "anyOf": [
        { "type": "number", "minimum": 0, "maximum": 1 },
        { "type": "string", "pattern": "^\\s*\\d+(\\.\\d+)?\\s*%?\\s*$" }
    ],
    "examples": [0.05, "5%"]
});

schema!(Limit, {
    "description": "A share, such as 0.2 or \"20%\", or \"none\".",
    "anyOf": [
        { "type": "number", "minimum": 0, "maximum": 1e6 },
        { "type": "string", "pattern": "^\\s*(none|\\d+(\\.\\d+)?\\s*%?)\\s*$" }
    ],
    "examples": [0.2, "20%", "none"]
});
