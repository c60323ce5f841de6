//! Busy and quiet periods in turn.
//!
//! Each kind of period has a clock of its own, which stands still in the other: what is left of a gap
//! when a burst ends passes in the next one. So the arrivals of all bursts, put together, are those
//! of one stream without quiet.

use super::times::Times;
use copyback_config::units::Duration;

/// Most periods that one gap may span, or a rare long one among short periods would take for ever.
pub const MOST_PERIODS_A_GAP: u32 = 1 << 20;

/// Draws the gaps between arrivals that come in bursts.
pub struct OnOff {
    periods: [Period; 2],
    /// Index of the present period: on or off.
    now: usize,
    /// Time left of the present period, in nanoseconds.
    left_ns: u64,
}

/// Bursts, or the quiet between them.
struct Period {
    lengths: Times,
    /// Arrivals within the period, if there are any.
    arrivals: Option<Clock>,
}

struct Clock {
    gaps: Times,
    /// Until its next arrival.
    left_ns: u64,
}

impl OnOff {
    /// Gaps `within` bursts that last `on`, with quiet of `off` between them; in the quiet, arrivals
    /// at gaps of `background`. A burst begins with the first arrival.
    pub fn new(on: Times, off: Times, within: Times, background: Option<Times>) -> Self {
        let clock = |mut gaps: Times| Clock { left_ns: gaps.draw().as_ns(), gaps };
        let mut on = Period { lengths: on, arrivals: Some(clock(within)) };
        let off = Period { lengths: off, arrivals: background.map(clock) };
        let left_ns = on.lengths.draw().as_ns();
        Self { periods: [on, off], now: 0, left_ns }
    }

    /// Time to the next arrival; `None` if it lies behind too many periods.
    #[inline]
    pub fn gap(&mut self) -> Option<Duration> {
        let mut passed_ns = 0_u64;
        for _ in 0..MOST_PERIODS_A_GAP {
            let clock = self.periods[self.now].arrivals.as_mut();
            if let Some(clock) = clock {
                if clock.left_ns <= self.left_ns {
                    passed_ns = passed_ns.saturating_add(clock.left_ns);
                    self.left_ns -= clock.left_ns;
                    clock.left_ns = clock.gaps.draw().as_ns();
                    return Some(Duration::from_ns(passed_ns));
                }
                clock.left_ns -= self.left_ns;
            }
            passed_ns = passed_ns.saturating_add(self.left_ns);
            self.now = 1 - self.now;
            self.left_ns = self.periods[self.now].lengths.draw().as_ns();
        }
        None
    }
}
