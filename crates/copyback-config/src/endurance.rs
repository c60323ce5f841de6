//! `[ssd.endurance]`: what the flash is rated for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rating of the flash. With `rated_cycles`, the summary tells how long the drive lasts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Endurance {
    /// Program/erase cycles that a block is rated for; absent: nothing is told. Vendors name 50,000 to
    /// 100,000 for SLC, 3,000 to 10,000 for MLC, 1,000 to 3,000 for TLC and 100 to 1,000 for QLC.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub rated_cycles: Option<u32>,
    /// Years over which drive writes per day (DWPD) are told.
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 1000.0))]
    pub warranty_years: f64,
}

impl Default for Endurance {
    fn default() -> Self {
        Self { rated_cycles: None, warranty_years: 5.0 }
    }
}
