//! Digest that identifies a trace.

use std::io::{self, Read};

use xxhash_rust::xxh3::Xxh3;

use super::open::{cannot_open, files_of, open_file};
use crate::InputError;
use copyback_config::TraceWorkload;

/// Bytes that are read at a time.
const BUFFER: usize = 1 << 20;

/// A digest of what is in the files of a trace.
///
/// # Errors
/// If they can't be read, or not again, as a pipe.
pub fn digest(config: &TraceWorkload) -> Result<u128, InputError> {
    let mut digest = Xxh3::new();
    for path in files_of(config) {
        // Not opened: that would wait for somebody who writes to it.
        if path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
            let place = path.display().to_string();
            let problem = "found a pipe, which can't be read again; expected a file".to_owned();
            return Err(InputError { place, problem });
        }
        let (mut file, _) = open_file(&path)?;
        read_all(&mut file, |bytes| digest.update(bytes))
            .map_err(|error| cannot_open(&path, &error))?;
    }
    Ok(digest.digest128())
}

fn read_all(from: &mut impl Read, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => each(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_read_piece_by_piece() {
        let all: Vec<u8> = (0..3 * BUFFER + 7).map(|index| index as u8).collect();
        let mut read = Vec::new();
        read_all(&mut all.as_slice(), |bytes| read.extend_from_slice(bytes)).expect("memory reads");
        assert!(read == all);
    }
}
