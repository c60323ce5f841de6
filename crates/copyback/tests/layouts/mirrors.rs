//! Mirrors against a drawing of where Linux md puts the copies of chunks, laid out row by row.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use copyback::config::quantity::Size;
use copyback::config::{self, Arrangement, Layout as Kind};
use copyback::ids::SsdId;
use copyback::layout::{ChooseCopy, Layout, Missing, Piece, Plan};
use copyback::workload::Operation;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::placement::bytes;

/// Chunks that each drive holds in each row, drawn as `man 4 md` describes it.
struct Drawing {
    rows: Vec<Vec<Option<usize>>>,
    chunks: usize,
}

impl Drawing {
    fn near(devices: usize, copies: usize, device_rows: usize) -> Self {
        let chunks = device_rows * devices / copies;
        let mut places = (0..chunks).flat_map(|chunk| vec![Some(chunk); copies]);
        let mut row = || (0..devices).map(|_| places.next().flatten()).collect();
        Self { rows: (0..device_rows).map(|_| row()).collect(), chunks }
    }

    fn stripes(devices: usize, copies: usize, device_rows: usize) -> Vec<Vec<usize>> {
        let stripe = |number| (number * devices..(number + 1) * devices).collect();
        (0..device_rows / copies).map(stripe).collect()
    }

    fn moved(stripe: &[usize], copy: usize) -> Vec<Option<usize>> {
        let mut moved: Vec<_> = stripe.iter().copied().map(Some).collect();
        moved.rotate_right(copy);
        moved
    }

    fn far(devices: usize, copies: usize, device_rows: usize) -> Self {
        let stripes = Self::stripes(devices, copies, device_rows);
        let part = |copy| stripes.iter().map(move |stripe| Self::moved(stripe, copy));
        Self { rows: (0..copies).flat_map(part).collect(), chunks: stripes.len() * devices }
    }

    fn offset(devices: usize, copies: usize, device_rows: usize) -> Self {
        let stripes = Self::stripes(devices, copies, device_rows);
        let all = |stripe: &Vec<usize>| -> Vec<_> {
            (0..copies).map(|copy| Self::moved(stripe, copy)).collect()
        };
        Self { rows: stripes.iter().flat_map(all).collect(), chunks: stripes.len() * devices }
    }
}

/// A small array of mirrors: what `Layout` is made from, and the drawing.
struct Mirrors {
    config: config::Array,
    device_bytes: usize,
    unit: usize,
    drawing: Drawing,
}

impl Mirrors {
    fn raid10(
        arrangement: Arrangement,
        devices: usize,
        copies: usize,
        (unit, device_bytes): (usize, usize),
    ) -> Self {
        let config = config::Array {
            layout: Kind::Raid10,
            devices: devices as u32,
            copies: Some(copies as u32),
            arrangement: Some(arrangement),
            stripe: Size(unit as u64),
            ..config::Array::default()
        };
        let draw = match arrangement {
            Arrangement::Near => Drawing::near,
            Arrangement::Far => Drawing::far,
            Arrangement::Offset => Drawing::offset,
        };
        let drawing = draw(devices, copies, device_bytes / unit);
        Self { config, device_bytes, unit, drawing }
    }

    fn raid1(devices: usize, device_bytes: usize) -> Self {
        let config =
            config::Array { layout: Kind::Raid1, devices: devices as u32, ..Default::default() };
        let drawing = Drawing { rows: vec![vec![Some(0); devices]], chunks: 1 };
        Self { config, device_bytes, unit: device_bytes, drawing }
    }

    fn layout(&self) -> Layout {
        Layout::new(&self.config, self.device_bytes as u64)
    }

    fn devices(&self) -> usize {
        self.config.devices as usize
    }

    fn capacity(&self) -> usize {
        self.drawing.chunks * self.unit
    }

    /// Drive and offset of the copies of each byte of the array.
    fn places(&self) -> Vec<Vec<(usize, usize)>> {
        let mut places = vec![Vec::new(); self.capacity()];
        for (row, chunks) in self.drawing.rows.iter().enumerate() {
            for (device, chunk) in chunks.iter().enumerate() {
                for byte in chunk.iter().flat_map(|_| 0..self.unit) {
                    let at = chunk.expect("it is there") * self.unit + byte;
                    places[at].push((device, row * self.unit + byte));
                }
            }
        }
        places
    }

    /// Whether each byte has a copy on a drive that is not lost.
    fn survives(&self, lost: &[usize]) -> bool {
        self.places().iter().all(|copies| copies.iter().any(|(drive, _)| !lost.contains(drive)))
    }
}

