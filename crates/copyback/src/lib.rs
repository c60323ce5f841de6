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
pub mod collector;
pub mod config;
pub mod convert;
mod drive;
pub mod engine;
mod error;
pub mod event;
pub mod flash;
pub mod ftl;
pub mod host;
pub mod idle;
pub mod ids;
pub mod inputs;
mod lists;
pub mod metrics;
pub mod nand;
pub mod observer;
pub mod placement;
mod places;
pub mod precondition;
mod progress;
pub mod purpose;
pub mod rng;
mod run;
pub mod scheduler;
mod schema;
pub mod simulation;
pub mod ssd;
pub mod state;
pub mod statistics;
mod steady;
pub mod transaction;
pub mod units;
pub mod victim;
pub mod workload;

pub use error::Error;
pub use progress::{Phase, Progress, Status};
pub use run::{Summary, summary_schema};
pub use simulation::Simulation;
