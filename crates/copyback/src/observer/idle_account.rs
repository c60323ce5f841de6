//! Account of the time in which a drive has no command: how long the periods are, and what its dies do
//! meanwhile.

use crate::checkpoint::Checkpointed;
use crate::ids::DieId;
use crate::purpose::Reason;
use crate::units::{Duration, Instant, TotalTime};

/// Activity of a die while its drive has no command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum Activity {
    /// Collects because its plane is short of space.
    OnDemand,
    /// Collects because the controller of an array asks for it.
    Forced,
    /// Collects because the controller of an array that is idle asks for it.
    ArrayIdle,
    /// Collects before a gap ends that the host has announced.
    LookAhead,
    /// Collects in a long idle period.
    Compaction,
    /// Collects what was put off.
    Delayed,
    /// Levels wear.
    WearLevelling,
    /// Collects for the sake of data that reads or time have put in danger.
    Refresh,
    /// Writes what waits in the device's DRAM: pages that collections have left there, parity of lines.
    CachedPages,
    /// No activity: the die is idle.
    Nothing,
}

/// Die time by activity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Checkpointed)]
pub struct DieTime([TotalTime; Activity::ALL.len()]);

/// Idle periods of one class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, derive_more::AddAssign, Checkpointed)]
pub struct IdlePeriods {
    /// Number of inversions.
    pub count: u64,
    /// Sum of the periods.
    pub time: TotalTime,
    /// Times of the dies' activities meanwhile.
    pub dies: DieTime,
}

/// Idle periods of a drive by length, as its schedule tells them apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, derive_more::AddAssign, Checkpointed)]
pub struct IdleTimes {
    /// Time with a command.
    pub busy: TotalTime,
    /// Periods that are too short to be used.
    pub unused: IdlePeriods,
    /// Periods that end before they are long.
    pub short: IdlePeriods,
    /// Long ones.
    pub long: IdlePeriods,
}

impl Activity {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::OnDemand,
        Self::Forced,
        Self::ArrayIdle,
        Self::LookAhead,
        Self::Compaction,
        Self::Delayed,
        Self::WearLevelling,
        Self::Refresh,
        Self::CachedPages,
        Self::Nothing,
    ];

    /// Key in `summary.json`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OnDemand => "on_demand",
            Self::Forced => "forced",
            Self::ArrayIdle => "array_idle",
            Self::LookAhead => "look_ahead",
            Self::Compaction => "compaction",
            Self::Delayed => "delayed",
            Self::WearLevelling => "wear_levelling",
            Self::Refresh => "refresh",
            Self::CachedPages => "cached_pages",
            Self::Nothing => "nothing",
        }
    }
}

impl From<Reason> for Activity {
    fn from(reason: Reason) -> Self {
        match reason {
            Reason::OnDemand => Self::OnDemand,
            Reason::Forced => Self::Forced,
            Reason::Idle => Self::ArrayIdle,
            Reason::LookAhead => Self::LookAhead,
            Reason::Compaction => Self::Compaction,
            Reason::Delayed => Self::Delayed,
            Reason::WearLevelling => Self::WearLevelling,
            Reason::ReadReclaim | Reason::Refresh => Self::Refresh,
        }
    }
}

impl std::ops::Index<Activity> for DieTime {
    type Output = TotalTime;

    fn index(&self, activity: Activity) -> &TotalTime {
        &self.0[activity as usize]
    }
}

impl std::ops::AddAssign for DieTime {
    fn add_assign(&mut self, other: Self) {
        for (all, other) in self.0.iter_mut().zip(other.0) {
            *all += other;
        }
    }
}

/// Keeps the account of one drive.
#[derive(Debug, Clone, Checkpointed)]
pub(super) struct IdleAccount {
    /// Periods that are no longer than this are not used.
    short_idle: Duration,
    /// Longer ones than this are long.
    long_idle: Duration,
    /// Present activity of each die.
    doing: Vec<Activity>,
    /// Number of dies with each activity.
    dies: [u64; Activity::ALL.len()],
    /// Until when the time is accounted for.
    noted: Instant,
    /// The idle period under way.
    period: Option<IdlePeriod>,
    times: IdleTimes,
}

/// An idle period under way.
#[derive(Debug, Clone, Copy, Default, Checkpointed)]
struct IdlePeriod {
    /// Time of it that had passed when requests began to be measured. It decides, with the rest, how long the period is.
    unmeasured: TotalTime,
    /// The rest.
    measured: IdlePeriods,
}

impl IdleAccount {
    /// The account of a drive of this many dies, which has no command at the start.
    pub fn new(dies: usize, short_idle: Duration, long_idle: Duration) -> Self {
        let doing = vec![Activity::Nothing; dies];
        let mut dies = [0; Activity::ALL.len()];
        dies[Activity::Nothing as usize] = doing.len() as u64;
        Self {
            short_idle,
            long_idle,
            doing,
            dies,
            noted: Instant::START,
            period: Some(IdlePeriod::default()),
            times: IdleTimes::default(),
        }
    }

    /// Records the activity of `die` from now on.
    pub fn die_does(&mut self, die: DieId, activity: Activity, now: Instant) {
        self.advance(now);
        let before = std::mem::replace(&mut self.doing[die.index()], activity);
        self.dies[before as usize] -= 1;
        self.dies[activity as usize] += 1;
    }

