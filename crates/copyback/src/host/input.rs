//! The requests of a flow, and how many have been asked for.

use std::ops::Deref;

use crate::checkpoint::{Checkpointed, Loaded, Reader, Writer};
use crate::workload::{InputError, Request, Source};

/// A source and how far it has been read.
pub(super) struct Input {
    source: Source,
    /// Requests that have been asked for.
    asked: u64,
    /// Requests of these that were asked for before the run was interrupted, and are yet to be read again.
    behind: u64,
}

impl Input {
    /// A source of which nothing has been read.
    pub const fn new(source: Source) -> Self {
        Self { source, asked: 0, behind: 0 }
    }

    /// The next request, or `None` at the end.
    ///
    /// # Errors
    /// If the trace is malformed.
    pub fn next_request(&mut self) -> Result<Option<Request>, InputError> {
        self.asked += 1;
        self.source.next_request()
    }

    /// Reads up to `most` of the requests again that were asked for before the run was interrupted. Returns how many
    /// it has read.
    ///
    /// # Errors
    /// If the trace is malformed.
    pub fn catch_up(&mut self, most: u64) -> Result<u64, InputError> {
        let count = self.behind.min(most);
        for _ in 0..count {
            self.source.next_request()?;
        }
        self.behind -= count;
        Ok(count)
    }
}

impl Deref for Input {
    type Target = Source;

    fn deref(&self) -> &Source {
        &self.source
    }
}

/// A checkpoint keeps how far a source has been read, not what it has in hand: it is opened and read again before the
/// run goes on.
impl Checkpointed for Input {
    fn keep(&self, out: &mut Writer<'_>) {
        self.asked.keep(out);
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        let asked = u64::load(from)?;
        Ok(Self { source: from.source()?, asked, behind: asked })
    }
}
