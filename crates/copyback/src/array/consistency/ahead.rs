//! Partial parity logs, as Linux md keeps them (`Documentation/driver-api/md/raid5-ppl.rst`, `raid5-ppl.c`).
//!
//! Before a stripe is written, a header of 4 KiB and what the data that stay add up to go to the drive with its parity.
//! md gathers the stripes that come while a log write is under way into the next one; here each request logs for itself.

use crate::checkpoint::Checkpointed;
use crate::config::METADATA_BLOCK;
use crate::layout::{PartialParity, Piece};
use crate::workload::Operation;

/// The logs of all drives, each a ring.
#[derive(Debug, Checkpointed)]
pub(super) struct PartialParityLogs {
    /// First byte of the log on each drive.
    start: u64,
    /// Bytes of it.
    space: u64,
    /// Next byte of each drive's log.
    next: Vec<u64>,
}

impl PartialParityLogs {
    /// Logs of `devices` drives, each `space` bytes from `start` on.
    pub(super) fn new(start: u64, space: u64, devices: usize) -> Self {
        Self { start, space, next: vec![0; devices] }
    }

    /// The write that logs `parity`.
    pub(super) fn append(&mut self, parity: PartialParity) -> Piece {
        let PartialParity { device, bytes } = parity;
        let length = METADATA_BLOCK + bytes.next_multiple_of(METADATA_BLOCK);
        let next = &mut self.next[device.index()];
        if *next + length > self.space {
            *next = 0;
        }
        let offset = self.start + *next;
        *next += length;
        Piece { device, operation: Operation::Write, offset, length }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::SsdId;

    #[test]
    fn a_log_is_a_ring_of_headers_and_partial_parity() {
        let mut logs = PartialParityLogs::new(1 << 20, 20 << 10, 2);
        let mut append = |device, bytes| {
            let piece = logs.append(PartialParity { device: SsdId(device), bytes });
            (piece.offset - (1 << 20), piece.length)
        };
        assert_eq!(append(0, 4096), (0, 8192));
        assert_eq!(append(0, 0), (8192, 4096));
        assert_eq!(append(1, 512), (0, 8192));
        assert_eq!(append(0, 8192), (0, 12288), "the ring begins again where the end is too near");
    }
}
