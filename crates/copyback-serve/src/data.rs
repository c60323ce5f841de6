//! Data of the drive: bytes in memory, or in a sparse file. What was never written reads as zeroes.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, FlockOperation, fallocate, flock};

/// Bytes that are kept or left out together in memory.
const CHUNK: u64 = 64 << 10;

/// Zeroes, to write many at a time.
static ZEROES: [u8; CHUNK as usize] = [0; CHUNK as usize];

/// The bytes of a drive.
#[derive(Debug)]
pub enum Data {
    /// In memory, by the number of the chunk.
    Memory(BTreeMap<u64, Box<[u8]>>),
    /// In a file, and where that is.
    File(File, PathBuf),
}

impl Data {
    /// Creates empty data in memory.
    pub const fn in_memory() -> Self {
        Self::Memory(BTreeMap::new())
    }

    /// Opens the data of a file, which is made if there is none. Nobody else may serve it meanwhile.
    ///
    /// # Errors
    /// If it cannot be opened or made, is of another size, or somebody serves it.
    pub fn in_file(path: &Path, capacity: u64) -> Result<Self, String> {
        let message = |problem: String| format!("{}: {problem}", path.display());
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let file = options.open(path).map_err(|error| message(words(&error)))?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(message("another `copyback serve` has its data there".to_owned()));
        }
        match file.metadata().map_err(|error| message(words(&error)))?.len() {
            0 => file.set_len(capacity).map_err(|error| message(words(&error)))?,
            found if found != capacity => {
                return Err(message(format!(
                    "found {found} bytes; allowed: as many as the drive has, {capacity}, or none"
                )));
            }
            _ => {}
        }
        Ok(Self::File(file, path.to_owned()))
    }

    /// Location of the data, for people.
    pub fn place(&self) -> String {
        match self {
            Self::Memory(_) => "memory".to_owned(),
            Self::File(_, path) => path.display().to_string(),
        }
    }

    /// Appends `length` bytes from `offset` on to `out`.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(&self, offset: u64, length: usize, out: &mut Vec<u8>) -> io::Result<()> {
        let start = out.len();
        out.resize(start + length, 0);
        let wanted = &mut out[start..];
        match self {
            Self::Memory(chunks) => {
                for_each_part(offset, length, |chunk, within, part| {
                    if let Some(held) = chunks.get(&chunk) {
                        wanted[part.clone()].copy_from_slice(&held[within..within + part.len()]);
                    }
                });
                Ok(())
            }
            Self::File(file, _) => match file.read_exact_at(wanted, offset) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(()),
                other => other,
            },
        }
    }

    /// Writes.
    ///
    /// # Errors
    /// If the file cannot be written, as when its disk is full.
    pub fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Memory(chunks) => {
                for_each_part(offset, bytes.len(), |chunk, within, part| {
                    let held = chunks.entry(chunk).or_insert_with(|| ZEROES.into());
                    held[within..within + part.len()].copy_from_slice(&bytes[part]);
                });
                Ok(())
            }
            Self::File(file, _) => file.write_all_at(bytes, offset),
        }
    }

    /// Makes zeroes of `length` bytes from `offset` on, and gives back the room they took.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn zero(&mut self, offset: u64, length: u64) -> io::Result<()> {
        if length == 0 {
            return Ok(());
        }
        match self {
            Self::Memory(chunks) => {
                for_each_part(offset, length as usize, |chunk, within, part| {
                    if part.len() as u64 == CHUNK {
                        chunks.remove(&chunk);
                    } else if let Some(held) = chunks.get_mut(&chunk) {
                        held[within..within + part.len()].fill(0);
                    }
                });
                Ok(())
            }
            Self::File(file, _) => punch(file, offset, length),
        }
    }
}

/// A hole in a file; zeroes where its file system has no holes.
fn punch(file: &File, offset: u64, length: u64) -> io::Result<()> {
    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    if fallocate(file, hole, offset, length).is_ok() {
        return Ok(());
    }
    let (mut at, end) = (offset, offset + length);
    while at < end {
        let part = (end - at).min(CHUNK);
        file.write_all_at(&ZEROES[..part as usize], at)?;
        at += part;
    }
    Ok(())
}

/// Hands the parts of a range to `each`: the chunk, where in it, and which bytes of the range.
fn for_each_part(
    offset: u64,
    length: usize,
    mut each: impl FnMut(u64, usize, std::ops::Range<usize>),
) {
    let mut done = 0;
    while done < length {
        let at = offset + done as u64;
        let within = (at % CHUNK) as usize;
        let part = (length - done).min(CHUNK as usize - within);
        each(at / CHUNK, within, done..done + part);
        done += part;
    }
}

/// Message of the system, without its number.
pub fn words(error: &io::Error) -> String {
    let message = error.to_string();
    message.split(" (os error").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(mut data: Data) {
        let mut bytes = Vec::new();
        data.write(CHUNK - 3, b"abcdef").unwrap();
        data.read(CHUNK - 4, 8, &mut bytes).unwrap();
        assert_eq!(bytes, b"\0abcdef\0");
        data.zero(CHUNK - 1, 2).unwrap();
        bytes.clear();
        data.read(CHUNK - 4, 8, &mut bytes).unwrap();
        assert_eq!(bytes, b"\0ab\0\0ef\0");
        data.write(3 * CHUNK, &[7; 2 * CHUNK as usize]).unwrap();
        data.zero(3 * CHUNK - 1, CHUNK + 2).unwrap();
        bytes.clear();
        data.read(4 * CHUNK, 2, &mut bytes).unwrap();
        assert_eq!(bytes, [0, 7]);
    }

    #[test]
    fn what_is_written_is_read_and_what_is_zeroed_is_zero() {
        check(Data::in_memory());
        let home = tempfile::tempdir().unwrap();
        check(Data::in_file(&home.path().join("data"), 8 * CHUNK).unwrap());
    }

    #[test]
    fn zeroed_chunks_take_no_room() {
        let mut data = Data::in_memory();
        data.write(0, &[1; 4 * CHUNK as usize]).unwrap();
        data.zero(0, 4 * CHUNK).unwrap();
        let Data::Memory(chunks) = data else { unreachable!() };
        assert!(chunks.is_empty());
    }

    #[test]
    fn a_file_of_another_size_or_in_use_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("data");
        let first = Data::in_file(&path, 4096).unwrap();
        let message = Data::in_file(&path, 4096).unwrap_err();
        assert!(
            message.ends_with("data: another `copyback serve` has its data there"),
            "{message}"
        );
        drop(first);
        let message = Data::in_file(&path, 8192).unwrap_err();
        assert!(message.contains("found 4096 bytes"), "{message}");
        let message = Data::in_file(home.path(), 4096).unwrap_err();
        assert!(message.ends_with(": Is a directory"), "{message}");
    }
}
