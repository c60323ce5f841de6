//! Cost of mappings that are not wholly in RAM, for the summary.

use schemars::JsonSchema;
use serde::Serialize;

use crate::ssd::Counters;

/// Cost of finding pages, and of reclaiming blocks. All is zero of a page mapping in RAM.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(extend("line" = "Mapping: {label}: {}"))]
pub struct MappingSummary {
    /// Page operations whose mapping was in RAM.
    pub hits: u64,
    /// Page operations that waited for their mapping.
    pub misses: u64,
    /// Share of page operations whose mapping was in RAM; null if the table does not lie in flash.
    #[schemars(extend("page" = "Found in RAM: {:share}", "if" = "hit_ratio"))]
    pub hit_ratio: Option<f64>,
    /// Entries that left the cache.
    #[schemars(extend(
        "page" = "Entries evicted: {}, {dirty_evictions} changed",
        "if" = "hit_ratio",
    ))]
    pub evictions: u64,
    /// Entries of those that had to be written back.
    pub dirty_evictions: u64,
    /// Translation pages read, to fetch entries or to be updated: from flash, the register of a collection or DRAM.
    #[schemars(extend("page" = "Translation pages read", "if" = "hit_ratio"))]
    pub translation_reads: u64,
    /// Translation pages written.
    #[schemars(extend("page" = "Translation pages written", "if" = "hit_ratio"))]
    pub translation_writes: u64,
    /// Update blocks that became data blocks.
    pub switch_merges: u64,
    /// Data blocks of which the rest was copied behind an update block's pages.
    pub partial_merges: u64,
    /// Logical blocks that were copied to fresh blocks.
    pub full_merges: u64,
    /// Superblocks whose blocks were compacted.
    pub compactions: u64,
    /// The buffer that takes writes before merges.
    pub nv_buffer: NvBufferSummary,
}

/// Use of a non-volatile buffer that takes writes before merges.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NvBufferSummary {
    /// Pages written to it.
    pub writes: u64,
    /// Number of times that it was full.
    pub full: u64,
    /// The most blocks that it held.
    pub most_blocks: u64,
    /// Logical blocks that were copied to fresh blocks, with newer pages out of it.
    pub merges: u64,
    /// Blocks of the buffer without a valid page that were erased.
    pub erases: u64,
}

impl MappingSummary {
    /// Of what was counted.
    pub(super) fn of(counters: &Counters) -> Self {
        Self {
            hits: counters.mapping.hits,
            misses: counters.mapping.misses,
            hit_ratio: counters.mapping.hit_ratio(),
            evictions: counters.mapping.evictions,
            dirty_evictions: counters.mapping.dirty_evictions,
            translation_reads: counters.mapping.reads,
            translation_writes: counters.mapping.writes,
            switch_merges: counters.merges.switch,
            partial_merges: counters.merges.partial,
            full_merges: counters.merges.full,
            compactions: counters.merges.compactions,
            nv_buffer: NvBufferSummary {
                writes: counters.nv_buffer.writes,
                full: counters.nv_buffer.full,
                most_blocks: counters.nv_buffer.most_blocks,
                merges: counters.merges.cleanings,
                erases: counters.merges.buffer_erases,
            },
        }
    }
}
