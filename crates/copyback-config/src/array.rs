//! `[array]`: several drives behind one controller.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::{
    ConsistencyPolicy, Failures, FreeBlocks, Margin, ReadsAroundGc, Scrub, SlowDrive, WindowLength,
    choice::choice,
    quantity::{Rate, Share, Size, Time},
};

/// Several drives behind one controller. Each is as `[ssd]` and `[host]` say, and is prepared with
/// random choices of its own, so that no two start alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Array {
    /// Distribution of addresses, copies and parity over the drives.
    pub layout: Layout,
    /// Drives.
    #[schemars(range(min = 1, max = 1024))]
    pub devices: u32,
    /// Stripe unit: bytes that lie together on a drive before the next drive's turn (chunk); a multiple of 4 KiB.
    pub stripe: Size,
    /// Requests that the controller works on at once, if there are several drives; each drive has
    /// its own queue behind it (`host.queue_depth`).
    #[schemars(range(min = 1, max = 65_536))]
    pub queue_depth: u32,
    /// With `raid10`: copies of each chunk, every one on a drive of its own. Default: 2. With `raid1` every drive holds
    /// a copy.
    #[schemars(range(min = 2, max = 1024))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copies: Option<u32>,
    /// With `raid10`: places of the copies of a chunk. Default: `near`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrangement: Option<Arrangement>,
    /// With `raid1` and `raid10`: choice of the copy that a read is served from. Default: `shortest_queue`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mirror_reads: Option<MirrorReads>,
    /// Drives that are lost from the start, counted from 0.
    #[schemars(inner(range(max = 1023)))]
    pub failed: Vec<u32>,
    /// Failures of drives in the run.
    #[serde(skip_serializing_if = "crate::gc::is_default")]
    pub failures: Failures,
    /// Hot spares: empty drives that take the places of those that fail in the run. They are numbered behind the others.
    #[schemars(range(max = 256))]
    #[serde(skip_serializing_if = "crate::gc::is_default")]
    pub spares: u32,
    /// Drives that are slow for a while.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slow: Vec<SlowDrive>,
    /// Whether lost drives are replaced by empty ones and written anew.
    pub rebuild: Rebuild,
    /// Scrubs: passes that read all of the drives now and then.
    #[serde(skip_serializing_if = "crate::gc::is_default")]
    pub scrub: Scrub,
    /// Care for stripes that a cut of power (`ssd.power.cuts`) leaves half written.
    #[serde(skip_serializing_if = "crate::gc::is_default")]
    pub consistency_policy: ConsistencyPolicy,
    /// Reads that would wait behind a collection are made up from the other drives of the stripe and
    /// its parity, if none of these collects. Mirrors have `mirror_reads = "around_collections"`.
    pub reads_around_gc: ReadsAroundGc,
    /// MAY I: how the drives' collections are coordinated.
    pub coordination: Coordination,
    /// Protocol between the drives and the controller.
    pub protocol: Protocol,
}

impl Default for Array {
    fn default() -> Self {
        Self {
            layout: Layout::Single,
            devices: 1,
            stripe: Size(64 << 10),
            queue_depth: 1024,
            copies: None,
            arrangement: None,
            mirror_reads: None,
            failed: Vec::new(),
            failures: Failures::None,
            spares: 0,
            slow: Vec::new(),
            rebuild: Rebuild::None,
            scrub: Scrub::None,
            consistency_policy: ConsistencyPolicy::default(),
            reads_around_gc: ReadsAroundGc::Fixed(false),
            coordination: Coordination::Uncoordinated,
            protocol: Protocol::default(),
        }
    }
}

/// Distribution of addresses, copies and parity over the drives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// One drive.
    Single,
    /// The drives one after the other. A trace's disks go to drives of their own with
    /// `workload.device_layout = "concatenate"`.
    Jbod,
    /// Striped, without parity.
    Raid0,
    /// Every drive holds all bytes (mirrors).
    Raid1,
    /// Striped, with `array.copies` of each chunk on as many drives, placed by `array.arrangement` as Linux md does.
    Raid10,
    /// Striped, one parity unit a stripe that moves from drive to drive (left-symmetric).
    Raid5,
    /// Striped, two parity units a stripe, P and Q side by side (left-symmetric).
    Raid6,
}

