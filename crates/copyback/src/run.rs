//! The measured part of a simulation: the loop over instants.
//!
//! An instant has two phases. First every state change that falls on it is applied, in the drives and
//! of the host. Then everything that is free looks for work, until nothing changes.

mod ahead;
mod baseline;
mod before;
mod ending;
mod stop;
mod summary;

use std::sync::Arc;

use crate::array::coordination::supply::ExternalCoordinator;
use crate::array::{Array, Failures, FinishedRequest, SentMessage};
use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::drive::{Drive, Rejected};
use crate::executor::Executor;
use crate::ftl::ReclaimUnits;
use crate::host::{Admitted, Completion, Host, waited_outside};
use crate::ids::SsdId;
use crate::metrics::{
    Devices, DevicesSummary, DieColumns, DriveWork, Endurance, Finding, ParityState,
    PowerLossSummary, Recorder, Sample, WearStats, Written,
};
use crate::outcome::Outcome;
use crate::outside::Failed;
use crate::precondition::{Preconditioner, schedule_stream};
use crate::progress::{Phase, Progress};
use crate::scheduler::when::supply::Supplier;
use crate::ssd::{
    Blocked, Blocker, Counters, DieUse, Entry, FaultReport, For, IdleTimes, LineTally, Owner,
    PlaneUse, SlcState, SortingReport, Waited,
};
use crate::told::Told;
use crate::units::{Instant, TotalTime, earlier};
use crate::workload::{Operation, Request};
use crate::{Error, Status};

use ahead::SideBySide;
use baseline::Baseline;
use before::Before;
use ending::Ending;
use stop::SettledRounds;
use summary::SimulatorSummary;
pub use summary::{Summary, summary_schema};

/// A run.
#[derive(Checkpointed)]
pub struct Run {
    /// Measurements so far.
    pub recorder: Recorder,
    array: Array,
    host: Host,
    before: Before,
    /// Drives of an array that go ahead side by side, if they do.
    #[checkpoint(skip)]
    side_by_side: Option<SideBySide>,
    ending: Ending,
    /// Counts of the drives when the first request was measured.
    baseline: Baseline,
    /// Kept if the run is audited.
    audit: Option<Audit>,
    now: Instant,
    /// Number of requests that the host announces before they arrive.
    announces: usize,
    announced: Vec<Request>,
    /// Latest entries of the drives' journals, if somebody looks at them; kept to reuse the memory.
    journal: Vec<(SsdId, Entry)>,
}

/// Invariants that the run itself has seen broken.
#[derive(Default, Checkpointed)]
struct Audit {
    /// The first.
    violation: Option<String>,
}

impl Run {
    /// A run on prepared devices.
    ///
    /// # Errors
    /// If the trace is malformed, or the `coordinator` from outside can't begin.
    pub fn new(
        config: &Resolved,
        devices: Vec<Preconditioner>,
        coordinator: Option<Box<dyn ExternalCoordinator>>,
        host: Host,
    ) -> Result<Self, Error> {
        let before = Before::new(config, &devices);
        let mut run = Self {
            recorder: Recorder::new(config),
            array: Array::new(config, devices),
            host,
            before,
            side_by_side: None,
            ending: Ending::of(config),
            baseline: Baseline::of(config),
            audit: config.audit.then(Audit::default),
            now: Instant::START,
            announces: config.ssd.gc.idle.entries(),
            announced: Vec::new(),
            journal: Vec::new(),
        };
        if let Some(coordinator) = coordinator {
            run.supply_coordinator(coordinator).map_err(|failed| Error::Input(failed.0))?;
        }
        run.settle()?;
        Ok(run)
    }

    /// Lets the drives of an array go ahead side by side, as many at a time as `executor` does jobs, where they have
    /// nothing to do with each other. That changes no result.
    pub fn go_ahead_on(&mut self, config: &Resolved, executor: Arc<dyn Executor>) {
        self.side_by_side = SideBySide::of(config, executor);
    }

