//! Rebuilding lost drives: their replacements are written anew, from the first stripe to the last, one
//! drive after the other, at a set rate.

use crate::checkpoint::Checkpointed;
use crate::config::{self, Rebuild};
use crate::ids::SsdId;
use crate::nand::transfer_time;
use crate::units::{Duration, Instant};

/// A part of a drive that is rebuilt at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub struct RebuildStep {
    /// The replacement.
    pub device: SsdId,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
}

/// Ranges that are left to rebuild.
#[derive(Debug, Checkpointed)]
pub struct Rebuilder {
    next: Option<RebuildStep>,
    /// Drives that come after this one.
    others: Vec<SsdId>,
    /// Bytes of a drive that are rebuilt.
    device_bytes: u64,
    unit: u64,
    /// From the start of a step to that of the next, at least.
    interval: Duration,
    /// When the next step may start; `None` while one is under way.
    due: Option<Instant>,
    began: Instant,
}

impl Rebuilder {
    /// The rebuild that a checked configuration asks for, of the first `device_bytes` of each drive.
    pub fn new(config: &config::Array, device_bytes: u64) -> Option<Self> {
        let Rebuild::Rate { rate, unit } = config.rebuild else { return None };
        let mut others: Vec<_> = config.failed.iter().map(|device| SsdId(*device as u16)).collect();
        others.sort_unstable_by_key(|device| std::cmp::Reverse(*device));
        let mut rebuilder = Self {
            next: None,
            others,
            device_bytes,
            unit: unit.0,
            interval: transfer_time(unit.0, rate),
            due: Some(Instant::START),
            began: Instant::START,
        };
        rebuilder.turn_to_next_drive();
        Some(rebuilder)
    }

    fn turn_to_next_drive(&mut self) {
        let length = self.unit.min(self.device_bytes);
        self.next = self.others.pop().map(|device| RebuildStep { device, offset: 0, length });
    }

    /// When the next step starts, if none is under way.
    pub fn next_time(&self) -> Option<Instant> {
        self.next.and(self.due)
    }

    /// The step that starts at `now`, if one does.
    pub fn begin(&mut self, now: Instant) -> Option<RebuildStep> {
        let step = self.next.filter(|_| self.due.is_some_and(|due| due <= now))?;
        self.due = None;
        self.began = now;
        Some(step)
    }

    /// The step under way has ended.
    pub fn ended(&mut self, step: RebuildStep, now: Instant) {
        let offset = step.offset + step.length;
        if offset < self.device_bytes {
            let length = self.unit.min(self.device_bytes - offset);
            self.next = Some(RebuildStep { offset, length, ..step });
        } else {
            self.turn_to_next_drive();
        }
        self.due = Some(now.max(self.began + self.interval));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::quantity::{Rate, Size};
    use crate::config::{Array, Layout};

    #[test]
    fn steps_follow_at_the_rate_or_when_the_last_has_ended() {
        let config = Array {
            layout: Layout::Raid6,
            devices: 4,
            stripe: Size(4096),
            failed: vec![2, 0],
            rebuild: Rebuild::Rate { rate: Rate::BytesPerSecond(4_096_000), unit: Size(8192) },
            ..Array::default()
        };
        let mut rebuilder = Rebuilder::new(&config, 12_288).expect("one is asked for");
        let mut times = Vec::new();
        let mut steps = Vec::new();
        // Each step takes 1 ms, but for the second, which takes 5.
        while let Some(due) = rebuilder.next_time() {
            let step = rebuilder.begin(due).expect("it is due");
            assert_eq!(rebuilder.next_time(), None);
            times.push(due.as_ns() / 1_000_000);
            steps.push((step.device.0, step.offset, step.length));
            let took = if times.len() == 2 { 5 } else { 1 };
            rebuilder.ended(step, due + Duration::from_us(took * 1000));
        }
        assert_eq!(steps, [(0, 0, 8192), (0, 8192, 4096), (2, 0, 8192), (2, 8192, 4096)]);
        assert_eq!(times, [0, 2, 7, 9]);
    }
}
