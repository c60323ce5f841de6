//! Lines of a byte stream, or records of so many bytes, without copying or allocating for each.

use std::io::{self, ErrorKind, Read};

/// Longest line that is taken for one, in bytes.
pub const MAX_LINE: usize = 64 << 10;

/// Size of the buffer: several times the longest line, so that moving the rest of a line to the
/// front costs little.
pub const BUFFER: usize = 4 * MAX_LINE;

/// Reason why there is no next line.
#[derive(Debug)]
pub enum LineError {
    /// The stream failed or is damaged.
    Read(io::Error),
    /// No line end for [`MAX_LINE`] bytes.
    TooLong,
    /// A NUL byte: not a text.
    Nul,
    /// A text of two bytes a character.
    Utf16,
    /// The stream ends within a record.
    Cut {
        /// Bytes that are left.
        found: usize,
        /// Bytes of the record.
        expected: usize,
    },
}

/// Reads lines ended by `\n` or `\r\n`; the last line may lack its end. A byte-order mark at the
/// start is dropped.
pub struct LineReader<R> {
    input: R,
    buffer: Box<[u8]>,
    /// The bytes of `buffer` that were read and not yet handed out.
    start: usize,
    end: usize,
    ended: bool,
    number: u64,
    /// Bytes of the input before `buffer`'s first.
    before: u64,
    /// Bytes of the input before the last piece handed out.
    position: u64,
}

impl<R: Read> LineReader<R> {
    /// Lines of `input`.
    pub fn new(input: R) -> Self {
        let buffer = vec![0; BUFFER].into_boxed_slice();
        Self { input, buffer, start: 0, end: 0, ended: false, number: 0, before: 0, position: 0 }
    }

    /// Number of the last line handed out, from 1; 0 before the first.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Counts the line that was refused, to go on behind it. Only one with a NUL byte is left behind.
    pub fn pass(&mut self) {
        self.number += 1;
    }

    /// Bytes of the input before the record that was taken last, or that can't be taken.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The next `count` bytes, at most [`MAX_LINE`]; `None` when there are no more.
    ///
    /// # Errors
    /// If the input can't be read, or ends within the record.
    #[inline]
    pub fn next_bytes(&mut self, count: usize) -> Result<Option<&[u8]>, LineError> {
        debug_assert!(count <= MAX_LINE);
        self.position = self.before + self.start as u64;
        if self.end - self.start < count && !self.fetch(count)? {
            return Ok(None);
        }
        let first = self.start;
        self.start += count;
        Ok(Some(&self.buffer[first..self.start]))
    }

    /// Reads on until `count` bytes are there; false if there are none.
    #[cold]
    fn fetch(&mut self, count: usize) -> Result<bool, LineError> {
        self.move_to_front();
        while !self.ended && self.end < count {
            self.fill()?;
        }
        match self.end {
            found if found >= count => Ok(true),
            0 => Ok(false),
            found => Err(LineError::Cut { found, expected: count }),
        }
    }