impl Layout {
    /// Parity units of a stripe.
    pub const fn parities(self) -> u32 {
        match self {
            Self::Single | Self::Jbod | Self::Raid0 | Self::Raid1 | Self::Raid10 => 0,
            Self::Raid5 => 1,
            Self::Raid6 => 2,
        }
    }

    /// Whether addresses go from drive to drive.
    pub const fn is_striped(self) -> bool {
        matches!(self, Self::Raid0 | Self::Raid5 | Self::Raid6 | Self::Raid10)
    }

    /// Whether several drives hold the same bytes.
    pub const fn is_mirrored(self) -> bool {
        matches!(self, Self::Raid1 | Self::Raid10)
    }

    /// Whether copies or parity make up for what a drive loses.
    pub const fn is_redundant(self) -> bool {
        self.parities() > 0 || self.is_mirrored()
    }

    /// Fewest drives.
    pub const fn least_devices(self) -> u32 {
        match self {
            Self::Single | Self::Jbod | Self::Raid0 => 1,
            Self::Raid1 | Self::Raid10 => 2,
            Self::Raid5 => 3,
            Self::Raid6 => 4,
        }
    }
}

/// Places of the copies of a chunk of RAID-10, as `man 4 md` defines them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrangement {
    /// Copies lie side by side: at the same offset of neighbouring drives, or one chunk later where the drives end.
    Near,
    /// Each drive has a part for each copy. Each part is striped as RAID-0, one drive further right than the part before.
    Far,
    /// Each stripe comes once for each copy, one below the other and each one drive further right.
    Offset,
}

/// Choice of the copy that a read is served from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MirrorReads {
    /// The first copy that is there.
    First,
    /// The copies of the same drives in turn.
    RoundRobin,
    /// Any copy, with equal chances.
    Random,
    /// The drive with the fewest commands, waiting ones included; of equals the first copy.
    ShortestQueue,
    /// A drive that does not collect where the read goes; of equals the one with the fewest commands.
    AroundCollections,
}

impl Array {
    /// Drives that hold data or may come to: those of the layout and the spares.
    pub const fn members(&self) -> u32 {
        self.devices.saturating_add(self.spares)
    }

    /// All drives: the members, and behind them that of a journal.
    pub const fn drives(&self) -> u32 {
        self.members().saturating_add(self.consistency_policy.drives())
    }

    /// Bytes of its address space, of drives of `device_bytes` each. Of a striped drive the rest that
    /// is no whole unit stays unused.
    pub fn capacity(&self, device_bytes: u64) -> u64 {
        let device_bytes = self.data_bytes(device_bytes);
        let unit = self.stripe.0.max(1);
        let data = u64::from(self.devices.saturating_sub(self.layout.parities()));
        match self.layout {
            Layout::Single | Layout::Jbod => data.saturating_mul(device_bytes),
            Layout::Raid0 | Layout::Raid5 | Layout::Raid6 => {
                data.saturating_mul(device_bytes - device_bytes % unit)
            }
            Layout::Raid1 => device_bytes,
            Layout::Raid10 => self.raid10_bytes(device_bytes),
        }
    }

    /// Bytes of each drive of `device_bytes` from its first on that data, copies and parity may take.
    pub fn data_bytes(&self, device_bytes: u64) -> u64 {
        device_bytes.saturating_sub(self.metadata_bytes(device_bytes))
    }

    /// Bytes at the end of each drive of `device_bytes` that `consistency_policy` takes for itself.
    pub fn metadata_bytes(&self, device_bytes: u64) -> u64 {
        // A resync of mirrors goes over the bytes of the array, of parity over those of a drive.
        let resynced = match self.layout {
            Layout::Raid10 => self.raid10_bytes(device_bytes),
            _ => device_bytes,
        };
        self.consistency_policy.metadata_bytes(resynced)
    }

    /// Bytes of RAID-10 that differ, of drives of `device_bytes` each (`raid10_size` of Linux md).
    fn raid10_bytes(&self, device_bytes: u64) -> u64 {
        let unit = self.stripe.0.max(1);
        let (devices, copies) = (u64::from(self.devices), u64::from(self.copies_of_data().max(1)));
        let rows = device_bytes / unit;
        let chunks = match self.arrangement() {
            Arrangement::Near => rows.saturating_mul(devices) / copies,
            Arrangement::Far | Arrangement::Offset => (rows / copies).saturating_mul(devices),
        };
        chunks.saturating_mul(unit)
    }

