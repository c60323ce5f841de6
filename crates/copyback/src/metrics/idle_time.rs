//! The time in which drives have no command, as the summary tells it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::ssd::{Activity, IdlePeriods, IdleTimes};

/// The time in which drives had no command. Times of periods and `busy_us` are of drives: they add up to the
/// simulated time, once a drive.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IdleTimeSummary {
    /// Time with a command, in microseconds.
    pub busy_us: f64,
    /// All idle periods.
    pub all: IdlePeriodsSummary,
    /// Periods that are too short to be used.
    pub unused: IdlePeriodsSummary,
    /// Periods that are used and end before they are long.
    pub short: IdlePeriodsSummary,
    /// Long periods.
    pub long: IdlePeriodsSummary,
}

/// Idle periods of one class.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IdlePeriodsSummary {
    /// Number of periods.
    pub periods: u64,
    /// Sum of the periods, in microseconds.
    pub us: f64,
    /// Activity of the dies meanwhile; adds up to `us`, once a die.
    pub die_us: DieTimeSummary,
}

/// Die time by activity, in microseconds.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DieTimeSummary {
    /// Collecting because the plane was short of space.
    pub on_demand: f64,
    /// Collecting because the controller of an array asked for it.
    pub forced: f64,
    /// Collecting because the controller of an array asked for it while the array was idle.
    pub array_idle: f64,
    /// Collecting before a gap ended that the host had announced.
    pub look_ahead: f64,
    /// Collecting in a long idle period.
    pub compaction: f64,
    /// Collecting what was put off.
    pub delayed: f64,
    /// Levelling wear.
    pub wear_levelling: f64,
    /// Collecting for the sake of data that reads or time had put in danger; absent if that took none.
    #[serde(skip_serializing_if = "is_zero")]
    pub refresh: f64,
    /// Writing pages that collections had left in the device's DRAM.
    pub cached_pages: f64,
    /// Time without any of these activities.
    pub nothing: f64,
}

// Taken by reference, as serde hands it over.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(us: &f64) -> bool {
    *us == 0.0
}

impl IdleTimeSummary {
    /// Of the times of one drive, or of several together.
    pub(super) fn of(times: &IdleTimes) -> Self {
        let IdleTimes { busy, unused, short, long } = times;
        let mut all = *unused;
        all += *short;
        all += *long;
        Self {
            busy_us: busy.as_us_f64(),
            all: IdlePeriodsSummary::of(&all),
            unused: IdlePeriodsSummary::of(unused),
            short: IdlePeriodsSummary::of(short),
            long: IdlePeriodsSummary::of(long),
        }
    }
}

impl IdlePeriodsSummary {
    fn of(periods: &IdlePeriods) -> Self {
        let us = |activity| periods.dies[activity].as_us_f64();
        Self {
            periods: periods.count,
            us: periods.time.as_us_f64(),
            die_us: DieTimeSummary {
                on_demand: us(Activity::OnDemand),
                forced: us(Activity::Forced),
                array_idle: us(Activity::ArrayIdle),
                look_ahead: us(Activity::LookAhead),
                compaction: us(Activity::Compaction),
                delayed: us(Activity::Delayed),
                wear_levelling: us(Activity::WearLevelling),
                refresh: us(Activity::Refresh),
                cached_pages: us(Activity::CachedPages),
                nothing: us(Activity::Nothing),
            },
        }
    }
}
