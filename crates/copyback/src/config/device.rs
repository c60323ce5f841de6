//! `[ssd]`: geometry, timing, translation layer, garbage collection, write buffer.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

use super::{
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
    /// What the chips can do beyond single-plane commands.
    pub commands: Commands,
    /// Flash translation layer.
    pub ftl: Ftl,
    /// Garbage collection.
    pub gc: Gc,
    /// Wear levelling.
    pub wear: Wear,
    /// DRAM write buffer; off unless it has a capacity.
    pub buffer: Buffer,
}

/// Shape of the flash array: channel > chip > die > plane > block > page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Geometry {
    /// Channels (buses) of the drive.
    pub channels: u32,
    /// Chips (ways) that share one channel.
    pub chips_per_channel: u32,
    /// Dies in a chip; a die runs one array operation at a time.
    pub dies_per_chip: u32,
    /// Planes in a die.
    pub planes_per_die: u32,
    /// Erase blocks in a plane.
    pub blocks_per_plane: u32,
    /// Pages in an erase block.
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
    /// The same for every page.
    Uniform(Time),
    /// One latency a page type, LSB first.
    ByPageType(Vec<Time>),
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
    pub read: PageLatency,
    /// Array program, page register to cell array (tPROG).
    pub program: PageLatency,
    /// Block erase (tBERS).
    pub erase: Time,
    /// Command and address cycles on the channel, paid by every read and program (tCMD).
    pub command: Time,
    /// Data rate of a channel, on an eight-bit bus; `"none"` removes the bus.
    pub transfer_rate: Rate,
    /// Page registers a plane has. With `double`, a transfer overlaps the array operation of the
    /// next command of the same kind (cache read, cache program).
    pub register: Register,
    /// Which waiting transfer takes a free channel first.
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

/// Which waiting transfer takes a free channel first.
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

/// What the chips can do beyond single-plane commands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Commands {
    /// Reads, programs and erases of several planes of a die in one command: same operation, same
    /// page offset, any block.
    pub multi_plane: bool,
}

impl Default for Commands {
    fn default() -> Self {
        Self { multi_plane: true }
    }
}

/// Flash translation layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ftl {
    /// How logical pages map to physical ones.
    pub mapping: Mapping,
    /// Which plane a logical page is written to.
    pub allocation: Allocation,
    /// Share of physical pages that the host does not see: logical pages = physical pages x
    /// (1 - over_provisioning).
    pub over_provisioning: Share,
    /// Whether host writes and collected pages fill separate open blocks or the same one.
    pub frontiers: Frontiers,
    /// Order in which erased blocks are used again.
    pub free_blocks: FreeBlockOrder,
    /// The last page of every block holds the block's summary and no data.
    pub summary_page: SummaryPage,
}

impl Default for Ftl {
    fn default() -> Self {
        Self {
            mapping: Mapping::Page,
            allocation: Allocation::Order(AllocationOrder::Cwdp),
            over_provisioning: Share(0.15),
            frontiers: Frontiers::Separate,
            free_blocks: FreeBlockOrder::Fifo,
            summary_page: SummaryPage::None,
        }
    }
}

/// How logical pages map to physical ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mapping {
    /// Every logical page maps to any physical page; the whole table is in RAM.
    Page,
}

/// Which plane a logical page is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Allocation {
    /// Static: successive logical pages go round the levels in this order, first letter fastest.
    Order(AllocationOrder),
    /// Decided at the time of writing.
    Choice(AllocationChoice),
    /// Static down to the die, and a rule for the plane.
    Mixed {
        /// Order of the levels; the plane's place in it is ignored.
        order: AllocationOrder,
        /// How the plane of the die is chosen.
        plane: PlaneChoice,
    },
}

impl<'de> Deserialize<'de> for Allocation {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(AllocationVisitor)
    }
}

struct AllocationVisitor;

impl<'de> de::Visitor<'de> for AllocationVisitor {
    type Value = Allocation;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "an order of the letters C, W, D and P such as \"CWDP\", \"dynamic\", or a table such \
             as { order = \"CWDP\", plane = \"most_free\" }",
        )
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Allocation, E> {
        if text == "dynamic" {
            return Ok(Allocation::Choice(AllocationChoice::Dynamic));
        }
        let order = AllocationOrder::ALL.into_iter().find(|order| order.letters() == text);
        order
            .map(Allocation::Order)
            .ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, table: A) -> Result<Allocation, A::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Mixed {
            order: AllocationOrder,
            plane: PlaneChoice,
        }
        let Mixed { order, plane } =
            Mixed::deserialize(de::value::MapAccessDeserializer::new(table))?;
        Ok(Allocation::Mixed { order, plane })
    }
}

