//! Copyback: a simulator of garbage collection in flash SSDs and in arrays of SSDs.
//!
//! ```text
//!  workload ──► host ──► array ──► drive ──► buffer ──► ssd ──► gc ──► ftl ──► victim
//!  (trace or    (flows,  (layout,  (queue,   (DRAM)      │  (schedule, (mapping,
//!  synthetic)    depth)   parity)   link)                ▼   width, job) blocks)
//!                                                nand, channel
//!  engine: events and instants         metrics: observes all of it
//! ```
//!
//! [`Simulation`] puts the parts together. The crate holds no Python, no threads and no wall clock:
//! the same configuration, trace and seed give the same bytes everywhere.

#![forbid(unsafe_code)]

pub mod array;
pub mod backend;
pub mod buffer;
mod checkpoint;
pub mod collector;
mod drive;
pub mod engine;
pub mod event;
pub mod executor;
pub mod flash;
mod foresight;
pub mod ftl;
pub mod host;
pub mod idle;
pub mod ids;
mod lists;
pub mod metrics;
pub mod nand;
pub mod observer;
mod one_of;
pub mod outside;
pub mod placement;
mod places;
pub mod precondition;
mod progress;
pub mod purpose;
mod resume;
mod run;
pub mod scheduler;
pub mod simulation;
mod slots;
pub mod ssd;
pub mod state;
mod steady;
pub mod transaction;
pub mod victim;
mod whole;

pub use copyback_config as config;
pub use copyback_config::units;
pub use copyback_workload as workload;
pub use copyback_workload::{Error, Status, convert, inputs, rng, statistics};
pub use progress::{Phase, Progress};
pub use resume::Found;
pub use run::{Summary, summary_schema};
pub use simulation::Simulation;
