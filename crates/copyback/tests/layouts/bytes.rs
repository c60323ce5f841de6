//! An array with real bytes: carries out plans, and knows nothing but what they read.

use std::collections::BTreeMap;
use std::ops::Range;

use copyback::ids::SsdId;
use copyback::layout::{Layout, Missing, Piece, Plan};
use copyback::workload::Operation;

use crate::field::{parities, solve};
use crate::table::{Role, Table};

/// Bytes that a plan has read: by drive and offset.
type Known = BTreeMap<(usize, usize), u8>;

pub struct Bytes {
    pub table: Table,
    pub missing: Missing,
    layout: Layout,
    plan: Plan,
    drives: Vec<Vec<u8>>,
    /// What the array should hold.
    shadow: Vec<u8>,
}

impl Bytes {
    /// An array of zeros.
    pub fn new(table: Table) -> Self {
        Self {
            layout: table.layout(),
            missing: Missing::default(),
            plan: Plan::default(),
            drives: vec![vec![0; table.device_bytes]; table.devices],
            shadow: vec![0; table.places.len()],
            table,
        }
    }

    pub fn capacity(&self) -> usize {
        self.shadow.len()
    }

    pub fn used_device_bytes(&self) -> usize {
        self.layout.used_device_bytes() as usize
    }

    /// Takes a drive away. What is in its place holds rubbish.
    pub fn lose(&mut self, device: usize) {
        self.drives[device].fill(0xA5);
        self.missing.lose(SsdId::from_index(device));
    }

    pub fn write(&mut self, offset: usize, new: &[u8]) {
        self.write_in_part(offset, new, |_| true);
    }

    /// Writes the pieces that `reaches` names by number, as power fails. Returns the parts of the write by stripe, and all that it
    /// would have written.
    pub fn write_in_part(
        &mut self,
        offset: usize,
        new: &[u8],
        reaches: impl Fn(usize) -> bool,
    ) -> (Vec<Range<u64>>, Known) {
        let range = offset..offset + new.len();
        self.layout.plan(Operation::Write, span(&range), &self.missing, &mut self.plan);
        let known = self.known();
        let fresh: Known =
            range.clone().zip(new).map(|(at, byte)| (self.table.places[at], *byte)).collect();
        let mut logged = Known::default();
        for (number, piece) in self.plan.then.to_vec().iter().enumerate() {
            for (device, offset) in places(std::slice::from_ref(piece)) {
                self.assert_there(device, offset);
                let role =
                    self.table.stripes.get(offset / self.table.unit).map(|roles| roles[device]);
                let byte = match role {
                    Some(Role::P) => self.new_parity(0, offset, &known, &fresh),
                    Some(Role::Q) => self.new_parity(1, offset, &known, &fresh),
                    Some(Role::Data(_)) | None => fresh[&(device, offset)],
                };
                logged.insert((device, offset), byte);
                if reaches(number) {
                    self.drives[device][offset] = byte;
                }
            }
        }
        self.shadow[range.clone()].copy_from_slice(new);
        (self.layout.by_stripe(span(&range)).collect(), logged)
    }

    /// Writes again, step by step, what was `logged` of `torn` writes.
    pub fn replay(&mut self, torn: &[Range<u64>], logged: &Known, step: usize) {
        let mut again = Known::default();
        for start in (0..self.used_device_bytes()).step_by(step) {
            let range = span(&(start..start + step));
            self.layout.replay(range, torn, &self.missing, &[], &mut self.plan);
            again.extend(places(&self.plan.then).map(|place| (place, logged[&place])));
        }
        assert_eq!(&again, logged, "all of it, and nothing else");
        again.into_iter().for_each(|((device, offset), byte)| self.drives[device][offset] = byte);
    }

    /// Trims a range; trimmed bytes are zero, as drives may promise.
    pub fn trim(&mut self, range: Range<usize>) {
        self.layout.plan(Operation::Trim, span(&range), &self.missing, &mut self.plan);
        for (device, offset) in places(&self.plan.then) {
            self.assert_there(device, offset);
            self.drives[device][offset] = 0;
        }
        let stripes = self.plan.stripes.clone().unwrap_or(0..0);
        let width = self.capacity() / self.table.stripes.len();
        self.shadow[stripes.start as usize * width..stripes.end as usize * width].fill(0);
    }

