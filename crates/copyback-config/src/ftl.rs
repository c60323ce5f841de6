//! `[ssd.ftl]`: the translation layer.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value as Json};

use super::gc::is_default;

use super::{
    FreeBlocks,
    choice::choice,
    quantity::{Share, Size},
};

/// Flash translation layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ftl {
    /// Mapping of logical pages to physical ones.
    pub mapping: Mapping,
    /// Grouping of logical pages to logical blocks, and so which lie on one plane. Of no effect where pages are
    /// mapped one by one.
    pub logical_blocks: LogicalBlocks,
    /// Allocation: the plane that a logical page is written to. Where pages are bound to blocks,
    /// `logical_blocks` says which of them take their turn together.
    pub allocation: Allocation,
    /// Share of physical pages that the host does not see: logical pages = physical pages x
    /// (1 - over_provisioning).
    pub over_provisioning: Share,
    /// Placement: the open block of its plane that a page goes to. Of no effect where logical blocks have
    /// blocks of their own.
    pub placement: Placement,
    /// Order in which erased blocks are used again.
    pub free_blocks: FreeBlockOrder,
    /// The last page of every block holds the block's summary and no data.
    pub summary_page: SummaryPage,
    /// Bytes that are mapped together, if fewer than a page (or than the pages of a superblock's planes). A page then
    /// holds several such units, which the controller gathers and programs at once, as drives do that map 4 KiB in
    /// pages of 16 KiB. Default: a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mapping_unit: Option<Size>,
    /// RAIN: of each line (`ssd.gc.unit = "line"`) one die holds parity, another one with each line that is opened. A stripe
    /// is the pages at one offset of one plane number over the dies. Parity is part of what over-provisioning hides.
    #[serde(skip_serializing_if = "is_default")]
    pub rain: bool,
    /// With `rain`: a read that would wait behind a collection is made up from the other pages of its stripe, unless one of
    /// their dies collects, too (TTFLASH: Yan et al., FAST 2017).
    #[serde(skip_serializing_if = "is_default")]
    pub reads_around_gc: bool,
}

impl Default for Ftl {
    fn default() -> Self {
        Self {
            mapping: Mapping::Page,
            logical_blocks: LogicalBlocks::Striped,
            allocation: Allocation::Order(AllocationOrder::Cwdp),
            over_provisioning: Share(0.15),
            placement: Placement::HostAndGcApart,
            free_blocks: FreeBlockOrder::Fifo,
            summary_page: SummaryPage::None,
            mapping_unit: None,
            rain: false,
            reads_around_gc: false,
        }
    }
}

choice! {
    /// Mapping of logical pages to physical ones.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Mapping {
        /// Every logical page maps to any physical page; the whole table is in RAM.
        Page,
        /// Every logical page maps to any physical page; the table lies in translation pages in flash, and RAM
        /// holds a cache of its entries: what is not there is fetched, what has changed is written back (DFTL:
        /// Gupta, Kim, Urgaonkar, ASPLOS 2009).
        DemandPaged {
            /// RAM for cached entries. A cache that has room for the whole table needs no translation
            /// pages.
            #[serde(default = "default_cache")]
            cache: Size,
            /// Bytes of an entry in the cache, which names its logical page as well.
            #[serde(default = "default_cached_entry")]
            cached_entry: Size,
            /// Bytes of an entry in a translation page.
            #[serde(default = "default_entry")]
            entry: Size,
            /// Unit that the cache holds and a miss brings in: an `entry` (the default), as in DFTL, or a
            /// `segment`, a whole translation page, as drives do that have little RAM or use their host's.
            #[serde(default, skip_serializing_if = "is_default")]
            unit: CachedUnit,
            /// RAM for entries that have changed without being in the cache, as their pages were moved or trimmed.
            /// Translation pages are written when it is full, the one with most such entries first; with none (the
            /// default), those of a collected block's pages once it is erased.
            #[serde(default, skip_serializing_if = "is_default")]
            unwritten: Size,
        },
        /// A logical block has a data block, in which each page has its place, and at most one update
        /// block that takes its writes; the two are merged by a switch, in part or in full (Kim et al.
        /// 2002; L-FTL of Jung et al. 2012).
        LogBlock,
        /// Mapping as `log_block`, with blocks of each plane as a page-mapped, non-volatile buffer. A write
        /// that would need a merge first goes there; its logical block is merged afterwards, its pages in the
        /// buffer included (P-FTL of Jung et al. 2012; after Choudhuri and Givargis, CODES+ISSS 2008).
        BufferedLogBlock {
            /// Blocks of each plane that make up the buffer: a share, or a count.
            #[serde(default = "default_nv_buffer")]
            buffer: FreeBlocks,
        },
        /// Neighbouring logical blocks share data and update blocks, page-mapped among themselves;
        /// they are compacted when their update blocks are used up (Kang et al. 2006; H-FTL of Jung et
        /// al. 2012).
        Superblock {
            /// Logical blocks of a superblock, and so the data blocks that it needs.
            #[serde(default = "default_data_blocks")]
            #[schemars(range(min = 1, max = 65_535))]
            data_blocks: u32,
            /// Most blocks that it may hold beyond those.
            #[serde(default = "default_update_blocks")]
            #[schemars(range(min = 1, max = 65_535))]
            update_blocks: u32,
        },
    }
}

