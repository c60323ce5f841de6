//! The translation layer alone, under random writes and trims, against a map from page to version.

use copyback::collector::job::collect_untimed;
use copyback::ftl::{Allocation, Ftl, Left, Outdated, Stage, Translated};
use copyback::ids::{DieId, Lpn, PlaneId};
use copyback::placement::HostPage;

use crate::check;
use crate::draw::{Case, Draw};

/// Operations between checks of everything.
const STRETCH: u64 = 200;

/// A translation layer and what it should hold.
pub struct Device {
    pub ftl: Ftl,
    /// That of each logical page and translation page; none of those that hold nothing.
    versions: Vec<Option<u64>>,
    submitted: u64,
    next_die: usize,
}

/// Drives a translation layer of the case's configuration, until it is read-only if its flash is faulty.
pub fn drive(case: &Case) -> Result<(), String> {
    let mut draw = Draw::new(case.number, "swarm/oracle");
    let mut device = Device::new(case);
    let pages = device.ftl.limits().logical_pages() as u64;
    let hot = draw.within(1, pages);
    let trims = draw.of(&[0.0, 0.05, 0.3]);
    for operation in 0..(2 * device.ftl.geometry().pages() as u64).clamp(500, 8_000) {
        let most = if draw.chance(0.7) { hot } else { pages };
        let lpn = Lpn(draw.within(0, most - 1) as u32);
        if device.is_full() {
            break;
        }
        if draw.chance(trims) {
            device.trim(lpn)?;
        } else {
            device.write(lpn)?;
        }
        if operation % STRETCH == 0 {
            device.check()?;
        }
    }
    device.check()
}

impl Device {
    /// An empty device of the case's configuration.
    pub fn new(case: &Case) -> Self {
        let ftl = Ftl::new(&case.config.resolve(), "ssd/0");
        let versions = vec![None; ftl.limits().logical_pages() + ftl.limits().translation_pages()];
        Self { ftl, versions, submitted: 0, next_die: 0 }
    }

    /// Whether it takes no writes any more: it is read-only, or has lost its victims.
    fn is_full(&self) -> bool {
        self.ftl.bad_blocks().is_read_only() || self.ftl.refused().problem(0).is_some()
    }

    /// Writes a page to a plane that accepts it.
    pub fn write_to(&mut self, plane: PlaneId, lpn: Lpn) {
        self.submitted += 1;
        self.ftl.write(plane, HostPage::without_hint(lpn), self.submitted);
        self.versions[lpn.index()] = Some(self.submitted);
    }

    fn write(&mut self, lpn: Lpn) -> Result<(), String> {
        if self.ftl.facts().translates {
            self.bring_entry(lpn)?;
        }
        self.write_page(lpn)?;
        self.write_outdated()
    }

    /// Brings the mapping of `lpn` into RAM.
    fn bring_entry(&mut self, lpn: Lpn) -> Result<(), String> {
        let asked = self.ftl.translate(lpn, Stage::Asked);
        let Translated::Waits { with, .. } = asked else { return Ok(()) };
        match self.ftl.translate(with, Stage::NextForRoom) {
            Translated::Room(Left::Unwritten { page, .. }) => self.write_page(page)?,
            Translated::Room(_) => {}
            _ => return Err("no room for a mapping".into()),
        }
        let known = self.ftl.translate(with, Stage::WasRead);
        check::holds(&format!("a mapping for {lpn:?}"), known == Translated::Known)
    }

    /// Writes a translation page that is out of date, if one is; others stay so for a while.
    fn write_outdated(&mut self) -> Result<(), String> {
        let outdated = self.ftl.outdated(Outdated::All);
        outdated.first().map_or(Ok(()), |page| self.write_page(*page))
    }

    fn write_page(&mut self, lpn: Lpn) -> Result<(), String> {
        let Some(plane) = self.plane(lpn) else {
            // The collections before the write may have met the last bad block that the drive can bear.
            return check::holds(&format!("room for {lpn:?}"), self.is_full());
        };
        self.write_to(plane, lpn);
        let die = self.ftl.geometry().die_of_plane(plane);
        collect_untimed(&mut self.ftl, die);
        self.read(lpn)
    }

    pub fn trim(&mut self, lpn: Lpn) -> Result<(), String> {
        let mapped = self.ftl.trim(lpn);
        let expected = self.versions[lpn.index()].take().is_some();
        if mapped != expected {
            return Err(format!("trim of {lpn:?}: mapped {mapped}, expected {expected}"));
        }
        self.read(lpn)
    }

    /// Looks a page up; the audit compares the version that it finds.
    pub fn read(&mut self, lpn: Lpn) -> Result<(), String> {
        self.ftl.check_read(lpn, None);
        let (mapped, expected) = (self.ftl.lookup(lpn), self.versions[lpn.index()]);
        if mapped.is_some() != expected.is_some() {
            return Err(format!("{lpn:?} is at {mapped:?}, last version {expected:?}"));
        }
        Ok(())
    }

    fn plane(&mut self, lpn: Lpn) -> Option<PlaneId> {
        if let Allocation::Dynamic { .. } = self.ftl.allocation() {
            return self.next_free_plane(lpn);
        }
        let die = self.ftl.allocation().die_of(lpn, self.ftl.geometry())?;
        // A trim may have given a die something to collect.
        collect_untimed(&mut self.ftl, die);
        match self.ftl.allocation().plane_of(lpn) {
            Some(plane) => {
                if self.ftl.want(plane, lpn) {
                    collect_untimed(&mut self.ftl, die);
                }
                self.ftl.accepts(plane, HostPage::without_hint(lpn)).then_some(plane)
            }
            None => self.next_plane(die, lpn),
        }
    }

    fn next_plane(&self, die: DieId, lpn: Lpn) -> Option<PlaneId> {
        self.ftl.next_place(die, HostPage::without_hint(lpn)).map(|(plane, _)| plane)
    }

    fn next_free_plane(&mut self, lpn: Lpn) -> Option<PlaneId> {
        let dies = self.ftl.geometry().dies();
        for _ in 0..dies {
            let die = DieId::from_index(self.next_die);
            self.next_die = (self.next_die + 1) % dies;
            collect_untimed(&mut self.ftl, die);
            if let Some(plane) = self.next_plane(die, lpn) {
                return Some(plane);
            }
        }
        None
    }

    pub fn check(&mut self) -> Result<(), String> {
        self.ftl.check()?;
        for lpn in (0..self.ftl.limits().logical_pages()).map(Lpn::from_index) {
            self.read(lpn)?;
        }
        let held = (0..self.versions.len()).filter(|index| self.versions[*index].is_some());
        let mut places: Vec<_> =
            held.map(|index| self.ftl.lookup(Lpn::from_index(index))).collect();
        let held = places.len();
        places.sort_unstable();
        places.dedup();
        if places.len() != held {
            return Err("two logical pages share a physical one".into());
        }
        let mut valid = 0;
        for block in (0..self.ftl.geometry().blocks()).map(copyback::ids::BlockId::from_index) {
            valid += usize::from(self.ftl.blocks().valid_pages(block));
        }
        if valid != held {
            return Err(format!("{valid} valid pages for {held} logical ones"));
        }
        self.ftl
            .audit()
            .and_then(|audit| audit.violation())
            .map_or(Ok(()), |problem| Err(problem.to_owned()))
    }
}
