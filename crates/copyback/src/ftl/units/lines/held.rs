//! Erases of a line that wait until all of it has been moved (`ssd.gc.line_erase`), so that its stripes are whole as long as
//! one of its pages is needed.

use crate::checkpoint::Checkpointed;
use crate::config::{LineErase, Resolved};

/// Whether erases of the line that is being collected wait.
#[derive(Debug, Checkpointed)]
pub struct Held {
    /// Whether those of every line do.
    always: bool,
    /// Whether those of this one do.
    now: bool,
    /// Of a line whose erases wait, a bit for each plane of a die that has nothing left to move.
    empty: Vec<u32>,
}

impl Held {
    /// Reads the rules of a checked configuration.
    pub fn new(config: &Resolved, dies: usize) -> Self {
        let always = config.ssd.gc.line_erase == LineErase::Together;
        Self { always, now: false, empty: vec![0; dies] }
    }

    /// Whether those of every line wait.
    pub const fn are_always(&self) -> bool {
        self.always
    }

    /// Whether those of this line wait.
    pub const fn are_now(&self) -> bool {
        self.now
    }

    /// Removes the planes without work from these planes of a die.
    pub fn without_empty(&self, die: usize, planes: u32) -> u32 {
        if self.now { planes & !self.empty[die] } else { planes }
    }

    /// Begins to wait; every plane has something to move.
    pub fn begin(&mut self) {
        self.now = true;
        self.empty.fill(0);
    }

    /// Ends to wait: each plane erases its block. Returns whether any waited.
    pub const fn end(&mut self) -> bool {
        std::mem::replace(&mut self.now, false)
    }

    /// Notes that a plane, named by a bit, has nothing left to move.
    pub fn note_empty(&mut self, die: usize, bit: u32) {
        self.empty[die] |= bit;
    }

    /// Notes that a plane has something to move again.
    pub fn note_not_empty(&mut self, die: usize, bit: u32) {
        self.empty[die] &= !bit;
    }
}