    /// Reads the requests again that had been read before the run was interrupted, as [`Host::catch_up`].
    ///
    /// # Errors
    /// If a trace is malformed.
    pub fn catch_up(&mut self, most: u64) -> Result<bool, Error> {
        Ok(self.host.catch_up(most)?)
    }

    /// Works through up to `budget` instants, those not counted that a drive passes by itself, or fewer if
    /// the timeline waits to be taken.
    ///
    /// # Errors
    /// If the trace is malformed, or an audited invariant breaks.
    pub fn advance(&mut self, budget: u64) -> Result<Status, Error> {
        for _ in 0..budget {
            if self.host.is_done() {
                self.array.stop_upkeep();
                if !self.array.is_destaging() {
                    return self.end();
                }
            }
            if self.side_by_side.is_some() && !self.array.is_ahead() {
                self.go_ahead()?;
            }
            let next = earlier(self.array.next_time(), self.host.next_arrival());
            let Some(next) = next else { return self.end() };
            if self.array.is_livelocked() && self.host.next_arrival().is_none() {
                return self.end();
            }
            if next > Instant::END {
                return Err(self.beyond_the_clock());
            }
            self.enter(next)?;
            self.now = self.array.apply_events(next, self.undisturbed_until());
            self.host.arrive(self.now);
            self.settle()?;
            if self.recorder.watch.as_ref().is_some_and(|watch| watch.is_full()) {
                break;
            }
        }
        Ok(Status::Running)
    }

    /// The first instant at which something may happen outside the array, if no request leaves it before: this
    /// one, if the drives are looked at after each of theirs.
    fn undisturbed_until(&self) -> Instant {
        if self.recorder.watch.is_some() || self.ending.at_read_only || self.host.is_done() {
            return self.now;
        }
        let rows = self.recorder.rows_due().min(self.recorder.dies.due()).min(Instant::END);
        let round = self.ending.due();
        let others = earlier(round, self.host.next_arrival());
        let others = earlier(others, self.begins_at());
        others.map_or(rows, |others| others.min(rows))
    }

    /// When the first request is measured, if that is to come and known.
    fn begins_at(&self) -> Option<Instant> {
        if self.baseline.is_taken() { None } else { self.host.measures_from() }
    }

    /// Begins to measure if requests that arrive at `now` are measured. Nothing else has happened at `now`.
    #[inline]
    fn begin_measuring(&mut self, now: Instant) {
        if !self.baseline.is_taken() {
            self.begin_measuring_if_due(now);
        }
    }

    fn begin_measuring_if_due(&mut self, now: Instant) {
        if self.begins_at().is_some_and(|begin| begin <= now) {
            self.baseline.take(self.array.drives_mut(), now);
            self.recorder.begin(now);
        }
    }

    /// Says what the run waits for when the clock ends.
    #[cold]
    fn beyond_the_clock(&self) -> Error {
        let key = self.array.waits_for();
        let done = self.recorder.whole.count();
        Error::Input(format!(
            "{key}: the run waits for this when the clock ends, 292 years after the start, with {done} \
             reads and writes completed; allowed: shorter times, faster rates, or fewer requests"
        ))
    }

    /// Takes the policies of the drives that come from outside, to go on with a run.
    ///
    /// # Errors
    /// If the supplier has not got one, or it can't go on.
    pub fn supply_again(
        &mut self,
        config: &Resolved,
        supplier: &dyn Supplier,
    ) -> Result<(), Failed> {
        let mut drives = self.array.drives_mut().iter_mut().enumerate();
        drives.try_for_each(|(id, drive)| {
            let id = SsdId::from_index(id);
            drive.ssd.supply_again(id, schedule_stream(config, id), supplier)
        })
    }

    /// Takes the coordinator of an array that comes from outside.
    ///
    /// # Errors
    /// If it can't begin, or go on with what a checkpoint told of it.
    pub fn supply_coordinator(
        &mut self,
        coordinator: Box<dyn ExternalCoordinator>,
    ) -> Result<(), Failed> {
        self.array.supply_coordinator(coordinator)
    }

