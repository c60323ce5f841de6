//! `[ssd.gc]`: when, what, how wide and with what right blocks are collected.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value as Json};

use super::{
    choice::choice,
    quantity::{Share, Size, Time},
};

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
    /// Unit that is opened, chosen as a victim, collected and freed as one.
    #[serde(skip_serializing_if = "is_default")]
    pub unit: GcUnit,
    /// Of a line (`unit = "line"`) the dies are collected one after the other, and not all at once (rotating GC).
    #[serde(skip_serializing_if = "is_default")]
    pub rotating: bool,
    /// When the blocks of a line (`unit = "line"`) are erased that is collected.
    #[serde(skip_serializing_if = "is_default")]
    pub line_erase: LineErase,
    /// Whether idle time is used to collect.
    pub idle: Idle,
    /// A plane with fewer free blocks than this is collected.
    pub soft_threshold: FreeBlocks,
    /// A plane with fewer free blocks than this opens no block for host writes.
    pub hard_threshold: FreeBlocks,
    /// Scope over which the soft threshold and the thresholds of arrays count free blocks.
    pub threshold_scope: ThresholdScope,
    /// Unit that the soft threshold and the joining threshold of `width` count.
    pub threshold_unit: ThresholdUnit,
    /// A plane is collected as well if more than this share of the pages that are written there is invalid, those of
    /// open blocks not counted as invalid: what log-structured stores call the garbage proportion. Not unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invalid_threshold: Option<Share>,
    /// A block is refused as a victim while fewer than this share of its pages are invalid and the host can still open
    /// one (`hard_threshold`): 0 (the default) refuses none, 0.125 is what FEMU has. The soft threshold may then be one
    /// that collections never reach.
    #[serde(skip_serializing_if = "is_default")]
    pub least_invalid: Share,
    /// Order in which the valid pages of a victim are moved. It decides which of them lie together afterwards.
    #[serde(skip_serializing_if = "MoveOrder::is_as_written")]
    pub move_order: MoveOrder,
    /// When a plane below the soft threshold is looked at.
    pub start: GcStart,
    /// When a collection of a die lets the host go on.
    pub end: GcEnd,
    /// Once started, collect until this many blocks above the soft threshold are free.
    #[schemars(range(min = 0, max = 16_777_216))]
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
            unit: GcUnit::Block,
            rotating: false,
            line_erase: LineErase::AsMoved,
            idle: Idle::None,
            soft_threshold: FreeBlocks::Share(Share(0.05)),
            hard_threshold: FreeBlocks::Blocks { blocks: 1 },
            threshold_scope: ThresholdScope::Plane,
            threshold_unit: ThresholdUnit::FreeBlocks,
            invalid_threshold: None,
            least_invalid: Share::default(),
            move_order: MoveOrder::AsWritten,
            start: GcStart::AtOnce,
            end: GcEnd::Enough,
            hysteresis_blocks: 0,
            copyback: true,
            zero_cost: false,
        }
    }
}

/// Unit that is opened, chosen as a victim, collected and freed as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GcUnit {
    /// A block of a plane.
    #[default]
    Block,
    /// A line: the blocks of one index over all planes of the drive, as in FEMU and in the firmware of most drives (a
    /// superblock over all dies). A page that is moved stays in its plane.
    Line,
}

/// When the blocks of a line are erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LineErase {
    /// Each as soon as what was valid in it has been moved.
    #[default]
    AsMoved,
    /// All once the whole line has been moved: until then its stripes are whole, so that pages can be read around
    /// collections, and made up.
    Together,
}

/// Scope over which free blocks are counted. Thresholds are a plane's share: a die or a drive has that many
/// times its planes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThresholdScope {
    /// Each plane counts for itself.
    Plane,
    /// The planes of a die count together. Where they have too few, those with less than their share are
    /// collected, no more at a time than it takes; and so is each plane on which the host can open no block.
    Die,
    /// All planes of the drive count together, and are collected as those of a die.
    Drive,
}

