//! Errors of input, and whose fault each is.

use copyback_config::Faults;

use crate::InputError;

/// A failure of a simulation.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The user's configuration, trace or state file: one line a fault.
    #[error("{0}")]
    Input(String),
    /// The machine's own trouble, such as a full disk.
    #[error("{0}")]
    Machine(String),
    /// The simulator is wrong: an invariant does not hold.
    #[error("internal error, please report it: {0}")]
    Internal(String),
}

impl From<InputError> for Error {
    fn from(error: InputError) -> Self {
        Self::Input(error.to_string())
    }
}

impl From<Faults> for Error {
    fn from(faults: Faults) -> Self {
        Self::Input(faults.to_string())
    }
}