    /// Reason why an external policy is no longer called, if one has failed.
    pub fn policy_failed(&self) -> Option<Failed> {
        self.array.policy_failed()
    }

    /// Moves the clock to the next instant; rows of the series that end before it are closed.
    fn enter(&mut self, next: Instant) -> Result<(), Error> {
        if next >= self.recorder.rows_due() {
            if self.recorder.series.overflows_at(next) {
                let seconds = next.as_secs_f64();
                return Err(Error::Input(format!(
                    "metrics.interval: gives more rows than are kept (eight million, of several flows fewer) in \
                     the {seconds:.0} s simulated so far; choose a longer one, or none for one that adapts"
                )));
            }
            let (sample, held) = (self.sample(), self.blocks_of_classes());
            let drives = self.array.drives();
            let at_end = (&sample, &held[..]);
            self.recorder.close_rows(next, at_end, |at| collecting_until(drives, at));
        }
        if next >= self.recorder.dies.due() {
            self.recorder.dies.close_bins(next, |at| die_uses(&self.array, at));
        }
        if self.ending.due().is_some_and(|due| due <= next) {
            let counters = self.counters();
            let ended = self.ending.rule.as_mut().and_then(|rule| rule.end_due(next, &counters));
            ended.map_or(Ok(()), |at| self.admit_no_more(at))?;
        }
        if let Some(begin) = self.begins_at().filter(|begin| *begin <= next) {
            self.begin_measuring(begin);
        }
        self.now = next;
        Ok(())
    }

    /// Ends the round under way; if that ends the run, no further request enters.
    #[cold]
    fn end_round(&mut self) -> Result<(), Error> {
        let Some(mut rule) = self.ending.rule.take() else { return Ok(()) };
        let ended = rule.end_round(self.now, || self.counters(), || self.findings());
        self.ending.rule = Some(rule);
        ended.map_or(Ok(()), |at| self.admit_no_more(at))
    }

    /// Findings that the run would have if it ended now.
    fn findings(&self) -> Vec<Finding> {
        self.recorder.judge(&self.work(), self.dies_per_drive()).0.findings
    }

    /// A drive takes no writes any more: no further request enters.
    fn end_at_read_only(&mut self) -> Result<(), Error> {
        self.ending.read_only();
        self.admit_no_more(self.now)
    }

    /// No further request enters; those that had arrived before `end` and have not are counted.
    fn admit_no_more(&mut self, end: Instant) -> Result<(), Error> {
        self.ending.unserved += self.host.stop_at(end)?;
        Ok(())
    }

    /// The second phase of an instant: everything that is free looks for work, until nothing changes.
    fn settle(&mut self) -> Result<(), Error> {
        // What the events have brought about is told while the commands it tells of are in their drives.
        self.observe();
        loop {
            self.array.book_finished();
            if self.host.may_go_on() || self.array.has_ended() {
                self.admit()?;
            }
            let more = self.array.start_work();
            self.observe();
            if self.ending.at_read_only && self.array.has_become_read_only() {
                self.end_at_read_only()?;
            }
            if self.array.failures().is_some_and(Failures::have_lost_data) && !self.host.is_done() {
                self.admit_no_more(self.now)?;
            }
            if !more {
                break;
            }
        }
        if self.recorder.looks_at_drives() {
            self.note_drives();
        }
        self.array.end_instant();
        self.audit()
    }

    /// Tells those who look at the drives how they stand at the end of an instant.
    fn note_drives(&mut self) {
        let (recorder, now) = (&mut self.recorder, self.now);
        if let Some(devices) = &mut recorder.devices {
            self.array
                .report_collecting(|device, collects| devices.overlap.note(device, collects, now));
        }
        if let Some(watch) = &mut recorder.watch {
            for (device, drive) in self.array.touched() {
                watch.note_drive(device, drive, now);
            }
            watch.note_outstanding(self.host.outstanding(), now);
        }
    }

    /// Tells those who look at the flash what it has just begun to do, and for which requests.
    #[inline]
    fn observe(&mut self) {
        if self.recorder.watch.is_some() {
            self.record_begun();
        }
    }

