//! Simulated time. Time is counted in whole nanoseconds; a point in time and a span of time are
//! different types, so that they cannot be mixed up.
//!
//! The clock ends. Nothing happens after [`Instant::END`], and no single span is longer than
//! [`Duration::LONGEST`], so that the sum of the two still fits in 64 bits: an addition on the way from one
//! instant to the next needs no check of its own. These places keep to it:
//!
//! - a configuration gives no time above a century, and no latency above an hour;
//! - products, quotients of a rate and sums over many pages stop at the longest span;
//! - a workload that draws or reads an arrival beyond the end says so, and ends;
//! - the loop over instants does not enter one that lies beyond the end.
//!
//! What many dies have done together may add up to more than one clock can show: [`TotalTime`].

use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

use serde::{Deserialize, Serialize};

/// A point in simulated time, in nanoseconds since the start of the measured run.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Instant(u64);

/// A span of simulated time, in nanoseconds.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Duration(u64);

impl Instant {
    /// The start of the measured run.
    pub const START: Self = Self(0);

    /// The last point of the clock, about 292 years after the start.
    pub const END: Self = Self(u64::MAX / 2);

    /// The point `ns` nanoseconds after the start.
    #[inline]
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// Nanoseconds since the start.
    #[inline]
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Seconds since the start.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The first whole multiple of `span`, which is not zero, after this point.
    #[inline]
    pub const fn next_multiple(self, span: Duration) -> Self {
        Self((self.0 / span.0 + 1).saturating_mul(span.0))
    }

    /// The point `span` before this one; the start, if that is later.
    #[inline]
    pub const fn before(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(span.0))
    }

    /// The point that lies `span` later, if the clock has one.
    #[inline]
    pub fn checked_add(self, span: Duration) -> Option<Self> {
        self.0.checked_add(span.0).map(Self).filter(|at| *at <= Self::END)
    }

    /// The span from `earlier` to `self`, or zero if `earlier` is later.
    #[inline]
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// Remainder of the span divided by `unit`, which is not zero.
    pub const fn beyond_multiple_of(self, unit: Self) -> Self {
        Self(self.0 % unit.0)
    }

    /// The longest span that may be added to a point of the clock, about 292 years.
    pub const LONGEST: Self = Self(u64::MAX / 2);

    /// A span of `ns` nanoseconds.
    #[inline]
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// A span of `us` microseconds.
    #[inline]
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000)
    }

    /// A span of `seconds`, rounded to the nearest nanosecond; at most the longest.
    pub fn from_secs_f64(seconds: f64) -> Self {
        Self((seconds * 1e9).round() as u64).min(Self::LONGEST)
    }

    /// A span of so many nanoseconds; at most the longest.
    #[inline]
    pub fn from_wide_ns(ns: u128) -> Self {
        u64::try_from(ns).map_or(Self::LONGEST, Self).min(Self::LONGEST)
    }

    /// The span in nanoseconds.
    #[inline]
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// The span in microseconds.
    #[inline]
    pub fn as_us_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// The span in seconds.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Whether the span is empty.
    #[inline]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// `self - other`, or zero if `other` is longer.
    #[inline]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    #[inline]
    fn add(self, span: Duration) -> Self {
        Self(self.0 + span.0)
    }
}

impl AddAssign<Duration> for Instant {
    #[inline]
    fn add_assign(&mut self, span: Duration) {
        self.0 += span.0;
    }
}

/// Time that several things have spent together, such as the dies of an array: it may add up to more than any
/// clock can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct TotalTime(u128);

impl TotalTime {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// The span, for each of so many.
    #[inline]
    pub const fn of_each(span: Duration, count: u64) -> Self {
        Self(span.0 as u128 * count as u128)
    }

    /// Time of `ns` nanoseconds.
    #[inline]
    pub const fn from_ns(ns: u128) -> Self {
        Self(ns)
    }

    /// The time in nanoseconds.
    #[inline]
    pub const fn as_ns(self) -> u128 {
        self.0
    }

    /// The time in microseconds.
    #[inline]
    pub fn as_us_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// Whether there is none.
    #[inline]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The span of so much time; at most the longest.
    #[inline]
    pub fn to_span(self) -> Duration {
        Duration::from_wide_ns(self.0)
    }
}

impl From<Duration> for TotalTime {
    #[inline]
    fn from(span: Duration) -> Self {
        Self(span.0.into())
    }
}

impl Add for TotalTime {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for TotalTime {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl AddAssign<Duration> for TotalTime {
    #[inline]
    fn add_assign(&mut self, span: Duration) {
        *self += Self::from(span);
    }
}

impl Mul<u32> for TotalTime {
    type Output = Self;
    #[inline]
    fn mul(self, times: u32) -> Self {
        Self(self.0 * u128::from(times))
    }
}

impl Sub for TotalTime {
    type Output = Self;
    /// The rest of a time without a part of it.
    ///
    /// # Panics
    /// If the part is longer, in a release as well: statistics alone ask, so that the check costs nothing.
    fn sub(self, part: Self) -> Self {
        let rest = self.0.checked_sub(part.0);
        Self(
            rest.unwrap_or_else(|| {
                panic!("a part of a time is longer than it: {part:?} of {self:?}")
            }),
        )
    }
}

impl std::iter::Sum for TotalTime {
    #[inline]
    fn sum<I: Iterator<Item = Self>>(times: I) -> Self {
        times.fold(Self::ZERO, Add::add)
    }
}

impl std::iter::Sum<Duration> for TotalTime {
    #[inline]
    fn sum<I: Iterator<Item = Duration>>(spans: I) -> Self {
        spans.map(Self::from).sum()
    }
}

/// The earlier of two times that may be unknown.
#[inline]
pub const fn earlier(first: Option<Instant>, second: Option<Instant>) -> Option<Instant> {
    match (first, second) {
        (Some(a), Some(b)) if b.0 < a.0 => Some(b),
        (Some(a), _) => Some(a),
        (None, second) => second,
    }
}

impl Sub for Instant {
    type Output = Duration;
    /// The span between two points; `earlier` must not be later than `self`.
    #[inline]
    fn sub(self, earlier: Self) -> Duration {
        debug_assert!(self >= earlier, "time runs backwards: {self:?} - {earlier:?}");
        Duration(self.0 - earlier.0)
    }
}

impl Add for Duration {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Duration {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Duration {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        debug_assert!(self >= other, "negative span: {self:?} - {other:?}");
        Self(self.0 - other.0)
    }
}

impl SubAssign for Duration {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    /// Multiple of the span; at most the longest.
    #[inline]
    fn mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times)).min(Self::LONGEST)
    }
}

impl std::iter::Sum for Duration {
    /// The sum of spans that follow one another within a run.
    #[inline]
    fn sum<I: Iterator<Item = Self>>(spans: I) -> Self {
        spans.fold(Self::ZERO, Add::add)
    }
}
