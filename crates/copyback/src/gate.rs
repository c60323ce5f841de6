//! When a drive takes commands: until its places are full, and again when few enough are left.

use crate::checkpoint::Checkpointed;
use crate::config::{Config, Host};

/// Limit of the commands in a drive. A full gate is closed until no more commands than a low watermark are left.
#[derive(Debug, Clone, Checkpointed)]
pub struct Gate {
    places: usize,
    /// Most commands inside with which a closed gate opens again.
    opens_at: usize,
    inside: usize,
    is_open: bool,
}

impl Gate {
    /// Creates a gate with this number of places, which opens as soon as one comes free.
    pub const fn new(places: usize) -> Self {
        Self { places, opens_at: places - 1, inside: 0, is_open: true }
    }

    /// Creates the gate that requests of a checked configuration come through from outside: that of an array, or of a drive
    /// alone; of each submission queue, or of all together if the drive has command slots (`host.command_slots`).
    pub fn from_outside(config: &Config) -> Self {
        match config.array.devices {
            1 => Self::with_watermark(&config.host, config.host.most_of_queue() as usize),
            _ => Self::new(config.array.queue_depth as usize),
        }
    }

    /// Creates the gate of a drive of a checked configuration. In an array it has the low watermark; the requests of a drive
    /// alone have come [through that](Self::from_outside) before.
    pub fn of_drive(config: &Config) -> Self {
        let places = config.host.most_commands() as usize;
        match config.array.devices {
            1 => Self::new(places),
            _ => Self::with_watermark(&config.host, places),
        }
    }

    /// Creates a gate with this number of places and the low watermark of `host`.
    pub fn with_watermark(host: &Host, places: usize) -> Self {
        let mut gate = Self::new(places);
        let low = (places as f64 * host.low_watermark.0).floor() as usize;
        gate.opens_at = low.min(gate.opens_at);
        gate
    }

    /// Number of places.
    pub const fn places(&self) -> usize {
        self.places
    }

    /// Number of places that are free when a closed gate opens.
    pub const fn turn(&self) -> usize {
        self.places - self.opens_at
    }

    /// Whether a command may enter.
    pub const fn is_open(&self) -> bool {
        self.is_open
    }

    /// Number of commands that may enter before one leaves.
    pub const fn room(&self) -> usize {
        if self.is_open { self.places - self.inside } else { 0 }
    }

    /// Counts a command that enters.
    #[inline(always)]
    pub const fn enter(&mut self) {
        self.inside += 1;
        self.is_open = self.inside < self.places;
    }

    /// Counts a command that leaves.
    #[inline(always)]
    pub const fn leave(&mut self) {
        self.inside -= 1;
        self.is_open |= self.inside <= self.opens_at;
    }

    /// Forgets all commands inside.
    pub const fn clear(&mut self) {
        (self.inside, self.is_open) = (0, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::quantity::Share;

    fn enter(gate: &mut Gate, commands: usize) {
        (0..commands).for_each(|_| gate.enter());
    }

    #[test]
    fn a_full_drive_takes_commands_again_at_its_low_watermark() {
        let host = Host { low_watermark: Share(0.3), ..Host::default() };
        let mut gate = Gate::with_watermark(&host, 8);
        enter(&mut gate, 7);
        assert_eq!(gate.room(), 1);
        enter(&mut gate, 1);
        for _ in 3..8 {
            gate.leave();
            assert_eq!((gate.is_open(), gate.room()), (false, 0));
        }
        gate.leave();
        assert_eq!(gate.room(), 6);
        gate.leave();
        enter(&mut gate, 1);
        assert!(gate.is_open());
    }

    #[test]
    fn without_a_watermark_each_place_that_comes_free_is_taken() {
        let mut gate = Gate::with_watermark(&Host::default(), 3);
        enter(&mut gate, 3);
        assert!(!gate.is_open());
        gate.leave();
        assert_eq!(gate.room(), 1);
    }
}