    // Apart: hardly any run has somebody who looks.
    #[inline(never)]
    fn record_begun(&mut self) {
        let Some(watch) = &mut self.recorder.watch else { return };
        self.array.take_journal(&mut self.journal);
        for (device, entry) in self.journal.drain(..) {
            let request = |owner: &Owner| match owner {
                Owner::Host(command) => self.array.request_of(device, *command),
                Owner::Destage | Owner::Translation | Owner::Rebuild => None,
            };
            let number = |owner: &Owner| request(owner).map(|id| self.host.number(id));
            let numbers = entry.owners().iter().filter_map(number).collect();
            let behind = entry.behind().and_then(|party| number(&party.owner));
            watch.observe(device, entry, numbers, behind);
        }
    }

    /// Lets requests out of the array and others in, until neither makes room for the other.
    // Apart, so that an instant at which nobody enters or leaves costs next to nothing.
    #[inline(never)]
    fn admit(&mut self) -> Result<(), Error> {
        loop {
            self.observe_blocked();
            while let Some(finished) = self.array.take_finished() {
                self.complete(&finished)?;
            }
            if self.recorder.overflows() {
                return Err(Error::Input(
                    "metrics.worst_window: gives more than a million windows with requests; choose a longer \
                     one"
                        .to_owned(),
                ));
            }
            if let Some(devices) = &mut self.recorder.devices {
                for (device, ended) in self.array.take_pieces() {
                    devices.command_ended(device, &ended, self.now);
                }
            }
            if !self.host.may_go_on() {
                return Ok(());
            }
            match self.host.admit(self.now)? {
                Some(admitted) => {
                    self.begin_measuring(self.now);
                    self.submit(&admitted);
                }
                None => self.announce()?,
            }
        }
    }

    /// Hands a request to the array, and tells those who look at it how long it has waited outside.
    #[inline(always)]
    fn submit(&mut self, admitted: &Admitted) {
        let Admitted { id, ref request, late, behind } = *admitted;
        if let Some(watch) = &mut self.recorder.watch
            && request.arrival < self.now
        {
            let (what, since) = (For::HostQueue, request.arrival);
            let parts = waited_outside(since, self.now, late);
            let wait = Waited { what, since, until: self.now, parts };
            let behind = behind.map(Blocker::Other);
            watch.blocked(None, &Blocked { who: self.host.number(id), wait, behind });
        }
        self.array.submit(id, request, late, self.now);
        // Its turn comes a whole instant later: by then the entry of the map is there.
        if let Some(next) = self.host.next_behind(id) {
            self.array.fetch(next);
        }
    }

    /// Tells those who look at the requests which of them have waited for others.
    fn observe_blocked(&mut self) {
        let Some(watch) = &mut self.recorder.watch else { return };
        let number = |id| Some(self.host.number(id));
        for (device, blocked) in self.array.take_blocked() {
            if let Some(named) = blocked.renamed(number, |behind| behind.renamed(number)) {
                watch.blocked(device, &named);
            }
        }
    }

    /// Tells the array what will come, if its drives look ahead.
    fn announce(&mut self) -> Result<(), Error> {
        if self.announces > 0 {
            self.host.announce(self.announces, Instant::END, &mut self.announced)?;
            self.array.announce(&self.announced, self.now);
        }
        Ok(())
    }

    #[inline(always)]
    fn complete(&mut self, finished: &FinishedRequest) -> Result<(), Error> {
        let completion = self.host.leave(finished, self.now);
        if let Some(audit) = &mut self.audit
            && completion.parts.total() != completion.response
        {
            let problem = format!("the parts of a response do not add up: {completion:?}");
            audit.violation.get_or_insert(problem);
        }
        self.recorder.completed(&completion, self.now);
        if self.recorder.lost_die.is_some() {
            self.note_read_of_phase(&completion);
        }
        if completion.outcome != Outcome::Rejected && self.ending.completed(&completion) {
            self.end_round()?;
        }
        Ok(())
    }

