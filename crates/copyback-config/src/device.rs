//! `[ssd]`: geometry, timing, wear levelling, write buffer.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

use super::{
    Controller, Endurance, FlashFaults, Ftl, Gc, Power, Refresh, SlcCache,
    choice::choice,
    quantity::{Rate, Share, Size, Time},
};

/// The simulated drive.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ssd {
    /// Shape of the flash array.
    pub geometry: Geometry,
    /// Latencies and transfer rates of the flash chips and their channels.
    pub timing: Timing,
    /// Commands of the chips beyond single-plane ones.
    pub commands: Commands,
    /// Flash translation layer.
    pub ftl: Ftl,
    /// Garbage collection.
    pub gc: Gc,
    /// Wear levelling.
    pub wear: Wear,
    /// DRAM write buffer; off unless it has a capacity.
    pub buffer: Buffer,
    /// Controller time for a command, if not all are alike to it.
    #[serde(skip_serializing_if = "Controller::is_default")]
    pub controller: Controller,
    /// Rating of the flash.
    pub endurance: Endurance,
    /// Protection of the drive against loss of power, and when its power fails.
    #[serde(skip_serializing_if = "Power::is_default")]
    pub power: Power,
    /// Faults of the flash.
    #[serde(skip_serializing_if = "FlashFaults::are_none")]
    pub faults: FlashFaults,
    /// Blocks in another cell mode, which take the host's pages first; off unless it has blocks.
    #[serde(skip_serializing_if = "SlcCache::is_default")]
    pub slc_cache: SlcCache,
    /// Blocks that are collected for the sake of their data.
    #[serde(skip_serializing_if = "Refresh::is_none")]
    pub refresh: Refresh,
}

/// Shape of the flash array: channel > chip > die > plane > block > page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Geometry {
    /// Channels (buses) of the drive.
    #[schemars(range(min = 1, max = 4096))]
    pub channels: u32,
    /// Chips (ways) that share one channel.
    #[schemars(range(min = 1, max = 4096))]
    pub chips_per_channel: u32,
    /// Dies in a chip; a die runs one array operation at a time.
    #[schemars(range(min = 1, max = 4096))]
    pub dies_per_chip: u32,
    /// Planes in a die.
    #[schemars(range(min = 1, max = 32))]
    pub planes_per_die: u32,
    /// Erase blocks in a plane.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub blocks_per_plane: u32,
    /// Pages in an erase block.
    #[schemars(range(min = 1, max = 65_535))]
    pub pages_per_block: u32,
    /// Bytes of user data in a page.
    pub page_size: Size,
    /// Out-of-band bytes that travel over the channel with each page.
    pub spare_size: Size,
}

impl Default for Geometry {
    fn default() -> Self {
        Self {
            channels: 4,
            chips_per_channel: 2,
            dies_per_chip: 1,
            planes_per_die: 2,
            blocks_per_plane: 512,
            pages_per_block: 64,
            page_size: Size(4096),
            spare_size: Size(0),
        }
    }
}

/// A latency that may depend on the page type: one value, or one a type, repeated over the pages
/// of a block (an MLC block with `["40us", "60us"]` alternates LSB and MSB pages).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum PageLatency {
    /// One latency for every page.
    Uniform(Time),
    /// One latency a page type, LSB first.
    ByPageType(Vec<Time>),
}

impl PageLatency {
    /// The latency of the slowest page type.
    pub fn slowest(&self) -> Time {
        match self {
            Self::Uniform(time) => *time,
            Self::ByPageType(times) => times.iter().copied().max().unwrap_or_default(),
        }
    }

    /// Mean over the page types, in nanoseconds.
    pub fn mean_ns(&self) -> f64 {
        let ns = |time: &Time| time.0.as_ns() as f64;
        match self {
            Self::Uniform(time) => ns(time),
            Self::ByPageType(times) => times.iter().map(ns).sum::<f64>() / times.len() as f64,
        }
    }
}

impl<'de> Deserialize<'de> for PageLatency {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(PageLatencyVisitor)
    }
}

