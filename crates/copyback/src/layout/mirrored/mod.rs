//! Layouts whose drives are mirrors: RAID-1, and RAID-10 with the near, far and offset copies of Linux md (`man 4 md`,
//! `drivers/md/raid10.c`).
//!
//! A request is cut into chunks. A write goes to every copy of each, a read to one. Neighbouring ranges of a drive are
//! one piece then. No write reads anything, and no read needs a lock: each copy holds all that has been written.
//!
//! A rebuild and a repair copy what a write may be about to change, so that each must come wholly before the other.
//! They lock bytes of the array, which stand for stripes here. Writes may share them.

mod far;
mod near;
mod offset;

use std::ops::Range;

use smallvec::SmallVec;

use self::far::Far;
use self::near::Near;
use self::offset::Offset;
use super::missing::Missing;
use super::plan::{Piece, Pieces, Plan};
use crate::checkpoint::Checkpointed;
use crate::config;
use crate::ids::SsdId;
use crate::workload::Operation;

/// Choice of the copy that a read is served from.
pub trait ChooseCopy {
    /// Returns the index of one of `copies`, of which there is at least one. Each holds the same bytes. Called chunk
    /// by chunk, in the order of a request's bytes.
    fn choose(&mut self, copies: &[Piece]) -> usize;
}

/// The first copy that is there.
#[derive(Debug)]
pub(super) struct FirstCopy;

impl ChooseCopy for FirstCopy {
    fn choose(&mut self, _: &[Piece]) -> usize {
        0
    }
}

/// Ranges of drives before neighbours are joined.
type Ranges = SmallVec<[Piece; 16]>;

/// A layout that keeps several copies of each chunk.
#[derive(Debug, Clone, Checkpointed)]
pub(super) struct Mirrored {
    devices: u64,
    /// Copies of each chunk.
    pub(super) copies: u64,
    /// Bytes of a chunk.
    chunk_bytes: u64,
    /// Chunks that differ.
    chunks: u64,
    arrangement: Arrangement,
}

#[derive(Debug, Clone, Checkpointed)]
enum Arrangement {
    Near(Near),
    Far(Far),
    Offset(Offset),
}

/// Room for a chunk on a drive, by its place from the first byte of the drive on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Unit {
    device: u64,
    row: u64,
}

/// A range within one chunk.
#[derive(Debug, Clone)]
struct Part {
    chunk: u64,
    bytes: Range<u64>,
}

impl Mirrored {
    /// The layout of a checked configuration over drives of `device_bytes` each.
    pub(super) fn new(config: &config::Array, device_bytes: u64) -> Self {
        let (devices, copies) = (u64::from(config.devices), u64::from(config.copies_of_data()));
        let capacity = config.capacity(device_bytes);
        let device_bytes = config.data_bytes(device_bytes);
        let chunk_bytes = match config.layout {
            config::Layout::Raid1 => device_bytes,
            _ => config.stripe.0,
        };
        let arrangement = match config.arrangement() {
            config::Arrangement::Near => Arrangement::Near(Near { devices, copies }),
            config::Arrangement::Far => {
                Arrangement::Far(Far { devices, rows: device_bytes / chunk_bytes / copies })
            }
            config::Arrangement::Offset => Arrangement::Offset(Offset { devices, copies }),
        };
        let chunks = capacity / chunk_bytes;
        Self { devices, copies, chunk_bytes, chunks, arrangement }
    }

    /// Bytes of each drive that copies take, rounded up to whole rows.
    pub(super) const fn used_device_bytes(&self) -> u64 {
        (self.chunks * self.copies).div_ceil(self.devices) * self.chunk_bytes
    }

    /// Whether a copy of everything is left.
    pub(super) fn survives(&self, missing: &Missing) -> bool {
        let is_there = |unit: Unit| missing.from(SsdId::from_index(unit.device as usize)).is_none();
        // After as many chunks as drives, sets of drives come again.
        let mut chunks = 0..self.chunks.min(self.devices);
        chunks.all(|chunk| self.units(chunk).any(is_there))
    }

