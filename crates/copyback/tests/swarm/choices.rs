//! Where the choices of a case come from: a random stream, or bytes that somebody gives.

use std::collections::VecDeque;
use std::convert::Infallible;

use copyback::rng::{Stream, stream};
use rand::{Rng, TryRng};

/// A source of choices.
pub struct Choices {
    /// Two for each choice: they are its highest bits, which decide where it lies in its range.
    made: VecDeque<[u8; 2]>,
    /// The rest.
    random: Stream,
}

impl Choices {
    /// Those that follow from a number.
    pub fn random(number: u64, name: &str) -> Self {
        Self::made(&[], number, name)
    }

    /// Those that somebody has made, and then random ones.
    pub fn made(bytes: &[u8], number: u64, name: &str) -> Self {
        let (pairs, _) = bytes.as_chunks();
        Self { made: pairs.iter().copied().collect(), random: stream(number, name) }
    }

    fn next(&mut self) -> u64 {
        match self.made.pop_front() {
            Some(pair) => u64::from(u16::from_le_bytes(pair)) << 48,
            None => self.random.next_u64(),
        }
    }
}

impl TryRng for Choices {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        // A random stream chooses what it would if nobody could choose for it.
        if self.made.is_empty() {
            return self.random.try_next_u32();
        }
        Ok((self.next() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.next())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.random.try_fill_bytes(bytes)
    }
}