    /// Whether a die was lost when a read ended, and rebuilt before it came. There is one drive then.
    #[inline(never)]
    fn note_read_of_phase(&mut self, completion: &Completion) {
        let arrival = completion.request.arrival;
        let rebuild = self.array.drives()[0].ssd.scheduler().rebuild.as_ref();
        let phase = rebuild.map(|rebuild| rebuild.phase(arrival)).unwrap_or_default();
        let is_read = completion.request.operation == Operation::Read;
        if is_read
            && !completion.is_of_ramp()
            && let Some(reads) = &mut self.recorder.lost_die
        {
            reads.completed(completion.response, phase);
        }
    }

    fn audit(&mut self) -> Result<(), Error> {
        let Some(audit) = &self.audit else { return Ok(()) };
        let violation = audit.violation.as_deref().or_else(|| self.array.violation());
        match violation {
            Some(problem) => Err(Error::Internal(format!("at {:?}: {problem}", self.now))),
            None => Ok(()),
        }
    }

    /// Ends the run: nothing is left to happen.
    fn end(&mut self) -> Result<Status, Error> {
        if !self.host.is_done() {
            let mut drives = self.array.drives().iter().enumerate();
            let lost = drives.find_map(|(id, drive)| drive.ssd.backend().ftl.refused().problem(id));
            if let Some(problem) = lost {
                return Err(Error::Input(problem));
            }
            return Err(Error::Internal(format!(
                "{} requests can never be completed: no plane has room for their pages",
                self.host.outstanding()
            )));
        }
        if self.audit.is_some() {
            for drive in self.array.drives() {
                drive.ssd.backend().ftl.check().map_err(Error::Internal)?;
                let rebuild = drive.ssd.scheduler().rebuild.as_ref();
                if rebuild.is_some_and(|rebuild| rebuild.stands_still(drive.ssd.backend())) {
                    let problem = "pages of a lost die find no room to be rebuilt";
                    return Err(Error::Internal(problem.to_owned()));
                }
            }
        }
        // Buffers may have been at work after the last request.
        let (sample, held) = (self.sample(), self.blocks_of_classes());
        let drives = self.array.drives();
        let at_end = (&sample, &held[..]);
        self.recorder.finish_rows(self.now, at_end, |at| collecting_until(drives, at));
        if let Some(log) = &mut self.recorder.latency_log {
            log.end_interval();
        }
        self.recorder.dies.finish(self.now, |at| die_uses(&self.array, at));
        if let Some(watch) = &mut self.recorder.watch {
            watch.finish(self.now);
        }
        Ok(Status::Done)
    }

    fn sample(&self) -> Sample {
        let of = |drive: &Drive| sample(drive, self.before.capacity.page_bytes);
        let samples = self.array.drives().iter().map(of);
        samples.reduce(Sample::together).unwrap_or_default()
    }

    /// Blocks that each class holds on all drives, if there are several.
    fn blocks_of_classes(&self) -> Vec<u64> {
        let mut held = Vec::new();
        for drive in self.array.drives() {
            let of_drive = drive.ssd.backend().ftl.streams().held();
            if of_drive.len() > 1 {
                held.resize(of_drive.len(), 0);
                held.iter_mut().zip(of_drive).for_each(|(all, blocks)| *all += blocks);
            }
        }
        held
    }

    /// Counts of all drives so far.
    fn counters(&self) -> Counters {
        counters(self.array.drives())
    }

    /// Takes the messages between the controller and its drives since the last call, if they are kept.
    pub fn take_messages(&mut self) -> Vec<SentMessage> {
        self.array.take_messages()
    }

    /// Activity of each die over time.
    pub fn die_columns(&self) -> DieColumns {
        self.recorder.dies.columns(self.dies_per_drive())
    }

    fn dies_per_drive(&self) -> usize {
        self.array.drives().first().map_or(0, |drive| drive.ssd.backend().ftl.geometry().dies())
    }

