//! How logical pages map to physical ones, and what it takes to reclaim a block.

mod page;

pub use page::{PageMap, ReclaimPlan, ReclaimStep};