/// Unit that a threshold counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThresholdUnit {
    /// Free blocks: those that nothing has been written to and that are not open.
    FreeBlocks,
    /// The pages of free blocks, and those of open blocks that nothing has been written to. A threshold is that many
    /// blocks' worth.
    FreePages,
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
        #[schemars(range(min = 0, max = 16_777_216))]
        blocks: u32,
    },
}

impl Gc {
    /// Whether blocks are managed in lines over all planes.
    pub fn has_lines(&self) -> bool {
        self.unit == GcUnit::Line
    }
}

impl FreeBlocks {
    /// The number of blocks of a plane that has `blocks_per_plane`; a share gives `least` or more.
    pub(super) fn resolve(self, blocks_per_plane: u32, least: u32) -> u32 {
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

/// Distance above the soft threshold: as [`FreeBlocks`] (a share is in points of the plane's blocks), or as a
/// share of the threshold itself.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Margin {
    /// Of the plane's blocks.
    Free(FreeBlocks),
    /// Of the soft threshold.
    OfThreshold {
        /// Share of the soft threshold, rounded up.
        of_threshold: Share,
    },
}

impl Margin {
    /// The number of blocks above the soft threshold `soft` of a plane that has `blocks_per_plane`; a share gives
    /// `least` or more.
    pub(super) fn resolve(self, blocks_per_plane: u32, soft: u32, least: u32) -> u32 {
        match self {
            Self::Free(free) => free.resolve(blocks_per_plane, least),
            Self::OfThreshold { of_threshold } => {
                FreeBlocks::Share(of_threshold).resolve(soft, least)
            }
        }
    }

    /// The share that it is given as, if it is.
    pub(super) const fn share(self) -> Option<Share> {
        match self {
            Self::Free(FreeBlocks::Share(share)) | Self::OfThreshold { of_threshold: share } => {
                Some(share)
            }
            Self::Free(FreeBlocks::Blocks { .. }) => None,
        }
    }
}

impl<'de> Deserialize<'de> for Margin {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(MarginVisitor)
    }
}

struct MarginVisitor;

