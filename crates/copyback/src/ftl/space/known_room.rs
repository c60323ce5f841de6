//! Known room of dies for writes, until one of their planes changes.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::checkpoint::{Checkpointed, Loaded, Reader, Writer};

/// Whether each die has room for a write, of each kind of writes. Kept once somebody has asked: room is asked for at many
/// instants, and changes at few.
#[derive(Debug)]
pub struct KnownRoom {
    /// A bit for each kind of which it is known, and above those a bit for each that has room. Atomic, as who asks only
    /// looks.
    of_dies: Vec<AtomicU32>,
}

/// Bits of the lower half: kinds beyond these are looked for each time.
const KINDS: u32 = u32::BITS / 2;

impl KnownRoom {
    /// Creates a record of this number of dies, of which nothing is known yet.
    pub fn new(dies: usize) -> Self {
        Self { of_dies: (0..dies).map(|_| AtomicU32::new(0)).collect() }
    }

    /// Whether `die` has room for writes of this `kind`: by a `look`, if that is not known.
    #[inline]
    pub fn get_or(&self, die: usize, kind: usize, look: impl FnOnce() -> bool) -> bool {
        if kind >= KINDS as usize {
            return look();
        }
        let known = self.of_dies[die].load(Ordering::Relaxed);
        if known & (1 << kind) != 0 {
            return known & (1 << kind << KINDS) != 0;
        }
        let has_room = look();
        let learnt = 1 << kind | u32::from(has_room) << kind << KINDS;
        self.of_dies[die].store(known | learnt, Ordering::Relaxed);
        has_room
    }

    /// A plane of `die` has changed.
    #[inline]
    pub fn forget(&mut self, die: usize) {
        *self.of_dies[die].get_mut() = 0;
    }
}

/// Saves nothing: the room is found out again.
impl Checkpointed for KnownRoom {
    fn keep(&self, out: &mut Writer<'_>) {
        out.len(self.of_dies.len());
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        from.len().map(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_is_taken_once_until_something_changes() {
        let mut known = KnownRoom::new(2);
        let unasked = || unreachable!("it is known");
        for kind in [0, KINDS as usize - 1] {
            assert!(known.get_or(1, kind, || true) && known.get_or(1, kind, unasked));
            assert!(!known.get_or(0, kind, || false) && !known.get_or(0, kind, unasked));
        }
        known.forget(1);
        assert!(!known.get_or(1, 0, || false), "it is looked for again");
        assert!(!known.get_or(0, 0, unasked), "of the other die it is known");
        let beyond = KINDS as usize;
        assert!(known.get_or(0, beyond, || true) && !known.get_or(0, beyond, || false));
    }
}