    /// Takes what each drive has chosen since the last call, if that is told.
    pub fn take_told(&mut self) -> Vec<Vec<Told>> {
        self.array
            .drives_mut()
            .iter_mut()
            .map(|drive| {
                let audit = drive.ssd.backend_mut().ftl.audit_mut();
                audit.map(|audit| audit.take_told()).unwrap_or_default()
            })
            .collect()
    }

    /// Progress of the run.
    pub fn progress(&self) -> Progress {
        let rounds = self.ending.fraction();
        Progress {
            phase: Phase::Run,
            fraction: self.host.consumed(self.now).max(rounds),
            simulated: self.now,
            requests: self.recorder.whole.count(),
            page_operations: self.counters().page_operations(),
        }
    }

    /// The summary of the run, which has this configuration.
    pub fn summary(&self, config: &Resolved) -> Summary {
        let drives = self.array.drives();
        let scheduled: u64 = drives.iter().map(Drive::scheduled).sum();
        let devices = self.recorder.devices.as_ref();
        let mut summary = Summary::new(config, &self.recorder, &self.work(), self.dies_per_drive());
        summary.requests.unserved = self.ending.unserved(config);
        Summary {
            array: devices.is_some().then(|| self.array.summary()),
            devices: devices.map(|recorded| self.devices(recorded)),
            steady_state: self.ending.steady(),
            settled: self.ending.settled().map(SettledRounds::summary),
            power_loss: PowerLossSummary::of_all(drives.iter().filter_map(Drive::power_loss)),
            precondition: self.before.summary(),
            simulator: SimulatorSummary {
                events: self.host.scheduled() + scheduled,
                page_operations: self.counters().page_operations(),
                machine: None,
            },
            notes: self.notes(),
            ..summary
        }
    }

    /// Work of all drives together since requests are measured.
    fn work(&self) -> DriveWork {
        let drives = self.array.drives();
        let written = self.recorder.whole.totals.write_bytes;
        let endurance =
            self.endurance(self.array.drives_present(), self.before.capacity.array_bytes);
        let endurance = match drives {
            [only] => endurance.map(|all| self.with_life(all, written, SsdId::default(), only)),
            _ => endurance,
        };
        let mut all = self.work_of(0, drives, written, endurance);
        if let Some((_, rejected)) = &mut all.faults {
            // Requests, of which each may be several commands of drives.
            *rejected = self.recorder.whole.totals.rejected;
        }
        all
    }

    /// The drives of an array, one by one.
    fn devices(&self, recorded: &Devices) -> DevicesSummary {
        let devices = self.array.drives().iter().enumerate().map(|(index, drive)| {
            let id = SsdId::from_index(index);
            let written = recorded.written_bytes(id);
            let endurance = self.endurance(1, self.before.capacity.device_bytes);
            let endurance = endurance.map(|one| self.with_life(one, written, id, drive));
            self.work_of(index, std::slice::from_ref(drive), written, endurance)
        });
        recorded.summary(devices, self.now)
    }

    /// Note on pages of lines with parity that were lost as they were moved, if that need not be.
    fn lost_pages_note(&self) -> Option<String> {
        let drives = self.array.drives().iter().map(|drive| &drive.ssd.backend().ftl);
        let lost: u64 = drives.clone().map(|ftl| ftl.lost_pages().in_moves()).sum();
        let first = drives.clone().next().filter(|_| lost > 0)?.lines()?;
        first.parity()?;
        let why = match first.collected().makes_up_what_moves() {
            false => {
                "collections copy them inside the flash, where nobody corrects them; with \
                 ssd.gc.copyback = false those that cannot be read are made up from their stripes"
            }
            true if first.loses_stripes_in_moves() => {
                "other blocks of their lines may have been erased before; with ssd.gc.line_erase = \
                 \"together\" stripes are whole until all of a line has been moved"
            }
            true => return None,
        };
        Some(format!("pages were lost as they were moved though lines have parity: {why}"))
    }