impl<'de> de::Visitor<'de> for MarginVisitor {
    type Value = Margin;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a share of the blocks such as 0.05 or \"5%\", { blocks = 2 }, or { of_threshold = 0.05 }",
        )
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Margin, E> {
        FreeBlocksVisitor.visit_str(text).map(Margin::Free)
    }

    fn visit_f64<E: de::Error>(self, share: f64) -> Result<Margin, E> {
        FreeBlocksVisitor.visit_f64(share).map(Margin::Free)
    }

    fn visit_u64<E: de::Error>(self, share: u64) -> Result<Margin, E> {
        FreeBlocksVisitor.visit_u64(share).map(Margin::Free)
    }

    fn visit_map<A: de::MapAccess<'de>>(self, table: A) -> Result<Margin, A::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Above {
            Blocks(u32),
            OfThreshold(Share),
        }
        let above = Above::deserialize(de::value::MapAccessDeserializer::new(table))?;
        Ok(match above {
            Above::Blocks(blocks) => Margin::Free(FreeBlocks::Blocks { blocks }),
            Above::OfThreshold(of_threshold) => Margin::OfThreshold { of_threshold },
        })
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
    /// Policy that chooses the block to be collected.
    #[derive(Debug, Clone, PartialEq)]
    pub enum VictimPolicy {
        /// Fewest valid pages; ties go to the block that reached that count first.
        Greedy,
        /// Fewest valid pages among d blocks drawn at random (d-choices; Van Houdt 2013).
        Rga {
            /// Blocks drawn, with replacement.
            #[serde(default = "default_rga_d")]
            #[schemars(range(min = 1, max = 65_536))]
            d: u32,
            /// Set that they are drawn from: `all` closed blocks of the plane (the default), or those of one
            /// `class` of the placement, the one of whose pages the greatest share is invalid.
            #[serde(default, skip_serializing_if = "is_default")]
            within: Within,
        },
        /// Any block at random.
        Random,
        /// Random, drawn again until the block has an invalid page.
        #[serde(rename = "random+")]
        RandomPlus,
        /// The block at the head of a queue.
        Fifo {
            /// When a block joins the queue: `filled` (the default), or `opened`.
            #[serde(default, skip_serializing_if = "is_default")]
            queued_when: QueuedWhen,
            /// Treatment of the block at the head if no page of it can be freed now, as all its pages are
            /// valid, or it is not full yet: `collect` it in its turn (the default), or `drop` it for good.
            #[serde(default, skip_serializing_if = "is_default")]
            ineligible: Ineligible,
        },
        /// Fewest valid pages of the blocks that were filled first (Hu et al. 2009).
        WindowedGreedy {
            /// Number of closed blocks of a plane in the window: 1 is `fifo`, all that a plane has is `greedy`.
            #[schemars(range(min = 1, max = 16_777_216))]
            window: u32,
        },
        /// Most (1 - u) / cost x age, u the share of valid pages (Rosenblum and Ousterhout 1992, Kawaguchi et al. 1995).
        CostBenefit {
            /// Since when a block ages: `since_invalidated` (the default), since it last lost a page, in changes of the plane's
            /// blocks; `since_sealed` or `since_opened`, since it was filled or opened, in pages of the host.
            #[serde(default, skip_serializing_if = "is_default")]
            age: Age,
            /// Weight of age: `linear` (the default), or its root, `sqrt`.
            #[serde(default, skip_serializing_if = "is_default")]
            weight: AgeWeight,
            /// Cost of a collection: `valid_pages` (the default), 2u, as they are read and written;
            /// `whole_block`, 1 + u, as all of it is read.
            #[serde(default, skip_serializing_if = "is_default")]
            cost: CollectionCost,
        },
        /// Least u / (1 - u) x 1 / age x erases, u the share of valid pages (Chiang and Chang 1999). A block that has
        /// never been erased counts as erased once.
        CostAgeTimes {
            /// Since when a block ages: `since_opened` (the default), `since_sealed` or `since_invalidated`, as with
            /// `cost_benefit`.
            #[serde(default = "default_age_of_times", skip_serializing_if = "is_since_opened")]
            age: Age,
        },
        /// Most (1 - u) / (u x hotness), u the share of valid pages, hotness as the placement `sfs` has it (Min et al. 2012).
        /// Each choice looks at all closed blocks of the plane.
        CostHotness {
            /// Share of the pages of a block that must be invalid for it to be chosen, as long as there are such blocks: 0
            /// (the default), or 0.15 as in the simulator of SepBIT's authors.
            #[serde(default, skip_serializing_if = "is_default")]
            least_invalid: Share,
        },
        /// Most (1 - u) / u x the root of how long its valid pages still live, on average, u the share of valid pages: it knows
        /// the future, as the placement `oracle` does, and goes with that alone. Pages that the workload does not end live
        /// until the host has written the drive once more. Each choice looks at all closed blocks of the plane.
        Foresight,
        /// Choice by a class written in Python (`copyback.VictimPolicy`).
        Python {
            /// `file.py:Class`, `package.module:Class`, or a name that a package has registered under
            /// `copyback.victims`. The file is found like a trace, beside the configuration.
            policy: String,
            /// Arguments of the class: numbers, texts, switches, and lists of them.
            #[serde(default, skip_serializing_if = "Map::is_empty")]
            parameters: Map<String, Json>,
        },
    }
}

const fn default_rga_d() -> u32 {
    10
}

/// Whether a key need not be written: plain FIFO is written as its bare name, as it was before it had keys.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The age that cost-age-times has if none is given.
const fn default_age_of_times() -> Age {
    Age::SinceOpened
}

// As serde asks.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_since_opened(age: &Age) -> bool {
    *age == Age::SinceOpened
}

impl VictimPolicy {
    /// Cost-benefit by the age since a block last lost a page.
    pub const COST_BENEFIT: Self = Self::CostBenefit {
        age: Age::SinceInvalidated,
        weight: AgeWeight::Linear,
        cost: CollectionCost::ValidPages,
    };

    /// FIFO, whatever is in the block that was filled first.
    pub const FIFO: Self =
        Self::Fifo { queued_when: QueuedWhen::Filled, ineligible: Ineligible::Collect };

    /// Whether it draws, so that it may say something else when it is asked again.
    pub const fn draws(&self) -> bool {
        matches!(self, Self::Rga { .. } | Self::Random | Self::RandomPlus)
    }
}