    /// The first bytes of the input, without consuming them: all of it, or as many as the buffer
    /// holds. To be called before the first line is taken.
    ///
    /// # Errors
    /// If the input can't be read.
    pub fn head(&mut self) -> Result<&[u8], LineError> {
        debug_assert_eq!(self.number, 0);
        while !self.ended && self.end < self.buffer.len() {
            self.fill()?;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    /// The next line, without its end; `None` when there are no more.
    ///
    /// # Errors
    /// If the input can't be read, or is no text. The line that failed is `number() + 1`.
    #[inline]
    pub fn next_line(&mut self) -> Result<Option<&[u8]>, LineError> {
        let found = memchr::memchr(b'\n', &self.buffer[self.start..self.end]);
        let length = match found {
            Some(length) => length,
            None => match self.find_end()? {
                Some(length) => length,
                None => return Ok(None),
            },
        };
        let first = self.start;
        self.start = (first + length + 1).min(self.end);
        let line = &self.buffer[first..first + length];
        if length > MAX_LINE {
            return Err(LineError::TooLong);
        }
        if memchr::memchr(0, line).is_some() {
            return Err(LineError::Nul);
        }
        self.number += 1;
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// Reads on until the line at `start` has an end; its length, or `None` if nothing is left.
    #[cold]
    fn find_end(&mut self) -> Result<Option<usize>, LineError> {
        if self.number == 0 {
            self.head()?;
            self.drop_mark()?;
        }
        let mut searched = 0;
        loop {
            let fresh = &self.buffer[self.start + searched..self.end];
            if let Some(length) = memchr::memchr(b'\n', fresh) {
                return Ok(Some(searched + length));
            }
            searched = self.end - self.start;
            if searched > MAX_LINE {
                return Err(LineError::TooLong);
            }
            if self.ended {
                return Ok((searched > 0).then_some(searched));
            }
            self.move_to_front();
            self.fill()?;
        }
    }

    fn move_to_front(&mut self) {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.before += self.start as u64;
        self.start = 0;
    }

    /// Reads once into the free end of the buffer.
    fn fill(&mut self) -> Result<(), LineError> {
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(LineError::Read(error)),
            }
            return Ok(());
        }
    }

    /// Drops a byte-order mark from the head of a text.
    ///
    /// # Errors
    /// If the mark says that this is no text that lines can be taken from.
    pub fn drop_mark(&mut self) -> Result<(), LineError> {
        let head = &self.buffer[self.start..self.end];
        if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
            return Err(LineError::Utf16);
        }
        if head.starts_with(&[0xef, 0xbb, 0xbf]) {
            self.start += 3;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Hands out its bytes in pieces of a few bytes.
    struct Drip<'a>(&'a [u8], usize);

    impl Read for Drip<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn all(bytes: &[u8], piece: usize) -> Result<Vec<Vec<u8>>, LineError> {
        let mut reader = LineReader::new(Drip(bytes, piece));
        let mut lines = Vec::new();
        while let Some(line) = reader.next_line()? {
            lines.push(line.to_vec());
        }
        assert_eq!(reader.number(), lines.len() as u64);
        Ok(lines)
    }

    #[test]
    fn line_ends_of_every_kind() {
        for piece in [1, 3, 1000] {
            assert_eq!(all(b"", piece).unwrap(), [] as [&[u8]; 0]);
            assert_eq!(all(b"a", piece).unwrap(), [b"a"]);
            assert_eq!(all(b"a\n", piece).unwrap(), [b"a"]);
            assert_eq!(all(b"a\r\nb\n\nc", piece).unwrap(), [&b"a"[..], b"b", b"", b"c"]);
        }
    }

    #[test]
    fn drops_a_byte_order_mark() {
        for piece in [1, 2, 1000] {
            assert_eq!(all(b"\xef\xbb\xbfa\nb", piece).unwrap(), [b"a", b"b"]);
            assert!(matches!(all(b"\xff\xfea\0\n\0", piece), Err(LineError::Utf16)));
        }
    }

    #[test]
    fn refuses_what_is_no_text() {
        assert!(matches!(all(b"a\n\0b\n", 100), Err(LineError::Nul)));
        let longest = vec![b'x'; MAX_LINE];
        assert_eq!(all(&longest, 5000).unwrap().len(), 1);
        for piece in [5000, 1 << 20] {
            let endless = vec![b'x'; 10 * MAX_LINE];
            assert!(matches!(all(&endless, piece), Err(LineError::TooLong)));
            let mut long = vec![b'x'; MAX_LINE + 1];
            long.push(b'\n');
            assert!(matches!(all(&long, piece), Err(LineError::TooLong)));
        }
    }

    #[test]
    fn records_of_so_many_bytes() {
        let bytes: Vec<u8> = (0..100_000_u32).flat_map(u32::to_be_bytes).collect();
        for piece in [5, 1000, 1 << 20] {
            let mut reader = LineReader::new(Drip(&bytes[..bytes.len() - 1], piece));
            for number in 0..99_999 {
                assert_eq!(reader.next_bytes(4).unwrap().unwrap(), u32::to_be_bytes(number));
                assert_eq!(reader.position(), 4 * u64::from(number));
            }
            let cut = reader.next_bytes(4);
            assert!(matches!(cut, Err(LineError::Cut { found: 3, expected: 4 })));
            assert_eq!(reader.position(), 4 * 99_999);
            assert_eq!(reader.next_bytes(3).unwrap().unwrap().len(), 3);
            assert!(reader.next_bytes(4).unwrap().is_none());
        }
    }

    #[test]
    fn head_consumes_nothing() {
        let mut reader = LineReader::new(&b"a\nb"[..]);
        assert_eq!(reader.head().unwrap(), b"a\nb");
        assert_eq!(reader.next_line().unwrap().unwrap(), b"a");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn agrees_with_split(
            lines in prop::collection::vec("[a-z]{0,900}", 0..600),
            piece in 1_usize..400_000,
        ) {
            let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
            prop_assert_eq!(
                all(text.as_bytes(), piece).unwrap(),
                lines.iter().map(|line| line.as_bytes().to_vec()).collect::<Vec<_>>()
            );
        }
    }
}
