//! A simulated drive, or an array, as a network block device: real programs use it, and each of their requests is answered
//! when the simulated drive would have answered it.
//!
//! ```text
//!  clients ──► client, handshake, wire ──► asks ──► live ──► copyback::embedded
//!     ▲                                              │ clock, log, held: data, versions
//!     └────────────── server: the loop ◄─────────────┘
//! ```
//!
//! One thread does it all ([`server`]). What others want to know of it goes through [`shared`].

#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]
// The host's clock is what a live drive follows: no simulation depends on it, but for when requests arrive.
#![allow(clippy::disallowed_types)]

mod asks;
mod budget;
mod client;
mod clock;
mod command;
mod data;
mod export;
mod handshake;
mod held;
mod lateness;
mod listen;
mod live;
mod log;
mod output;
mod server;
mod shared;
mod status;
mod versions;
mod watch;
mod wire;

pub use clock::Slower;
pub use data::Data;
pub use export::{Export, Exports};
pub use listen::{Address, Door};
pub use log::LogColumns;
pub use server::{Parts, Server};
pub use shared::Shared;