struct PageLatencyVisitor;

impl<'de> de::Visitor<'de> for PageLatencyVisitor {
    type Value = PageLatency;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time such as \"25us\", or a list of times, one a page type")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<PageLatency, E> {
        text.parse().map(PageLatency::Uniform).map_err(E::custom)
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<PageLatency, A::Error> {
        Vec::deserialize(de::value::SeqAccessDeserializer::new(list)).map(PageLatency::ByPageType)
    }
}

/// Latencies and transfer rates of the flash chips and their channels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Timing {
    /// Array read, cell array to page register (tR).
    #[schemars(extend("longest" = "1min"))]
    pub read: PageLatency,
    /// Array program, page register to cell array (tPROG).
    #[schemars(extend("longest" = "1min"))]
    pub program: PageLatency,
    /// Block erase (tBERS).
    #[schemars(extend("longest" = "1min"))]
    pub erase: Time,
    /// Command and address cycles on the channel, paid by every read and program (tCMD).
    #[schemars(extend("longest" = "1min"))]
    pub command: Time,
    /// Data rate of a channel, on an eight-bit bus; `"none"` removes the bus.
    pub transfer_rate: Rate,
    /// Page registers a plane has. With `double`, a transfer overlaps the array operation of the
    /// next command of the same kind (cache read, cache program).
    pub register: Register,
    /// Order in which waiting transfers take a free channel.
    pub bus_arbitration: BusArbitration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            read: PageLatency::Uniform(Time::from_us(25)),
            program: PageLatency::Uniform(Time::from_us(200)),
            erase: Time::from_us(1500),
            command: Time::from_us(0),
            transfer_rate: Rate::BytesPerSecond(333_000_000),
            register: Register::Single,
            bus_arbitration: BusArbitration::CommandFirst,
        }
    }
}

/// Page registers a plane has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Register {
    /// One: the die is taken from the command to the last byte.
    Single,
    /// A data and a cache register: transfers overlap array operations of the same kind.
    Double,
}

/// Order in which waiting transfers take a free channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BusArbitration {
    /// Commands and data to a chip before data from a chip: keeps the arrays busy.
    CommandFirst,
    /// Data from a chip before commands.
    DataFirst,
    /// In the order of asking.
    InOrder,
}

/// Commands of the chips beyond single-plane ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Commands {
    /// Reads, programs and erases of several planes of a die in one command: same operation, same
    /// page offset, any block.
    pub multi_plane: bool,
    /// Number of planes that one command can join: neighbours, in groups of this many. Default: all planes of
    /// the die.
    #[schemars(range(min = 1, max = 32))]
    pub planes_per_command: Option<u32>,
    /// Whether the host's reads suspend programs and erases.
    pub suspend: Suspend,
}

impl Default for Commands {
    fn default() -> Self {
        Self { multi_plane: true, planes_per_command: None, suspend: Suspend::None }
    }
}

choice! {
    /// Whether the host's reads suspend what the array does.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Suspend {
        /// No suspending: an operation that has begun is finished.
        None,
        /// Reads suspend programs and erases, the host's and those of collections.
        ProgramErase {
            /// From the command until the array can read.
            #[serde(default = "default_suspend")]
            #[schemars(extend("longest" = "1min"))]
            suspend: Time,
            /// Time to resume the operation, beyond what was left of it.
            #[serde(default = "default_resume")]
            #[schemars(extend("longest" = "1min"))]
            resume: Time,
            /// Largest number of times that one operation is suspended.
            #[serde(default = "default_most_suspends")]
            #[schemars(range(min = 1, max = 65_535))]
            most: u32,
            /// Length of a pulse of a program, between which it can be suspended (inter-phase suspension: Wu and He,
            /// FAST 2012). Absent: at any time.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[schemars(extend("longest" = "1min"))]
            program_pulse: Option<Time>,
            /// Length of a pulse of an erase, between which it can be suspended. Absent: at any time.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[schemars(extend("longest" = "1min"))]
            erase_pulse: Option<Time>,
        },
    }
}

