//! Bytes that wait to go to a client, in pieces, each of which is freed once it has gone.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};

/// Bytes of a piece that takes no further answer. A piece of at most so many is used again.
const ENOUGH: usize = 256 << 10;

/// Bytes that wait to go.
#[derive(Debug)]
pub struct Output {
    /// Pieces in the order in which they go; the last takes what is added.
    pieces: VecDeque<Vec<u8>>,
    /// Bytes of the first piece that have gone.
    sent: usize,
}

impl Output {
    /// An output of nothing.
    pub const fn new() -> Self {
        Self { pieces: VecDeque::new(), sent: 0 }
    }

    /// Number of bytes in memory.
    pub fn held(&self) -> usize {
        self.pieces.iter().map(Vec::len).sum()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.pieces.iter().all(Vec::is_empty)
    }

    /// The end, where an answer is put. An answer is in one piece.
    pub fn end(&mut self) -> &mut Vec<u8> {
        if self.pieces.back().is_none_or(|last| last.len() >= ENOUGH) {
            self.pieces.push_back(Vec::new());
        }
        let last = self.pieces.len() - 1;
        &mut self.pieces[last]
    }

    /// Sends as much as `to` takes now.
    ///
    /// # Errors
    /// If the other end is gone.
    pub fn send(&mut self, to: &mut impl Write) -> io::Result<()> {
        while let Some(first) = self.pieces.front_mut().filter(|first| !first.is_empty()) {
            match to.write(&first[self.sent..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => self.sent += written,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
            if self.sent == first.len() {
                self.forget_first();
            }
        }
        Ok(())
    }

    /// The first piece has gone.
    fn forget_first(&mut self) {
        self.sent = 0;
        if let [only] = self.pieces.make_contiguous()
            && only.capacity() <= ENOUGH
        {
            only.clear();
        } else {
            self.pieces.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that takes so many bytes, and then none for now.
    struct Takes(usize, Vec<u8>);

    impl Write for Takes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(self.0).min(100_000);
            if taken == 0 {
                return Err(ErrorKind::WouldBlock.into());
            }
            self.0 -= taken;
            self.1.extend(&bytes[..taken]);
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn all_goes_in_order_and_what_has_gone_is_freed() {
        let mut output = Output::new();
        let answer = |number: usize| vec![number as u8; 70_000 * (1 + number % 9)];
        (0..40).for_each(|number| output.end().extend(answer(number)));
        let all: Vec<_> = (0..40).flat_map(answer).collect();
        assert_eq!(output.held(), all.len());
        let mut stream = Takes(0, Vec::new());
        while !output.is_empty() {
            stream.0 = 1_000_000;
            output.send(&mut stream).expect("the stream goes on");
            let waits = all.len() - stream.1.len();
            assert!(output.held() < waits + 1_000_000, "a piece is kept that has gone");
        }
        assert!(stream.1 == all);
        assert_eq!(output.held(), 0);
    }
}
