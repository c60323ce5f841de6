//! Small changes to an input, drawn from a stream named after it: the same at every run.

use copyback::rng::{Stream, stream};
use rand::RngExt;

/// What means something to one parser or another.
const PIECES: &[&[u8]] = &[
    b"0",
    b"-1",
    b"-0",
    b"+1",
    b"1.5",
    b"1e308",
    b"1.82083E+11",
    b"nan",
    b"inf",
    b"2147483648",
    b"4294967296",
    b"9223372036854775808",
    b"18446744073709551615",
    b"18446744073709551616",
    b"340282366920938463463374607431768211456",
    b"0.00000000000000000000001",
    b"\n",
    b"\r\n",
    b"\r",
    b"\0",
    b"\t",
    b" ",
    b",",
    b";",
    b".",
    b"\"",
    b"'",
    b"=",
    b"#",
    b"[",
    b"]",
    b"{",
    b"}",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xff\xff\xff\xff",
    b"\x1f\x8b",
    b"R",
    b"W",
    b"D",
    b"F",
    b"us",
    b"KiB",
    b"%",
    b"true",
];

/// Changes inputs.
pub struct Mutator(Stream);

impl Mutator {
    /// The changes called `name`.
    pub fn new(name: &str) -> Self {
        Self(stream(0, &format!("fuzz/{name}")))
    }

    /// A number from 0 to `end - 1`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0.random_range(0..end)
    }

    /// `input` after one to four changes; `other` lends a piece to some.
    pub fn mutate(&mut self, input: &[u8], other: &[u8]) -> Vec<u8> {
        let mut bytes = input.to_vec();
        for _ in 0..=self.below(4) {
            self.change(&mut bytes, other);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        let at = self.below(bytes.len() + 1);
        let end = at + self.below(bytes.len() - at + 1).min(20);
        match self.below(9) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let copy = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, copy));
            }
            3 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            4 if at < bytes.len() => bytes[at] = self.below(256) as u8,
            5 => {
                let from = self.below(other.len() + 1);
                let to = from + self.below(other.len() - from + 1).min(40);
                drop(bytes.splice(at..end, other[from..to].iter().copied()));
            }
            6 => self.replace_number(bytes, at),
            _ => {
                let piece = PIECES[self.below(PIECES.len())];
                drop(bytes.splice(at..at, piece.iter().copied()));
            }
        }
    }

    /// Puts another number, or rubbish, in the place of the next one.
    fn replace_number(&mut self, bytes: &mut Vec<u8>, at: usize) {
        let is_digit = |byte: &u8| byte.is_ascii_digit();
        let Some(start) = bytes[at..].iter().position(is_digit).map(|skip| at + skip) else {
            return;
        };
        let length = bytes[start..].iter().position(|byte| !is_digit(byte));
        let end = length.map_or(bytes.len(), |length| start + length);
        let piece = PIECES[self.below(PIECES.len())];
        drop(bytes.splice(start..end, piece.iter().copied()));
    }
}
