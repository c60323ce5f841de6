//! A drive, or an array of them, in the event loop of another simulator, which owns the clock and the requests.

mod answers;

use std::collections::VecDeque;

use crate::Error;
use crate::array::{Array, FinishedRequest};
use crate::config::{Config, Coordination, Metrics, Placement, Resolved};
use crate::drive::{Drive, NotOnCommand, PageEvent as DrivePageEvent, PowerLoss, Serves};
use crate::gate::Gate;
use crate::ids::{Lpn, RequestId};
use crate::metrics::{TailSummary, Written};
use crate::outcome::Outcome;
use crate::outlined::Outlined;
use crate::outside::NoSupplier;
use crate::precondition::Preparation;
use crate::scheduler::when::supply::Supplier;
use crate::simulation::{check_policies, check_writable, input_error};
use crate::slots::Slots;
use crate::ssd::Counters;
use crate::units::{Duration, Instant};
use crate::workload::{Hint, Operation, Request};

use answers::Answers;

/// Pages that are written between two looks at whether a drive is still being prepared.
const PAGES_AT_ONCE: u64 = 1 << 20;

pub use crate::drive::{PowerCut, RecoveryFindings};

/// Request to a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask {
    /// Operation to be done.
    pub operation: Operation,
    /// First byte.
    pub offset: u64,
    /// Bytes; of no meaning for a flush.
    pub length: u64,
    /// Hint about the data of a write, if there is one.
    pub hint: Option<Hint>,
}

/// A request that has been served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// The number that the caller gave it.
    pub tag: u64,
    /// When it was handed in.
    pub arrival: Instant,
    /// When it was served.
    pub at: Instant,
    /// Delay by collections: without them it would have been served this much earlier.
    pub late: Duration,
    /// Outcome: done, or an error.
    pub outcome: Outcome,
}

/// A request that is being served.
#[derive(Debug)]
struct Serving {
    /// The number that the caller gave it.
    tag: u64,
    arrival: Instant,
    operation: Operation,
    /// Bytes that it is about.
    length: u64,
}

/// State of drives at an instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stand {
    /// Free blocks of all planes.
    pub free_blocks: u64,
    /// Fewest free blocks of a plane.
    pub free_blocks_least: u64,
    /// The dies of all drives, in order.
    pub dies: Vec<DieStand>,
}

/// State of a die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DieStand {
    /// Free blocks of its planes.
    pub free_blocks: u32,
    /// Time in which it has collected so far.
    pub collecting: Duration,
}

/// Event of the data of a page; the writer is given by the number that the caller gave the request.
pub type PageEvent = DrivePageEvent<u64>;

/// A drive, or an array, that another simulator drives.
///
/// Requests are handed in with [`submit`](Self::submit), in order of time. Nothing happens before
/// [`advance_to`](Self::advance_to) says that the clock has come to some point; the other simulator learns from
/// [`next_time`](Self::next_time) when something may happen next, and takes what was served with
/// [`take_completed`](Self::take_completed). All requests of one instant are seen before any of them is begun, if they are handed in before
/// the clock comes there.
///
/// The workload of the configuration is not used, and neither are `host.queues`, `array.queue_depth`, `metrics`
/// and `stop`: they are the other simulator's affair. The drive's own queue (`host.queue_depth` x `host.queues` commands), its link
/// and its controller are here. Requests are not announced before they arrive, so that `ssd.gc.idle = "advanced"` looks ahead to none.
/// All requests that have arrived are in the array at once, unless they [wait outside](Self::wait_outside) as those of a run do.
///
/// ```
/// use copyback::config::Loader;
/// use copyback::embedded::{Ask, Embedded};
/// use copyback::units::Instant;
/// use copyback::workload::Operation;
///
/// let config = Loader::new()
///     .set("ssd.geometry.blocks_per_plane", "32")
///     .load()
///     .expect("a configuration that makes sense");
/// let mut drive = Embedded::new(&config)?;
/// let read = Ask { operation: Operation::Read, offset: 0, length: 4096, hint: None };
/// drive.submit(Instant::from_ns(1_000), 7, read)?;
/// // The other simulator's loop: its own events, and the drive's.
/// while let Some(next) = drive.next_time() {
///     drive.advance_to(next)?;
/// }
/// let done = drive.take_completed().expect("it was served");
/// // 25 us in the array, and 4 KiB at 333 MB/s.
/// assert_eq!((done.tag, (done.at - done.arrival).as_ns()), (7, 37_301));
/// # Ok::<(), copyback::Error>(())
/// ```
pub struct Embedded {
    array: Outlined<Array>,
    capacity: u64,
    page_size: u64,
    /// Bytes of a page, as the counters count pages.
    counted_page_size: u64,
    audit: bool,
    now: Instant,
    /// Whether the first instant has been looked at.
    has_begun: bool,
    /// Number of requests that may be in the array at a time, if that is bounded.
    gate: Option<Gate>,
    /// Requests that arrive later or wait for a place, in order of time.
    arriving: VecDeque<(Instant, u64, Ask)>,
    /// Requests that are being served.
    served: Slots<Serving>,
    answers: Answers,
}

