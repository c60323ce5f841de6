//! Use of the blocks of another cell mode by the host's pages, for the summary.

use schemars::JsonSchema;
use serde::Serialize;

use crate::ssd::SlcState;

/// Summary of an SLC cache for `summary.json`. Counted since the run began, ramp included; bytes are those of
/// whole pages, and what a write buffer absorbs does not count.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(extend("line" = "SLC cache"))]
pub struct SlcCacheSummary {
    /// Bytes that the host wrote to blocks of the cache.
    #[schemars(extend("page" = "Written to the SLC cache", "line" = "{} written to it"))]
    pub written_bytes: u64,
    /// Bytes that it wrote past the cache, to native blocks.
    #[schemars(extend("page" = "Written past it", "line" = "{} past it"))]
    pub past_bytes: u64,
    /// Bytes that were folded: moved from the cache to native blocks.
    #[schemars(extend("page" = "Folded", "line" = "{} folded"))]
    pub folded_bytes: u64,
    /// Bytes that the host overwrote or trimmed in the cache before they were folded.
    #[schemars(extend("page" = "Died in it", "line" = "{} died in it"))]
    pub dead_bytes: u64,
    /// Blocks that were erased in the cache's mode. They are counted among all erases, too.
    pub erases: u64,
    /// Bytes that the cache could hold at the end, blocks that could be lent included.
    pub capacity_bytes: u64,
    /// Bytes of these that could be written without folding anything.
    #[schemars(extend(
        "page" = "Free in it at the end: {} of {capacity_bytes}",
        "line" = "{} of {capacity_bytes} free at the end",
    ))]
    pub free_bytes: u64,
    /// Native blocks that were lent to it at the end.
    pub lent_blocks: u64,
}

impl SlcCacheSummary {
    pub(super) const fn of(state: &SlcState, page_bytes: u64) -> Self {
        Self {
            written_bytes: state.tally.written * page_bytes,
            past_bytes: state.tally.past * page_bytes,
            folded_bytes: state.tally.folded * page_bytes,
            dead_bytes: state.died() * page_bytes,
            erases: state.tally.erases,
            capacity_bytes: state.capacity * page_bytes,
            free_bytes: state.free * page_bytes,
            lent_blocks: state.lent,
        }
    }
}
