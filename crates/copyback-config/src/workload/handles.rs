//! `workload.handles`: which placement handle a write names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{choice::choice, quantity::Size};

choice! {
    /// The placement handle (NVMe 2.1, flexible data placement) or stream that a write is sent with. What the trace
    /// says of a request goes before it. It matters to `ssd.ftl.placement = "by_hint"`.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum Handles {
        /// The number of the flow, counted from 0.
        Flow,
        /// Handles of the list, one after the other, as `plid_select=roundrobin` of fio.
        InTurn {
            /// The handles; one that is named twice has two turns.
            #[schemars(length(min = 1, max = 128))]
            handles: Vec<u16>,
        },
        /// Any of these, each as likely as the others, as `plid_select=random` of fio.
        Random {
            /// The handles.
            #[schemars(length(min = 1, max = 128))]
            handles: Vec<u16>,
        },
        /// Handle of the range in which the write starts, as `plid_select=scheme` of fio; handle 0 elsewhere.
        ByAddress {
            /// The ranges, in any order. None lies over another.
            #[schemars(length(min = 1, max = 4096))]
            ranges: Vec<HandleRange>,
        },
    }
}

// `choice!` would hand a `#[default]` on to its twin, which has no default.
#[expect(clippy::derivable_impls)]
impl Default for Handles {
    fn default() -> Self {
        Self::Flow
    }
}

impl Handles {
    /// Whether it is the number of the flow.
    pub fn are_of_flows(&self) -> bool {
        *self == Self::Flow
    }
}

/// Addresses of the device or the array, whose writes have the same handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HandleRange {
    /// First byte.
    #[serde(default)]
    pub offset: Size,
    /// Bytes.
    pub size: Size,
    /// The handle.
    pub handle: u16,
}