/// Unit that the cache of a mapping table in flash holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CachedUnit {
    /// Single entries.
    #[default]
    Entry,
    /// Whole translation pages.
    Segment,
}

/// 14 GB beside 64 GB.
const fn default_nv_buffer() -> FreeBlocks {
    FreeBlocks::Share(Share(0.18))
}

const fn default_cache() -> Size {
    Size(64 << 10)
}

const fn default_cached_entry() -> Size {
    Size(8)
}

const fn default_entry() -> Size {
    Size(4)
}

const fn default_data_blocks() -> u32 {
    2
}

const fn default_update_blocks() -> u32 {
    8
}

impl Mapping {
    /// Logical blocks that share their blocks, where pages are not mapped one by one over a plane.
    pub const fn blocks_per_group(self) -> Option<u32> {
        match self {
            Self::LogBlock | Self::BufferedLogBlock { .. } => Some(1),
            Self::Superblock { data_blocks, .. } => Some(data_blocks),
            _ => None,
        }
    }

    /// Whether any logical page may lie anywhere.
    pub const fn is_page_mapping(self) -> bool {
        self.blocks_per_group().is_none()
    }

    /// Whether each page of a data block has its place.
    pub const fn has_log_blocks(self) -> bool {
        matches!(self, Self::LogBlock | Self::BufferedLogBlock { .. })
    }
}

choice! {
    /// Grouping of logical pages to logical blocks.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum LogicalBlocks {
        /// Every n-th page of the drive, n being its planes: successive pages lie on successive planes.
        Striped,
        /// Successive pages; successive logical blocks lie on successive planes (Jung et al. 2012, figures 5
        /// and 6).
        Contiguous,
        /// Successive pages go round so many successive planes until a logical block of each is full; then the
        /// next planes have their turn.
        Superpage {
            /// Planes of a superpage: a divisor of those of the drive.
            #[schemars(range(min = 1, max = 2_097_152))]
            planes: u32,
        },
    }
}

/// Allocation: the plane that a logical page is written to.
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
        /// Choice of the plane of the die.
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

/// Choice of the plane of a die when the allocation does not fix it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlaneChoice {
    /// The plane with most free pages, of open blocks only those of the page's class; ties go round.
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

