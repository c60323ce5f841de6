//! Preparing devices: fill a share of the logical space, then overwrite at random. Untimed, through
//! the same mapping, allocation and collection code as the measured run.

mod filling;
mod mean_field;
mod overwritten;
mod rounds;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::checkpoint::{Checkpointed, Loaded, Reader, Writer};
use crate::collector::job::{self, Tally};
use crate::config::{Overwrites, Preemption, Resolved};
use crate::executor::{Executor, InTurn, Job};
use crate::ftl::{Allocation, Ftl, Left, Outdated, Stage, Translated};
use crate::ids::{DieId, Lpn, PlaneId, SsdId, going_round};
use crate::outlined::Outlined;
use crate::outside::Failed;
use crate::placement::{Future, HostPage};
use crate::rng::{self, Stream};
use crate::scheduler::when::supply::{ExternalSchedule, Supplier};
use crate::steady::SteadyRule;
use crate::told::Told;
use crate::workload::InputError;

use filling::Filling;
use overwritten::{Ahead, Change, Changes};
pub use rounds::{Rounds, RoundsSummary};

/// The place of a device in the names of random streams.
pub fn name(device: SsdId) -> String {
    format!("ssd/{}", device.0)
}

/// Random stream of an external schedule, if a checked configuration has one.
pub fn schedule_stream(config: &Resolved, device: SsdId) -> Option<Stream> {
    let Preemption::Python { .. } = config.ssd.gc.preemption else { return None };
    Some(rng::stream(config.seed, &format!("{}/gc/schedule", name(device))))
}

/// The devices of a configuration on their way to the states that a run starts from, each with random
/// choices of its own: as many at a time as the executor does jobs.
#[derive(Debug)]
pub struct Preparation {
    devices: Outlined<Vec<Preconditioner>>,
    executor: Arc<dyn Executor>,
}

impl Preparation {
    /// New devices of a checked configuration.
    pub fn new(config: &Resolved) -> Self {
        let devices = 0..config.array.drives() as usize;
        Self::of(devices.map(|id| Preconditioner::new(config, SsdId::from_index(id))).collect())
    }

    /// Prepares these devices, one after the other.
    pub fn of(devices: Vec<Preconditioner>) -> Self {
        Self { devices: Outlined::new(devices), executor: Arc::new(InTurn) }
    }

    /// Prepares from now on as many at a time as `executor` does jobs.
    pub fn prepare_on(&mut self, executor: Arc<dyn Executor>) {
        self.executor = executor;
    }

    /// Takes the policies of a checked configuration that come from outside.
    ///
    /// # Errors
    /// If the supplier has not got one.
    pub fn supply(&mut self, config: &Resolved, supplier: &dyn Supplier) -> Result<(), Failed> {
        let mut devices = self.devices.iter_mut().enumerate();
        devices.try_for_each(|(id, device)| device.supply(config, SsdId::from_index(id), supplier))
    }

    /// Takes the victim policies and the placements that come from outside: what has a say in what a prepared drive
    /// looks like.
    ///
    /// # Errors
    /// If the supplier has not got one.
    pub fn supply_to_be_saved(&mut self, supplier: &dyn Supplier) -> Result<(), Failed> {
        let mut devices = self.devices.iter_mut().enumerate();
        devices
            .try_for_each(|(id, device)| device.supply_to_be_saved(SsdId::from_index(id), supplier))
    }

    /// The placement of the first drive is told what the run will do, once it begins.
    pub fn foresee(&mut self, future: Future) {
        if let Some(device) = self.devices.first_mut() {
            device.ftl.streams_mut().foresee(future);
        }
    }

    /// Says which drive takes no writes any more and so cannot be prepared, if one does not. Of several it is
    /// the first, however many are prepared at a time: until those before it are ready, none.
    pub fn read_only(&self) -> Option<String> {
        let drive =
            self.devices.iter().position(|device| device.ftl.bad_blocks().is_read_only())?;
        let is_new = self.devices.iter().all(|device| device.pages_written() == 0);
        if !is_new && !self.devices[..drive].iter().all(Preconditioner::is_done) {
            return None;
        }
        Some(match self.devices[drive].pages_written() {
            0 => format!(
                "ssd.faults.factory_bad_blocks: leaves a plane of drive {drive} too few good blocks; \
                 allowed: less, more ssd.ftl.over_provisioning, or another seed"
            ),
            _ => format!(
                "precondition: drive {drive} becomes read-only while it is prepared, as too few of its \
                 blocks are good (ssd.faults); allowed: fewer overwrites, or flash that lasts longer"
            ),
        })
    }

