//! Write-intent bitmap, as Linux md keeps it on the drives themselves (`man 4 md`, `md-bitmap.c`): a bit for each chunk, set
//! before the chunk is written, cleared some time after the last write.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::checkpoint::Checkpointed;
use crate::config::{BITS_OF_BLOCK, METADATA_BLOCK};
use crate::ids::SsdId;
use crate::layout::{Missing, Piece};
use crate::units::{Duration, Instant};
use crate::workload::Operation;

/// Bits that are set, and what keeps each from being cleared.
#[derive(Debug, Checkpointed)]
pub(super) struct Bitmap {
    /// Bytes that a bit stands for.
    chunk: u64,
    /// Time from one look for bits to clear to the next.
    delay: Duration,
    /// First byte of the bitmap on each drive.
    start: u64,
    bits: BTreeMap<u64, Bit>,
    /// The next look; none while there is nothing to clear.
    next_look: Option<Instant>,
    /// Blocks that the last look has cleared bits of, and that are to be written.
    cleared: Vec<u64>,
    is_stopped: bool,
}

/// A bit that is set, or is being set.
#[derive(Debug, Checkpointed)]
struct Bit {
    /// Whether the drives hold it.
    is_written: bool,
    /// Number of writes under way in its chunk.
    writes: u32,
    /// When the last write there ended.
    idle_since: Instant,
}

impl Bitmap {
    /// A bitmap that lies at `start` of each drive and in which no bit is set.
    pub(super) fn new(chunk: u64, delay: Duration, start: u64) -> Self {
        let (bits, next_look, cleared, is_stopped) = Default::default();
        Self { chunk, delay, start, bits, next_look, cleared, is_stopped }
    }

    fn chunks(&self, range: &Range<u64>) -> Range<u64> {
        range.start / self.chunk..range.end.div_ceil(self.chunk)
    }

    /// A write in `range` begins. Returns the blocks that must be on the drives before.
    pub(super) fn begin_write(&mut self, range: &Range<u64>) -> Vec<u64> {
        let mut blocks = Vec::new();
        for chunk in self.chunks(range) {
            let new = Bit { is_written: false, writes: 0, idle_since: Instant::START };
            let bit = self.bits.entry(chunk).or_insert(new);
            bit.writes += 1;
            if !bit.is_written {
                blocks.push(chunk / BITS_OF_BLOCK);
            }
        }
        blocks.dedup();
        blocks
    }

    /// Notes that the bits of `range` are on the drives.
    pub(super) fn note_set(&mut self, range: &Range<u64>) {
        let chunks = self.chunks(range);
        self.bits.range_mut(chunks).for_each(|(_, bit)| bit.is_written = true);
    }

    /// A write in `range` has ended.
    pub(super) fn end_write(&mut self, range: &Range<u64>, now: Instant) {
        let chunks = self.chunks(range);
        for (_, bit) in self.bits.range_mut(chunks) {
            bit.writes -= 1;
            bit.idle_since = now;
        }
        if !self.is_stopped {
            self.next_look.get_or_insert(now + self.delay);
        }
    }

    /// Clears no bit any more.
    pub(super) fn stop(&mut self) {
        self.is_stopped = true;
        self.next_look = None;
        self.cleared.clear();
    }

    /// When bits are looked at next.
    pub(super) const fn next_time(&self) -> Option<Instant> {
        self.next_look
    }

    /// Clears the bits of chunks at `now` that have been idle for as long as the delay, and are not to be kept. Returns a
    /// block that is to be written, one a call.
    pub(super) fn clear(
        &mut self,
        now: Instant,
        is_kept: impl Fn(Range<u64>) -> bool,
    ) -> Option<u64> {
        if self.next_look.is_some_and(|look| look <= now) {
            let (chunk, delay) = (self.chunk, self.delay);
            let cleared = &mut self.cleared;
            self.bits.retain(|number, bit| {
                let range = number * chunk..(number + 1) * chunk;
                let stays = bit.writes > 0 || now - bit.idle_since < delay || is_kept(range);
                if !stays {
                    cleared.push(number / BITS_OF_BLOCK);
                }
                stays
            });
            cleared.dedup();
            self.next_look = (!self.bits.is_empty()).then(|| now + self.delay);
        }
        self.cleared.pop()
    }

    /// Ranges of at most `bytes` whose bits the drives hold.
    pub(super) fn set_chunks(&mut self, bytes: u64) -> Vec<Range<u64>> {
        self.bits.retain(|_, bit| bit.is_written || bit.writes > 0);
        let set = self.bits.iter().filter(|(_, bit)| bit.is_written);
        set.map(|(number, _)| number * self.chunk..((number + 1) * self.chunk).min(bytes)).collect()
    }

    /// Writes of `block` to the drives that are there.
    pub(super) fn pieces(
        &self,
        block: u64,
        devices: usize,
        missing: &Missing,
    ) -> impl Iterator<Item = Piece> + use<> {
        let there: Vec<_> = (0..devices)
            .map(SsdId::from_index)
            .filter(|device| missing.from(*device).is_none())
            .collect();
        let offset = self.start + block * METADATA_BLOCK;
        there.into_iter().map(move |device| Piece {
            device,
            operation: Operation::Write,
            offset,
            length: METADATA_BLOCK,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bit_is_set_before_its_chunk_is_written_and_cleared_after_the_delay() {
        let ms = |ms: u64| Instant::START + Duration::from_us(ms * 1000);
        let mut bitmap = Bitmap::new(100, Duration::from_us(5000), 0);
        assert_eq!(bitmap.begin_write(&(50..150)), [0], "two bits of one block");
        assert_eq!(bitmap.begin_write(&(0..10)), [0], "the bit is not on the drives yet");
        assert_eq!(bitmap.set_chunks(1000), []);
        bitmap.note_set(&(50..150));
        assert_eq!(bitmap.begin_write(&(0..10)), [0; 0]);
        assert_eq!(bitmap.set_chunks(1000), [0..100, 100..200]);
        bitmap.end_write(&(50..150), ms(1));
        assert_eq!(bitmap.next_time(), Some(ms(6)));
        assert_eq!(bitmap.clear(ms(6), |_| false), Some(0), "the second chunk is idle");
        assert_eq!(bitmap.clear(ms(6), |_| false), None);
        bitmap.end_write(&(0..10), ms(7));
        bitmap.end_write(&(0..10), ms(7));
        assert_eq!(bitmap.clear(ms(11), |_| false), None);
        assert_eq!(bitmap.clear(ms(16), |_| true), None, "it is kept until the resync is past it");
        assert_eq!(bitmap.clear(ms(21), |_| false), Some(0));
        assert_eq!(bitmap.next_time(), None);
        assert_eq!(bitmap.begin_write(&(40_000 * 100..40_001 * 100)), [1]);
    }
}
