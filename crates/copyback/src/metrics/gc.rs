//! Garbage collection, as the summary tells it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::less::Less;
use crate::ssd::{Counters, Moves, PlaneUse};
use crate::units::TotalTime;

/// Garbage collection.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(extend("line" = "Collections"))]
pub struct GcSummary {
    /// Blocks collected for space.
    #[schemars(extend("page" = "Collections", "line" = "{}"))]
    pub collections: u64,
    /// Blocks of those on planes that were short of space.
    pub on_demand: u64,
    /// Blocks of those on planes that joined the collection of another.
    pub joined: u64,
    /// Blocks of those collected in idle time.
    pub idle: u64,
    /// Blocks of those that the controller of an array asked for.
    pub forced: u64,
    /// Blocks collected in idle time, by kind.
    pub kinds: IdleKindsSummary,
    /// Pages moved by collections and wear levelling.
    #[schemars(extend("page" = "Pages moved", "line" = "{} pages moved"))]
    pub pages_moved: u64,
    /// Pages moved for each block collected; null if none was.
    #[schemars(extend("page" = "Moved per collection"))]
    pub pages_moved_per_collection: Option<f64>,
    /// Moves of pages, by their way.
    pub moves: Moves,
    /// Blocks erased.
    #[schemars(extend("line" = "{} erases"))]
    pub erases: u64,
    /// Number of times that a collection that had begun yielded to the host.
    pub preemptions: u64,
    /// Reads served from the register of a collection.
    pub merged_reads: u64,
    /// Writes that took the place of the page in the register of a collection.
    pub merged_writes: u64,
    /// Reads served from the device's DRAM, where a collection had left the page.
    pub cached_reads: u64,
    /// Operations of collections that overlapped one of the host.
    pub pipelined: u64,
    /// Number of times that a read suspended a program or erase.
    pub suspends: u64,
    /// Die time in which writes waited for a free block although collections yield, or for room in a full
    /// buffer, in microseconds.
    pub stalled_us: f64,
    /// Charges to writes, where collections are paced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing: Option<PacingSummary>,
    /// Full blocks that the victim policy has refused for good, at the end, if it does such a thing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_victims: Option<u64>,
    /// Blocks collected for the sake of their data, not for space, if reads or time do anything to them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh: Option<RefreshSummary>,
    /// Die time spent collecting, in microseconds.
    #[schemars(extend("page" = "Die time"))]
    pub busy_us: f64,
    /// Use of the time in which their die collected by planes.
    pub planes: PlanesSummary,
}

/// Charges to writes of the host (`ssd.gc.preemption`, `paced`). A step is the move of a page, or an erase.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PacingSummary {
    /// Steps that the pages which the host wrote were charged.
    pub steps_charged: f64,
    /// Steps for each page: the GC rate; null if none was written.
    pub steps_per_page: Option<f64>,
    /// Writes that waited for steps before they began.
    pub throttled: u64,
}

impl PacingSummary {
    /// Summary of these counts.
    pub(super) fn of(counters: &Counters) -> Self {
        let (steps, pages) = (counters.pacing.steps(), counters.host_programs);
        Self {
            steps_charged: steps,
            steps_per_page: (pages > 0).then(|| steps / pages as f64),
            throttled: counters.pacing.throttled,
        }
    }
}

/// Blocks collected for the sake of their data.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct RefreshSummary {
    /// Because so many of their pages had been read.
    #[schemars(extend("page" = "Read reclaims"))]
    pub read_reclaims: u64,
    /// Because their data had become too old.
    #[schemars(extend("page" = "Blocks refreshed for age"))]
    pub refreshes: u64,
}

impl RefreshSummary {
    /// Of drives whose data wear out.
    pub(super) const fn of(counters: &Counters) -> Self {
        Self { read_reclaims: counters.read_reclaims, refreshes: counters.refreshes }
    }
}

/// Blocks collected in idle time, by kind.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IdleKindsSummary {
    /// Before a gap ended that the host had announced.
    pub look_ahead: u64,
    /// In long idle periods, for planes that would soon be short of space.
    pub compaction: u64,
    /// Put off when the drive was busy.
    pub delayed: u64,
    /// Number of times that the collection of a plane short of space was deferred, or the merge of a group.
    pub put_off: u64,
}

/// Use of the planes' time; null if no time passed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PlanesSummary {
    /// Share of the time in which a plane was busy.
    pub busy_share: Option<f64>,
    /// Share of the time in which a plane was idle.
    pub idle_share: Option<f64>,
}

impl GcSummary {
    /// Of drives that collected for this time, and whose planes were used so.
    pub(super) fn of(counters: &Counters, collecting: TotalTime, planes: &PlaneUse) -> Self {
        let per_collection = |pages: u64| {
            (counters.collections > 0).then(|| pages as f64 / counters.collections as f64)
        };
        let share = |time: TotalTime| {
            (!planes.whole.is_zero()).then(|| time.as_us_f64() / planes.whole.as_us_f64())
        };
        Self {
            collections: counters.collections,
            on_demand: counters.collections.less(counters.joined + counters.forced + counters.idle),
            joined: counters.joined,
            idle: counters.idle,
            forced: counters.forced,
            kinds: IdleKindsSummary {
                look_ahead: counters.look_ahead,
                compaction: counters.compacted,
                delayed: counters.delayed,
                put_off: counters.put_off,
            },
            pages_moved: counters.pages_moved,
            pages_moved_per_collection: per_collection(counters.pages_moved),
            moves: counters.moves,
            erases: counters.erases,
            preemptions: counters.preemptions,
            merged_reads: counters.merged_reads,
            merged_writes: counters.merged_writes,
            cached_reads: counters.cached_reads,
            pipelined: counters.pipelined,
            suspends: counters.suspends,
            stalled_us: counters.stalled.as_us_f64(),
            pacing: None,
            lost_victims: None,
            refresh: None,
            busy_us: collecting.as_us_f64(),
            planes: PlanesSummary {
                busy_share: share(planes.busy),
                idle_share: share(planes.idle),
            },
        }
    }
}
