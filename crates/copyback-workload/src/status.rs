//! Whether something that goes on in steps is done.

/// Whether there is more to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Another step remains: go on.
    Running,
    /// Ended: no phase is left.
    Done,
}
