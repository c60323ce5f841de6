//! Checkpoint of a run under way: written and read field by field, in the order of the fields.
//!
//! A checkpoint holds all that the program has in memory, also what follows from the rest, and only the very program
//! that wrote it may read it. So nothing in it is checked: that nothing has changed, a checksum says
//! ([`resume`](crate::resume)). Saved [states](crate::state) are for others and hold facts.

mod collections;
mod others;
mod values;

pub use copyback_derive::Checkpointed;

use std::collections::VecDeque;
use std::io::{self, Read, Write};

use crate::config::Resolved;
use crate::workload::Source;

/// Bytes that are gathered before they are handed on.
const BUFFER: usize = 1 << 16;

/// Value that a checkpoint keeps.
pub trait Checkpointed: Sized {
    /// Writes it.
    fn keep(&self, out: &mut Writer<'_>);

    /// Reads what [`keep`](Self::keep) has written.
    ///
    /// # Errors
    /// If it cannot be read.
    fn load(from: &mut Reader<'_>) -> Loaded<Self>;
}

/// Value that has been read, or the reason why it could not be.
pub type Loaded<T> = Result<T, io::Error>;

/// Takes what is kept. The first failure is told at the end.
pub struct Writer<'a> {
    to: &'a mut dyn Write,
    buffer: Vec<u8>,
    failed: Option<io::Error>,
}

impl<'a> Writer<'a> {
    /// Writes to `to`.
    pub fn new(to: &'a mut dyn Write) -> Self {
        Self { to, buffer: Vec::with_capacity(BUFFER), failed: None }
    }

    /// Adds bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        if self.buffer.len() + bytes.len() > BUFFER {
            self.hand_on(bytes);
        } else {
            self.buffer.extend_from_slice(bytes);
        }
    }

    #[cold]
    fn hand_on(&mut self, bytes: &[u8]) {
        if self.failed.is_none() {
            let written = self.to.write_all(&self.buffer).and_then(|()| self.to.write_all(bytes));
            self.failed = written.err();
        }
        self.buffer.clear();
    }

    /// Says which variant of an enum follows.
    pub fn variant(&mut self, number: u8) {
        self.bytes(&[number]);
    }

    /// Says how many follow.
    pub fn len(&mut self, len: usize) {
        (len as u64).keep(self);
    }

    /// Records that a value cannot be kept.
    pub fn fail(&mut self, problem: &impl ToString) {
        let failed = || io::Error::other(problem.to_string());
        self.failed.get_or_insert_with(failed);
    }

    /// Writes the rest.
    ///
    /// # Errors
    /// If anything could not be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.hand_on(&[]);
        self.failed.map_or(Ok(()), Err)
    }
}

/// Gives back what was kept.
pub struct Reader<'a> {
    from: &'a mut dyn Read,
    config: &'a Resolved,
    /// Sources of the flows, in order, of which nothing has been read.
    sources: VecDeque<Source>,
    buffer: Vec<u8>,
    position: usize,
}

impl<'a> Reader<'a> {
    /// Reads what was written to `from` by a run of `config`, whose sources are opened anew.
    pub fn new(from: &'a mut dyn Read, config: &'a Resolved, sources: Vec<Source>) -> Self {
        Self { from, config, sources: sources.into(), buffer: Vec::new(), position: 0 }
    }

    /// The configuration of the run.
    pub const fn config(&self) -> &Resolved {
        self.config
    }

    /// The source of the next flow.
    ///
    /// # Errors
    /// If there are not so many flows.
    pub fn source(&mut self) -> Loaded<Source> {
        self.sources.pop_front().ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// The next `N` bytes.
    ///
    /// # Errors
    /// If there are not so many.
    pub fn array<const N: usize>(&mut self) -> Loaded<[u8; N]> {
        if self.buffer.len() - self.position < N {
            self.refill(N)?;
        }
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.buffer[self.position..self.position + N]);
        self.position += N;
        Ok(bytes)
    }

    /// Fills `bytes`.
    ///
    /// # Errors
    /// If there are not so many.
    pub fn fill(&mut self, bytes: &mut [u8]) -> Loaded<()> {
        let (now, later) = bytes.split_at_mut(bytes.len().min(self.buffer.len() - self.position));
        now.copy_from_slice(&self.buffer[self.position..self.position + now.len()]);
        self.position += now.len();
        self.from.read_exact(later)
    }

    #[cold]
    fn refill(&mut self, least: usize) -> Loaded<()> {
        self.buffer.drain(..self.position);
        self.position = 0;
        let (mut filled, most) = (self.buffer.len(), BUFFER.max(least));
        self.buffer.resize(most, 0);
        while filled < least {
            match self.from.read(&mut self.buffer[filled..])? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                more => filled += more,
            }
        }
        self.buffer.truncate(filled);
        Ok(())
    }

    /// Reads which variant of an enum follows.
    ///
    /// # Errors
    /// If nothing does.
    pub fn variant(&mut self) -> Loaded<u8> {
        Ok(self.array::<1>()?[0])
    }

    /// Reads the number of values that follow.
    ///
    /// # Errors
    /// If nothing does.
    pub fn len(&mut self) -> Loaded<usize> {
        u64::load(self).map(|len| len as usize)
    }

    /// The error of a type whose number is that of no variant.
    #[cold]
    pub fn unknown_variant(&self) -> io::Error {
        io::ErrorKind::InvalidData.into()
    }
}
