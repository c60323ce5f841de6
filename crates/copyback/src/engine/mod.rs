//! The discrete-event engine: a queue of events in order of time, and sets of things to arbitrate.
//!
//! An instant has two phases. First every event that falls on it is applied; then each dirty die
//! and channel is arbitrated once, in index order. So the order in which two simultaneous events
//! happened to be queued never decides a result.

mod dirty;
mod queue;
mod touched;

pub use dirty::DirtySet;
pub use queue::EventQueue;
pub use touched::Touched;