    /// Reads a range and compares it.
    pub fn check(&mut self, range: Range<usize>) {
        self.layout.plan(Operation::Read, span(&range), &self.missing, &mut self.plan);
        self.compare(range);
    }

    /// Reads a range without some drives, if that can be, and compares it.
    pub fn check_around(&mut self, range: Range<usize>, avoid: &[usize]) {
        let devices: Vec<SsdId> = avoid.iter().copied().map(SsdId::from_index).collect();
        let plan = &mut self.plan;
        let can = self.layout.reads_around(span(&range), &devices, &self.missing, plan);
        assert_eq!(
            can,
            range.clone().all(|at| self.can_go_around(at, avoid)),
            "{range:?} {avoid:?}"
        );
        if can {
            assert!(self.plan.first.iter().all(|piece| !devices.contains(&piece.device)));
            self.compare(range);
        }
    }

    /// Writes a range of a replacement anew, and counts it in.
    pub fn rebuild(&mut self, device: usize, range: Range<usize>) {
        let id = SsdId::from_index(device);
        self.layout.rebuild(id, span(&range), &self.missing, &mut self.plan);
        let known = self.known();
        let written: Vec<_> = places(&self.plan.then).collect();
        assert_eq!(written, range.clone().map(|offset| (device, offset)).collect::<Vec<_>>());
        for (device, offset) in written {
            let data = self.column(offset, &known).expect("what was read is enough");
            self.drives[device][offset] = match self.table.stripes[offset / self.table.unit][device]
            {
                Role::P => parities(&data)[0],
                Role::Q => parities(&data)[1],
                Role::Data(unit) => data[unit],
            };
        }
        self.missing.rebuilt(id, range.end as u64);
        if range.end == self.used_device_bytes() {
            self.missing.restore(id);
        }
    }

    /// Writes a range whose parities power has cut off. Returns the parts of it, stripe by stripe.
    pub fn write_without_parity(&mut self, offset: usize, new: &[u8]) -> Vec<Range<u64>> {
        let range = offset..offset + new.len();
        for (at, byte) in range.clone().zip(new) {
            let (device, offset) = self.table.places[at];
            if !self.is_missing(device, offset) {
                self.drives[device][offset] = *byte;
            }
        }
        self.shadow[range.clone()].copy_from_slice(new);
        self.layout.by_stripe(span(&range)).collect()
    }

    /// Number of bytes beside `but` that are read wrongly.
    pub fn wrong_bytes(&mut self, but: &Range<usize>) -> usize {
        let all = 0..self.capacity();
        self.layout.plan(Operation::Read, span(&all), &self.missing, &mut self.plan);
        let known = self.known();
        all.filter(|at| !but.contains(at) && self.read(*at, &known) != self.shadow[*at]).count()
    }

    /// Bytes that the layout says are read wrongly once power has cut off the writes of `torn`.
    pub fn hole_bytes(&self, torn: &[Range<u64>]) -> u64 {
        torn.iter().map(|part| self.layout.hole_bytes(part, &self.missing)).sum()
    }

    /// Makes parities agree where writes of `torn` were cut off, step by step.
    pub fn resync(&mut self, torn: &[Range<u64>], step: usize) {
        for start in (0..self.used_device_bytes()).step_by(step) {
            let range = span(&(start..start + step));
            self.layout.resync(range, torn, &self.missing, &mut self.plan);
            let known = self.known();
            for (device, offset) in places(&self.plan.then).collect::<Vec<_>>() {
                let data = self.data(offset, &known).into_iter().collect::<Option<Vec<u8>>>();
                let parities = parities(&data.expect("all data are read"));
                self.drives[device][offset] =
                    match self.table.stripes[offset / self.table.unit][device] {
                        Role::P => parities[0],
                        Role::Q => parities[1],
                        Role::Data(_) => panic!("a resync writes parities alone"),
                    };
            }
        }
    }