/// Allocation without a fixed place for a logical page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AllocationChoice {
    /// The next die that is free takes the oldest waiting write.
    Dynamic,
}

/// How the plane of a die is chosen when the allocation does not fix it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlaneChoice {
    /// The plane with most free pages; ties go round.
    MostFree,
    /// Each plane in turn.
    RoundRobin,
}

macro_rules! allocation_orders {
    ($($name:ident $text:literal)*) => {
        /// An order of channel (C), way (W), die (D) and plane (P): the first letter varies
        /// fastest over successive logical pages. The names follow Tavakkol et al. (TOMPECS 2016).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[allow(missing_docs, reason = "the names say it")]
        pub enum AllocationOrder {
            $(#[serde(rename = $text)] $name,)*
        }

        impl AllocationOrder {
            /// All 24 orders.
            pub const ALL: [Self; 24] = [$(Self::$name),*];

            /// The four letters.
            pub const fn letters(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }
        }
    };
}

allocation_orders! {
    Cwdp "CWDP" Cwpd "CWPD" Cdwp "CDWP" Cdpw "CDPW" Cpwd "CPWD" Cpdw "CPDW"
    Wcdp "WCDP" Wcpd "WCPD" Wdcp "WDCP" Wdpc "WDPC" Wpcd "WPCD" Wpdc "WPDC"
    Dcwp "DCWP" Dcpw "DCPW" Dwcp "DWCP" Dwpc "DWPC" Dpcw "DPCW" Dpwc "DPWC"
    Pcwd "PCWD" Pcdw "PCDW" Pwcd "PWCD" Pwdc "PWDC" Pdcw "PDCW" Pdwc "PDWC"
}

/// Whether host writes and collected pages fill separate open blocks or the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Frontiers {
    /// Separate open blocks: collected (colder) pages do not mix with host writes.
    Separate,
    /// One open block for both.
    Shared,
}

/// Order in which erased blocks are used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FreeBlockOrder {
    /// First erased, first used (round robin).
    Fifo,
    /// Least erased first: dynamic wear levelling.
    LeastWorn,
}

choice! {
    /// A page of metadata at the end of every block.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SummaryPage {
        /// Every page holds data.
        None,
        /// The last page is programmed with a summary right after the last data page.
        LastPage {
            /// Bytes that cross the channel for the summary.
            transfer: Size,
        },
    }
}

/// Garbage collection: five independent choices and the thresholds that start it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Gc {
    /// WHO: which block is collected.
    pub victim: VictimPolicy,
    /// WHEN: whether a collection that has begun yields to host requests.
    pub preemption: Preemption,
    /// HOW WIDE: which planes of the die join a collection.
    pub width: Width,
    /// Whether idle time is used to collect.
    pub idle: Idle,
    /// A plane with fewer free blocks than this is collected.
    pub soft_threshold: FreeBlocks,
    /// A plane with fewer free blocks than this opens no block for host writes.
    pub hard_threshold: FreeBlocks,
    /// When a plane below the soft threshold is looked at.
    pub start: GcStart,
    /// Once started, collect until this many blocks above the soft threshold are free.
    pub hysteresis_blocks: u32,
    /// Move pages inside the plane with the copyback command instead of over the channel.
    pub copyback: bool,
    /// Collections change the state of the flash and take no time: the ideal bound.
    pub zero_cost: bool,
}

impl Default for Gc {
    fn default() -> Self {
        Self {
            victim: VictimPolicy::Greedy,
            preemption: Preemption::None,
            width: Width::Serial,
            idle: Idle::None,
            soft_threshold: FreeBlocks::Share(Share(0.05)),
            hard_threshold: FreeBlocks::Blocks { blocks: 1 },
            start: GcStart::AtOnce,
            hysteresis_blocks: 0,
            copyback: true,
            zero_cost: false,
        }
    }
}

/// A number of free blocks of a plane: a share of the plane's blocks, or a count.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum FreeBlocks {
    /// Share of the plane's blocks, rounded up, and at least what collections need.
    Share(Share),
    /// A number of blocks.
    Blocks {
        /// Free blocks in the plane.
        blocks: u32,
    },
}

impl Ssd {
    /// The soft threshold in blocks of a plane. A share gives at least what collections need.
    pub fn soft_threshold(&self) -> u32 {
        let least = 1 + self.ftl.blocks_kept_for_collections();
        self.gc.soft_threshold.resolve(self.geometry.blocks_per_plane, least)
    }

