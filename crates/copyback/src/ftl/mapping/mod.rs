//! How logical pages map to physical ones, and what it takes to reclaim a block.
//!
//! [`PageMap`] says where each page lies, whatever the mapping. Page mapping needs no more; if it is demand
//! paged, [`MappingCache`] says which part of the table is in RAM. The others ([`Groups`]) bind logical
//! pages to blocks: which block a page may be written to, and what is merged to make room. Beside them a
//! buffer ([`NvBuffer`]) may take what would have to wait for a merge.

mod demand_paged;
mod groups;
mod idle_jobs;
mod layout;
mod log_block;
mod merge;
mod nv_buffer;
mod packed;
mod page;
mod plan;
mod recovery;
mod restore;
mod superblock;

pub use demand_paged::{MappingCache, Place};
pub use groups::{GroupView, Groups, Listed, Room};
pub use layout::GroupId;
pub use nv_buffer::{BufferTally, NvBuffer};
pub use page::PageMap;
pub use plan::{Cost, ReclaimKind, ReclaimPlan, ReclaimStep};