impl Embedded {
    /// The drive, or the array, of a checked configuration: new, and prepared as `precondition` says.
    ///
    /// # Errors
    /// If a drive has too many bad blocks, or the placement has to know all requests beforehand.
    pub fn new(config: &Config) -> Result<Self, Error> {
        Self::with_policies(config, &NoSupplier)
    }

    /// A drive, or an array, with policies that this crate does not have.
    ///
    /// # Errors
    /// As [`new`](Self::new), and if the supplier has not got a policy that the configuration names.
    pub fn with_policies(config: &Config, supplier: &dyn Supplier) -> Result<Self, Error> {
        let config = &config.resolve();
        let mut devices = Preparation::new(config);
        devices.supply(config, supplier).map_err(input_error)?;
        Self::on(config, devices)
    }

    /// The drive, or the array, of a checked configuration on devices for it, such as
    /// [saved](crate::state::load) ones. They are prepared if they are not yet.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn on(config: &Resolved, mut devices: Preparation) -> Result<Self, Error> {
        if let Placement::Oracle { .. } = config.ssd.ftl.placement {
            return Err(Error::Input(
                "ssd.ftl.placement: found \"oracle\", which knows all requests beforehand; allowed: \
                 another, in a drive that another simulator drives"
                    .into(),
            ));
        }
        if let Coordination::Python { .. } = config.array.coordination {
            return Err(Error::Input(
                "array.coordination: found a policy in Python; allowed: the others, in an array that another \
                 simulator drives"
                    .into(),
            ));
        }
        check_writable(&devices)?;
        while !devices.is_done() {
            devices.advance(PAGES_AT_ONCE);
            check_policies(&devices)?;
        }
        check_writable(&devices)?;
        // What is kept for a report would pile up: nobody takes it.
        let config = &Config { metrics: Metrics::default(), ..Config::clone(config) }.resolve();
        Ok(Self {
            array: Outlined::new(Array::new(config, devices.into_devices())),
            capacity: config.bytes,
            page_size: config.drive.pages.size.0,
            counted_page_size: config.drive.pages.counted_size.0,
            audit: config.audit,
            now: Instant::START,
            has_begun: false,
            gate: None,
            arriving: VecDeque::new(),
            served: Slots::new(),
            answers: Answers::default(),
        })
    }

    /// Lets requests wait outside the array as those of one flow of a run do: for `host.queue_depth` (or `command_slots`) places of a
    /// drive, or `array.queue_depth` of an array. Then each response is that of a run of the same requests, however many are
    /// outstanding. To be called before the first request.
    pub fn wait_outside(&mut self, config: &Config) {
        self.gate = Some(Gate::from_outside(config));
    }

    /// Bytes that it offers.
    pub const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes that it maps together: what is written in part is read first.
    pub const fn page_size(&self) -> u64 {
        self.page_size
    }

    /// Present simulated time.
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Requests that have been handed in and not been served.
    pub fn outstanding(&self) -> usize {
        self.arriving.len() + self.served.len()
    }

    /// Hands in a request that arrives at `at`. `tag` is the caller's own number for it.
    ///
    /// # Errors
    /// If `at` is before the clock, or before a request that was handed in before; if it reaches beyond the
    /// [capacity](Self::capacity).
    pub fn submit(&mut self, at: Instant, tag: u64, ask: Ask) -> Result<(), Error> {
        let last = self.arriving.back().map_or(self.now, |(last, ..)| *last);
        if at < last {
            let (found, allowed) = (at.as_ns(), last.as_ns());
            return Err(Error::Input(format!(
                "request {tag}: found {found} ns; allowed: at {allowed} ns or later, as time does not go back"
            )));
        }
        let end = ask.offset.checked_add(ask.length);
        if ask.operation != Operation::Flush && end.is_none_or(|end| end > self.capacity) {
            let (offset, length, capacity) = (ask.offset, ask.length, self.capacity);
            return Err(Error::Input(format!(
                "request {tag}: found {length} bytes from {offset}; allowed: up to {capacity}"
            )));
        }
        self.arriving.push_back((at, tag, ask));
        Ok(())
    }

    /// When something happens next, be it that a request arrives: the clock may be [moved](Self::advance_to) there at
    /// once. Nothing is served before. `None` if nothing is left to be done.
    pub fn next_time(&self) -> Option<Instant> {
        if !self.has_begun {
            return Some(self.now);
        }
        let arrives = |(at, ..): &&(Instant, u64, Ask)| *at > self.now || self.has_place();
        let arrival = self.arriving.front().filter(arrives).map(|(at, ..)| *at);
        [self.array.next_time(), arrival].into_iter().flatten().min()
    }

    /// Whether a request that has arrived may enter the array.
    fn has_place(&self) -> bool {
        self.gate.as_ref().is_none_or(Gate::is_open)
    }

    /// Moves the clock to `until`, and does everything that is due by then.
    ///
    /// # Errors
    /// If `until` is before the clock; if a policy from outside fails, or an audited invariant breaks.
    pub fn advance_to(&mut self, until: Instant) -> Result<(), Error> {
        if until < self.now {
            let (found, now) = (until.as_ns(), self.now.as_ns());
            return Err(Error::Input(format!(
                "the clock: found {found} ns; allowed: {now} ns or later, as time does not go back"
            )));
        }
        let behind = Instant::from_ns(until.as_ns().saturating_add(1));
        while let Some(next) = self.next_time().filter(|next| *next <= until) {
            let arrival = self.arriving.front().map_or(behind, |(at, ..)| behind.min(*at));
            self.now = next;
            if self.array.next_time() == Some(next) && self.has_begun {
                self.now = self.array.apply_events(next, arrival);
            }
            self.settle()?;
        }
        self.now = until;
        Ok(())
    }

    /// Takes the next of the requests that have been served, in order of time.
    pub fn take_completed(&mut self) -> Option<Completion> {
        self.answers.completed.pop_front()
    }

    /// State of the drives.
    pub fn stand(&self) -> Stand {
        let drives = || self.array.drives().iter().map(|drive| &drive.ssd);
        let free = || drives().map(|ssd| ssd.backend().ftl.space().free_blocks_of_all());
        let dies = drives().flat_map(|ssd| ssd.die_uses(self.now));
        Stand {
            free_blocks: free().map(|free| free.sum).sum(),
            free_blocks_least: free().map(|free| free.least).min().unwrap_or_default(),
            dies: dies
                .map(|die| DieStand { free_blocks: die.free_blocks, collecting: die.collecting })
                .collect(),
        }
    }

    /// Takes the next of the requests that were served before `end`.
    pub fn take_completed_before(&mut self, end: Instant) -> Option<Completion> {
        let is_before =
            self.answers.completed.front().is_some_and(|completion| completion.at < end);
        if is_before { self.answers.completed.pop_front() } else { None }
    }

    /// Tells from now on what becomes of the data of pages. To be called before the first request, of one drive.
    ///
    /// # Errors
    /// If there are several.
    pub fn record_page_events(&mut self) -> Result<(), Error> {
        match self.array.drives_mut() {
            [drive] => {
                drive.record_page_events();
                Ok(())
            }
            drives => Err(Error::Input(format!(
                "array.devices: found {}; allowed where it is followed what becomes of pages: 1",
                drives.len()
            ))),
        }
    }

    /// Takes what has become of pages next, in order. What a request has led to comes before its completion.
    pub fn take_page_event(&mut self) -> Option<PageEvent> {
        self.answers.page_events.pop_front()
    }

    /// Cuts the power at `at`, and moves the clock there. Requests go on when the drive is back.
    ///
    /// # Errors
    /// If `at` is not later than the clock, or the configuration does not let the power be cut on command; as
    /// [`advance_to`](Self::advance_to).
    pub fn cut_power(&mut self, at: Instant) -> Result<(), Error> {
        if !self.has_begun || at <= self.now {
            let (found, now) = (at.as_ns(), self.now.as_ns());
            return Err(Error::Input(format!(
                "a cut of power: found {found} ns; allowed: later than {now} ns, once the clock runs"
            )));
        }
        self.array.cut_power_at(at).map_err(|NotOnCommand| {
            Error::Input(
                "ssd.power.cuts: found no \"on_command\"; allowed: that, in a drive whose power is cut on command"
                    .to_owned(),
            )
        })?;
        self.advance_to(at)
    }

    /// Effects of power cuts so far, if the power ever fails.
    pub fn power_loss(&self) -> Option<PowerLoss> {
        self.array.drives().iter().find_map(Drive::power_loss)
    }

    /// The version of the page that was written last: later ones are higher.
    pub fn last_version(&self) -> u64 {
        self.array
            .drives()
            .iter()
            .map(|drive| drive.ssd.scheduler().last_sequence())
            .max()
            .unwrap_or_default()
    }

    /// The versions of pages that the flash of all drives holds, be they out of date: only these may come back after a cut.
    pub fn versions_held(&self) -> impl Iterator<Item = (Lpn, u64)> {
        self.array.drives().iter().flat_map(Drive::versions_held)
    }

    /// The last version of a page of the first drive whose program has begun. Older ones that the flash does not hold
    /// have been there, and are gone.
    pub fn last_begun(&self, lpn: Lpn) -> Option<u64> {
        self.array.drives().first()?.last_begun(lpn)
    }

    /// Counts of the flash so far, without what prepared it.
    pub fn counters(&self) -> Counters {
        let mut all = Counters::default();
        self.array.drives().iter().for_each(|drive| all += drive.ssd.counters());
        all
    }

    /// Bytes of the writes that were served so far, and bytes programmed into flash, without what prepared it.
    pub fn written(&self) -> Written {
        Written::new(self.answers.written(), &self.counters(), self.counted_page_size)
    }

    /// Tail of the response times of reads and writes so far: what the slowest took so long for. `None` if there are too few.
    pub fn tail(&self) -> Option<TailSummary> {
        self.answers.tail()
    }

    /// The second phase of an instant: what is free looks for work, until nothing changes.
    fn settle(&mut self) -> Result<(), Error> {
        self.has_begun = true;
        loop {
            self.array.book_finished();
            self.admit();
            if !self.array.start_work() {
                break;
            }
        }
        self.collect_page_events();
        let array = &mut *self.array;
        array.end_instant();
        if let Some(failed) = array.drives().iter().find_map(|drive| drive.ssd.policy_failed()) {
            return Err(input_error(failed));
        }
        match array.violation().filter(|_| self.audit) {
            Some(violation) => Err(Error::Internal(violation.to_owned())),
            None => Ok(()),
        }
    }

    /// Lets requests out of the array and others in, until neither makes room for the other.
    fn admit(&mut self) {
        loop {
            self.collect_page_events();
            while let Some(finished) = self.array.take_finished() {
                self.complete(&finished);
            }
            self.array.take_pieces().for_each(drop);
            if !self.has_place() {
                return;
            }
            match self.arriving.front() {
                Some(&(at, tag, ask)) if at <= self.now => {
                    self.arriving.pop_front();
                    self.hand_in(at, tag, ask);
                }
                _ => return,
            }
        }
    }

    /// Takes what has become of pages, told by the numbers of the caller.
    fn collect_page_events(&mut self) {
        let [drive] = self.array.drives_mut() else { return };
        if !drive.has_page_events() {
            return;
        }
        let tag = |by| match by {
            Serves::Request(id) => self.served[id.index()].tag,
            Serves::Task(_) => unreachable!("a drive alone has no tasks"),
        };
        self.answers.page_events.extend(drive.take_page_events().map(|event| event.by(tag)));
    }

    fn hand_in(&mut self, at: Instant, tag: u64, ask: Ask) {
        let Ask { operation, offset, length, hint } = ask;
        let serving = Serving { tag, arrival: at, operation, length };
        let id = RequestId::from_index(self.served.insert(serving));
        if let Some(gate) = &mut self.gate {
            gate.enter();
        }
        let request = Request { arrival: at, operation, offset, length, measured: None, hint };
        self.array.submit(id, &request, Duration::ZERO, self.now);
    }

    fn complete(&mut self, finished: &FinishedRequest) {
        let serving = self.served.remove(finished.request.index());
        if let Some(gate) = &mut self.gate {
            gate.leave();
        }
        let Serving { tag, arrival, .. } = serving;
        let FinishedRequest { parts, outcome, .. } = *finished;
        let completion = Completion { tag, arrival, at: self.now, late: parts.late(), outcome };
        self.answers.add(&serving, completion, &parts);
    }
}
