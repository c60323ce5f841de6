//! Observer of a drive: notes where its time goes, as it happens. An observer only listens: nothing that a
//! drive does depends on it.

mod breakdown;
mod clocks;
mod idle_account;
mod journal;
mod waits;

pub use breakdown::{Part, Parts};
pub use clocks::{ArrivalNote, DeviceNote};
pub use idle_account::{Activity, DieTime, IdlePeriods, IdleTimes};
pub use journal::{Class, Collected, Entry, Party, Work};
pub use waits::{Blocked, Blocker, For, Waited};

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ids::{DieId, PlaneId};
use crate::less::Less;
use crate::nand::Geometry;
use crate::units::{Duration, Instant, TotalTime};

use clocks::{DeviceClock, DieClocks, PlaneClocks};
use idle_account::IdleAccount;

/// Listens to one drive.
#[derive(Debug, Checkpointed)]
pub struct Observer {
    dies: Vec<DieClocks>,
    planes: PlaneClocks,
    device: DeviceClock,
    /// Boxed: few runs ask for it.
    idle: Option<Box<IdleAccount>>,
    /// Entries since they were last taken, if a journal is kept.
    journal: Option<Vec<Entry>>,
    /// Since when writes wait for a free block on each die.
    stalls: Vec<Option<Instant>>,
    /// Number of dies on which they do.
    stalling: usize,
    stalled: TotalTime,
}

/// Time of all planes together.
#[derive(Debug, Clone, Copy, Default, derive_more::AddAssign, Less, Checkpointed)]
pub struct PlaneUse {
    /// In which a plane was collected.
    pub busy: TotalTime,
    /// In which a plane was idle because another plane of its die was collected.
    pub idle: TotalTime,
    /// In all.
    pub whole: TotalTime,
}

impl Observer {
    /// Listens to a drive of a checked configuration.
    pub fn new(config: &Resolved, geometry: &Geometry) -> Self {
        let dies = geometry.dies();
        let idle = config.metrics.idle_time.then(|| {
            let (short_idle, long_idle) = config.ssd.gc.idle.lengths();
            Box::new(IdleAccount::new(dies, short_idle.0, long_idle.0))
        });
        Self {
            dies: (0..dies).map(|_| DieClocks::default()).collect(),
            planes: PlaneClocks::new(geometry.planes(), geometry.planes_per_die),
            device: DeviceClock::new(dies),
            idle,
            journal: config.metrics.needs_journal().then(Vec::new),
            stalls: vec![None; dies],
            stalling: 0,
            stalled: TotalTime::ZERO,
        }
    }

    /// `die` begins, or goes on, to collect the planes of `mask`.
    pub fn collection_runs(&mut self, die: DieId, mask: u32, activity: Activity, now: Instant) {
        self.dies[die.index()].collection_runs(mask, now);
        self.device.collection_runs(now);
        self.die_does(die, activity, now);
        self.record(|| Entry::Runs { die, at: now });
    }

    /// `die` stops collecting, at the end of a collection or to serve the host.
    pub fn collection_rests(&mut self, die: DieId, now: Instant) {
        self.dies[die.index()].collection_rests(die, &mut self.planes, now);
        self.device.collection_rests(now);
        self.die_does(die, Activity::Nothing, now);
        self.record(|| Entry::Rests { die, at: now });
    }

    /// A command of the host enters `die`.
    pub fn serve_begins(&mut self, die: DieId, now: Instant) {
        self.dies[die.index()].serve_begins(now);
    }

    /// A command of the host leaves `die`.
    pub fn serve_ends(&mut self, die: DieId, now: Instant) {
        self.dies[die.index()].serve_ends(now);
    }

    /// A page operation that takes `nominal` waits for `die`, and for `plane` if that is settled. Without
    /// collections it would have come `late` earlier.
    #[inline]
    pub fn arrive(
        &mut self,
        die: DieId,
        plane: Option<PlaneId>,
        (nominal, late): (Duration, Duration),
        now: Instant,
    ) -> ArrivalNote {
        self.dies[die.index()].arrive(&self.planes, plane, (nominal, late), now)
    }

    /// A write that takes `nominal` waits for any die.
    pub fn arrive_at_device(&mut self, nominal: Duration, now: Instant) -> DeviceNote {
        self.device.arrive(nominal, now)
    }

    /// Breakdown of the time that a page operation has waited for `die`.
    #[inline]
    pub fn split_wait(&self, die: DieId, note: &ArrivalNote, now: Instant) -> Parts {
        self.dies[die.index()].split_wait(&self.planes, note, now)
    }

