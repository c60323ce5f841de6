//! Clocks of dies, by which a waiting operation tells its waits apart: how long the die has collected, and how
//! much of the work before it stands there only because of collections.
//!
//! The backlog of a die is the host work queued or in service on it, in nominal time. It drains
//! while the die does not collect (Lindley's recursion). Beside it a second one is kept that drains
//! as if collections took no time. The difference is the work that collections have displaced. Of
//! the time that an operation waits behind host work, the share displaced / backlog at its arrival
//! is `late`: exact for a die that serves in order of arrival without waiting for its channel,
//! proportional otherwise, and zero without collections.

use crate::checkpoint::Checkpointed;
use crate::ids::{DieId, PlaneId, planes_in};
use crate::units::{Duration, Instant, TotalTime};

use super::breakdown::{Part, Parts};

/// The clocks of one die.
#[derive(Debug, Default, Checkpointed)]
pub struct DieClocks {
    /// A bit for each plane that is being collected, and since when.
    collecting: Option<(u32, Instant)>,
    collected: Duration,
    /// Commands of the host in the die, and since when there is one.
    serving: u32,
    serving_since: Instant,
    served: Duration,
    /// Both backlogs, and the time collected, at the last arrival.
    backlog: Duration,
    undelayed: Duration,
    noted_at: Instant,
    noted_collected: Duration,
}

/// Reading of a die's clocks at the arrival of an operation.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct ArrivalNote {
    at: Instant,
    /// The plane it needs, if that was settled on arrival.
    plane: Option<PlaneId>,
    collected: Duration,
    collected_same_plane: Duration,
    backlog: Duration,
    displaced: Duration,
}

impl ArrivalNote {
    /// When the operation arrived.
    pub const fn since(&self) -> Instant {
        self.at
    }
}

/// Time that each plane of the device has been collected.
#[derive(Debug, Checkpointed)]
pub struct PlaneClocks {
    collected: Vec<Duration>,
    planes_per_die: u32,
}

impl PlaneClocks {
    /// Clocks at zero.
    pub fn new(planes: usize, planes_per_die: u32) -> Self {
        Self { collected: vec![Duration::ZERO; planes], planes_per_die }
    }

    /// Planes of a die.
    pub const fn per_die(&self) -> u32 {
        self.planes_per_die
    }

    /// Planes of the device.
    pub const fn count(&self) -> u64 {
        self.collected.len() as u64
    }

    fn bit(&self, plane: PlaneId) -> u32 {
        1 << (plane.0 % self.planes_per_die)
    }

    /// Time that all planes together have been collected, by collections that rest now.
    pub fn collected(&self) -> TotalTime {
        self.collected.iter().copied().sum()
    }
}

impl DieClocks {
    /// The die begins, or goes on, to collect the planes of `mask`.
    pub fn collection_runs(&mut self, mask: u32, now: Instant) {
        self.collecting = Some((mask, now));
    }

    /// The die stops collecting.
    pub fn collection_rests(&mut self, die: DieId, planes: &mut PlaneClocks, now: Instant) {
        let Some((mask, since)) = self.collecting.take() else { return };
        self.collected += now - since;
        for plane in planes_in(mask, die, planes.planes_per_die) {
            planes.collected[plane.index()] += now - since;
        }
    }

    /// A command of the host enters the die.
    pub const fn serve_begins(&mut self, now: Instant) {
        if self.serving == 0 {
            self.serving_since = now;
        }
        self.serving += 1;
    }

    /// A command of the host leaves the die.
    pub fn serve_ends(&mut self, now: Instant) {
        self.serving -= 1;
        if self.serving == 0 {
            self.served += now - self.serving_since;
        }
    }

    /// The die has lost its power: nothing is in it or waits for it any more.
    pub fn stop(&mut self, now: Instant) {
        while self.serving > 0 {
            self.serve_ends(now);
        }
        self.backlog = Duration::ZERO;
        self.undelayed = Duration::ZERO;
    }

    /// Time in which the die held commands of the host.
    pub fn served(&self, now: Instant) -> Duration {
        let running = if self.serving > 0 { now - self.serving_since } else { Duration::ZERO };
        self.served + running
    }

    /// Time that the planes of this die have been collected since the collection last rested.
    pub fn running(&self, now: Instant) -> TotalTime {
        let of_planes = |(mask, since): (u32, Instant)| {
            TotalTime::of_each(now - since, mask.count_ones().into())
        };
        self.collecting.map_or(TotalTime::ZERO, of_planes)
    }