/// Set that blocks are drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Within {
    /// All closed blocks of the plane, of whatever class.
    #[default]
    All,
    /// Blocks of one class of the placement (`ssd.ftl.placement`): the one of whose pages the greatest share is
    /// invalid; of equals the first.
    Class,
}

/// Since when a block ages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Age {
    /// Since it last lost a page, counted in changes of the plane's blocks (Kawaguchi et al. 1995).
    #[default]
    SinceInvalidated,
    /// Since its last page was written, counted in pages that the host has written to the drive (the artefact of SepBIT,
    /// Wang et al. 2022). For page mappings.
    SinceSealed,
    /// Since it was opened, counted in pages that the host has written to the drive. For page mappings.
    SinceOpened,
}

impl Age {
    /// Whether it follows from the life of a block, whatever becomes of its pages.
    pub const fn is_of_life(self) -> bool {
        matches!(self, Self::SinceSealed | Self::SinceOpened)
    }
}

/// Weight of a block's age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgeWeight {
    /// Age itself.
    #[default]
    Linear,
    /// By its square root (the artefact of SepBIT, Wang et al. 2022).
    Sqrt,
}

/// Cost of a collection, in reads and writes, against the space that it frees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CollectionCost {
    /// 2u: the valid pages are read and written (Kawaguchi et al. 1995). The factor decides nothing.
    #[default]
    ValidPages,
    /// 1 + u: the whole block is read, and its valid pages are written (Rosenblum and Ousterhout 1992).
    WholeBlock,
}

/// When a block joins the queue of FIFO victims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueuedWhen {
    /// When its last page has been written.
    #[default]
    Filled,
    /// When it is opened for writing, as in MQSim's source (7ec40e3). It differs where several blocks of a plane are
    /// open at a time.
    Opened,
}

/// Treatment of the head of the queue of FIFO victims if no page of it can be freed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ineligible {
    /// Collects it all the same if it is full; if not, it waits, and the next full one goes first.
    #[default]
    Collect,
    /// Drops it from the queue for good; no block of its plane is collected before another one is opened there
    /// or one has been erased, as in MQSim's source (7ec40e3). It comes back only if something else empties it:
    /// a plane can lose all its victims.
    Drop,
}

choice! {
    /// Order in which the valid pages of a victim are moved.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum MoveOrder {
        /// Page after page, as they were written.
        AsWritten,
        /// LUN by LUN, as FEMU moves a reclaim unit: a block stands for a unit that is striped over so many LUNs, page
        /// after page. All pages of the first one are moved, then those of the second.
        ByLun {
            /// LUNs that the unit is striped over.
            #[schemars(range(min = 2, max = 65_536))]
            luns: u32,
        },
    }
}

impl MoveOrder {
    /// Whether pages are moved as they were written.
    // As serde asks.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    fn is_as_written(&self) -> bool {
        *self == Self::AsWritten
    }
}