    /// Notes for the user: on the input, and on what is not measured.
    fn notes(&self) -> Vec<String> {
        let mut notes = self.host.notes();
        notes.extend(self.ending.settled().and_then(SettledRounds::note));
        let of_ramp = self.recorder.whole.totals.of_ramp;
        if of_ramp > 0 {
            notes.push(format!(
                "{of_ramp} requests of the ramp were simulated and are not measured; the time series \
                 and the timeline show them, flash operations count from the first request that is \
                 measured"
            ));
        }
        let drives = self.array.drives().iter();
        let lost: Option<u64> =
            drives.map(|drive| drive.ssd.backend().ftl.refused().blocks()).sum();
        if let Some(lost) = lost.filter(|lost| *lost > 0) {
            notes.push(format!(
                "{lost} full blocks have left the queue of FIFO victims for good (ssd.gc.victim, \
                 ineligible = \"drop\"): what is invalid in them is not reclaimed"
            ));
        }
        notes.extend(self.array.failures().and_then(Failures::loss_note));
        notes.extend(self.lost_pages_note());
        notes.extend(self.handles_note());
        notes.extend(self.clock_note());
        notes
    }

    /// A placement that measures in time, of a drive that was overwritten while no time passed.
    fn clock_note(&self) -> Option<String> {
        let mut drives = self.array.drives().iter().zip(self.before.overwritten());
        let is_told = drives.any(|(drive, is_overwritten)| {
            is_overwritten && drive.ssd.backend().ftl.streams().has_time()
        });
        is_told.then(|| {
            "ssd.ftl.placement.clock = \"time\": no time passes while a drive is prepared, so that all it \
             was overwritten with counts as written at once"
                .to_owned()
        })
    }

    /// Handles that the workload names in vain.
    fn handles_note(&self) -> Option<String> {
        let layers = || self.array.drives().iter().map(|drive| &drive.ssd.backend().ftl);
        let tallies = layers().filter_map(|ftl| ReclaimUnits::of(ftl).handle_tally());
        let invalid: u64 = tallies.map(|tally| tally.invalid_pages).sum();
        if invalid > 0 {
            return Some(format!(
                "{invalid} pages were written with placement handle 0, as theirs is beyond \
                 ssd.ftl.placement.handles"
            ));
        }
        let is_ignored =
            self.host.names_handles() && !layers().all(|ftl| ftl.streams().looks_at_handles());
        is_ignored.then(|| {
            "the placement handles that the workload names mean nothing to ssd.ftl.placement; \
             \"by_hint\" goes by them"
                .to_owned()
        })
    }