    /// Time that the die has collected.
    pub fn collected(&self, now: Instant) -> Duration {
        self.collected + self.collecting.map_or(Duration::ZERO, |(_, since)| now - since)
    }

    fn collected_plane(
        &self,
        planes: &PlaneClocks,
        plane: Option<PlaneId>,
        now: Instant,
    ) -> Duration {
        let Some(plane) = plane else { return Duration::ZERO };
        let running = match self.collecting {
            Some((mask, since)) if mask & planes.bit(plane) != 0 => now - since,
            _ => Duration::ZERO,
        };
        planes.collected[plane.index()] + running
    }

    /// A host operation that takes `nominal` joins the queue, for `plane` if that is settled. Without collections
    /// it would have come `late` earlier.
    pub fn arrive(
        &mut self,
        planes: &PlaneClocks,
        plane: Option<PlaneId>,
        (nominal, late): (Duration, Duration),
        now: Instant,
    ) -> ArrivalNote {
        let collected = self.collected(now);
        let elapsed = now - self.noted_at;
        let backlog = self.backlog.saturating_sub(elapsed - (collected - self.noted_collected));
        let undelayed = self.undelayed.saturating_sub(elapsed);
        self.backlog = backlog + nominal;
        // Of the time since it would have come, the die had other work for as long as its backlog says.
        self.undelayed = undelayed + nominal.saturating_sub(late.saturating_sub(undelayed));
        self.noted_at = now;
        self.noted_collected = collected;
        ArrivalNote {
            at: now,
            plane,
            collected,
            collected_same_plane: self.collected_plane(planes, plane, now),
            backlog,
            displaced: backlog - undelayed,
        }
    }

    /// The operation with this `note` leaves the queue. Returns the parts of its wait.
    // Inlined, so that the parts are added up without being laid out in memory first.
    #[inline]
    pub fn split_wait(&self, planes: &PlaneClocks, note: &ArrivalNote, now: Instant) -> Parts {
        let mut parts = Parts::default();
        let wait = now - note.at;
        if wait.is_zero() {
            return parts;
        }
        let collected = self.collected(now) - note.collected;
        if collected.is_zero() && note.displaced.is_zero() {
            parts[Part::QueueBehindIo] = wait;
            return parts;
        }
        let same = self.collected_plane(planes, note.plane, now) - note.collected_same_plane;
        // An operation that was sent on from another die has seen less of this one's clock.
        let collected = collected.min(wait);
        let same = same.min(collected);
        let behind_io = wait - collected;
        let late = share(behind_io, note.displaced, note.backlog);
        parts[Part::GcSamePlane] = same;
        parts[Part::GcOtherPlane] = collected - same;
        parts.book_wait(Part::QueueBehindIo, behind_io, late);
        parts
    }
}

/// Clock of the device, for a write that waits for no die in particular (dynamic allocation): it waits behind
/// collections for the share of dies that collect. The backlog is that of such writes, in die time.
#[derive(Debug, Checkpointed)]
pub struct DeviceClock {
    dies: u64,
    collecting: u64,
    since: Instant,
    /// Die time collected until `since`.
    collected: TotalTime,
    /// Both backlogs, and the die time collected, at the last arrival.
    backlog: Duration,
    undelayed: Duration,
    noted_at: Instant,
    noted_collected: TotalTime,
}

/// Reading of the device's clock at the arrival of work.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct DeviceNote {
    at: Instant,
    collected: TotalTime,
    backlog: Duration,
    displaced: Duration,
}

impl DeviceNote {
    /// When the work arrived.
    pub const fn since(&self) -> Instant {
        self.at
    }
}

impl DeviceClock {
    /// A clock at zero.
    pub const fn new(dies: usize) -> Self {
        Self {
            dies: dies as u64,
            collecting: 0,
            since: Instant::START,
            collected: TotalTime::ZERO,
            backlog: Duration::ZERO,
            undelayed: Duration::ZERO,
            noted_at: Instant::START,
            noted_collected: TotalTime::ZERO,
        }
    }

    /// Die time spent collecting until `now`.
    pub fn collected(&self, now: Instant) -> TotalTime {
        self.collected + TotalTime::of_each(now - self.since, self.collecting)
    }

    fn advance(&mut self, now: Instant) {
        self.collected = self.collected(now);
        self.since = now;
    }

    /// One more die collects.
    pub fn collection_runs(&mut self, now: Instant) {
        self.advance(now);
        self.collecting += 1;
    }