    fn compare(&self, range: Range<usize>) {
        assert!(self.plan.then.is_empty());
        let known = self.known();
        for at in range {
            assert_eq!(self.read(at, &known), self.shadow[at], "byte {at}");
        }
    }

    /// A byte of the array, from what the plan has read.
    fn read(&self, at: usize, known: &Known) -> u8 {
        let (device, offset) = self.table.places[at];
        known.get(&(device, offset)).copied().unwrap_or_else(|| {
            let stripe = (offset / self.table.unit) as u64;
            let held = self.plan.stripes.as_ref().is_some_and(|held| held.contains(&stripe));
            assert!(held, "byte {at} is made up while others may write");
            let data = self.column(offset, known).expect("what was read is enough");
            match self.table.stripes[stripe as usize][device] {
                Role::Data(unit) => data[unit],
                Role::P | Role::Q => unreachable!("the host reads data"),
            }
        })
    }

    /// What the plan reads.
    fn known(&self) -> Known {
        let read = places(&self.plan.first);
        read.map(|(device, offset)| {
            self.assert_there(device, offset);
            ((device, offset), self.drives[device][offset])
        })
        .collect()
    }

    fn is_missing(&self, device: usize, offset: usize) -> bool {
        let from = self.missing.from(SsdId::from_index(device));
        from.is_some_and(|from| offset as u64 >= from)
    }

    fn assert_there(&self, device: usize, offset: usize) {
        assert!(!self.is_missing(device, offset), "drive {device} has no byte {offset}");
    }

    fn units(&self) -> Range<usize> {
        0..self.table.devices - self.table.parities()
    }

    /// What is known of the data at a row.
    fn data(&self, offset: usize, known: &Known) -> Vec<Option<u8>> {
        let place = |unit| (self.table.device_of(offset, Role::Data(unit)), offset);
        self.units().map(|unit| known.get(&place(unit)).copied()).collect()
    }

    /// What is known of P and Q at a row.
    fn old_parities(&self, offset: usize, known: &Known) -> [Option<u8>; 2] {
        let of = |role| known.get(&(self.table.device_of(offset, role), offset)).copied();
        match self.table.parities() {
            0 => [None, None],
            1 => [of(Role::P), None],
            _ => [of(Role::P), of(Role::Q)],
        }
    }

    /// All data at a row, from what is known of it.
    fn column(&self, offset: usize, known: &Known) -> Option<Vec<u8>> {
        let [p, q] = self.old_parities(offset, known);
        solve(&self.data(offset, known), p, q)
    }

    /// P (0) or Q (1) at a row after a write: from all data if what was read gives them, else from
    /// the old parity and what changes.
    fn new_parity(&self, which: usize, offset: usize, known: &Known, fresh: &Known) -> u8 {
        let new = self.data(offset, fresh);
        let old = match self.column(offset, known) {
            Some(column) => column.into_iter().map(Some).collect(),
            None => self.data(offset, known),
        };
        let both = || new.iter().zip(&old);
        if let Some(all) = both().map(|(new, old)| new.or(*old)).collect::<Option<Vec<u8>>>() {
            return parities(&all)[which];
        }
        let change = both().map(|(new, old)| new.map_or(0, |new| new ^ old.expect("it was read")));
        let change = parities(&change.collect::<Vec<u8>>())[which];
        self.old_parities(offset, known)[which].expect("it was read") ^ change
    }

    /// Whether a byte can be read without some drives.
    fn can_go_around(&self, at: usize, avoid: &[usize]) -> bool {
        let (device, offset) = self.table.places[at];
        let is_out = |device| avoid.contains(&device) || self.is_missing(device, offset);
        let out = (0..self.table.devices).filter(|device| is_out(*device)).count();
        let parities = self.table.parities();
        parities > 0 && (!is_out(device) || out <= parities)
    }
}

fn span(range: &Range<usize>) -> Range<u64> {
    range.start as u64..range.end as u64
}

/// Drive and offset of each byte of some pieces.
fn places(pieces: &[Piece]) -> impl Iterator<Item = (usize, usize)> + '_ {
    pieces.iter().flat_map(|piece| {
        (piece.offset..piece.end()).map(|offset| (piece.device.index(), offset as usize))
    })
}
