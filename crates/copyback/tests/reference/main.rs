//! Do simulated values agree with queueing theory and with the models of write amplification?
//! `README.md` says where the reference values come from. Seeds are fixed.

#![allow(missing_docs)]

mod arrays;
mod bandwidth;
mod formulas;
mod lines;
mod mirrors;
mod placements;
mod queueing;
mod queues;
mod rebuild_load;
mod station;
mod support;
mod table;
mod write_amplification;
