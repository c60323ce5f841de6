//! Hints of the host about data that it writes: a placement handle, a stream.

/// A placement handle (NVMe 2.1, flexible data placement) or a stream: data that are written with the same one belong
/// together. Counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Handle(pub u16);

impl Handle {
    /// Description of a valid handle, for messages.
    pub const EXPECTED: &'static str = "a whole number, 0 to 65535";

    /// Index of the handle in tables.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Hint of the host: who writes, and where the data belong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hint {
    flow: u16,
    handle: Option<Handle>,
}

impl Hint {
    /// Of the flow with this number, with a handle if there is one.
    pub const fn new(flow: usize, handle: Option<Handle>) -> Self {
        Self { flow: flow as u16, handle }
    }

    /// The number of the flow.
    pub const fn flow(self) -> usize {
        self.flow as usize
    }

    /// The handle.
    pub const fn handle(self) -> Option<Handle> {
        self.handle
    }
}
