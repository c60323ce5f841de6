//! MQSim: `ns device sector sectors 0|1`, 1 = read, for example
//! `938513000 4 264719034 16 0`. These are SSDsim's lines.

pub use super::ssdsim::Parser;
