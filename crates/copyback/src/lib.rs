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
//! The crate holds no Python, no threads and no wall clock: the same configuration, trace and seed give the same bytes
//! everywhere.
//!
//! # Three ways in
//!
//! **A whole run.** [`config::Loader`] makes a checked configuration of TOML, a preset and settings; [`Simulation`] runs
//! it and gives a [`Summary`] (example `embed_a_run`).
//!
//! ```
//! use copyback::{Simulation, Status, config::Loader};
//!
//! let config = Loader::new()
//!     .toml("[ssd.geometry]\nblocks_per_plane = 32\n[workload]\nrequests = 1000", "mine.toml", None)
//!     .set("ssd.gc.victim", "fifo")
//!     .load()
//!     .expect("a configuration that makes sense");
//! let mut simulation = Simulation::new(&config, None)?;
//! while simulation.advance(100_000)? == Status::Running {}
//! let summary = simulation.summary().expect("the run has ended");
//! let json = serde_json::to_value(summary).expect("a summary is plain data");
//! assert_eq!(json["requests"]["count"], 1000);
//! # Ok::<(), copyback::Error>(())
//! ```
//!
//! **A policy of one's own.** What a configuration names as `type = "python"` comes from whoever supplies it:
//! [`Simulation::with_policies`] takes what [supplies](outside::Supply) victim policies, placements, schedules and coordinators
//! (example `victim_policy`).
//!
//! **A drive in another simulator.** [`embedded::Embedded`] is a drive, or an array, whose clock and requests are somebody
//! else's (example `event_loop`).
//!
//! # What is meant to be used
//!
//! These three, [`config`], [`workload`], [`units`], [`state`] and [`Error`]. The other modules are public for tests and benches of this
//! repository, are left out of these pages, and change without notice.

#![forbid(unsafe_code)]

mod admission;
#[doc(hidden)]
pub mod array;
#[doc(hidden)]
pub mod backend;
#[doc(hidden)]
pub mod buffer;
mod checkpoint;
#[doc(hidden)]
pub mod collector;
mod drive;
pub mod embedded;
#[doc(hidden)]
pub mod engine;
#[doc(hidden)]
pub mod event;
pub mod executor;
#[doc(hidden)]
pub mod flash;
mod foresight;
#[doc(hidden)]
pub mod ftl;
mod gate;
pub mod host;
#[doc(hidden)]
pub mod idle;
pub mod ids;
#[doc(hidden)]
pub mod layout;
mod less;
mod lists;
#[doc(hidden)]
pub mod metrics;
#[doc(hidden)]
pub mod nand;
#[doc(hidden)]
pub mod observer;
mod one_of;
pub mod outcome;
mod outlined;
pub mod outside;
pub mod placement;
mod places;
pub mod precondition;
mod progress;
#[doc(hidden)]
pub mod purpose;
mod resume;
mod roll;
mod run;
#[doc(hidden)]
pub mod sanity;
pub mod scheduler;
pub mod shortcut;
pub mod simulation;
mod slots;
pub mod ssd;
pub mod state;
mod steady;
#[cfg(test)]
mod test_config;
#[doc(hidden)]
pub mod told;
#[doc(hidden)]
pub mod transaction;
pub mod victim;
mod whole;

/// Digest of the model: of the results that a few cells of every paper give. Two versions with the same digest give the same
/// numbers there; what changes it is told in the changelog.
pub const MODEL: &str = include_str!("model.txt");

pub use copyback_config as config;
pub use copyback_config::units;
pub use copyback_workload as workload;
pub use copyback_workload::{Error, Status, convert, inputs, rng, statistics};
pub use progress::{Phase, Progress};
pub use resume::Found;
pub use run::{Summary, summary_schema};
pub use simulation::Simulation;

/// The examples of the crate's README, which are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
