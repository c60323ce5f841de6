//! What the host says about data that it writes.

/// Data with the same hint belong together: a stream, or a placement handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hint(u16);

impl Hint {
    /// The hint with this number.
    pub const fn from_index(index: usize) -> Self {
        Self(index as u16)
    }

    /// Its number.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
