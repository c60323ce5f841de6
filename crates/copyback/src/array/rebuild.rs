//! Rebuilding lost drives: their replacements are written anew, from the first stripe to the last, one
//! drive after the other, at a set rate or, as Linux md does, slower while requests come.

use crate::checkpoint::Checkpointed;
use crate::config::{self, Rebuild};
use crate::ids::SsdId;
use crate::units::Instant;

use super::pacer::Pacer;

/// A part of a drive that is rebuilt at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub struct RebuildStep {
    /// Place of the layout whose replacement is written.
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
    pacer: Pacer,
}

impl Rebuilder {
    /// The rebuild that a checked configuration asks for, of the first `device_bytes` of each drive.
    pub fn new(config: &config::Array, device_bytes: u64) -> Option<Self> {
        let (idle, loaded, unit) = match config.rebuild {
            Rebuild::None => return None,
            Rebuild::Rate { rate, unit } => (rate, rate, unit.0),
            Rebuild::Throttled { least, most, unit } => (most, least, unit.0),
        };
        let mut others: Vec<_> = config.failed.iter().map(|device| SsdId(*device as u16)).collect();
        others.sort_unstable_by_key(|device| std::cmp::Reverse(*device));
        let pacer = Pacer::new(unit, idle, loaded);
        let mut rebuilder = Self { next: None, others, device_bytes, unit, pacer };
        rebuilder.turn_to_next_drive();
        Some(rebuilder)
    }

    fn turn_to_next_drive(&mut self) {
        let length = self.unit.min(self.device_bytes);
        self.next = self.others.pop().map(|device| RebuildStep { device, offset: 0, length });
    }

    /// Rebuilds `device`, too, behind those that are to be rebuilt.
    pub fn add(&mut self, device: SsdId, now: Instant) {
        self.others.insert(0, device);
        if self.next.is_none() {
            self.turn_to_next_drive();
            self.pacer.wait_until(now);
        }
    }

    /// Rebuilds `device` no longer: its replacement has failed.
    pub fn give_up(&mut self, device: SsdId) {
        self.others.retain(|other| *other != device);
        if self.next.is_some_and(|next| next.device == device) {
            self.turn_to_next_drive();
            self.pacer.give_up();
        }
    }

    /// Notes that a request has come.
    pub const fn note_request(&mut self) {
        self.pacer.note_request();
    }

    /// When the next step starts, if none is under way.
    pub fn next_time(&self) -> Option<Instant> {
        self.pacer.next_time().filter(|_| self.next.is_some())
    }

    /// The step that starts at `now`, if one does.
    pub fn begin(&mut self, now: Instant) -> Option<RebuildStep> {
        self.next_time().filter(|due| *due <= now)?;
        self.pacer.begin(now);
        self.next
    }

    /// The step under way has ended; requests are in the array if `is_loaded`. Returns whether it counts.
    pub fn ended(&mut self, step: RebuildStep, now: Instant, is_loaded: bool) -> bool {
        let counts = self.pacer.ended(now, is_loaded);
        let offset = step.offset + step.length;
        if counts && offset < self.device_bytes {
            let length = self.unit.min(self.device_bytes - offset);
            self.next = Some(RebuildStep { offset, length, ..step });
        } else if counts {
            self.turn_to_next_drive();
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::quantity::{Rate, Size};
    use crate::config::{Array, Layout};
    use crate::units::Duration;

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
            assert!(rebuilder.ended(step, due + Duration::from_us(took * 1000), true));
        }
        assert_eq!(steps, [(0, 0, 8192), (0, 8192, 4096), (2, 0, 8192), (2, 8192, 4096)]);
        assert_eq!(times, [0, 2, 7, 9]);
    }

    #[test]
    fn steps_are_slower_while_requests_come_and_a_replacement_that_fails_begins_anew() {
        let config = Array {
            layout: Layout::Raid5,
            devices: 3,
            stripe: Size(4096),
            rebuild: Rebuild::Throttled {
                least: Rate::BytesPerSecond(1_024_000),
                most: Rate::BytesPerSecond(4_096_000),
                unit: Size(4096),
            },
            ..Array::default()
        };
        let (ms, drive) = (|ms: u64| Instant::START + Duration::from_us(ms * 1000), SsdId(1));
        let mut rebuilder = Rebuilder::new(&config, 12_288).expect("one is asked for");
        assert_eq!(rebuilder.next_time(), None);
        rebuilder.add(drive, ms(10));
        let step = rebuilder.begin(ms(10)).expect("it is due");
        assert!(rebuilder.ended(step, ms(10), false));
        assert_eq!(rebuilder.next_time(), Some(ms(11)));
        let step = rebuilder.begin(ms(11)).expect("it is due");
        rebuilder.note_request();
        assert!(rebuilder.ended(step, ms(11), false));
        assert_eq!(rebuilder.next_time(), Some(ms(15)));
        let step = rebuilder.begin(ms(15)).expect("it is due");
        rebuilder.give_up(drive);
        rebuilder.add(drive, ms(16));
        assert!(!rebuilder.ended(step, ms(17), false));
        let anew = rebuilder.begin(ms(17)).expect("it is due");
        assert_eq!((anew.device, anew.offset), (drive, 0));
    }
}
