//! What a request to an array becomes: which bytes of which drives are read, then written.

use std::collections::BTreeMap;

use copyback::config::{Array, Config, Layout};

use crate::copies::Copies;

/// Bytes, from the first to before the last.
pub type Range = (u64, u64);

/// Bytes of each drive.
pub type Bytes = BTreeMap<u32, Vec<Range>>;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub reads: Bytes,
    pub writes: Bytes,
    pub trims: Bytes,
    pub flushes: Vec<u32>,
}

#[derive(Debug)]
pub struct Layouts {
    layout: Layout,
    drives: u32,
    unit: u64,
    drive_bytes: u64,
    lost: Vec<u32>,
    /// Of mirrors.
    copies: Option<Copies>,
}

/// Rows of a stripe in which the same units are touched.
struct Segment {
    stripe: u64,
    rows: Range,
    /// The data units that are touched, counted in the stripe.
    touched: Vec<u32>,
}

impl Layouts {
    pub fn new(config: &Config) -> Self {
        let Array { layout, devices, stripe, failed, .. } = &config.array;
        Self {
            layout: *layout,
            drives: *devices,
            unit: stripe.0,
            drive_bytes: config.resolve().drive.capacity.bytes,
            lost: failed.clone(),
            copies: Copies::new(config),
        }
    }

    const fn parities(&self) -> u32 {
        match self.layout {
            Layout::Raid5 => 1,
            Layout::Raid6 => 2,
            _ => 0,
        }
    }

    const fn data_units(&self) -> u32 {
        self.drives - self.parities()
    }

    /// The drive of a data unit of a stripe: behind P and Q, around.
    const fn drive_of(&self, stripe: u64, unit: u32) -> u32 {
        match self.parities() {
            0 => unit,
            parities => (self.parity_drive(stripe, 0) + parities + unit) % self.drives,
        }
    }

    /// The drive of P (0) or Q (1): P is on the last drive in stripe 0, and one further left in each; Q follows it.
    const fn parity_drive(&self, stripe: u64, parity: u32) -> u32 {
        let drives = self.drives as u64;
        ((drives - 1 - stripe % drives + parity as u64) % drives) as u32
    }

    fn is_lost(&self, drive: u32) -> bool {
        self.lost.contains(&drive)
    }

    fn living_parities(&self, stripe: u64) -> Vec<u32> {
        let drives = (0..self.parities()).map(|parity| self.parity_drive(stripe, parity));
        drives.filter(|drive| !self.is_lost(*drive)).collect()
    }

    pub fn read(&self, range: Range) -> Plan {
        let mut plan = Plan::default();
        for segment in self.segments(range) {
            let drives = self.drives_to_read(&segment);
            self.add(&mut plan.reads, &segment, drives);
        }
        plan.tidy()
    }

    fn drives_to_read(&self, segment: &Segment) -> Vec<u32> {
        let Segment { stripe, touched, .. } = segment;
        let of = |units: &[u32]| -> Vec<u32> {
            units.iter().map(|unit| self.drive_of(*stripe, *unit)).collect()
        };
        let wanted = of(touched);
        if !wanted.iter().any(|drive| self.is_lost(*drive)) {
            return wanted;
        }
        let all: Vec<u32> = (0..self.data_units()).collect();
        let (lost, mut living): (Vec<u32>, Vec<u32>) =
            of(&all).into_iter().partition(|drive| self.is_lost(*drive));
        living.extend(self.living_parities(*stripe).into_iter().take(lost.len()));
        living
    }

    /// Whether `reads` are of each byte of `range` one copy, on a drive that is there.
    pub fn is_a_choice(&self, range: Range, reads: &Bytes) -> bool {
        self.copies.as_ref().is_some_and(|copies| copies.is_a_choice(range, reads))
    }

    pub fn write(&self, range: Range) -> Plan {
        if let Some(copies) = &self.copies {
            return Plan { writes: copies.living(range), ..Plan::default() }.tidy();
        }
        let mut plan = Plan::default();
        for segment in self.segments(range) {
            let reads = self.drives_to_read_for_write(&segment);
            self.add(&mut plan.reads, &segment, reads);
            let touched = segment.touched.iter().map(|unit| self.drive_of(segment.stripe, *unit));
            let mut writes: Vec<u32> = touched.filter(|drive| !self.is_lost(*drive)).collect();
            writes.extend(self.living_parities(segment.stripe));
            self.add(&mut plan.writes, &segment, writes);
        }
        plan.tidy()
    }