choice! {
    /// Placement: the open block of its plane that a page goes to.
    #[derive(Debug, Clone, PartialEq)]
    pub enum Placement {
        /// One open block for all.
        OneClass,
        /// One for host writes and one for what collections move: collected (colder) pages do not mix with
        /// host writes.
        HostAndGcApart,
        /// One for each handle that the host may name, and for what collections move. The handle of a page is the flow
        /// that writes it, counted from 0, or what the trace says; handle 0 if there is none, or no such handle.
        ByHint {
            /// Handles: placement handles (NVMe 2.1, flexible data placement) or streams.
            #[serde(default = "default_handles")]
            #[schemars(range(min = 1, max = 64))]
            handles: u32,
            /// Isolation of the data of several handles when they are moved.
            #[serde(default)]
            isolation: Isolation,
            /// Blocks of a reclaim unit, which a handle fills one after the other and which are reclaimed together, one after
            /// the other: blocks of a plane, or lines, where `ssd.gc.unit` is `"line"`.
            #[serde(default = "one_block", skip_serializing_if = "is_one_block")]
            #[schemars(range(min = 1, max = 1024))]
            reclaim_unit: u32,
        },
        /// By when a page dies, which is known from a pass over the workload: a bound on what placements can reach.
        /// Not with several drives or flows, a write buffer, cuts of power or `stop`: which pages are written, and in
        /// which order, would depend on the run.
        Oracle {
            /// Number of classes.
            #[serde(default = "six_classes")]
            #[schemars(range(min = 2, max = 128))]
            classes: u32,
            /// Pages with so much life left, or less, are of the first class: in blocks of each plane that the host
            /// fills meanwhile.
            #[serde(default = "one")]
            #[schemars(range(min = 0.001, max = 1_000_000))]
            width: f64,
            /// Each class but the last is so many times as wide as the one before; 1 is FK of Wang et al. (FAST 2022),
            /// whose last class takes nearly all that lives long.
            #[serde(default = "three")]
            #[schemars(range(min = 1, max = 1000))]
            growth: f64,
        },
        /// Six, by the time at which a page is likely to be overwritten: two for pages of the host, by how long
        /// the last version lived; one for what is moved out of the first of these; three for what is moved
        /// otherwise, by its age (SepBIT: Wang et al., FAST 2022).
        #[serde(rename = "sepbit")]
        SepBit,
        /// By a level for each page: one up when the host rewrites it, one down when a collection moves it (DAC: Chiang,
        /// Lee, Chang 1999). Class 0 is the coldest.
        Dac {
            /// Levels.
            #[serde(default = "six_classes")]
            #[schemars(range(min = 2, max = 64))]
            classes: u32,
            /// The age, in pages that the host has written to the drive, below which a page is young: then only pages that
            /// are rewritten young go up, and only those that are not young come down, as in the paper. Without it (the
            /// default) all do, as in the simulator of SepBIT's authors.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[schemars(range(min = 1, max = 100_000_000))]
            young: Option<u64>,
        },
        /// By a count for each page, which writes of the host raise and moves lower, against the average: class 0 takes
        /// pages with up to the average, each class behind it ten times as many (FADaC: Kremer, Brinkmann, SYSTOR 2019).
        #[serde(rename = "fadac")]
        Fadac {
            /// Powers of ten that are told apart.
            #[serde(default = "six_classes")]
            #[schemars(range(min = 2, max = 64))]
            classes: u32,
            /// Average that counts are compared with: the one that `fading` makes (the default), or their
            /// `mean`.
            #[serde(default, skip_serializing_if = "is_default")]
            average: Average,
        },
        /// Hot and cold extents, and what collections move: few extents with small counters cover all pages. A run of
        /// pages counts for those that it covers and cuts out what it covers in part; counters are halved and neighbours
        /// that are alike joined now and then (ETI: Shafaei, Desnoyers, Fitzpatrick, HotStorage 2016). Class 0 is hot, 1
        /// cold, 2 moved.
        Eti {
            /// Most extents.
            #[serde(default = "default_extents")]
            #[schemars(range(min = 1, max = 1_048_576))]
            extents: u32,
            /// Runs of pages after which counters are halved.
            #[serde(default = "default_eti_period")]
            #[schemars(range(min = 1, max = 100_000_000))]
            period: u32,
            /// The count from which on an extent is hot; counters go up to 15.
            #[serde(default = "default_hot")]
            #[schemars(range(min = 1, max = 15))]
            hot: u8,
        },
        /// By how often the chunk of the page is written: its count's logarithm is its queue, and its class. A chunk that is
        /// not written for as long as the hottest took to come back expires and goes down a queue. What collections move is
        /// apart (AutoStream, multi-queue: Yang et al., SYSTOR 2017). Class 0 is the coldest, the last one moved.
        AutoStreamMultiQueue {
            /// Queues, and one for what is moved.
            #[serde(default = "six_classes")]
            #[schemars(range(min = 2, max = 64))]
            classes: u32,
            /// Pages of a chunk.
            #[serde(default = "default_multi_queue_chunk")]
            #[schemars(range(min = 1, max = 1_048_576))]
            chunk_pages: u32,
            /// Unit that counts as a write of a chunk: a run of pages that are written one behind the other
            /// (`runs`, the default; a request, most of the time), or each page (`pages`).
            #[serde(default, skip_serializing_if = "is_default")]
            counted: Counted,
            /// Logarithm of a count that gives the queue: `natural` (the default), or `binary`.
            #[serde(default, skip_serializing_if = "is_default")]
            logarithm: Logarithm,
            /// Treatment of a chunk that is not written for long: `demotes` (the default), it goes down a
            /// queue, or `none`.
            #[serde(default, skip_serializing_if = "is_default")]
            expiry: Expiry,
        },
        /// By sequentiality, frequency and recency: a page that goes on with a run stays in the class of the page before;
        /// else the logarithm of its chunk's count of writes, which halves with each period without one, is its class. What
        /// collections move is apart (AutoStream, SFR: Yang et al., SYSTOR 2017). Class 0 is the coldest, the last one moved.
        AutoStreamSfr {
            /// Number of classes: those for frequencies, and one for pages that are moved.
            #[serde(default = "six_classes")]
            #[schemars(range(min = 2, max = 64))]
            classes: u32,
            /// Pages of a chunk.
            #[serde(default = "default_sfr_chunk")]
            #[schemars(range(min = 1, max = 1_048_576))]
            chunk_pages: u32,
            /// Unit that counts as a write of a chunk: a run of pages that are written one behind the other
            /// (`runs`, the default; a request, most of the time), or each page (`pages`).
            #[serde(default, skip_serializing_if = "is_default")]
            counted: Counted,
            /// Pages that the host writes to the drive while the count of a chunk that it does not write halves.
            #[serde(default = "default_sfr_period")]
            #[schemars(range(min = 1, max = 100_000_000))]
            period: u32,
            /// Logarithm of a count that gives the class: `natural` (the default), or `binary`.
            #[serde(default, skip_serializing_if = "is_default")]
            logarithm: Logarithm,
        },
        /// By the time between the writes of a page: clusters of such times
        /// follow what comes (online k-means), and split and merge now and then. What collections move is apart, class 0
        /// (WARCIP: Yang, Pei, Yang, SYSTOR 2019).
        Warcip {
            /// Most clusters, and one for what is moved.
            #[serde(default = "six_classes")]
            #[schemars(range(min = 2, max = 64))]
            classes: u32,
            /// Blocks that the pages of the host fill before clusters split or merge.
            #[serde(default = "default_warcip_period")]
            #[schemars(range(min = 1, max = 100_000_000))]
            period: u32,
            /// Clock of ages and intervals: pages that the host has written to the drive (`writes`, the
            /// default), or `time`.
            #[serde(default, skip_serializing_if = "is_default")]
            clock: Clock,
        },
        /// Groups as of `generations`, whose number and sizes a model chooses from a histogram of how long
        /// pages live, for least write amplification, and hot pages apart; groups merge where the model is
        /// wrong (MiDAS: Oh et al., FAST 2024). Class 0 is hot.
        #[serde(rename = "midas")]
        Midas {
            /// Most groups, and so open blocks of a plane.
            #[serde(default = "eight_classes")]
            #[schemars(range(min = 3, max = 16))]
            classes: u32,
            /// One page in so many is sampled for the histogram.
            #[serde(default = "default_sample")]
            #[schemars(range(min = 1, max = 1_000_000))]
            sample: u32,
        },
        /// By how often a page has been moved since the host wrote it: what is collected goes one generation on, and stays
        /// in the last. A generation that holds more blocks than it may loses its oldest, whatever is in it; otherwise the
        /// victim policy chooses in the last one. The chain of groups of MiDAS (Oh et al., FAST 2024) with fixed sizes.
        /// Class 0 is what the host writes.
        Generations {
            /// Full blocks of each plane that each generation but the last may hold: shares of the plane's blocks, or
            /// counts.
            #[serde(default = "default_generations")]
            #[schemars(length(min = 1, max = 63))]
            sizes: Vec<FreeBlocks>,
        },
        /// By hotness, the times that a page has been written over the time since it was last: blocks are clustered by the
        /// hotness of their valid pages (k-means), and a page goes to the nearest cluster. Host and moved pages fill the same
        /// blocks (SFS: Min et al., FAST 2012). Class 0 is the hottest.
        Sfs {
            /// Clusters.
            #[serde(default = "six_classes")]
            #[schemars(range(min = 2, max = 64))]
            classes: u32,
            /// Collections from one clustering to the next, each of which looks at all blocks of the drive.
            #[serde(default = "default_sfs_period")]
            #[schemars(range(min = 1, max = 100_000_000))]
            period: u32,
            /// Clock of ages and intervals: pages that the host has written to the drive (`writes`, the
            /// default), or `time`.
            #[serde(default, skip_serializing_if = "is_default")]
            clock: Clock,
        },
        /// Placement by a class written in Python (`copyback.PlacementPolicy`).
        Python {
            /// `file.py:Class`, `package.module:Class`, or a name that a package has registered under
            /// `copyback.placements`. The file is found like a trace, beside the configuration.
            policy: String,
            /// Classes of pages: open blocks of each plane.
            #[serde(default = "six_classes")]
            #[schemars(range(min = 1, max = 128))]
            classes: u32,
            /// Number of classes, from 0 on, that take pages of the host; the others take pages that are moved.
            /// Without it all of them take both.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[schemars(range(min = 1, max = 127))]
            host_classes: Option<u32>,
            /// Arguments of the class: numbers, texts, switches, and lists of them.
            #[serde(default, skip_serializing_if = "Map::is_empty")]
            parameters: Map<String, Json>,
        },
        /// By logs of pages that are written about as often: a page that is moved goes on to the next colder one, and one that
        /// is written again sooner than its log has it goes back to the next hotter one, by chance. Host and moved pages fill
        /// the same blocks (MultiLog: Stoica, Ailamaki, PVLDB 2013). Class 0 is the hottest.
        MultiLog {
            /// Most logs.
            #[serde(default = "six_classes")]
            #[schemars(range(min = 2, max = 64))]
            classes: u32,
            /// Promotion of pages that come early to the hotter log: `random` (the default), the earlier the
            /// likelier, or `sure`, all of them.
            #[serde(default, skip_serializing_if = "is_default")]
            promotion: Promotion,
            /// Choice of the block to be collected: the one that `ssd.gc.victim` says (`policy`, the default),
            /// or the oldest of the log in which room saves least writes, so that it goes to where it saves
            /// most (`own`).
            #[serde(default, skip_serializing_if = "is_default")]
            victims: LogVictims,
        },
    }
}

