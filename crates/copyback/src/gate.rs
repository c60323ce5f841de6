//! When a drive takes commands: until its places are full, and again when few enough are left.

use crate::checkpoint::Checkpointed;
use crate::config;

/// A limit of the commands in a drive. Full, it is closed until no more than a low watermark are left.
#[derive(Debug, Clone, Checkpointed)]
pub struct Gate {
    places: usize,
    /// It opens again with so many commands inside, or fewer.
    opens_at: usize,
    inside: usize,
    is_open: bool,
}

impl Gate {
    /// So many places, of which one that comes free is taken at once.
    pub const fn new(places: usize) -> Self {
        Self { places, opens_at: places - 1, inside: 0, is_open: true }
    }

    /// So many places of a drive with this interface, whose low watermark may be lower than that.
    pub fn of(host: &config::Host, places: usize) -> Self {
        let mut gate = Self::new(places);
        let low = (places as f64 * host.low_watermark.0).floor() as usize;
        gate.opens_at = low.min(gate.opens_at);
        gate
    }

    /// Number of places.
    pub const fn places(&self) -> usize {
        self.places
    }

    /// Places that have come free when it opens.
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

    /// A command enters.
    #[inline(always)]
    pub const fn enter(&mut self) {
        self.inside += 1;
        self.is_open = self.inside < self.places;
    }

    /// A command leaves.
    #[inline(always)]
    pub const fn leave(&mut self) {
        self.inside -= 1;
        self.is_open |= self.inside <= self.opens_at;
    }

    /// All commands leave.
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
        let host = config::Host { low_watermark: Share(0.3), ..config::Host::default() };
        let mut gate = Gate::of(&host, 8);
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
        let mut gate = Gate::of(&config::Host::default(), 3);
        enter(&mut gate, 3);
        assert!(!gate.is_open());
        gate.leave();
        assert_eq!(gate.room(), 1);
    }
}
