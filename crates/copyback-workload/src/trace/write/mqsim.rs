//! MQSim: these are SSDsim's lines.

pub use super::ssdsim::Writer;