    /// Copies of each byte: 1 where drives are no mirrors.
    pub fn copies_of_data(&self) -> u32 {
        match self.layout {
            Layout::Raid1 => self.devices,
            Layout::Raid10 => self.copies.unwrap_or(2),
            Layout::Single | Layout::Jbod | Layout::Raid0 | Layout::Raid5 | Layout::Raid6 => 1,
        }
    }

    /// Places of the copies of a chunk. Of RAID-1 they lie side by side.
    pub fn arrangement(&self) -> Arrangement {
        self.arrangement.unwrap_or(Arrangement::Near)
    }

    /// The choice of the copy that a read is served from; none where there are no copies.
    pub fn mirror_reads(&self) -> Option<MirrorReads> {
        let chosen = self.mirror_reads.unwrap_or(MirrorReads::ShortestQueue);
        self.layout.is_mirrored().then_some(chosen)
    }
}

choice! {
    /// Whether lost drives are replaced and written anew.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Rebuild {
        /// No: what they held is read from copies, or made up from the others, at each read.
        None,
        /// From the first stripe to the last, while requests are served.
        Rate {
            /// Bytes written to each replacement in a second, if the drives keep up.
            rate: Rate,
            /// Bytes of a drive that are rebuilt at a time; whole stripe units.
            #[serde(default = "default_rebuild_unit")]
            unit: Size,
        },
        /// From the first stripe to the last, slower while requests come, as Linux md does (`sync_speed_min`, `sync_speed_max`).
        Throttled {
            /// Bytes written to each replacement in a second while requests come.
            #[serde(default = "default_least_rate")]
            least: Rate,
            /// Bytes written to each replacement in a second while none do, if the drives keep up.
            #[serde(default = "default_most_rate")]
            most: Rate,
            /// Bytes of a drive that are rebuilt at a time; whole stripe units.
            #[serde(default = "default_rebuild_unit")]
            unit: Size,
        },
    }
}

impl Rebuild {
    /// Bytes of a drive that are rebuilt at a time, if any are.
    pub const fn unit(self) -> Option<Size> {
        match self {
            Self::None => None,
            Self::Rate { unit, .. } | Self::Throttled { unit, .. } => Some(unit),
        }
    }
}

/// The default of Linux md: 1,000 KiB/s.
pub(super) const fn default_least_rate() -> Rate {
    Rate::BytesPerSecond(1_000 << 10)
}

/// The default of Linux md: 200,000 KiB/s.
pub(super) const fn default_most_rate() -> Rate {
    Rate::BytesPerSecond(200_000 << 10)
}

pub(super) const fn default_rebuild_unit() -> Size {
    Size(512 << 10)
}

choice! {
    /// MAY I: how the collections of an array's drives are coordinated. Whatever the controller says
    /// or doesn't, a drive collects by itself when a plane has fewer free blocks than
    /// `ssd.gc.soft_threshold` (Kim, Lee, Oral, Dillow, Wang, Shipman: Harmonia, IEEE TC).
    #[derive(Debug, Clone, PartialEq)]
    pub enum Coordination {
        /// Each drive collects when it must.
        Uncoordinated,
        /// A drive that runs short makes all of them collect.
        ReactiveInclusive {
            /// Every plane collects at least one block each time, whether it is short or not, as in
            /// the paper; else only planes below the target do.
            #[serde(default = "yes")]
            regardless: bool,
            /// Whether the controller waits for a better moment than the first at which a drive runs short.
            #[serde(default = "at_once")]
            delay: Delay,
        },
        /// Drives below the register threshold enrol; the first that must collect makes these, and
        /// only these, collect with it.
        ReactiveSelective,
        /// Proactive: as `reactive_selective`; and when no request has been in the array for a while, those
        /// enrolled collect until their whole reserve is free or a request comes.
        ProactiveIdle {
            /// Interval at which the controller looks whether the array is idle.
            #[serde(default = "default_check")]
            #[schemars(extend("shortest" = "1us"))]
            check: Time,
            /// The array is taken to stay idle after it has been so for longer than this.
            #[serde(default = "default_idle")]
            idle: Time,
        },
        /// The controller asks all drives for their state now and then, and picks the moment for
        /// those below the register threshold to collect together (described in the paper, not
        /// evaluated there).
        ProactiveSoftLimit {
            /// Interval at which it asks.
            #[serde(default = "default_period")]
            #[schemars(extend("shortest" = "1us"))]
            period: Time,
            /// Share of the drives that must be below the register threshold ...
            #[serde(default = "default_quorum")]
            quorum: Share,
            /// ... and requests in the array, at most, for the moment to be right.
            #[serde(default)]
            #[schemars(range(min = 0, max = 65_536))]
            outstanding: u32,
        },
        /// Drives take turns: each may collect up to the target in its own window, so that the others
        /// are predictable (NVMe predictable latency mode; IODA, SOSP 2021).
        Staggered {
            /// Length of a window.
            #[serde(default = "default_window")]
            window: WindowLength,
            /// Time before the end of a window from which its drive begins no collection any more. Shorter than the
            /// window.
            #[serde(default, skip_serializing_if = "crate::gc::is_default")]
            guard: Time,
        },
        /// Coordination by a class written in Python (`copyback.CoordinationPolicy`).
        Python {
            /// `file.py:Class`, `package.module:Class`, or a name that a package has registered under
            /// `copyback.coordinators`. The file is found like a trace, beside the configuration.
            policy: String,
            /// Arguments of the class: numbers, texts, switches, and lists of them.
            #[serde(default, skip_serializing_if = "Map::is_empty")]
            parameters: Map<String, Json>,
        },
    }
}