    /// The hard threshold in blocks of a plane.
    pub fn hard_threshold(&self) -> u32 {
        self.gc.hard_threshold.resolve(self.geometry.blocks_per_plane, 1)
    }
}

impl Ftl {
    /// Free blocks of each plane that host writes never open. With a shared frontier and a static
    /// allocation none is needed: the block that the host has just opened has room for a victim,
    /// and no plane ever holds more data than its share.
    pub fn blocks_kept_for_collections(&self) -> u32 {
        let is_static = matches!(self.allocation, Allocation::Order(_));
        u32::from(self.frontiers == Frontiers::Separate || !is_static)
    }
}

impl FreeBlocks {
    /// The number of blocks of a plane that has `blocks_per_plane`; a share gives `least` or more.
    fn resolve(self, blocks_per_plane: u32, least: u32) -> u32 {
        match self {
            Self::Share(share) => {
                let exact = share.0 * f64::from(blocks_per_plane);
                (exact.ceil() as u32).max(least)
            }
            Self::Blocks { blocks } => blocks,
        }
    }
}

impl<'de> Deserialize<'de> for FreeBlocks {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(FreeBlocksVisitor)
    }
}

struct FreeBlocksVisitor;

impl<'de> de::Visitor<'de> for FreeBlocksVisitor {
    type Value = FreeBlocks;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a share of the blocks such as 0.05 or \"5%\", or { blocks = 2 }")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<FreeBlocks, E> {
        text.parse().map(FreeBlocks::Share).map_err(E::custom)
    }

    fn visit_f64<E: de::Error>(self, share: f64) -> Result<FreeBlocks, E> {
        Ok(FreeBlocks::Share(Share(share)))
    }

    fn visit_u64<E: de::Error>(self, share: u64) -> Result<FreeBlocks, E> {
        Ok(FreeBlocks::Share(Share(share as f64)))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, table: A) -> Result<FreeBlocks, A::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Blocks {
            blocks: u32,
        }
        let Blocks { blocks } = Blocks::deserialize(de::value::MapAccessDeserializer::new(table))?;
        Ok(FreeBlocks::Blocks { blocks })
    }
}

choice! {
    /// Which block is collected.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum VictimPolicy {
        /// Fewest valid pages; ties go to the block that reached that count first.
        Greedy,
        /// Fewest valid pages among d blocks drawn at random (d-choices; Van Houdt 2013).
        Rga {
            /// Blocks drawn, with replacement.
            #[serde(default = "default_rga_d")]
            d: u32,
        },
        /// Any block at random.
        Random,
        /// Random, drawn again until the block has an invalid page.
        #[serde(rename = "random+")]
        RandomPlus,
        /// The block that was filled first.
        Fifo,
        /// Most (1 - u) / 2u x age, age since the block last lost a page (Rosenblum 1992, Kawaguchi
        /// 1995).
        CostBenefit,
    }
}

const fn default_rga_d() -> u32 {
    10
}

/// Whether a collection that has begun yields to host requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Preemption {
    /// A die that collects serves nobody until none of its planes is short of space.
    None,
}

/// When a plane below the soft threshold is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GcStart {
    /// As soon as its die is free.
    AtOnce,
    /// When a host operation is about to be served by its die.
    BeforeOperation,
}

/// Which planes of a die join a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Width {
    /// Only the plane that needs space.
    Serial,
}

/// Whether idle time is used to collect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Idle {
    /// Collections run on demand only.
    None,
}

/// Wear levelling. Dynamic levelling is `ssd.ftl.free_blocks = "least_worn"`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Wear {
    /// Static levelling: when a plane's most and least erased blocks differ by more than this many
    /// erases, the least erased one is emptied and put to use. 0 turns it off.
    pub static_threshold: u32,
}

/// DRAM write buffer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Buffer {
    /// Bytes of page data that it holds; 0 turns it off.
    pub capacity: Size,
    /// Which page leaves first.
    pub eviction: Eviction,
    /// Destaging starts when this share of the buffer is dirty ...
    pub high_watermark: Share,
    /// ... and goes on until this share is.
    pub low_watermark: Share,
    /// Time to place a request's pages in DRAM, or to read them from there.
    pub latency: Time,
}

impl Default for Buffer {
    fn default() -> Self {
        Self {
            capacity: Size(0),
            eviction: Eviction::Lru,
            high_watermark: Share(0.75),
            low_watermark: Share(0.5),
            latency: Time::from_us(1),
        }
    }
}

/// Which page leaves the write buffer first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Eviction {
    /// The page that was written or read longest ago.
    Lru,
    /// The page that entered first.
    Fifo,
}
