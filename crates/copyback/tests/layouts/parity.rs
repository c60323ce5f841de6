//! Write, lose drives, read back, rebuild: with real bytes, against a flat copy.

use std::ops::Range;

use copyback::config::Layout;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::bytes::Bytes;
use crate::table::Table;

/// An array under random requests.
struct Trial {
    array: Bytes,
    rng: Xoshiro256PlusPlus,
}

impl Trial {
    fn new(kind: Layout, devices: usize, unit: usize, seed: u64) -> Self {
        // A rest of 2 bytes of each drive is in no stripe, unless units are smaller.
        let table = Table::new(kind, devices, unit, unit * (2 * devices + 1) + 2);
        Self { array: Bytes::new(table), rng: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    fn range(&mut self) -> Range<usize> {
        let capacity = self.array.capacity();
        let start = self.rng.random_range(0..capacity);
        let longest = if self.rng.random_bool(0.8) { 3 * self.array.table.unit } else { capacity };
        let length = self.rng.random_range(1..=longest);
        start..capacity.min(start + length)
    }

    fn write(&mut self) {
        let range = self.range();
        let mut new = vec![0; range.len()];
        self.rng.fill_bytes(&mut new);
        self.array.write(range.start, &new);
    }

    /// Writes, reads, reads around some drives, and now and then a trim.
    fn requests(&mut self, count: usize) {
        for _ in 0..count {
            self.write();
            if self.rng.random_bool(0.1) {
                let range = self.range();
                self.array.trim(range);
            }
            let range = self.range();
            self.array.check(range);
            let (range, devices) = (self.range(), self.array.table.devices);
            let avoid: Vec<usize> = (0..self.rng.random_range(0..4))
                .map(|_| self.rng.random_range(0..devices))
                .collect();
            self.array.check_around(range, &avoid);
        }
    }

    fn check_all(&mut self) {
        self.array.check(0..self.array.capacity());
    }

    /// Writes all replacements anew, in pieces of any length and in turns, with requests between.
    fn rebuild(&mut self, lost: &[usize]) {
        let end = self.array.used_device_bytes();
        let mut rebuilt = vec![0; lost.len()];
        while rebuilt.iter().any(|done| *done < end) {
            let place = self.rng.random_range(0..lost.len());
            if rebuilt[place] == end {
                continue;
            }
            let longest = 3 * self.array.table.unit;
            let next = end.min(rebuilt[place] + self.rng.random_range(1..=longest));
            self.array.rebuild(lost[place], rebuilt[place]..next);
            rebuilt[place] = next;
            self.requests(2);
        }
        assert!(self.array.missing.is_empty());
    }

    /// Reads everything without each set of drives that may be lost: parity is right too.
    fn check_every_loss(&mut self) {
        for lost in losses(&self.array.table) {
            self.array.check_around(0..self.array.capacity(), &lost);
        }
    }
}

/// Sets of drives that an array survives, the empty one among them.
fn losses(table: &Table) -> Vec<Vec<usize>> {
    let mut sets = vec![vec![]];
    for one in 0..table.devices {
        sets.push(vec![one]);
        if table.parities() > 1 {
            sets.extend((one + 1..table.devices).map(|two| vec![one, two]));
        }
    }
    sets
}

fn survive_every_loss(kind: Layout) {
    for devices in kind.least_devices() as usize..=7 {
        for unit in [1, 4, 7] {
            let first = Trial::new(kind, devices, unit, 0);
            for (seed, lost) in losses(&first.array.table).into_iter().enumerate() {
                let mut trial = Trial::new(kind, devices, unit, seed as u64);
                trial.requests(20);
                lost.iter().for_each(|device| trial.array.lose(*device));
                trial.check_all();
                trial.requests(20);
                trial.check_all();
                trial.rebuild(&lost);
                trial.check_every_loss();
            }
        }
    }
}

#[test]
fn raid5_survives_every_loss() {
    survive_every_loss(Layout::Raid5);
}

#[test]
fn raid6_survives_every_loss() {
    survive_every_loss(Layout::Raid6);
}

#[test]
fn plain_layouts_hold_what_is_written() {
    for kind in [Layout::Jbod, Layout::Raid0] {
        for devices in 1..=7 {
            let mut trial = Trial::new(kind, devices, 5, devices as u64);
            (0..50).for_each(|_| trial.write());
            trial.check_all();
        }
    }
}