    /// Breakdown of the time that a write has waited for any die.
    pub fn split_wait_at_device(&self, note: &DeviceNote, now: Instant) -> Parts {
        self.device.split_wait(note, now)
    }

    /// Records the activity of `die` from now on.
    pub fn die_does(&mut self, die: DieId, activity: Activity, now: Instant) {
        if let Some(account) = &mut self.idle {
            account.die_does(die, activity, now);
        }
    }

    /// Whether account is kept of the time in which the drive has no command.
    pub const fn keeps_idle_account(&self) -> bool {
        self.idle.is_some()
    }

    /// The account of the time without a command begins anew at `now`, if it is kept.
    pub fn begin_measuring(&mut self, now: Instant) {
        if let Some(account) = &mut self.idle {
            account.begin_measuring(now);
        }
    }

    /// At the end of an instant: whether the drive has commands.
    pub fn note_commands(&mut self, has_commands: bool, now: Instant) {
        if let Some(account) = &mut self.idle {
            account.note(has_commands, now);
        }
    }

    /// Whether writes wait on `die` for a free block although collections yield, or for room in a full
    /// buffer. Where collections don't yield, writes wait for the collections themselves.
    pub fn note_stall(&mut self, die: DieId, waits: bool, now: Instant) {
        let stall = &mut self.stalls[die.index()];
        match (*stall, waits) {
            (None, true) => {
                self.stalling += 1;
                *stall = Some(now);
            }
            (Some(since), false) => {
                self.stalling -= 1;
                self.stalled += now - since;
                *stall = None;
            }
            _ => {}
        }
    }

    /// Whether writes were last seen to wait on `die` for a free block.
    pub fn is_stalled(&self, die: DieId) -> bool {
        self.stalls[die.index()].is_some()
    }

    /// Whether that is so of any die.
    pub const fn is_any_stalled(&self) -> bool {
        self.stalling > 0
    }

    /// The power fails: what every die does ends.
    pub fn stop(&mut self, die: DieId, now: Instant) {
        self.die_does(die, Activity::Nothing, now);
        self.dies[die.index()].stop(now);
        self.device.stop();
        self.note_stall(die, false, now);
    }

    /// Writes down what the drive did, if a journal is kept.
    #[inline]
    pub fn record(&mut self, entry: impl FnOnce() -> Entry) {
        if self.journal.is_some() {
            self.write_down(entry);
        }
    }

    // Kept out of the code that records: hardly any run has a journal.
    #[cold]
    fn write_down(&mut self, entry: impl FnOnce() -> Entry) {
        if let Some(journal) = &mut self.journal {
            journal.push(entry());
        }
    }

    /// Takes what the drive did since the last call, in order, if it keeps a journal.
    pub fn take_journal(&mut self) -> impl Iterator<Item = Entry> {
        self.journal.iter_mut().flat_map(|journal| journal.drain(..))
    }

    /// Die time in which writes have waited for a free block, or for room in a full buffer, until that ended.
    pub const fn stalled(&self) -> TotalTime {
        self.stalled
    }

    /// Die time spent collecting until `now`.
    pub fn collecting_until(&self, now: Instant) -> TotalTime {
        self.device.collected(now)
    }

    /// Use of the planes' time until `now` by collections.
    pub fn plane_use(&self, now: Instant) -> PlaneUse {
        let running: TotalTime = self.dies.iter().map(|clocks| clocks.running(now)).sum();
        let busy = self.planes.collected() + running;
        let held = self.device.collected(now) * self.planes.per_die();
        let whole = TotalTime::of_each(now - Instant::START, self.planes.count());
        PlaneUse { busy, idle: held - busy, whole }
    }

    /// Times until `now` for which each die has collected, and blocked commands of the host.
    pub fn die_times(&self, now: Instant) -> impl Iterator<Item = (Duration, Duration)> {
        self.dies.iter().map(move |clocks| (clocks.collected(now), clocks.served(now)))
    }

    /// Time until `now` for which `die` has collected.
    pub fn collected(&self, die: DieId, now: Instant) -> Duration {
        self.dies[die.index()].collected(now)
    }

    /// Use of the time until `now` in which the drive had no command, since requests are measured, if an
    /// account is kept.
    pub fn idle_times(&self, now: Instant) -> Option<IdleTimes> {
        self.idle.as_ref().map(|account| account.times(now))
    }
}