    /// One die fewer collects.
    pub fn collection_rests(&mut self, now: Instant) {
        self.advance(now);
        self.collecting -= 1;
    }

    /// The drive has lost its power: nothing waits any more.
    pub const fn stop(&mut self) {
        self.backlog = Duration::ZERO;
        self.undelayed = Duration::ZERO;
    }

    /// A write that takes `nominal` arrives.
    pub fn arrive(&mut self, nominal: Duration, now: Instant) -> DeviceNote {
        let collected = self.collected(now);
        let elapsed = TotalTime::of_each(now - self.noted_at, self.dies);
        let drained = elapsed - (collected - self.noted_collected);
        let (elapsed, drained) = (elapsed.to_span(), drained.to_span());
        let backlog = self.backlog.saturating_sub(drained);
        let undelayed = self.undelayed.saturating_sub(elapsed);
        self.backlog = backlog + nominal;
        self.undelayed = undelayed + nominal;
        self.noted_at = now;
        self.noted_collected = collected;
        DeviceNote { at: now, collected, backlog, displaced: backlog - undelayed }
    }

    /// Splits the wait from `note` to `now` into parts.
    pub fn split_wait(&self, note: &DeviceNote, now: Instant) -> Parts {
        let mut parts = Parts::default();
        let collected = (self.collected(now) - note.collected).as_ns() / u128::from(self.dies);
        let collected = Duration::from_wide_ns(collected);
        let behind_io = now - note.at - collected;
        parts[Part::GcOtherPlane] = collected;
        let late = share(behind_io, note.displaced, note.backlog);
        parts.book_wait(Part::QueueBehindIo, behind_io, late);
        parts
    }
}

/// `span x part / whole`, zero if `whole` is.
fn share(span: Duration, part: Duration, whole: Duration) -> Duration {
    if part.is_zero() || whole.is_zero() {
        return Duration::ZERO;
    }
    let product = u128::from(span.as_ns()) * u128::from(part.as_ns());
    Duration::from_ns((product / u128::from(whole.as_ns())) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLANE: PlaneId = PlaneId(0);

    fn us(us: u64) -> Duration {
        Duration::from_us(us)
    }

    fn at(us: u64) -> Instant {
        Instant::from_ns(us * 1000)
    }

    #[test]
    fn behind_a_collection_then_late_behind_those_it_delayed() {
        // The die collects its plane from 0 to 100. Operations of 10 arrive at 20 and 60; without
        // the collection they would not have met.
        let mut planes = PlaneClocks::new(2, 2);
        let mut die = DieClocks::default();
        die.collection_runs(0b01, at(0));
        let first = die.arrive(&planes, Some(PLANE), (us(10), us(0)), at(20));
        let second = die.arrive(&planes, Some(PlaneId(1)), (us(10), us(0)), at(60));
        die.collection_rests(DieId(0), &mut planes, at(100));

        let parts = die.split_wait(&planes, &first, at(100));
        assert_eq!(parts[Part::GcSamePlane], us(80));
        assert_eq!(parts.total(), us(80));

        let parts = die.split_wait(&planes, &second, at(110));
        assert_eq!(parts[Part::GcOtherPlane], us(40));
        assert_eq!(parts[Part::Late], us(10));
        assert_eq!(parts.total(), us(50));
    }

    #[test]
    fn planes_that_are_collected_together_count_one_by_one() {
        let mut planes = PlaneClocks::new(2, 2);
        let mut die = DieClocks::default();
        die.collection_runs(0b11, at(0));
        assert_eq!((die.running(at(100)), planes.collected()), (us(200).into(), us(0).into()));
        die.collection_rests(DieId(0), &mut planes, at(100));
        assert_eq!((die.running(at(150)), planes.collected()), (us(0).into(), us(200).into()));
    }

    #[test]
    fn without_collections_nothing_is_late() {
        let planes = PlaneClocks::new(1, 1);
        let mut die = DieClocks::default();
        let first = die.arrive(&planes, Some(PLANE), (us(10), us(0)), at(0));
        assert_eq!(die.split_wait(&planes, &first, at(0)).total(), us(0));
        let second = die.arrive(&planes, Some(PLANE), (us(10), us(0)), at(4));
        // The channel is busy: the first takes 3 longer than it would alone.
        let parts = die.split_wait(&planes, &second, at(13));
        assert_eq!(parts[Part::QueueBehindIo], us(9));
        assert_eq!(parts.total(), us(9));
    }
}
