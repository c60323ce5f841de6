//! Checks while a run goes that no two operations overlap in a die's array or on a channel.
//!
//! They are cold: kept out of the code that asks for them, so that runs without them don't pay for them.

use crate::checkpoint::Checkpointed;
use crate::ids::{ChannelId, DieId};
use crate::nand::Geometry;
use crate::units::{Duration, Instant};

/// Until when each array and each channel is taken, kept apart from the state that is checked.
#[derive(Debug, Checkpointed)]
pub struct TimingAudit {
    arrays: Vec<Instant>,
    channels: Vec<Instant>,
    violation: Option<String>,
}

impl TimingAudit {
    /// Creates an audit in which every resource is free.
    pub fn new(geometry: &Geometry) -> Self {
        Self {
            arrays: vec![Instant::START; geometry.dies()],
            channels: vec![Instant::START; geometry.channels as usize],
            violation: None,
        }
    }

    /// The first violation.
    pub fn violation(&self) -> Option<&str> {
        self.violation.as_deref()
    }

    /// The array of `die` starts to work for `time`.
    #[cold]
    pub fn array_taken(&mut self, die: DieId, now: Instant, time: Duration) {
        let until = &mut self.arrays[die.index()];
        if now < *until {
            let problem = format!("{die:?} starts an operation at {now:?}, taken until {until:?}");
            self.violation.get_or_insert(problem);
        }
        *until = now + time;
    }

    /// Records that the array operation of `die` has been suspended.
    pub fn array_suspended(&mut self, die: DieId, now: Instant) {
        self.arrays[die.index()] = now;
    }

    /// `channel` starts a transfer of `time`.
    #[cold]
    pub fn channel_taken(&mut self, channel: ChannelId, now: Instant, time: Duration) {
        let until = &mut self.channels[channel.index()];
        if now < *until {
            let problem =
                format!("{channel:?} starts a transfer at {now:?}, taken until {until:?}");
            self.violation.get_or_insert(problem);
        }
        *until = now + time;
    }
}