choice! {
    /// Whether a collection that has begun yields to host requests.
    #[derive(Debug, Clone, PartialEq)]
    pub enum Preemption {
        /// A die that collects serves nobody until none of its planes is short of space.
        None,
        /// A collection yields between its flash operations (Lee et al., ISPASS 2011). The defaults
        /// are the paper's plain scheme; `hard_threshold` is its T_hard.
        SemiPreemptive {
            /// Time that each look at the queue takes: twenty instructions and five memory accesses.
            #[serde(default = "default_poll")]
            #[schemars(extend("longest" = "1min"))]
            poll: Time,
            /// A request for the page that the collection holds in the register is served from there.
            #[serde(default)]
            merge: bool,
            /// The page that the oldest read asks for is moved next, so that it can be merged.
            #[serde(default)]
            reorder: bool,
            /// The page that the oldest write supersedes is moved next, too, so that it can be merged.
            #[serde(default)]
            reorder_writes: bool,
            /// The collection's next operation overlaps a request's of the same kind: one is in the
            /// array while the other is on the channel.
            #[serde(default)]
            pipeline: bool,
            /// Operation of the two that begins first, with `pipeline`.
            #[serde(default = "default_pipeline_order")]
            pipeline_order: PipelineOrder,
            /// A write that finds no free block keeps everybody from preempting until it finds one.
            #[serde(default)]
            high_priority_writes: bool,
            /// Flows whose writes do so; those of every flow if empty.
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            #[schemars(inner(range(max = 65_535)))]
            priority_flows: Vec<u16>,
        },
        /// While operations of the host wait, so many steps of a collection are done between two of them
        /// (partial block cleaning; Choudhuri and Givargis, CODES+ISSS 2008). A step is the move of a page,
        /// or an erase. When a write waits that no plane can take, the collection is finished first.
        Partial {
            /// Steps between two operations of the host.
            #[serde(default = "default_steps")]
            #[schemars(range(min = 1, max = 65_535))]
            steps: u32,
        },
        /// Each page that the host writes to a plane short of space is charged steps of the collection there (the move of a
        /// page, or the erase), and the next write waits until they are done: a full drive goes on at an even pace. The
        /// charge is the victim's cost for each page that comes free by it, times the blocks missing to the soft
        /// threshold over those left to the point where the host can open no further block. It is zero at the
        /// threshold and `most_times` the cost at that point. With `zero_cost` nothing is charged.
        Paced {
            /// Free space at which a load settles that leaves no other time to collect: a share of the way from
            /// where the host can open no further block to the soft threshold.
            #[serde(default = "default_set_point")]
            set_point: Share,
            /// Most that a page is charged, in multiples of what the victim costs.
            #[serde(default = "default_most_times")]
            #[schemars(range(min = 1, max = 1_000))]
            most_times: u32,
            /// Reads that go before a step that is due: after so many it is carried out, though reads wait.
            #[serde(default = "default_reads_ahead")]
            #[schemars(range(min = 0, max = 65_535))]
            reads_ahead: u32,
        },
        /// Schedule by a class written in Python (`copyback.SchedulePolicy`).
        Python {
            /// `file.py:Class`, `package.module:Class`, or a name that a package has registered under
            /// `copyback.schedules`. The file is found like a trace, beside the configuration.
            policy: String,
            /// Arguments of the class: numbers, texts, switches, and lists of them.
            #[serde(default, skip_serializing_if = "Map::is_empty")]
            parameters: Map<String, Json>,
            /// Time that each look at the queue takes.
            #[serde(default)]
            #[schemars(extend("longest" = "1min"))]
            poll: Time,
            /// Whether it is also asked between the read and the write of a page. Pages are then moved by
            /// a read and a write even with `copyback`.
            #[serde(default)]
            inside_moves: bool,
        },
    }
}

const fn default_set_point() -> Share {
    Share(0.5)
}

const fn default_most_times() -> u32 {
    4
}

const fn default_reads_ahead() -> u32 {
    16
}

impl Preemption {
    /// Paced, with its defaults.
    pub const PACED: Self = Self::Paced {
        set_point: default_set_point(),
        most_times: default_most_times(),
        reads_ahead: default_reads_ahead(),
    };
}

const fn default_steps() -> u32 {
    1
}

const fn default_poll() -> Time {
    Time::from_ns(600)
}

/// When a plane below the soft threshold is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GcStart {
    /// Starts when its die is free.
    AtOnce,
    /// When a host operation is about to be served by its die, or a page of a lost die finds no room to be rebuilt.
    BeforeOperation,
}

/// When a collection of a die lets the host go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GcEnd {
    /// When no plane of the die needs space any more.
    Enough,
    /// After one victim, of each plane that is collected with it: an operation of the host goes first, if one can,
    /// before the next.
    OneVictim,
}

const fn default_pipeline_order() -> PipelineOrder {
    PipelineOrder::CollectionFollows
}

/// Order of two overlapping operations of a kind, of the host and of a collection. The paper has two
/// consecutive operations of one kind at a preemption point, and does not say which goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PipelineOrder {
    /// The collection's, behind the last operation of the host that waits.
    CollectionFollows,
    /// The last operation of the host that waits, behind the collection's. A read cannot follow one of a page that is moved
    /// with copyback, as that stays in the register.
    HostFollows,
    /// Either.
    Either,
    /// Either; and an operation of the host that comes later joins the collection's while that is in the die, as
    /// it could with two registers. Wider than the paper.
    Joins,
}