    /// Says which drive has lost the victims of a plane and so cannot be prepared, if one has: the first, whatever
    /// is prepared at a time.
    pub fn out_of_victims(&self) -> Option<String> {
        let drive = self.devices.iter().position(|device| device.is_full)?;
        let are_before_ready = self.devices[..drive].iter().all(Preconditioner::is_done);
        let problem = || self.devices[drive].ftl.refused().problem(drive);
        are_before_ready.then(problem).flatten()
    }

    /// Fault of the workload whose pages are overwritten, if there is one.
    pub fn fault(&self) -> Option<&InputError> {
        self.devices.iter().find_map(|device| device.ahead.fault())
    }

    /// Reason why an external policy is no longer called, if one has failed.
    pub fn policy_failed(&self) -> Option<Failed> {
        self.devices.iter().find_map(|device| device.ftl.policy_failed())
    }

    /// Tells from now on what the devices choose, if they are audited.
    pub fn tell_choices(&mut self) {
        let audits = self.devices.iter_mut().filter_map(|device| device.ftl.audit_mut());
        audits.for_each(|audit| audit.tell_choices());
    }

    /// Takes what each device has chosen since the last call.
    pub fn take_told(&mut self) -> Vec<Vec<Told>> {
        let audits = self.devices.iter_mut().map(|device| device.ftl.audit_mut());
        audits.map(|audit| audit.map(|audit| audit.take_told()).unwrap_or_default()).collect()
    }

    /// The devices, in order.
    pub fn devices(&self) -> &[Preconditioner] {
        &self.devices
    }

    /// The devices, in order, to be run.
    pub fn into_devices(self) -> Vec<Preconditioner> {
        self.devices.into_inner()
    }

    /// Share of the work that has been done.
    pub fn fraction(&self) -> f64 {
        let all: u64 = self.devices.iter().map(Preconditioner::pages_to_write).sum();
        if all == 0 { 1.0 } else { self.pages_written() as f64 / all as f64 }
    }

    /// Host pages written so far.
    pub fn pages_written(&self) -> u64 {
        self.devices.iter().map(Preconditioner::pages_written).sum()
    }

    /// Whether every device is ready.
    pub fn is_done(&self) -> bool {
        self.devices.iter().all(Preconditioner::is_done)
    }

    /// Writes up to `pages` more pages to each of as many devices as are prepared at a time.
    pub fn advance(&mut self, pages: u64) {
        let unready = self.devices.iter_mut().filter(|device| !device.is_done());
        let next = unready.take(self.executor.width());
        let jobs = next.map(|device| Box::new(move || device.advance(pages)) as Job<'_>);
        self.executor.run(jobs.collect());
    }
}

/// Saves all but the number of devices that are prepared at a time: the caller gives it again.
impl Checkpointed for Preparation {
    fn keep(&self, out: &mut Writer<'_>) {
        self.devices.keep(out);
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        Vec::load(from).map(Self::of)
    }
}

/// A device on its way to the state that a run starts from.
#[derive(Debug, Checkpointed)]
pub struct Preconditioner {
    /// The device.
    pub ftl: Ftl,
    /// The schedule of the run, if it comes from outside.
    #[checkpoint(skip)]
    pub schedule: Option<Box<dyn ExternalSchedule>>,
    filling: Filling,
    overwritten: u64,
    /// Overwrites after which the device is ready, or a round ends.
    goal: u64,
    rounds: Option<Rounds>,
    ahead: Ahead,
    /// The die that takes the next write that has no place of its own.
    next_die: usize,
    /// Writes so far, those of translation pages included.
    version: u64,
    /// Whether a write has found no room, as victims are lost. Nothing is written any more.
    is_full: bool,
    /// Translation pages that are out of date because pages were moved.
    outdated: VecDeque<Lpn>,
    tally: Tally,
}

impl Preconditioner {
    /// A new device of a checked configuration. One that is lost, or has just replaced one that is,
    /// and a spare stay empty.
    pub fn new(config: &Resolved, device: SsdId) -> Self {
        let mut new = Self::new_around(config, Ftl::new(config, &name(device)), device);
        new.filling.lay_out(config, &new.ftl);
        new
    }