/// Arrays of all kinds, with numbers of drives that are no multiple of the copies, and drives with a rest.
fn arrays() -> Vec<Mirrors> {
    let mut arrays: Vec<_> = [2, 3, 5].map(|devices| Mirrors::raid1(devices, 61)).into();
    for arrangement in [Arrangement::Near, Arrangement::Far, Arrangement::Offset] {
        for (devices, copies) in [(2, 2), (3, 2), (4, 2), (5, 2), (3, 3), (4, 3), (5, 3), (5, 4)] {
            for sizes in [(1, 13), (4, 61), (7, 61)] {
                arrays.push(Mirrors::raid10(arrangement, devices, copies, sizes));
            }
        }
    }
    arrays
}

fn subsets(devices: usize) -> impl Iterator<Item = Vec<usize>> {
    let of = move |set: usize| (0..devices).filter(|device| set >> device & 1 == 1).collect();
    (0..1 << devices).map(of)
}

fn missing(lost: &[usize]) -> Missing {
    let mut missing = Missing::default();
    lost.iter().for_each(|device| missing.lose(SsdId::from_index(*device)));
    missing
}

/// Any copy.
struct Any(Xoshiro256PlusPlus);

impl ChooseCopy for Any {
    fn choose(&mut self, copies: &[Piece]) -> usize {
        self.0.random_range(0..copies.len())
    }
}