choice! {
    /// Whether a controller delays a round after a drive has told that it runs short.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Delay {
        /// Begins at once.
        None,
        /// Begins when few requests are in the array, or when many drives run short; and in any case before a
        /// drive has been sent all that it said it can still write. Described in section 4.3.1 of the paper,
        /// not evaluated there.
        UntilQuiet {
            /// Requests in the array, at most, for the moment to be right.
            #[serde(default)]
            #[schemars(range(min = 0, max = 65_536))]
            outstanding: u32,
            /// Share of the drives that run short at which nobody is waited for.
            #[serde(default = "default_delay_quorum")]
            quorum: Share,
            /// Share of what a drive said it can still write at which it is waited no longer.
            #[serde(default = "default_used")]
            used: Share,
        },
    }
}

const fn default_delay_quorum() -> Share {
    Share(1.0)
}

const fn default_used() -> Share {
    Share(0.9)
}

const fn at_once() -> Delay {
    Delay::None
}

const fn yes() -> bool {
    true
}

const fn default_check() -> Time {
    Time::from_us(1000)
}

const fn default_idle() -> Time {
    Time::from_us(10_000)
}

const fn default_period() -> Time {
    Time::from_us(10_000)
}

const fn default_quorum() -> Share {
    Share(0.5)
}

const fn default_window() -> WindowLength {
    WindowLength::Fixed(Time::from_us(100_000))
}

/// Protocol between the drives and the controller of an array.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Protocol {
    /// Time that a message takes, either way.
    #[schemars(extend("longest" = "1min"))]
    pub latency: Time,
    /// Drives that neither send nor understand messages, counted from 0.
    #[schemars(inner(range(max = 1023)))]
    pub silent: Vec<u32>,
    /// Distance above `ssd.gc.soft_threshold` (T_hard of Harmonia) at which a drive tells the controller that
    /// it runs short: the register threshold (T_soft). At least one block.
    pub register_margin: Margin,
    /// Distance above `ssd.gc.soft_threshold` of a plane's free blocks when a drive that was told to collect is
    /// done with it: the target. At least the register threshold.
    pub target_margin: Margin,
    /// Goal of each plane when its drive is told to collect.
    pub round: Round,
}

choice! {
    /// Goal of each plane when its drive is told to collect. In idle time (`proactive_idle`) it goes until the
    /// reserve is free or a request comes, whatever this says.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Round {
        /// Until the target (`target_margin`) is reached.
        UntilTarget,
        /// Until then, or until so many of its blocks have been collected.
        Blocks {
            /// Blocks of a plane that are collected in a round, at most.
            #[schemars(range(min = 1, max = 16_777_216))]
            blocks: u32,
        },
        /// Until then, or until this share of its blocks has been collected.
        Share {
            /// Of the blocks of a plane, rounded up.
            share: Share,
        },
    }
}

impl Default for Protocol {
    fn default() -> Self {
        Self {
            latency: Time::from_us(0),
            silent: Vec::new(),
            register_margin: Margin::Free(FreeBlocks::Share(Share(0.01))),
            target_margin: Margin::Free(FreeBlocks::Share(Share(0.02))),
            round: Round::UntilTarget,
        }
    }
}