    fn new_around(config: &Resolved, ftl: Ftl, device: SsdId) -> Self {
        let index = u32::from(device.0);
        let is_empty = index >= config.array.devices || config.array.failed.contains(&index);
        let fill = if is_empty { 0.0 } else { config.precondition.fill.0 };
        let fill = (fill * ftl.limits().logical_pages() as f64).round() as usize;
        let pages = |times: f64| (times * fill as f64).round() as u64;
        let (goal, rounds) = match &config.precondition.overwrites {
            Overwrites::Fixed(times) => (pages(*times), None),
            Overwrites::UntilSteady { .. } if fill == 0 => (0, None),
            Overwrites::UntilSteady { round, window, excursion, slope, deviation, most_rounds } => {
                let rule = SteadyRule {
                    window: *window as usize,
                    excursion: excursion.most(),
                    slope: slope.most(),
                    deviation: deviation.most(),
                };
                let length = pages(*round).max(1);
                (length, Some(Rounds::new(rule, length, *most_rounds)))
            }
        };
        let random = rng::stream(config.seed, &format!("{}/precondition", name(device)));
        Self {
            ftl,
            schedule: None,
            filling: Filling::new(fill),
            overwritten: 0,
            goal,
            rounds,
            ahead: Ahead::new(Changes::of(config, device, random, fill as u32)),
            next_die: 0,
            version: 0,
            is_full: false,
            outdated: VecDeque::new(),
            tally: Tally::default(),
        }
    }

    /// A device that has been prepared before, in rounds of these write amplifications if it was in
    /// rounds.
    pub fn prepared(config: &Resolved, ftl: Ftl, device: SsdId, rounds: &[f64]) -> Self {
        let mut preconditioner = Self::new_around(config, ftl, device);
        preconditioner.filling.end();
        if let Some(known) = &mut preconditioner.rounds {
            rounds.iter().for_each(|value| known.push(*value));
            preconditioner.goal = known.length() * rounds.len() as u64;
        }
        preconditioner.overwritten = preconditioner.goal;
        preconditioner
    }

    fn supply(
        &mut self,
        config: &Resolved,
        device: SsdId,
        supplier: &dyn Supplier,
    ) -> Result<(), Failed> {
        self.supply_to_be_saved(device, supplier)?;
        if let Some(random) = schedule_stream(config, device) {
            self.schedule = Some(
                supplier
                    .supply(self.ftl.limits().described(device, self.ftl.geometry()), random)?,
            );
        }
        Ok(())
    }

    fn supply_to_be_saved(&mut self, device: SsdId, supplier: &dyn Supplier) -> Result<(), Failed> {
        let described = self.ftl.limits().described(device, self.ftl.geometry());
        self.ftl.supply(described, supplier, supplier)
    }

    /// The rounds of overwrites, if there are rounds until write amplification is steady.
    pub const fn rounds(&self) -> Option<&Rounds> {
        self.rounds.as_ref()
    }

    /// Host pages that are written in all, or at most.
    fn pages_to_write(&self) -> u64 {
        let rounds = self.rounds.as_ref().filter(|rounds| !rounds.have_ended());
        self.filling.pages() + rounds.map_or(self.goal, Rounds::most_pages)
    }

    /// Host pages written so far.
    pub const fn pages_written(&self) -> u64 {
        self.filling.filled() + self.overwritten
    }

    /// Bytes of the host written so far.
    pub fn bytes_written(&self) -> u64 {
        self.pages_written() * self.ftl.geometry().page_size as u64
    }