    fn drives_to_read_for_write(&self, segment: &Segment) -> Vec<u32> {
        let parities = self.living_parities(segment.stripe);
        let (data, touched) = (self.data_units() as usize, segment.touched.len());
        if parities.is_empty() || touched == data {
            return Vec::new();
        }
        let is_touched = |unit: &u32| segment.touched.contains(unit);
        let (old, others): (Vec<u32>, Vec<u32>) = (0..self.data_units()).partition(is_touched);
        let drives = |units: Vec<u32>| -> Vec<u32> {
            units.into_iter().map(|unit| self.drive_of(segment.stripe, unit)).collect()
        };
        let (mut old, mut others) = (drives(old), drives(others));
        let touches_lost = old.iter().any(|drive| self.is_lost(*drive));
        let leaves_lost = others.iter().any(|drive| self.is_lost(*drive));
        let modifies = match (touches_lost, leaves_lost) {
            (true, true) => {
                others.append(&mut old);
                others.extend(parities);
                others.retain(|drive| !self.is_lost(*drive));
                return others;
            }
            (true, false) => false,
            (false, true) => true,
            (false, false) => touched + parities.len() < data - touched,
        };
        if !modifies {
            return others;
        }
        old.extend(parities);
        old
    }

    pub fn trim(&self, (from, to): Range) -> Plan {
        let mut plan = Plan::default();
        if let Some(copies) = &self.copies {
            return Plan { trims: copies.living((from, to)), ..plan }.tidy();
        }
        if self.parities() == 0 {
            return Plan { trims: self.read((from, to)).reads, ..plan };
        }
        let stripe_bytes = self.unit * u64::from(self.data_units());
        for stripe in from.div_ceil(stripe_bytes)..to / stripe_bytes {
            for drive in (0..self.drives).filter(|drive| !self.is_lost(*drive)) {
                let first = stripe * self.unit;
                plan.trims.entry(drive).or_default().push((first, first + self.unit));
            }
        }
        plan.tidy()
    }

    pub fn flush(&self) -> Plan {
        let living = (0..self.drives).filter(|drive| !self.is_lost(*drive));
        Plan { flushes: living.collect(), ..Plan::default() }
    }

    fn add(&self, bytes: &mut Bytes, segment: &Segment, drives: Vec<u32>) {
        let first = segment.stripe * self.stripe_rows();
        for drive in drives {
            let (from, to) = segment.rows;
            bytes.entry(drive).or_default().push((first + from, first + to));
        }
    }

    /// Bytes of a drive that a stripe takes: drives that are not striped are one stripe of one unit each.
    const fn stripe_rows(&self) -> u64 {
        match self.layout {
            Layout::Single | Layout::Jbod => self.drive_bytes,
            _ => self.unit,
        }
    }

    /// A range in rows of a stripe in which the same units are touched.
    fn segments(&self, (from, to): Range) -> Vec<Segment> {
        let unit = self.stripe_rows();
        let stripe_bytes = unit * u64::from(self.data_units());
        let mut segments = Vec::new();
        for stripe in from / stripe_bytes..to.div_ceil(stripe_bytes) {
            let first = stripe * stripe_bytes;
            let rows_of = |index: u32| {
                let start = first + u64::from(index) * unit;
                let (low, high) = (from.max(start), to.min(start + unit));
                (low < high).then(|| (low - start, high - start))
            };
            let touched: Vec<(u32, Range)> =
                (0..self.data_units()).filter_map(|index| Some((index, rows_of(index)?))).collect();
            let mut bounds: Vec<u64> =
                touched.iter().flat_map(|(_, (low, high))| [*low, *high]).collect();
            bounds.sort_unstable();
            bounds.dedup();
            for rows in bounds.windows(2) {
                let rows = (rows[0], rows[1]);
                let covers = |(low, high): Range| low <= rows.0 && rows.1 <= high;
                let units = touched.iter().filter(|(_, range)| covers(*range));
                let units: Vec<u32> = units.map(|(index, _)| *index).collect();
                if !units.is_empty() {
                    segments.push(Segment { stripe, rows, touched: units });
                }
            }
        }
        segments
    }
}

impl Plan {
    /// The same bytes, in order, neighbours as one.
    fn tidy(mut self) -> Self {
        for bytes in [&mut self.reads, &mut self.writes, &mut self.trims] {
            for ranges in bytes.values_mut() {
                *ranges = joined(std::mem::take(ranges));
            }
        }
        self
    }
}

/// Ranges in order, neighbours as one.
pub fn joined(mut ranges: Vec<Range>) -> Vec<Range> {
    ranges.sort_unstable();
    let mut joined: Vec<Range> = Vec::new();
    for (from, to) in ranges {
        match joined.last_mut() {
            Some((_, end)) if *end == from => *end = to,
            _ => joined.push((from, to)),
        }
    }
    joined
}