    /// Work of `drives`, of which the first comes at `first`, since requests are measured; the given number of
    /// bytes was written to them.
    fn work_of(
        &self,
        first: usize,
        drives: &[Drive],
        host_bytes: u64,
        endurance: Option<Endurance>,
    ) -> DriveWork {
        let mut counters = Counters::default();
        let mut collecting = TotalTime::ZERO;
        let mut planes = PlaneUse::default();
        let mut idle_times = None;
        let mut faults = None;
        let mut sorting: Option<SortingReport> = None;
        let mut slc_cache: Option<(SlcState, u64)> = None;
        let mut lines: Option<LineTally> = None;
        let mut parity = None;
        for (index, drive) in drives.iter().enumerate() {
            let done = self.baseline.since(SsdId::from_index(first + index), drive, self.now);
            counters += done.counters;
            collecting += done.collecting;
            planes += done.planes;
            if let Some(times) = drive.ssd.backend().observer.idle_times(self.now) {
                *idle_times.get_or_insert_with(IdleTimes::default) += times;
            }
            if let Some(report) = SortingReport::of(&drive.ssd.backend().ftl) {
                match &mut sorting {
                    Some(all) => all.add(&report),
                    None => sorting = Some(report),
                }
            }
            let ftl = &drive.ssd.backend().ftl;
            if let Some(state) = ftl.slc_state() {
                slc_cache.get_or_insert((SlcState::default(), ftl.streams().page_bytes())).0 +=
                    state;
            }
            if let Some(most_held) = ftl.lines().and_then(|lines| Some(lines.parity()?.due.most()))
            {
                let held = parity.map_or(0, |state: ParityState| state.most_held).max(most_held);
                parity = Some(ParityState { dies: ftl.geometry().dies() as u64, most_held: held });
            }
            if let Some(tally) = ftl.lines().map(|lines| lines.tally()) {
                *lines.get_or_insert_default() += tally;
            }
            let backend = drive.ssd.backend();
            if let Some(report) = backend.condition.report(&backend.ftl, &backend.counters) {
                let (all, rejected) =
                    faults.get_or_insert_with(|| (FaultReport::default(), Rejected::default()));
                all.add(&report);
                *rejected += drive.rejected();
            }
        }
        let page_bytes = self.before.capacity.page_bytes;
        DriveWork {
            written: Written::new(host_bytes, &counters, page_bytes),
            page_bytes,
            counters,
            collecting,
            planes,
            idle_times,
            wear: WearStats::of(
                drives.iter().flat_map(|drive| drive.ssd.backend().ftl.blocks().erase_counts()),
            ),
            endurance,
            faults,
            sorting,
            slc_cache,
            lines,
            parity,
            lost_die: self.recorder.lost_die.as_ref().and_then(|reads| {
                let report = drives.iter().find_map(|drive| {
                    let rebuild = drive.ssd.scheduler().rebuild.as_ref()?;
                    Some(rebuild.report(&drive.ssd.backend().ftl))
                });
                Some(reads.summary(&report?, counters.rebuilt))
            }),
            is_paced: drives.iter().any(|drive| drive.ssd.pacing().is_some()),
            lost_victims: drives
                .iter()
                .map(|drive| drive.ssd.backend().ftl.refused().blocks())
                .sum(),
            data_age: drives.iter().any(|drive| drive.ssd.backend().condition.ageing.is_some()),
            was_off: drives.iter().filter_map(Drive::power_loss).any(|loss| loss.cuts > 0),
        }
    }

    /// Endurance that this number of drives has used together, if their rating is known.
    fn endurance(&self, drives: usize, capacity: u64) -> Option<Endurance> {
        self.before.endurance(drives, capacity, self.recorder.whole.measured_time())
    }

    /// With what was written to `drive` in its life, if that has ended and no ramp is left out of the count; in the run
    /// so many bytes were.
    fn with_life(&self, endurance: Endurance, written: u64, id: SsdId, drive: &Drive) -> Endurance {
        let bytes = self.before.written(id) + written;
        let is_known = drive.ssd.backend().condition.is_read_only()
            && matches!(self.baseline, Baseline::Start);
        Endurance { life_bytes: is_known.then_some(bytes), ..endurance }
    }
}

/// Counts of `drives` together so far.
fn counters(drives: &[Drive]) -> Counters {
    let mut all = Counters::default();
    for drive in drives {
        all += drive.ssd.counters();
    }
    all
}

/// Counts of `drive` so far, and its state.
fn sample(drive: &Drive, page_bytes: u64) -> Sample {
    let (counters, backend) = (drive.ssd.counters(), drive.ssd.backend());
    let free = backend.ftl.space().free_blocks_of_all();
    Sample {
        host_programs: counters.host_programs,
        gc_programs: counters.pages_moved,
        media_bytes: counters.pages_programmed() * page_bytes,
        erases: counters.erases,
        collections: counters.collections,
        free_blocks_min: free.least,
        free_blocks: free.sum,
        bad_blocks: backend.condition.bad_blocks(&backend.ftl),
        slc_pages: backend.ftl.slc_pool().map(|pool| pool.levels()),
        pacing: drive.ssd.pacing().map(|_| counters.pacing),
    }
}

/// Die time that `drives` have spent collecting until `now`.
fn collecting_until(drives: &[Drive], now: Instant) -> TotalTime {
    drives.iter().map(|drive| drive.ssd.backend().observer.collecting_until(now)).sum()
}

/// Activity of each die of each drive until `at`.
fn die_uses(array: &Array, at: Instant) -> Vec<DieUse> {
    let mut uses = Vec::new();
    array.drives().iter().for_each(|drive| uses.extend(drive.ssd.die_uses(at)));
    uses
}