    /// The order of the last write, of whatever page.
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// Counts of collections so far.
    pub const fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Whether the device is ready.
    pub const fn is_done(&self) -> bool {
        self.filling.is_over() && self.overwritten == self.goal
    }

    /// Writes up to `pages` more pages.
    pub fn advance(&mut self, pages: u64) {
        let mut left = pages;
        while left > 0 && self.fill_page() {
            left -= 1;
        }
        if let Some(rounds) = self.rounds.as_mut().filter(|_| self.overwritten == 0) {
            rounds.begin(self.version + self.tally.pages_moved);
        }
        while left > 0 && self.overwritten < self.goal && self.ahead.fault().is_none() {
            left -= self.overwrite(left.min(self.goal - self.overwritten));
            if self.overwritten == self.goal {
                self.end_round();
            }
        }
        if self.is_done() && self.ftl.slc_pool().is_some() {
            self.fold_all();
        }
    }

    /// Fills the next page. Returns whether there was one.
    fn fill_page(&mut self) -> bool {
        if let Some(batch) = self.filling.batch() {
            self.ftl.streams_mut().expect_writes(None, batch.map(Lpn::from_index));
        }
        let Some((lpn, laid_out)) = self.filling.next(&self.ftl) else { return false };
        let page = HostPage::without_hint(lpn);
        match laid_out {
            None => self.write(page),
            Some((plane, times)) => self.lay_out(plane, page, times),
        }
        true
    }

    /// Folds what idle time would: a drive has rested before its run begins.
    fn fold_all(&mut self) {
        self.ftl.use_idle_time_to_fold(true);
        (0..self.ftl.geometry().dies()).map(DieId::from_index).for_each(|die| self.collect(die));
        self.ftl.use_idle_time_to_fold(false);
        // As a drive that comes out of a file does.
        self.ftl.look_at_cache();
        if !self.outdated.is_empty() {
            self.write_outdated();
        }
    }

    /// Ends a round, or the preparation: as many pages have been overwritten as were asked for.
    fn end_round(&mut self) {
        let written = self.version + self.tally.pages_moved;
        if let Some(rounds) = &mut self.rounds {
            rounds.end(written);
            if !rounds.have_ended() {
                self.goal += rounds.length();
            }
        }
    }

    /// Makes the next changes, up to `most` writes. Returns how many writes; fewer behind a fault of the workload.
    fn overwrite(&mut self, most: u64) -> u64 {
        let before = self.overwritten;
        while self.overwritten - before < most {
            if self.ahead.is_over() {
                self.look_ahead();
            }
            match self.ahead.next() {
                None => break,
                Some(Change::Write(page)) => {
                    self.overwritten += 1;
                    self.write(page);
                }
                Some(Change::Trim(lpn)) => {
                    self.ftl.trim(lpn);
                }
            }
            self.ahead.made();
        }
        self.overwritten - before
    }

    /// Draws the next changes, and fetches what they need: the cache misses of all of them overlap.
    fn look_ahead(&mut self) {
        let pages = self.ahead.draw(self.goal - self.overwritten);
        pages.clone().for_each(|page| self.ftl.prefetch().entry(page.lpn));
        pages.clone().for_each(|page| self.ftl.prefetch().old_page(page.lpn));
        if let Some(first) = pages.clone().next() {
            self.ftl.streams_mut().expect_writes(first.hint, pages.map(|page| page.lpn));
        }
    }

    fn write(&mut self, page: HostPage) {
        if self.ftl.facts().translates {
            self.bring_entry(page.lpn);
        }
        self.write_page(page);
        if !self.outdated.is_empty() {
            self.write_outdated();
        }
    }

    /// Writes a page so many times. Nothing is collected: the model leaves as many blocks free as it does.
    fn lay_out(&mut self, plane: PlaneId, page: HostPage, times: u32) {
        for _ in 0..times {
            self.version += 1;
            self.ftl.write(plane, page, self.version);
        }
    }