    /// Bytes of which no drive holds a copy.
    pub(super) fn lost_bytes(&self, missing: &Missing) -> u64 {
        let lost = |chunk| {
            let whole = Part { chunk, bytes: 0..self.chunk_bytes };
            let held = self.copies(&whole).map(|copy| {
                missing.from(copy.device).map_or(self.chunk_bytes, |from| {
                    from.saturating_sub(copy.offset).min(self.chunk_bytes)
                })
            });
            self.chunk_bytes - held.max().unwrap_or(0)
        };
        (0..self.chunks).map(lost).sum()
    }

    /// Writes or trims all copies of `bytes`.
    pub(super) fn write(&self, bytes: Range<u64>, missing: &Missing, plan: &mut Plan) {
        let mut ranges = Ranges::new();
        for part in self.parts(bytes.clone()) {
            ranges.extend(self.copies(&part).filter_map(|copy| rest_of(copy, missing)));
        }
        join(ranges, &mut plan.then);
        plan.share(bytes);
    }

    /// Reads `bytes`, each chunk from the copy that is chosen of those that are there.
    pub(super) fn read(
        &self,
        bytes: Range<u64>,
        missing: &Missing,
        choice: &mut dyn ChooseCopy,
        plan: &mut Plan,
    ) {
        let mut ranges = Ranges::new();
        for part in self.parts(bytes) {
            let copies: Ranges =
                self.copies(&part).filter(|copy| is_there(copy, missing)).collect();
            assert!(!copies.is_empty(), "a copy of chunk {} is there", part.chunk);
            ranges.push(copies[choice.choose(&copies)]);
        }
        join(ranges, &mut plan.first);
    }

    /// Whether each of `bytes` of `device` has a copy on another drive.
    pub(super) fn can_rebuild(&self, device: SsdId, bytes: Range<u64>, missing: &Missing) -> bool {
        self.parts_of(device, bytes).all(|part| self.other_copy(&part, device, missing).is_some())
    }

    /// Reads `bytes` of `device` from other drives, the first copy of each chunk, and writes them.
    pub(super) fn rebuild(
        &self,
        device: SsdId,
        bytes: Range<u64>,
        missing: &Missing,
        plan: &mut Plan,
    ) {
        let (mut reads, mut writes) = (Ranges::new(), Ranges::new());
        for part in self.parts_of(device, bytes) {
            let copy = self.other_copy(&part, device, missing);
            reads.push(copy.expect("another drive has a copy"));
            writes.extend(self.copies(&part).find(|copy| copy.device == device));
            plan.lock_all(self.bytes_of(&part));
        }
        join(reads, &mut plan.first);
        join(writes, &mut plan.then);
    }

    /// Reads `bytes` of every drive of which nothing is missing, as far as they hold copies.
    pub(super) fn scrub(&self, bytes: Range<u64>, missing: &Missing, plan: &mut Plan) {
        let mut reads = Ranges::new();
        let drives = (0..self.devices as usize).map(SsdId::from_index);
        for drive in drives.filter(|drive| missing.from(*drive).is_none()) {
            for part in self.parts_of(drive, bytes.clone()) {
                reads.extend(self.copies(&part).find(|copy| copy.device == drive));
                plan.lock_all(self.bytes_of(&part));
            }
        }
        join(reads, &mut plan.first);
        plan.is_shared = false;
    }

    /// Makes copies of the array's `bytes` agree. RAID-1 reads one and writes the others; RAID-10 reads all and writes
    /// where they differ, in the `torn` parts.
    pub(super) fn resync(
        &self,
        bytes: Range<u64>,
        torn: &[Range<u64>],
        missing: &Missing,
        plan: &mut Plan,
    ) {
        let is_raid1 = self.chunks == 1;
        let (mut reads, mut writes) = (Ranges::new(), Ranges::new());
        for part in self.parts(bytes.clone()) {
            let copies = self.copies(&part).filter(|copy| is_there(copy, missing));
            reads.extend(copies.take(if is_raid1 { 1 } else { usize::MAX }));
        }
        let whole = [bytes.clone()];
        for differing in if is_raid1 { &whole } else { torn } {
            let differing = differing.start.max(bytes.start)..differing.end.min(bytes.end);
            for part in self.parts(differing).filter(|part| !part.bytes.is_empty()) {
                writes.extend(self.copies(&part).filter(|copy| is_there(copy, missing)).skip(1));
            }
        }
        join(reads, &mut plan.first);
        join(writes, &mut plan.then);
        plan.lock_all(bytes);
        plan.is_shared = false;
    }