const fn eight_classes() -> u32 {
    8
}

const fn default_sample() -> u32 {
    100
}

fn default_generations() -> Vec<FreeBlocks> {
    [0.05, 0.1, 0.15].map(|share| FreeBlocks::Share(Share(share))).to_vec()
}

const fn one() -> f64 {
    1.0
}

const fn three() -> f64 {
    3.0
}

const fn default_handles() -> u32 {
    8
}

const fn one_block() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_one_block(blocks: &u32) -> bool {
    *blocks == 1
}

/// Whether collections keep the data of handles apart, in the words of NVMe's flexible data placement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// Initially isolated: what is moved of all handles goes to one open block.
    #[default]
    Initial,
    /// Persistently isolated: what is moved of each handle goes to an open block of its own.
    Persistent,
}

const fn six_classes() -> u32 {
    6
}

const fn default_extents() -> u32 {
    1024
}

const fn default_eti_period() -> u32 {
    4096
}

const fn default_hot() -> u8 {
    4
}

const fn default_multi_queue_chunk() -> u32 {
    256
}

const fn default_sfr_chunk() -> u32 {
    512
}

const fn default_sfr_period() -> u32 {
    16_384
}

const fn default_warcip_period() -> u32 {
    256
}

const fn default_sfs_period() -> u32 {
    1
}