    fn write_page(&mut self, page: HostPage) {
        let has_faults = self.ftl.bad_blocks().are_possible();
        if has_faults && self.ftl.bad_blocks().is_read_only() {
            return;
        }
        if self.is_full {
            return;
        }
        let Some(plane) = self.plane_for(page) else {
            self.is_full = true;
            return;
        };
        let die = self.ftl.geometry().die_of_plane(plane);
        if self.ftl.want(plane, page.lpn) {
            self.collect(die);
        }
        self.version += 1;
        self.ftl.write(plane, page, self.version);
        if has_faults {
            self.outdated.extend(self.ftl.outdated(Outdated::On(die)));
        }
        if self.ftl.planes_to_collect(die) != 0 {
            self.collect(die);
        }
        if self.ftl.take_wakes_others() {
            self.collect_others(die);
        }
    }

    /// Collects the planes that are counted together with those of `die`.
    fn collect_others(&mut self, die: DieId) {
        let dies = self.ftl.geometry().dies();
        let others = (1..dies).map(|step| DieId::from_index((die.index() + step) % dies));
        others.for_each(|die| self.collect(die));
    }

    fn collect(&mut self, die: DieId) {
        self.tally += job::collect_untimed(&mut self.ftl, die);
        self.outdated.extend(self.ftl.outdated(Outdated::On(die)));
    }

    /// Brings the mapping of `lpn` into RAM, for which another may have to be written back.
    fn bring_entry(&mut self, lpn: Lpn) {
        let asked = self.ftl.translate(lpn, Stage::Asked);
        let Translated::Waits { with, .. } = asked else { return };
        let room = self.ftl.translate(with, Stage::NextForRoom);
        if let Translated::Room(Left::Unwritten { page, .. }) = room {
            self.write_page(HostPage::without_hint(page));
        }
        // To read takes no time.
        while self.ftl.translate(with, Stage::WasRead) != Translated::Known {}
    }

    /// Updates the translation pages that are out of date; no more of them than there are, as collections
    /// that make room for them may make others so.
    fn write_outdated(&mut self) {
        for _ in 0..self.ftl.limits().translation_pages() {
            let Some(page) = self.outdated.pop_front() else { return };
            if !self.ftl.outdated(Outdated::Page(page)).is_empty() {
                self.write_page(HostPage::without_hint(page));
            }
        }
    }

    /// The plane that takes the write of `page`; none if its victims are lost.
    fn plane_for(&mut self, page: HostPage) -> Option<PlaneId> {
        let plane = match self.ftl.allocation() {
            Allocation::Static { .. } => self.ftl.allocation().plane_of(page.lpn),
            Allocation::PerDie { .. } => self
                .ftl
                .allocation()
                .die_of(page.lpn, self.ftl.geometry())
                .and_then(|die| self.ftl.next_place(die, page))
                .map(|(plane, _)| plane),
            Allocation::Dynamic { .. } => self.next_free_plane(page),
        };
        if self.ftl.refused().are_possible() {
            return plane.filter(|plane| self.has_room_or_victims(*plane, page));
        }
        Some(plane.expect("a checked configuration leaves every plane room for its logical pages"))
    }

    /// Whether `plane` takes the write of `page`, or has lost no victim that would make it.
    fn has_room_or_victims(&mut self, plane: PlaneId, page: HostPage) -> bool {
        if !self.ftl.accepts(plane, page) {
            self.collect(self.ftl.geometry().die_of_plane(plane));
        }
        self.ftl.accepts(plane, page) || !self.ftl.refused().block_writes(plane)
    }

    fn next_free_plane(&mut self, page: HostPage) -> Option<PlaneId> {
        let dies = self.ftl.geometry().dies();
        let (die, (plane, offset)) = going_round(self.next_die, dies)
            .find_map(|die| Some((die, self.place_with_room(DieId::from_index(die), page)?)))?;
        // What is programmed together goes to one die.
        let is_over = self.ftl.geometry().ends_program(offset);
        self.next_die = if is_over { (die + 1) % dies } else { die };
        Some(plane)
    }

    /// The next place of `die`. A die that had nothing to give when it was last written may have
    /// something now.
    fn place_with_room(&mut self, die: DieId, page: HostPage) -> Option<(PlaneId, u32)> {
        if self.ftl.planes_to_collect(die) != 0 {
            self.collect(die);
        }
        self.ftl.next_place(die, page)
    }
}