    /// Bytes of the array that `part` holds.
    const fn bytes_of(&self, part: &Part) -> Range<u64> {
        let first = part.chunk * self.chunk_bytes;
        first + part.bytes.start..first + part.bytes.end
    }

    /// The first copy of `part` that is there and not on `device`.
    fn other_copy(&self, part: &Part, device: SsdId, missing: &Missing) -> Option<Piece> {
        self.copies(part).find(|copy| copy.device != device && is_there(copy, missing))
    }

    /// The chunks of the array's `bytes`, and what of each is in them.
    fn parts(&self, bytes: Range<u64>) -> impl Iterator<Item = Part> {
        let chunk_bytes = self.chunk_bytes;
        (bytes.start / chunk_bytes..bytes.end.div_ceil(chunk_bytes))
            .map(move |chunk| Part { chunk, bytes: within(chunk, chunk_bytes, &bytes) })
    }

    /// The chunks that `bytes` of `device` hold, and what of each. Rows at its end may hold none.
    fn parts_of(&self, device: SsdId, bytes: Range<u64>) -> impl Iterator<Item = Part> {
        let (device, chunk_bytes) = (device.index() as u64, self.chunk_bytes);
        let rows = bytes.start / chunk_bytes..bytes.end.div_ceil(chunk_bytes);
        let part = move |row| Part {
            chunk: self.chunk(Unit { device, row }),
            bytes: within(row, chunk_bytes, &bytes),
        };
        rows.map(part).filter(|part| part.chunk < self.chunks)
    }

    /// Places of the copies of a part, whether their drives are there or not.
    fn copies(&self, part: &Part) -> impl Iterator<Item = Piece> {
        let Part { chunk, bytes } = part.clone();
        let length = bytes.end - bytes.start;
        self.units(chunk).map(move |Unit { device, row }| Piece {
            device: SsdId::from_index(device as usize),
            operation: Operation::Read,
            offset: row * self.chunk_bytes + bytes.start,
            length,
        })
    }

    fn units(&self, chunk: u64) -> impl Iterator<Item = Unit> {
        (0..self.copies).map(move |copy| match &self.arrangement {
            Arrangement::Near(near) => near.unit(chunk, copy),
            Arrangement::Far(far) => far.unit(chunk, copy),
            Arrangement::Offset(offset) => offset.unit(chunk, copy),
        })
    }

    /// The chunk of which `unit` holds a copy; one that the array does not have if it holds none.
    const fn chunk(&self, unit: Unit) -> u64 {
        match &self.arrangement {
            Arrangement::Near(near) => near.chunk(unit),
            Arrangement::Far(far) => far.chunk(unit),
            Arrangement::Offset(offset) => offset.chunk(unit),
        }
    }
}

/// Part of `bytes` in chunk or row `number`, counted from the first byte of that.
fn within(number: u64, chunk_bytes: u64, bytes: &Range<u64>) -> Range<u64> {
    let start = number * chunk_bytes;
    bytes.start.max(start) - start..bytes.end.min(start + chunk_bytes) - start
}

/// Whether a drive holds all of `copy`.
fn is_there(copy: &Piece, missing: &Missing) -> bool {
    missing.from(copy.device).is_none_or(|from| copy.end() <= from)
}

/// Part of `copy` that its drive can take, if any.
fn rest_of(copy: Piece, missing: &Missing) -> Option<Piece> {
    let end = missing.from(copy.device).map_or(copy.end(), |from| from.min(copy.end()));
    (copy.offset < end).then(|| Piece { length: end - copy.offset, ..copy })
}

/// Adds `ranges` drive by drive, neighbours as one piece.
fn join(mut ranges: Ranges, pieces: &mut Pieces) {
    ranges.sort_unstable_by_key(|range| (range.device, range.offset));
    for range in ranges {
        pieces.push(range.device, range.offset..range.end());
    }
}
