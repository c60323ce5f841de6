//! The generators: what comes out has the statistics that were asked for. Seeds are fixed;
//! tolerances are five standard deviations of the statistic unless a test says otherwise.

#![allow(missing_docs)]

#[path = "synthetic/addresses.rs"]
mod addresses;
#[path = "synthetic/arrivals.rs"]
mod arrivals;
#[path = "synthetic/bursts.rs"]
mod bursts;
#[path = "synthetic/determinism.rs"]
mod determinism;
#[path = "synthetic/mixes.rs"]
mod mixes;
#[path = "synthetic/random_map.rs"]
mod random_map;
#[path = "synthetic/runs.rs"]
mod runs;
#[path = "synthetic/sizes.rs"]
mod sizes;
#[path = "synthetic/skew.rs"]
mod skew;
#[path = "synthetic/stand_ins.rs"]
mod stand_ins;
#[path = "synthetic/support.rs"]
mod support;
