//! blktrace writes a file for each processor: `sda.blktrace.0`, `sda.blktrace.1` and so on. Any of
//! them, or `sda` or `sda.blktrace`, stands for all; they are merged by time into the one stream
//! that `blkparse -d` would write. Each file is in order, so it takes one event of each at a time.
//! Of two events at one time, that of the lower processor goes first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::blktrace::{HEAD, NO_PAYLOAD, time_and_payload};
use super::decompress::{Bytes, Compression, Consumed, decompress};
use super::fault::Fault;
use super::lines::{LineError, LineReader};
use super::open::{cannot_open, open_file};
use super::rows::line_problem;
use crate::InputError;

const INFIX: &str = ".blktrace.";

/// The files of one trace that `path` stands for, by processor; empty if it stands for itself.
pub fn find(path: &Path) -> Vec<PathBuf> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let stem = match name.rsplit_once(INFIX) {
        Some((stem, number)) if processor(number).is_some() => stem,
        _ if path.exists() => return Vec::new(),
        _ => name.strip_suffix(INFIX.trim_end_matches('.')).unwrap_or(name),
    };
    let folder = match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => return Vec::new(),
    };
    let mut found = siblings(folder, stem);
    found.sort();
    found.into_iter().map(|(_, name)| path.with_file_name(name)).collect()
}

fn siblings(folder: &Path, stem: &str) -> Vec<(u32, String)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let of_stem = |name: String| {
        let number = name.strip_prefix(stem)?.strip_prefix(INFIX)?;
        Some((processor(number)?, name))
    };
    names.filter_map(of_stem).collect()
}

/// The number at the end of a name, which a compression may follow.
fn processor(number: &str) -> Option<u32> {
    let digits = Compression::SUFFIXES.iter().find_map(|suffix| number.strip_suffix(suffix));
    let digits = digits.unwrap_or(number);
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// The events of several files in order of time.
pub struct Merged {
    files: Vec<Events>,
    /// Time and number of each file that has an event, the next one on top.
    next: BinaryHeap<Reverse<(u64, usize)>>,
    /// The file whose event is being handed out, and how many of its bytes were.
    current: Option<(usize, usize)>,
}

impl Merged {
    /// Opens the files. `consumed` counts the compressed bytes read.
    ///
    /// # Errors
    /// If one can't be read, is damaged, or does not begin with an event.
    pub fn open(paths: &[PathBuf], consumed: &Arc<Consumed>) -> Result<Self, InputError> {
        let files: Result<Vec<_>, _> =
            paths.iter().map(|path| Events::open(path, consumed)).collect();
        let mut merged = Self { files: files?, next: BinaryHeap::new(), current: None };
        for file in 0..merged.files.len() {
            merged.advance(file)?;
        }
        Ok(merged)
    }

    /// Compressed bytes of all files, unless one is a pipe.
    pub fn size(&self) -> Option<u64> {
        self.files.iter().map(|file| file.size).sum()
    }

    fn advance(&mut self, file: usize) -> Result<(), InputError> {
        if let Some(time) = self.files[file].advance()? {
            self.next.push(Reverse((time, file)));
        }
        Ok(())
    }
}

impl Read for Merged {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (file, start) = match self.current.take() {
            Some(current) => current,
            None => match self.next.pop() {
                Some(Reverse((_, file))) => (file, 0),
                None => return Ok(0),
            },
        };
        let rest = &self.files[file].event[start..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        if count < rest.len() {
            self.current = Some((file, start + count));
        } else {
            self.advance(file).map_err(io::Error::other)?;
        }
        Ok(count)
    }
}

/// The events of one file.
struct Events {
    name: String,
    /// Compressed bytes, unless it is a pipe.
    size: Option<u64>,
    compression: Compression,
    bytes: LineReader<Bytes>,
    /// The event that is next, head and payload.
    event: Vec<u8>,
}

impl Events {
    fn open(path: &Path, consumed: &Arc<Consumed>) -> Result<Self, InputError> {
        let name = path.display().to_string();
        let (file, size) = open_file(path)?;
        let (content, compression) =
            decompress(Box::new(file), consumed).map_err(|error| cannot_open(path, &error))?;
        let bytes = LineReader::new(content);
        Ok(Self { name, size, compression, bytes, event: Vec::new() })
    }

    /// Goes on to the next event and returns its time; `None` at the end of the file.
    fn advance(&mut self) -> Result<Option<u64>, InputError> {
        self.event.clear();
        match self.bytes.next_bytes(HEAD) {
            Ok(None) => return Ok(None),
            Ok(Some(head)) => self.event.extend_from_slice(head),
            Err(error) => return Err(self.damaged(&error)),
        }
        let (time, payload) = time_and_payload(&self.event).map_err(|fault| self.wrong(&fault))?;
        match self.bytes.next_bytes(payload) {
            Ok(Some(bytes)) => self.event.extend_from_slice(bytes),
            Ok(None) => return Err(self.wrong(&Fault::other(NO_PAYLOAD))),
            Err(error) => return Err(self.damaged(&error)),
        }
        Ok(Some(time))
    }

    #[cold]
    fn damaged(&self, error: &LineError) -> InputError {
        self.wrong(&Fault::other(line_problem(error, self.compression)))
    }

    /// A fault at the last piece of this file.
    #[cold]
    fn wrong(&self, fault: &Fault) -> InputError {
        let place = format!("{}:byte {}", self.name, self.bytes.position());
        InputError { place, problem: fault.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_processor_ends_the_name() {
        assert_eq!(processor("0"), Some(0));
        assert_eq!(processor("12"), Some(12));
        assert_eq!(processor("3.gz"), Some(3));
        assert_eq!(processor("3.zst"), Some(3));
        for other in ["", "x", "-1", "+1", "1.txt", ".gz", "99999999999"] {
            assert_eq!(processor(other), None, "{other}");
        }
    }
}
