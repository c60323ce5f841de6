//! The translation layer alone, where logical pages are bound to blocks, while merges are put off, begun
//! for every reason there is and interrupted after any of their steps: data, update and delay blocks of a
//! group live side by side, and it is written while it is merged.

use std::collections::BTreeMap;

use copyback::collector::job::Job;
use copyback::config::Idle;
use copyback::ftl::{Occasion, ReclaimStep};
use copyback::ids::{Lpn, PlaneId};
use copyback::placement::HostPage;
use copyback::purpose::Reason;

use crate::draw::{Case, Draw};
use crate::oracle::Device;

/// Operations between checks of everything.
const STRETCH: u64 = 50;

/// A device, and the merge that is under way on each plane.
struct Drive {
    device: Device,
    merges: BTreeMap<PlaneId, Job>,
    delays: bool,
    written_meanwhile: u64,
}

/// What a drive has met.
#[derive(Debug, Default, Clone, Copy)]
pub struct Met {
    /// Merges that were put off.
    pub put_off: u64,
    /// Writes to a plane on which a merge had begun and not ended.
    pub written_meanwhile: u64,
}

/// Drives a translation layer of the case's configuration, if it is of the kind.
pub fn drive(case: &Case) -> Result<Met, String> {
    let idle = case.config.ssd.gc.idle;
    if idle == Idle::None || case.config.ssd.ftl.mapping.is_page_mapping() {
        return Ok(Met::default());
    }
    let mut draw = Draw::new(case.number, "swarm/interrupted");
    let mut drive = Drive {
        device: Device::new(case),
        merges: BTreeMap::new(),
        delays: idle.delays(),
        written_meanwhile: 0,
    };
    drive.device.ftl.list_idle_jobs(idle.delays());
    let pages = drive.device.ftl.limits().logical_pages() as u64;
    let hot = draw.small_within(1, pages);
    let (trims, begins) = (draw.of(&[0.0, 0.05, 0.3]), draw.of(&[0.02, 0.2, 0.8]));
    let most_steps = draw.small_within(1, 40);
    for operation in 0..(2 * drive.device.ftl.geometry().pages() as u64).clamp(500, 4_000) {
        let most = if draw.chance(0.8) { hot } else { pages };
        let lpn = Lpn(draw.within(0, most - 1) as u32);
        match draw.chance(trims) {
            true => drive.device.trim(lpn)?,
            false => drive.write(lpn)?,
        }
        let plane = PlaneId(draw.within(0, drive.device.ftl.geometry().planes() as u64 - 1) as u32);
        if draw.chance(begins) {
            drive.begin(plane, &mut draw);
        }
        for _ in 0..draw.within(0, most_steps) {
            drive.step(plane);
        }
        drive.device.read(lpn)?;
        if operation % STRETCH == 0 {
            drive.device.check()?;
        }
    }
    drive.device.check()?;
    let put_off = drive.device.ftl.facts().deferred;
    Ok(Met { put_off, written_meanwhile: drive.written_meanwhile })
}

impl Drive {
    fn write(&mut self, lpn: Lpn) -> Result<(), String> {
        let plane = self.device.ftl.allocation().plane_of(lpn).ok_or("it has a plane")?;
        while !self.has_room(plane, lpn) && self.finish_or_begin(plane) {}
        if !self.device.ftl.accepts(plane, HostPage::without_hint(lpn)) {
            return Err(format!("no room for {lpn:?}"));
        }
        self.written_meanwhile += u64::from(self.merges.contains_key(&plane));
        self.device.write_to(plane, lpn);
        Ok(())
    }

    /// Finishes the merge on `plane`, or begins one on demand. Returns whether there was any.
    fn finish_or_begin(&mut self, plane: PlaneId) -> bool {
        if self.merges.contains_key(&plane) {
            while self.step(plane) {}
            return true;
        }
        let job = Job::on_demand(plane, &mut self.device.ftl);
        let begins = job.is_some();
        self.merges.extend(job.map(|job| (plane, job)));
        begins
    }

    /// Whether a write may go to its plane now: a drive that delays nothing first collects planes that are
    /// short of space.
    fn has_room(&mut self, plane: PlaneId, lpn: Lpn) -> bool {
        let ftl = &mut self.device.ftl;
        let die = ftl.geometry().die_of_plane(plane);
        let bit = 1 << (plane.0 % ftl.geometry().planes_per_die);
        let must = ftl.want(plane, lpn);
        let is_short = ftl.planes_to_collect(die) & bit != 0;
        let waits = self.delays && ftl.can_wait(plane);
        !must && (!is_short || waits) && ftl.accepts(plane, HostPage::without_hint(lpn))
    }

    /// Begins a merge on `plane`, for a reason that is drawn, if there is any and none is under way.
    fn begin(&mut self, plane: PlaneId, draw: &mut Draw) {
        if self.merges.contains_key(&plane) {
            return;
        }
        let ftl = &mut self.device.ftl;
        let die = ftl.geometry().die_of_plane(plane);
        let job = match draw.within(0, 3) {
            0 | 1 => Job::on(Occasion::Owed(die), Reason::Delayed, ftl),
            2 => Job::on(Occasion::Advance(plane), Reason::Compaction, ftl),
            _ => Job::on(Occasion::Demand(plane), Reason::Delayed, ftl),
        };
        if let Some(job) = job {
            self.merges.insert(job.plane, job);
        }
    }

    /// The next step of the merge on `plane`. Returns whether there was one.
    fn step(&mut self, plane: PlaneId) -> bool {
        let Some(job) = self.merges.get_mut(&plane) else { return false };
        match job.next_step(&self.device.ftl) {
            Some(ReclaimStep::Move(page)) => drop(self.device.ftl.relocate(page)),
            Some(ReclaimStep::Erase(block)) => self.device.ftl.erase(block),
            None => {
                self.merges.remove(&plane);
                return false;
            }
        }
        true
    }
}