    /// Whether the drive has commands at `now`, and until the next call.
    pub fn note(&mut self, has_commands: bool, now: Instant) {
        match (&self.period, has_commands) {
            (Some(_), true) => {
                self.advance(now);
                self.end_period();
            }
            (None, false) => {
                self.advance(now);
                self.period = Some(IdlePeriod::default());
            }
            (Some(_), false) | (None, true) => {}
        }
    }

    /// Begins anew at `now`. What is left of the period under way counts then, in the class of the whole period.
    pub fn begin_measuring(&mut self, now: Instant) {
        self.advance(now);
        self.times = IdleTimes::default();
        if let Some(period) = &mut self.period {
            period.unmeasured += period.measured.time;
            period.measured = IdlePeriods::default();
        }
    }

    /// Time from the beginning of the account until `now`, the period under way included.
    pub fn times(&self, now: Instant) -> IdleTimes {
        let mut account = self.clone();
        account.advance(now);
        account.end_period();
        account.times
    }

    fn advance(&mut self, now: Instant) {
        let passed = now - self.noted;
        self.noted = now;
        match &mut self.period {
            None => self.times.busy += passed,
            Some(IdlePeriod { measured, .. }) => {
                measured.time += passed;
                for (time, dies) in measured.dies.0.iter_mut().zip(self.dies) {
                    *time += TotalTime::of_each(passed, dies);
                }
            }
        }
    }

    fn end_period(&mut self) {
        let Some(IdlePeriod { unmeasured, measured }) = self.period.take() else { return };
        if measured.time.is_zero() {
            return;
        }
        let whole = unmeasured + measured.time;
        let class = if whole > self.long_idle.into() {
            &mut self.times.long
        } else if whole > self.short_idle.into() {
            &mut self.times.short
        } else {
            &mut self.times.unused
        };
        *class += IdlePeriods { count: 1, ..measured };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(us: u64) -> Duration {
        Duration::from_us(us)
    }

    fn at(us: u64) -> Instant {
        Instant::from_ns(us * 1000)
    }

    #[test]
    fn periods_are_told_apart_by_length_and_dies_by_what_they_do() {
        let mut account = IdleAccount::new(2, us(10), us(100));
        account.note(true, at(0));
        // 10 us, which are not used.
        account.note(false, at(20));
        account.note(true, at(30));
        // 50 us, of which one die collects 20 us and the other 45 us.
        account.note(false, at(50));
        account.die_does(DieId(1), Activity::Delayed, at(55));
        account.die_does(DieId(0), Activity::LookAhead, at(60));
        account.die_does(DieId(0), Activity::Nothing, at(80));
        account.note(true, at(100));
        // What lasts until a command is served is no use of idle time.
        account.die_does(DieId(1), Activity::Nothing, at(104));
        account.note(false, at(110));
        let times = account.times(at(310));
        let total = |time: u64| TotalTime::from(us(time));
        assert_eq!(times.busy, total(20 + 20 + 10));
        assert_eq!((times.unused.count, times.unused.time), (1, total(10)));
        assert_eq!((times.short.count, times.short.time), (1, total(50)));
        assert_eq!((times.long.count, times.long.time), (1, total(200)));
        let short = times.short.dies;
        assert_eq!(short[Activity::Delayed], total(45));
        assert_eq!(short[Activity::LookAhead], total(20));
        assert_eq!(short[Activity::Nothing], total(100 - 45 - 20));
        assert_eq!(times.long.dies[Activity::Nothing], total(400));
    }

    #[test]
    fn a_period_that_the_ramp_cuts_counts_from_there_in_the_class_of_its_whole_length() {
        let mut account = IdleAccount::new(2, us(10), us(100));
        account.note(true, at(0));
        account.note(false, at(20));
        account.die_does(DieId(0), Activity::Delayed, at(30));
        account.begin_measuring(at(100));
        account.die_does(DieId(0), Activity::Nothing, at(107));
        account.note(true, at(125));
        let times = account.times(at(130));
        // 105 us in all, of which 25 are measured.
        assert_eq!(times.busy, us(5).into());
        assert_eq!((times.short, times.unused), (IdlePeriods::default(), IdlePeriods::default()));
        assert_eq!((times.long.count, times.long.time), (1, us(25).into()));
        assert_eq!(times.long.dies[Activity::Delayed], us(7).into());
        assert_eq!(times.long.dies[Activity::Nothing], us(2 * 25 - 7).into());
    }

    #[test]
    fn what_came_before_requests_are_measured_does_not_count() {
        let mut account = IdleAccount::new(1, us(10), us(100));
        account.note(true, at(20));
        account.note(false, at(50));
        account.note(true, at(60));
        account.begin_measuring(at(70));
        let times = account.times(at(75));
        assert_eq!(times, IdleTimes { busy: us(5).into(), ..IdleTimes::default() });
    }

    #[test]
    fn no_time_is_no_period() {
        let mut account = IdleAccount::new(1, us(0), us(100));
        account.note(true, at(0));
        account.note(false, at(40));
        account.note(true, at(40));
        let times = account.times(at(50));
        assert_eq!(times, IdleTimes { busy: us(50).into(), ..IdleTimes::default() });
    }

    #[test]
    fn the_activities_are_listed_by_number() {
        assert!(
            Activity::ALL.iter().enumerate().all(|(number, listed)| number == *listed as usize)
        );
    }
}