choice! {
    /// Width: the planes of a die that join a collection (Shahidi et al., SC 2016).
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Width {
        /// Only the plane that needs space.
        Serial,
        /// All planes that a multi-plane command can join.
        Blind {
            /// DRAM of the device for pages that would have to be written alone.
            #[serde(default)]
            cache: Size,
        },
        /// Planes that are close to needing space themselves.
        Threshold {
            /// Distance above the soft threshold that a plane's free blocks may have for it to join.
            #[serde(default = "default_margin")]
            margin: Margin,
            /// DRAM of the device for pages that would have to be written alone.
            #[serde(default)]
            cache: Size,
        },
        /// The planes of a die are striped together: blocks and pages of all of them are one.
        Superblock,
    }
}

const fn default_margin() -> Margin {
    Margin::Free(FreeBlocks::Share(Share(0.05)))
}

impl Width {
    /// Whether several planes may be collected together, into blocks kept for that.
    pub const fn is_parallel(self) -> bool {
        matches!(self, Self::Blind { .. } | Self::Threshold { .. })
    }
}

choice! {
    /// Whether idle time is used to collect (Jung, Prabhakar, Kandemir, Middleware 2012). What is
    /// collected in idle time looks after each flash operation whether the drive still has no command;
    /// what is left then goes on in the next idle time.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Idle {
        /// Collections run on demand only.
        None,
        /// In advance: before a short gap ends what the next commands will call for, and in long idle
        /// periods blocks of planes that will soon be short of space (the paper's AGC).
        Advanced(InAdvance),
        /// Afterwards: a plane below the soft threshold is owed its collection as long as the host can
        /// open another block there, and gets it when the drive has no command (the paper's DGC). Where
        /// logical pages are bound to blocks, so is a merge that a write would wait for.
        Delayed {
            /// Time for which the drive must have had no command.
            #[serde(default)]
            short_idle: Time,
        },
        /// Both, as the paper's Algorithm 1 orders them: first what is owed, then in advance.
        AdvancedDelayed(InAdvance),
    }
}

/// Use of idle time in advance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InAdvance {
    /// Commands looked ahead to. The host announces when they arrive, if their times are known.
    #[schemars(range(min = 1, max = 256))]
    pub entries: u32,
    /// Gaps before the next command that are no longer than this are not used. What is owed, under
    /// `advanced_delayed`, waits until the drive has had no command for so long.
    pub short_idle: Time,
    /// A drive that has had no command for longer than this is in a long idle period.
    pub long_idle: Time,
    /// In long idle periods planes are collected until so many blocks above the soft threshold
    /// are free, or all that over-provisioning reserves. Where logical pages are bound to blocks, only
    /// those are merged whose next write would wait for that.
    pub margin: Margin,
}

impl Default for InAdvance {
    fn default() -> Self {
        Self {
            entries: 2,
            short_idle: Time::default(),
            long_idle: Time::from_us(1_000_000),
            margin: Margin::Free(FreeBlocks::Blocks { blocks: 1 }),
        }
    }
}

impl Idle {
    /// Whether collections may be put off.
    pub const fn delays(self) -> bool {
        matches!(self, Self::Delayed { .. } | Self::AdvancedDelayed { .. })
    }

    /// Use of idle time in advance, if there is one.
    pub const fn in_advance(self) -> Option<InAdvance> {
        match self {
            Self::None | Self::Delayed { .. } => None,
            Self::Advanced(advance) | Self::AdvancedDelayed(advance) => Some(advance),
        }
    }

    /// Lengths that an idle period exceeds to be used, and to be long: `short_idle` and `long_idle`, or their
    /// defaults where there is none.
    pub fn lengths(self) -> (Time, Time) {
        let advance = self.in_advance().unwrap_or_default();
        match self {
            Self::Delayed { short_idle } => (short_idle, advance.long_idle),
            _ => (advance.short_idle, advance.long_idle),
        }
    }

    /// Number of commands that the host announces to the drive before they arrive.
    pub fn entries(self) -> usize {
        self.in_advance().map_or(0, |advance| advance.entries as usize)
    }
}
