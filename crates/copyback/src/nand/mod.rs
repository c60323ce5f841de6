//! The flash chips: shape, latencies, the rules of their commands, and the state of a die.
//! Knows nothing of a translation layer.

mod die;
mod divisor;
mod faults;
mod geometry;
mod read_out;
mod rules;
mod timing;

pub use die::{Action, Command, Die, Operation, Pause, Phase, Slot, Times};
pub use divisor::Divisor;
pub use faults::{Faults, Sensed, Strain};
pub use geometry::{Address, Geometry, Located};
pub use read_out::ReadOut;
pub use rules::MultiPlaneRules;
pub use timing::{CacheTiming, Timing, transfer_time};
