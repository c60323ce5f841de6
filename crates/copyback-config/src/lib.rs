//! Configuration as a user writes it: its types, defaults and presets, and the checks that it must pass before
//! anything is simulated.
//!
//! [`load`] turns TOML (or the same shape as JSON) into a [`Config`] or a list of every fault in it.

#![forbid(unsafe_code)]

mod array;
mod bounds;
mod check;
mod choice;
mod consistency;
mod controller;
mod csv;
mod decimal;
mod device;
mod endurance;
mod estimate;
mod failures;
mod fault;
mod flash_faults;
mod ftl;
mod gc;
mod host;
pub mod known;
mod load;
mod metrics;
mod other_type;
mod power;
mod precondition;
pub mod presets;
pub mod quantity;
mod read;
mod reads_around;
mod refresh;
pub mod resolved;
pub mod schema;
mod scrub;
mod slc_cache;
mod slow_drives;
mod steady;
mod tree;
pub mod units;
mod window_length;
mod workload;
mod workload_preset;
mod write;

pub use array::*;
pub use consistency::{BITS_OF_BLOCK, ConsistencyPolicy, METADATA_BLOCK};
pub use controller::{CommandDelay, Controller, DelayRow, WakeUp};
pub use csv::*;
pub use device::*;
pub use endurance::Endurance;
pub use estimate::Estimate;
pub use failures::*;
pub use fault::{Fault, Faults};
pub use flash_faults::{FlashFaults, LostDie};
pub use ftl::*;
pub use gc::*;
pub use host::*;
pub use load::Loader;
pub use metrics::*;
pub use power::*;
pub use precondition::{Overwritten, Precondition, ValidPages, WRITES_NOTHING};
pub use reads_around::*;
pub use refresh::*;
pub use resolved::{DemandPaging, MeanField, Resolved, VictimModel};
pub use scrub::Scrub;
pub use slc_cache::*;
pub use slow_drives::SlowDrive;
pub use steady::*;
pub use window_length::WindowLength;
pub use workload::*;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A whole experiment: one drive or several, one workload, one seed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Seed of every random stream of the run.
    #[schemars(range(min = 0, max = u64::MAX))]
    pub seed: u64,
    /// Check every invariant as the run goes. Costs time and memory; a violation ends the run.
    pub audit: bool,
    /// The simulated drive, or each drive of the array.
    pub ssd: Ssd,
    /// The array of drives.
    pub array: Array,
    /// The host interface in front of the drive.
    pub host: Host,
    /// The requests.
    pub workload: Workload,
    /// Preparation of the drive before the measured run.
    pub precondition: Precondition,
    /// Stop condition that ends the run before its requests do.
    pub stop: Stop,
    /// Records of the run.
    pub metrics: Metrics,
}