/// The logarithm of a count of writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Logarithm {
    /// To the base e, rounded down, as the simulator of SepBIT's authors has it.
    #[default]
    Natural,
    /// To the base two, rounded down.
    Binary,
}

/// Unit that counts as a write of a chunk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// A run of pages that are written one behind the other.
    #[default]
    Runs,
    /// Each page.
    Pages,
}

/// Treatment of a chunk that is not written for long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Expiry {
    /// Demotion by a queue, with as few writes as are counted there.
    #[default]
    Demotes,
    /// No effect, as far as classes can tell: what the simulator of SepBIT's authors comes to, where the next
    /// write brings the chunk back to its old queue.
    None,
}

/// Clock of a placement's ages and intervals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// Pages that the host has written to the drive.
    #[default]
    Writes,
    /// Microseconds, at the times at which pages of the host are written. No time passes while the drive is prepared.
    Time,
}

/// Promotion to a hotter log of pages that are written again sooner than expected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Promotion {
    /// With a chance that is the share of the expected time by which they come early, as the simulator of SepBIT's authors
    /// has it.
    #[default]
    Random,
    /// All.
    Sure,
}

/// Source of MultiLog's victims.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogVictims {
    /// From all blocks of the plane, as the victim policy says.
    #[default]
    Policy,
    /// From the log in which room saves least writes, its oldest block.
    Own,
}