const fn default_suspend() -> Time {
    Time::from_us(20)
}

const fn default_resume() -> Time {
    Time::from_us(10)
}

const fn default_most_suspends() -> u32 {
    16
}

/// Wear levelling. Dynamic levelling is `ssd.ftl.free_blocks = "least_worn"`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Wear {
    /// Static levelling: when a plane's most and least erased blocks differ by more than this many
    /// erases, the least erased one is emptied and put to use. 0 turns it off.
    #[schemars(range(min = 0, max = 10_000_000))]
    pub static_threshold: u32,
    /// Property of these two blocks that is compared.
    pub compare: WearCompare,
}

/// Property of blocks that static wear levelling compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WearCompare {
    /// Number of erases of the two blocks.
    #[default]
    EraseCounts,
    /// The numbers of the two blocks, as MQSim's source does (7ec40e3): the least erased one is emptied if the most
    /// erased one has a lower number, or one that is higher by the threshold or more. Of blocks erased as often, the
    /// one with the lowest number counts.
    BlockNumbers,
}

/// DRAM write buffer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Buffer {
    /// Bytes of page data that it holds; 0 turns it off.
    pub capacity: Size,
    /// Order in which pages leave.
    pub eviction: Eviction,
    /// Destaging starts when this share of the buffer is dirty ...
    pub high_watermark: Share,
    /// ... and goes on until this share is.
    pub low_watermark: Share,
    /// Time to place a request's pages in DRAM, or to read them from there.
    #[schemars(extend("longest" = "1min"))]
    pub latency: Time,
    /// Admission of writes to the buffer, beside its room.
    #[serde(skip_serializing_if = "crate::gc::is_default")]
    pub throttle: Throttle,
}

impl Default for Buffer {
    fn default() -> Self {
        Self {
            capacity: Size(0),
            eviction: Eviction::Lru,
            high_watermark: Share(0.75),
            low_watermark: Share(0.5),
            latency: Time::from_us(1),
            throttle: Throttle::None,
        }
    }
}

choice! {
    /// Admission of writes to the write buffer, beside its room.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Throttle {
        /// No throttle: a write enters as long as there is room.
        None,
        /// By tokens, one a page (a token bucket). The drive makes them as fast as its dies can program pages and collect
        /// what makes room for those: what that costs is known of the victims that were chosen last.
        Tokens {
            /// Tokens that wait unused at most, in bytes of pages.
            #[serde(default = "default_burst")]
            burst: Size,
            /// Share of the dies' time that programs of the host and collections may take.
            #[serde(default = "default_throttle_share")]
            share: Share,
        },
        /// At a set rate while the drive collects for space, in order of arrival; at once otherwise.
        SetRate {
            /// Bytes of pages a second.
            rate: Rate,
        },
        /// At a share of the rate that writes had of late while the drive collects for space, in order of arrival; at once
        /// otherwise.
        RecentRate {
            /// Share of that rate.
            #[serde(default = "default_throttle_share")]
            share: Share,
            /// Bytes of pages a second that are let in at least; `none`: a page a second.
            #[serde(default = "default_throttle_least")]
            least: Rate,
            /// Time over which the rate is counted. The last one that has ended is taken in which the drive did not collect
            /// all the time.
            #[serde(default = "default_throttle_window")]
            #[schemars(extend("longest" = "1h"))]
            window: Time,
        },
    }
}

#[allow(clippy::derivable_impls, reason = "the macro repeats the variants' attributes on a twin")]
impl Default for Throttle {
    fn default() -> Self {
        Self::None
    }
}

const fn default_burst() -> Size {
    Size(16 * 1024)
}

const fn default_throttle_share() -> Share {
    Share(0.95)
}

const fn default_throttle_least() -> Rate {
    Rate::None
}

const fn default_throttle_window() -> Time {
    Time::from_us(1_000_000)
}

/// Order in which pages leave the write buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Eviction {
    /// The page that was written or read longest ago.
    Lru,
    /// The page that entered first.
    Fifo,
}
