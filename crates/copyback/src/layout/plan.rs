//! Plan of a request: its pieces on the drives.

use std::ops::{Deref, Range};

use smallvec::SmallVec;

use crate::checkpoint::Checkpointed;
use crate::ids::SsdId;
use crate::workload::Operation;

/// A range of bytes of one drive, and what is done with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub struct Piece {
    /// Index of the drive.
    pub device: SsdId,
    /// Operation on the drive.
    pub operation: Operation,
    /// First byte of the drive.
    pub offset: u64,
    /// Bytes; zero for a flush.
    pub length: u64,
}

impl Piece {
    /// The byte after its last.
    pub const fn end(&self) -> u64 {
        self.offset + self.length
    }
}

/// Plan of a request: its pieces on the drives, in two phases. Either may be empty. Meant to be used again for
/// the next request.
#[derive(Debug, Clone, Checkpointed)]
pub struct Plan {
    /// Reads: for the host, or to reconstruct parity or lost bytes.
    pub first: Pieces,
    /// Writes, trims or flushes.
    pub then: Pieces,
    /// Stripes in which nobody else may write until this is done: their parity must not change on
    /// the way. Of mirrors they are bytes of the array, which must not change while they are copied. None if it has
    /// nothing to do with either. What had to wait for its stripes is planned again: others may be missing now.
    pub stripes: Option<Range<u64>>,
    /// Whether others who share may hold the same stripes: reads under parity, writes to mirrors.
    pub is_shared: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            first: Pieces::of(Operation::Read),
            then: Pieces::of(Operation::Write),
            stripes: None,
            is_shared: false,
        }
    }
}

impl Plan {
    /// Forgets the last request, and makes ready for one that does `operation`.
    pub(super) fn start(&mut self, operation: Operation) {
        self.first.pieces.clear();
        self.then.pieces.clear();
        self.then.operation = operation;
        self.stripes = None;
        self.is_shared = operation == Operation::Read;
    }

    /// Forgets the last request, and makes ready to write `pieces` and nothing else, whoever is in their way.
    pub fn write_alone(&mut self, pieces: impl IntoIterator<Item = Piece>) {
        self.start(Operation::Write);
        for Piece { device, offset, length, .. } in pieces {
            self.then.push(device, offset..offset + length);
        }
    }

    /// Phase to which the pieces of `operation` belong, for which the plan was started.
    pub(super) fn phase(&mut self, operation: Operation) -> &mut Pieces {
        match operation {
            Operation::Read => &mut self.first,
            Operation::Write | Operation::Trim | Operation::Flush => &mut self.then,
        }
    }

    /// Adds `stripe`, which comes after those it has.
    pub(super) fn lock(&mut self, stripe: u64) {
        let first = self.stripes.as_ref().map_or(stripe, |stripes| stripes.start);
        self.stripes = Some(first..stripe + 1);
    }

    /// Adds `stripes` to those it has, and all between.
    pub(super) fn lock_all(&mut self, stripes: Range<u64>) {
        self.stripes = Some(match &self.stripes {
            Some(others) => others.start.min(stripes.start)..others.end.max(stripes.end),
            None => stripes,
        });
    }

    /// Takes `stripes`, and shares them.
    pub(super) fn share(&mut self, stripes: Range<u64>) {
        self.stripes = Some(stripes);
        self.is_shared = true;
    }
}

/// Pieces of one phase: a slice of [`Piece`]. Neighbouring ranges of a drive are one piece.
#[derive(Debug, Clone, Checkpointed)]
pub struct Pieces {
    operation: Operation,
    pieces: SmallVec<[Piece; 16]>,
    /// Index of the last piece of each drive. Perhaps of an earlier plan: it is checked when used.
    last: Vec<u32>,
}

impl Pieces {
    fn of(operation: Operation) -> Self {
        Self { operation, pieces: SmallVec::new(), last: Vec::new() }
    }

    /// Adds `bytes` of `device`, which come after those of it that are there.
    pub(super) fn push(&mut self, device: SsdId, bytes: Range<u64>) {
        let (operation, length) = (self.operation, bytes.end - bytes.start);
        if self.last.len() <= device.index() {
            self.last.resize(device.index() + 1, 0);
        }
        let last = &mut self.last[device.index()];
        match self.pieces.get_mut(*last as usize) {
            Some(piece) if piece.device == device && piece.end() == bytes.start => {
                piece.length += length;
            }
            _ => {
                *last = self.pieces.len() as u32;
                self.pieces.push(Piece { device, operation, offset: bytes.start, length });
            }
        }
    }
}

impl Deref for Pieces {
    type Target = [Piece];

    fn deref(&self) -> &[Piece] {
        &self.pieces
    }
}
