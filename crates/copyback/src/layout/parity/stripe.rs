//! One stripe: which drive has which role, and who is missing.

use std::ops::Range;

use smallvec::SmallVec;

use super::{Missing, Parity};
use crate::ids::SsdId;
use crate::layout::plan::Pieces;

/// A unit that is missing, or the rest of it.
#[derive(Debug, Clone, Copy)]
struct Gap {
    role: u32,
    /// First row that is missing.
    from: u64,
}

/// A stripe as a request meets it. Its rows are the bytes of a unit, `0..unit`.
#[derive(Debug)]
pub(super) struct Stripe<'a> {
    layout: &'a Parity,
    /// First byte of its units on their drives.
    start: u64,
    /// The drive that holds P.
    parity: u32,
    /// One for each role at most.
    gaps: SmallVec<[Gap; 4]>,
}

impl<'a> Stripe<'a> {
    /// Stripe `number`, which takes the drives in `avoid` for missing too.
    pub(super) fn new(layout: &'a Parity, number: u64, missing: &Missing, avoid: &[SsdId]) -> Self {
        let moved = (number % u64::from(layout.devices)) as u32;
        let parity = layout.devices - 1 - moved;
        let start = number * layout.unit;
        let mut stripe = Self { layout, start, parity, gaps: SmallVec::new() };
        for device in avoid {
            stripe.lacks(*device, 0);
        }
        for (device, from) in missing.iter() {
            stripe.lacks(device, from.saturating_sub(start));
        }
        stripe
    }

    /// Notes that `device` misses its rows after `from`.
    fn lacks(&mut self, device: SsdId, from: u64) {
        let devices = self.layout.devices;
        let role = (device.0 as u32 + devices - self.parity) % devices;
        if from >= self.layout.unit {
            return;
        }
        match self.gaps.iter_mut().find(|gap| gap.role == role) {
            Some(gap) => gap.from = gap.from.min(from),
            None => self.gaps.push(Gap { role, from }),
        }
    }

    /// The roles of parities.
    pub(super) fn parities(&self) -> Range<u32> {
        0..self.layout.parities
    }

    /// The roles of data units.
    pub(super) fn data(&self) -> Range<u32> {
        self.layout.parities..self.layout.devices
    }

    /// Bytes of a unit.
    pub(super) fn unit(&self) -> u64 {
        self.layout.unit
    }

    /// Rows at which a unit begins to be missing.
    pub(super) fn breaks(&self) -> impl Iterator<Item = u64> + '_ {
        self.gaps.iter().map(|gap| gap.from)
    }

    /// Number of missing drives among `roles` at `row`.
    pub(super) fn lost(&self, roles: &Range<u32>, row: u64) -> u32 {
        let is_lost = |gap: &&Gap| roles.contains(&gap.role) && gap.from <= row;
        self.gaps.iter().filter(is_lost).count() as u32
    }

    /// Data bytes in rows of which more is missing than parities make up for.
    pub(super) fn lost_bytes(&self) -> u64 {
        let all = 0..self.layout.devices;
        let mut rows: SmallVec<[u64; 5]> = self.breaks().collect();
        rows.sort_unstable();
        rows.push(self.unit());
        let segments = rows.windows(2).map(|pair| (pair[0], pair[1] - pair[0]));
        let lost = segments.filter(|(row, _)| self.lost(&all, *row) > self.layout.parities);
        lost.map(|(row, rows)| rows * u64::from(self.lost(&self.data(), row))).sum()
    }

    /// Iterates over the present drives among `roles` at `row`.
    fn present(&self, roles: Range<u32>, row: u64) -> impl Iterator<Item = u32> + '_ {
        roles.filter(move |role| self.lost(&(*role..*role + 1), row) == 0)
    }

    /// Adds `rows` of those of `roles` that are there.
    pub(super) fn push(&self, roles: Range<u32>, rows: &Range<u64>, pieces: &mut Pieces) {
        let range = self.start + rows.start..self.start + rows.end;
        for role in self.present(roles, rows.start) {
            pieces.push(self.device_of(role), range.clone());
        }
    }

    /// The drive that has this role.
    pub(super) fn device_of(&self, role: u32) -> SsdId {
        SsdId::from_index(((self.parity + role) % self.layout.devices) as usize)
    }

    /// Adds `rows` of all data units that are there and of as many parities as data units are
    /// missing, P before Q: all that can be known of the data. False, and nothing is added, if that
    /// is not enough.
    pub(super) fn push_survivors(&self, rows: &Range<u64>, pieces: &mut Pieces) -> bool {
        let lost = self.lost(&self.data(), rows.start) as usize;
        let needed: SmallVec<[u32; 2]> =
            self.present(self.parities(), rows.start).take(lost).collect();
        if needed.len() < lost {
            return false;
        }
        self.push(self.data(), rows, pieces);
        for role in needed {
            self.push(role..role + 1, rows, pieces);
        }
        true
    }
}
