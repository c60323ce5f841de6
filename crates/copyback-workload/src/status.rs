//! Whether something that goes on in steps is done.

/// Whether there is more to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// There is: go on.
    Running,
    /// There is nothing left to do.
    Done,
}