/// The drawings of md's documentation, of four and five drives.
#[test]
fn mirrors_are_as_they_are_drawn() {
    let cases = [
        (Arrangement::Near, 4, 2, "0 0 1 1 / 2 2 3 3 / 4 4 5 5 / 6 6 7 7"),
        (Arrangement::Near, 5, 2, "0 0 1 1 2 / 2 3 3 4 4 / 5 5 6 6 7 / 7 8 8 9 9"),
        (Arrangement::Near, 5, 3, "0 0 0 1 1 / 1 2 2 2 3 / 3 3 4 4 4 / 5 5 5 - -"),
        (Arrangement::Far, 4, 2, "0 1 2 3 / 4 5 6 7 / 3 0 1 2 / 7 4 5 6"),
        (Arrangement::Far, 5, 2, "0 1 2 3 4 / 5 6 7 8 9 / 4 0 1 2 3 / 9 5 6 7 8"),
        (Arrangement::Offset, 4, 2, "0 1 2 3 / 3 0 1 2 / 4 5 6 7 / 7 4 5 6"),
        (Arrangement::Offset, 5, 2, "0 1 2 3 4 / 4 0 1 2 3 / 5 6 7 8 9 / 9 5 6 7 8"),
    ];
    for (arrangement, devices, copies, drawn) in cases {
        let array = Mirrors::raid10(arrangement, devices, copies, (1, 4));
        let layout = array.layout();
        let mut found = vec![vec!["-".to_owned(); devices]; 4];
        for chunk in 0..layout.capacity() {
            let mut plan = Plan::default();
            layout.plan(Operation::Write, chunk..chunk + 1, &Missing::default(), &mut plan);
            for piece in plan.then.iter() {
                found[piece.offset as usize][piece.device.index()] = chunk.to_string();
            }
        }
        let rows: Vec<String> = found.iter().map(|row| row.join(" ")).collect();
        assert_eq!(rows.join(" / "), drawn, "{arrangement:?} {copies} on {devices}");
        let own: Vec<Vec<_>> = array.drawing.rows.clone();
        let name = |chunk: &Option<usize>| chunk.map_or("-".to_owned(), |chunk| chunk.to_string());
        let own: Vec<String> =
            own.iter().map(|row| row.iter().map(name).collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(own.join(" / "), drawn, "the drawing of the test itself");
    }
}

#[test]
fn each_byte_has_its_copies_on_different_drives_and_no_two_share_a_place() {
    for array in arrays() {
        let (layout, places) = (array.layout(), array.places());
        assert_eq!(layout.capacity(), places.len() as u64, "{:?}", array.config);
        let copies = array.config.copies_of_data() as usize;
        for byte in &places {
            let drives: BTreeSet<_> = byte.iter().map(|(drive, _)| drive).collect();
            assert_eq!((byte.len(), drives.len()), (copies, copies), "{:?}", array.config);
        }
        let ends = places.iter().flatten().map(|(_, offset)| offset + 1);
        let used = ends.max().expect("it has bytes").div_ceil(array.unit) * array.unit;
        assert_eq!(layout.used_device_bytes(), used as u64, "{:?}", array.config);
    }
}

/// Every range: what is written lies on all copies, what is read on one of each byte's, what is trimmed on all.
#[test]
fn each_byte_goes_to_its_places_once() {
    for array in arrays() {
        let (layout, places, none) = (array.layout(), array.places(), Missing::default());
        let mut any = Any(Xoshiro256PlusPlus::seed_from_u64(7));
        let mut plan = Plan::default();
        for start in 0..places.len() {
            for end in start + 1..=places.len().min(start + 5 * array.unit) {
                let range = start as u64..end as u64;
                let all: BTreeSet<_> = places[start..end].iter().flatten().copied().collect();
                for operation in [Operation::Write, Operation::Trim] {
                    layout.plan(operation, range.clone(), &none, &mut plan);
                    assert_eq!(bytes(&plan.then, operation), all);
                    assert!(plan.first.is_empty());
                    assert_eq!((&plan.stripes, plan.is_shared), (&Some(range.clone()), true));
                    assert_eq!(layout.only_piece(operation, range.clone()), None);
                }
                layout.read_copies(range.clone(), &none, &mut any, &mut plan);
                assert_eq!((plan.then.is_empty(), &plan.stripes), (true, &None));
                let read = bytes(&plan.first, Operation::Read);
                assert_eq!(read.len(), end - start);
                let is_read = |copies: &Vec<_>| copies.iter().any(|copy| read.contains(copy));
                assert!(places[start..end].iter().all(is_read));
            }
        }
    }
}

#[test]
fn a_long_write_is_one_piece_of_each_part_of_a_drive() {
    for (arrangement, pieces) in
        [(Arrangement::Near, 4), (Arrangement::Far, 8), (Arrangement::Offset, 4)]
    {
        let array = Mirrors::raid10(arrangement, 4, 2, (4096, 4096 * 64));
        let mut plan = Plan::default();
        let range = 0..4096 * 32;
        array.layout().plan(Operation::Write, range.clone(), &Missing::default(), &mut plan);
        assert_eq!(plan.then.len(), pieces, "{arrangement:?}");
        // The first copies of far ones lie as in RAID-0.
        if arrangement == Arrangement::Far {
            array.layout().plan(Operation::Read, range, &Missing::default(), &mut plan);
            assert_eq!(plan.first.len(), 4);
        }
    }
}

#[test]
fn an_array_survives_as_long_as_each_byte_has_a_copy() {
    for array in arrays() {
        for lost in subsets(array.devices()) {
            let survives = array.survives(&lost);
            assert_eq!(array.layout().survives(&missing(&lost)), survives, "{lost:?}");
        }
    }
}

/// An array with real bytes, which carries out plans and knows nothing but what they read.
struct Bytes {
    array: Mirrors,
    layout: Layout,
    places: Vec<Vec<(usize, usize)>>,
    missing: Missing,
    drives: Vec<Vec<u8>>,
    shadow: Vec<u8>,
    plan: Plan,
    any: Any,
}

impl Bytes {
    fn new(array: Mirrors, seed: u64) -> Self {
        let places = array.places();
        Self {
            layout: array.layout(),
            missing: Missing::default(),
            drives: vec![vec![0; array.device_bytes]; array.devices()],
            shadow: vec![0; places.len()],
            plan: Plan::default(),
            any: Any(Xoshiro256PlusPlus::seed_from_u64(seed)),
            places,
            array,
        }
    }

    fn range(&mut self) -> Range<usize> {
        let start = self.any.0.random_range(0..self.shadow.len());
        let length = self.any.0.random_range(1..=3 * self.array.unit.min(20));
        start..self.shadow.len().min(start + length)
    }

    fn is_there(&self, (device, offset): (usize, usize)) -> bool {
        let from = self.missing.from(SsdId::from_index(device));
        from.is_none_or(|from| (offset as u64) < from)
    }

    /// Bytes of the array by the place of each copy.
    fn at(&self, range: Range<usize>) -> BTreeMap<(usize, usize), usize> {
        range.flat_map(|at| self.places[at].iter().map(move |place| (*place, at))).collect()
    }

    fn change(&mut self, operation: Operation) {
        let range = self.range();
        let span = range.start as u64..range.end as u64;
        self.layout.plan(operation, span, &self.missing, &mut self.plan);
        let at = self.at(range.clone());
        let mut new = vec![0; range.len()];
        if operation == Operation::Write {
            self.any.0.fill_bytes(&mut new);
        }
        let there: BTreeSet<_> = at.keys().copied().filter(|place| self.is_there(*place)).collect();
        let written = bytes(&self.plan.then, operation);
        assert_eq!(written, there, "all copies that are there, and no other");
        for (device, offset) in written {
            self.drives[device][offset] = new[at[&(device, offset)] - range.start];
        }
        self.shadow[range].copy_from_slice(&new);
    }

    fn read(&mut self, range: Range<usize>) {
        let span = range.start as u64..range.end as u64;
        self.layout.read_copies(span, &self.missing, &mut self.any, &mut self.plan);
        let at = self.at(range.clone());
        let mut found = BTreeSet::new();
        for (device, offset) in bytes(&self.plan.first, Operation::Read) {
            assert!(self.is_there((device, offset)), "drive {device} has no byte {offset}");
            let byte = at[&(device, offset)];
            assert_eq!(self.drives[device][offset], self.shadow[byte], "byte {byte}");
            found.insert(byte);
        }
        assert_eq!(found.len(), range.len());
    }

    fn requests(&mut self, count: usize) {
        for _ in 0..count {
            self.change(Operation::Write);
            if self.any.0.random_bool(0.1) {
                self.change(Operation::Trim);
            }
            let range = self.range();
            self.read(range);
        }
    }

    fn lose(&mut self, lost: &[usize]) {
        for device in lost {
            self.drives[*device].fill(0xA5);
            self.missing.lose(SsdId::from_index(*device));
        }
    }

    /// Writes a range of a replacement anew, and counts it in.
    fn rebuild(&mut self, device: usize, range: Range<usize>) {
        let (id, span) = (SsdId::from_index(device), range.start as u64..range.end as u64);
        assert!(self.layout.can_rebuild(id, span.clone(), &self.missing));
        self.layout.rebuild(id, span, &self.missing, &mut self.plan);
        let all = self.at(0..self.shadow.len());
        let held: BTreeSet<_> = range.map(|offset| (device, offset)).collect();
        let held: BTreeSet<_> = held.into_iter().filter(|place| all.contains_key(place)).collect();
        assert_eq!(bytes(&self.plan.then, Operation::Write), held);
        assert!(!self.plan.is_shared);
        let read = bytes(&self.plan.first, Operation::Read);
        let mut known = BTreeMap::new();
        for (from, offset) in read {
            assert!(from != device && self.is_there((from, offset)));
            known.insert(all[&(from, offset)], self.drives[from][offset]);
        }
        assert_eq!(known.len(), held.len());
        for (device, offset) in held {
            let byte = all[&(device, offset)];
            let locked = self.plan.stripes.as_ref().is_some_and(|s| s.contains(&(byte as u64)));
            assert!(locked, "byte {byte} may be written meanwhile");
            self.drives[device][offset] = known[&byte];
        }
    }

    fn rebuild_all(&mut self, lost: &[usize]) {
        let end = self.layout.used_device_bytes() as usize;
        let mut rebuilt = vec![0; lost.len()];
        while rebuilt.iter().any(|done| *done < end) {
            let which = self.any.0.random_range(0..lost.len());
            if rebuilt[which] == end {
                continue;
            }
            let next = end.min(rebuilt[which] + self.any.0.random_range(1..=25));
            self.rebuild(lost[which], rebuilt[which]..next);
            rebuilt[which] = next;
            self.missing.rebuilt(SsdId::from_index(lost[which]), next as u64);
            self.requests(2);
        }
        lost.iter().for_each(|device| self.missing.restore(SsdId::from_index(*device)));
    }
}

#[test]
fn mirrors_survive_every_loss_that_leaves_a_copy() {
    for (seed, array) in arrays().into_iter().enumerate() {
        let mut array = Bytes::new(array, seed as u64);
        let everything = 0..array.shadow.len();
        for lost in subsets(array.array.devices()) {
            if !array.array.survives(&lost) {
                continue;
            }
            array.requests(10);
            array.lose(&lost);
            array.read(everything.clone());
            array.requests(10);
            array.rebuild_all(&lost);
            array.read(everything.clone());
        }
        // All copies agree.
        for (byte, places) in array.places.iter().enumerate() {
            let agrees = |(device, offset): &(usize, usize)| {
                array.drives[*device][*offset] == array.shadow[byte]
            };
            assert!(places.iter().all(agrees));
        }
    }
}

/// A replacement makes up for a drive that cannot read where it has been rebuilt; beyond, nothing does.
#[test]
fn what_can_be_rebuilt_is_said_by_range() {
    let array = Mirrors::raid10(Arrangement::Near, 4, 2, (4, 60));
    let layout = array.layout();
    let mut missing = missing(&[1]);
    missing.rebuilt(SsdId(0), 20);
    assert!(layout.can_rebuild(SsdId(1), 8..20, &missing));
    assert!(!layout.can_rebuild(SsdId(1), 8..24, &missing));
    assert!(layout.can_rebuild(SsdId(3), 8..24, &missing));
    assert!(!layout.survives(&missing));
}
