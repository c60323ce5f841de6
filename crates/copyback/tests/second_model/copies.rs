//! Where the copies of bytes lie on mirrors, as `man 4 md` describes it.

use std::collections::BTreeSet;

use copyback::config::{Arrangement, Array, Config, Layout};

use crate::plans::{Bytes, Range};

#[derive(Debug)]
pub struct Copies {
    arrangement: Arrangement,
    drives: u64,
    copies: u64,
    chunk: u64,
    /// Chunks of a drive.
    rows: u64,
    lost: Vec<u32>,
}

impl Copies {
    /// If the drives are mirrors.
    pub fn new(config: &Config) -> Option<Self> {
        let Array { layout, devices, stripe, failed, copies, arrangement, .. } = &config.array;
        let bytes = config.resolve().drive.capacity.bytes;
        let (copies, chunk) = match layout {
            Layout::Raid1 => (*devices, bytes),
            Layout::Raid10 => (copies.unwrap_or(2), stripe.0),
            _ => return None,
        };
        Some(Self {
            arrangement: arrangement.unwrap_or(Arrangement::Near),
            drives: u64::from(*devices),
            copies: u64::from(copies),
            chunk,
            rows: bytes / chunk,
            lost: failed.clone(),
        })
    }

    /// Drive and row of each copy of a chunk, by going through the drives as they are filled.
    fn places(&self, chunk: u64) -> Vec<(u32, u64)> {
        let mut places = Vec::new();
        for copy in 0..self.copies {
            let (stripe, column) = (chunk / self.drives, chunk % self.drives);
            let (place, row) = match self.arrangement {
                Arrangement::Near => {
                    let nth = chunk * self.copies + copy;
                    (nth % self.drives, nth / self.drives)
                }
                Arrangement::Far => (column + copy, stripe + copy * (self.rows / self.copies)),
                Arrangement::Offset => (column + copy, stripe * self.copies + copy),
            };
            places.push(((place % self.drives) as u32, row));
        }
        places.retain(|(drive, _)| !self.lost.contains(drive));
        places
    }

    /// Each chunk of a range: the ranges of its copies that are there.
    fn by_chunk(&self, (from, to): Range) -> impl Iterator<Item = Vec<(u32, Range)>> {
        (from / self.chunk..to.div_ceil(self.chunk)).map(move |chunk| {
            let first = chunk * self.chunk;
            let (low, high) = (from.max(first) - first, to.min(first + self.chunk) - first);
            let start = |row: u64| row * self.chunk;
            let range = |row| (start(row) + low, start(row) + high);
            self.places(chunk).into_iter().map(|(drive, row)| (drive, range(row))).collect()
        })
    }

    /// All copies of a range that are there.
    pub fn living(&self, range: Range) -> Bytes {
        let mut bytes = Bytes::new();
        for (drive, range) in self.by_chunk(range).flatten() {
            bytes.entry(drive).or_default().push(range);
        }
        bytes
    }

    /// Whether `reads` hold of each chunk of `range` one copy, and nothing else.
    pub fn is_a_choice(&self, range: Range, reads: &Bytes) -> bool {
        let holds = |(drive, (low, high)): &(u32, Range)| {
            let of_drive = reads.get(drive).into_iter().flatten();
            of_drive.clone().any(|(from, to)| from <= low && high <= to)
        };
        let mut chosen = BTreeSet::new();
        for copies in self.by_chunk(range) {
            let mut found = copies.into_iter().filter(|copy| holds(copy));
            match (found.next(), found.next()) {
                (Some(one), None) => chosen.insert(one),
                _ => return false,
            };
        }
        let bytes = |(low, high): Range| high - low;
        let read: u64 = reads.values().flatten().map(|range| bytes(*range)).sum();
        read == chosen.into_iter().map(|(_, range)| bytes(range)).sum::<u64>()
    }
}
