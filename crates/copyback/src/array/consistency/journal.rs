//! Journal of writes on a drive of its own, as Linux md keeps it in write-through mode
//! (`Documentation/driver-api/md/raid5-cache.rst`, `raid5-cache.c`).
//!
//! Before a stripe is written, all data and parity that will be written go to the journal, in blocks of 4 KiB behind headers
//! that tell where they belong. md gathers the stripes that come until a header is full; here each request has its own.

use std::ops::Range;

use crate::checkpoint::Checkpointed;
use crate::config::quantity::Size;
use crate::config::{METADATA_BLOCK, Protection, Resolved};
use crate::ids::SsdId;
use crate::layout::{Layout, Piece};
use crate::workload::Operation;

/// Blocks that a header has room to tell of: what follows its own 32 bytes, 20 for each (`r5l_meta_block`,
/// `r5l_payload_data_parity`).
const BLOCKS_OF_HEADER: u64 = (METADATA_BLOCK - 32) / 20;

/// A ring over a whole drive.
#[derive(Debug, Checkpointed)]
pub(super) struct Journal {
    /// Place of its drive.
    device: SsdId,
    /// Bytes of the drive.
    space: u64,
    /// Next byte that is written.
    next: u64,
    /// Whether its drive may lose what it has acknowledged.
    needs_flush: bool,
    /// The array's bytes of writes under way, and where these are logged.
    under_way: Vec<(Range<u64>, Vec<Piece>)>,
    /// Logs of writes that a cut has interrupted, to be read.
    interrupted: Vec<Piece>,
}

impl Journal {
    /// The empty journal of an array with this layout.
    pub(super) fn new(config: &Resolved, layout: &Layout) -> Self {
        let has_buffer = config.ssd.buffer.capacity > Size(0);
        let is_volatile = has_buffer && config.ssd.power.protection == Protection::None;
        Self {
            device: SsdId::from_index(layout.devices()),
            space: config.drive.capacity.bytes / METADATA_BLOCK * METADATA_BLOCK,
            next: 0,
            needs_flush: is_volatile,
            under_way: Vec::new(),
            interrupted: Vec::new(),
        }
    }

    /// Logs `writes`, which are one of the array's `bytes`. Returns what the drive is to do, flushes after writes.
    pub(super) fn append(&mut self, bytes: Range<u64>, writes: &[Piece]) -> Vec<Piece> {
        let writes = writes.iter().filter(|piece| piece.operation == Operation::Write);
        let blocks: u64 = writes
            .map(|piece| piece.end().div_ceil(METADATA_BLOCK) - piece.offset / METADATA_BLOCK)
            .sum();
        let headers = blocks.div_ceil(BLOCKS_OF_HEADER).max(1);
        let mut pieces = self.take((headers + blocks) * METADATA_BLOCK);
        self.under_way.push((bytes, pieces.clone()));
        if self.needs_flush {
            let flush = Operation::Flush;
            pieces.push(Piece { device: self.device, operation: flush, offset: 0, length: 0 });
        }
        pieces
    }

    /// Writes of the next `left` bytes of the ring.
    fn take(&mut self, mut left: u64) -> Vec<Piece> {
        let mut pieces = Vec::new();
        while left > 0 {
            let length = left.min(self.space - self.next);
            let (device, operation) = (self.device, Operation::Write);
            pieces.push(Piece { device, operation, offset: self.next, length });
            self.next = (self.next + length) % self.space;
            left -= length;
        }
        pieces
    }

    /// The write of the array's `bytes` has ended, or is to be planned again.
    pub(super) fn end_write(&mut self, bytes: &Range<u64>) {
        if let Some(index) = self.under_way.iter().position(|(other, _)| other == bytes) {
            self.under_way.swap_remove(index);
        }
    }

    /// A cut has come while the writes of `half_done` bytes of the array had begun.
    pub(super) fn cut(&mut self, half_done: &[Range<u64>]) {
        let begun = self.under_way.drain(..).filter(|(bytes, _)| half_done.contains(bytes));
        self.interrupted.extend(begun.flat_map(|(_, pieces)| pieces));
    }

    /// Logs of interrupted writes, until they have been read.
    pub(super) fn interrupted(&self) -> &[Piece] {
        &self.interrupted
    }

    /// Notes that they have been read.
    pub(super) fn note_read(&mut self) {
        self.interrupted.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal(blocks: u64) -> Journal {
        let (next, needs_flush, under_way, interrupted) = Default::default();
        let space = blocks * METADATA_BLOCK;
        Journal { device: SsdId(4), space, next, needs_flush, under_way, interrupted }
    }

    fn write(device: u16, offset: u64, length: u64) -> Piece {
        Piece { device: SsdId(device), operation: Operation::Write, offset, length }
    }

    #[test]
    fn a_write_logs_a_header_and_each_block_that_it_touches() {
        let mut journal = journal(1_000);
        let mut logged = |writes: &[Piece]| {
            let pieces = journal.append(0..1, writes);
            pieces.iter().map(|piece| piece.length).sum::<u64>() / METADATA_BLOCK
        };
        assert_eq!(logged(&[write(0, 0, 4096), write(3, 0, 4096)]), 3);
        assert_eq!(logged(&[write(0, 512, 512), write(3, 4000, 200)]), 4, "of parts whole blocks");
        assert_eq!(logged(&[write(0, 0, 203 * 4096)]), 204);
        assert_eq!(logged(&[write(0, 0, 204 * 4096)]), 206, "a header has room for 203");
        assert_eq!(logged(&[Piece { operation: Operation::Trim, ..write(0, 0, 4096) }]), 1);
    }

    #[test]
    fn the_journal_is_a_ring() {
        let mut journal = journal(4);
        assert_eq!(journal.append(0..1, &[write(0, 0, 8192)]), [write(4, 0, 12288)]);
        let over_the_end = [write(4, 12288, 4096), write(4, 0, 8192)];
        assert_eq!(journal.append(1..2, &[write(0, 0, 8192)]), over_the_end);
        assert_eq!(journal.next, 8192);
    }

    #[test]
    fn only_what_a_cut_has_interrupted_is_read_again() {
        let mut journal = journal(100);
        let [ended, begun] = [0..4096, 4096..8192].map(|bytes: Range<u64>| {
            journal.append(bytes.clone(), &[write(0, bytes.start, 4096)]);
            bytes
        });
        journal.append(8192..9000, &[write(0, 8192, 4096)]);
        journal.end_write(&ended);
        journal.cut(&[begun]);
        assert_eq!(journal.interrupted(), [write(4, 8192, 8192)]);
        journal.note_read();
        assert_eq!(journal.interrupted(), []);
    }

    #[test]
    fn a_drive_that_may_lose_what_it_holds_is_flushed_after_the_log() {
        let mut journal = Journal { needs_flush: true, ..journal(100) };
        let pieces = journal.append(0..1, &[write(0, 0, 4096)]);
        assert_eq!(pieces.last().map(|piece| piece.operation), Some(Operation::Flush));
    }
}