/// Average of counts that pages are compared with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Average {
    /// Each page that is written adds its share, and each run of pages written one behind the other takes one share of
    /// the average away, as the simulator of SepBIT's authors has it for requests.
    #[default]
    Fading,
    /// The mean of the counts that pages have now.
    Mean,
}

/// Most open blocks of a plane, for pages of different classes.
pub const MOST_CLASSES: u32 = 128;

impl Placement {
    /// Blocks, or lines, that are filled for a class before it goes on with others, and that are reclaimed together.
    pub const fn reclaim_unit(&self) -> u32 {
        match *self {
            Self::ByHint { reclaim_unit, .. } => reclaim_unit,
            _ => 1,
        }
    }

    /// Whether it has a say in which blocks are collected.
    pub const fn chooses_victims(&self) -> bool {
        match self {
            Self::Generations { .. } | Self::Midas { .. } => true,
            Self::MultiLog { victims, .. } => matches!(victims, LogVictims::Own),
            _ => false,
        }
    }

    /// Clock of ages and intervals.
    pub const fn clock(&self) -> Clock {
        match *self {
            Self::Warcip { clock, .. } | Self::Sfs { clock, .. } => clock,
            _ => Clock::Writes,
        }
    }

    /// Open blocks of each plane.
    pub const fn classes(&self) -> u32 {
        match *self {
            Self::OneClass => 1,
            Self::HostAndGcApart => 2,
            Self::ByHint { handles, isolation: Isolation::Initial, .. } => {
                handles.saturating_add(1)
            }
            Self::ByHint { handles, isolation: Isolation::Persistent, .. } => {
                handles.saturating_mul(2)
            }
            Self::Oracle { classes, .. } => classes,
            Self::SepBit => 6,
            Self::Eti { .. } => 3,
            Self::Generations { ref sizes } => sizes.len() as u32 + 1,
            Self::Dac { classes, .. }
            | Self::Fadac { classes, .. }
            | Self::AutoStreamMultiQueue { classes, .. }
            | Self::AutoStreamSfr { classes, .. }
            | Self::Midas { classes, .. }
            | Self::Warcip { classes, .. }
            | Self::MultiLog { classes, .. }
            | Self::Sfs { classes, .. }
            | Self::Python { classes, .. } => classes,
        }
    }
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
