//! Files that appear whole or not at all.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Lets `write` fill a file beside `path` and renames it, so that `path` is never half written.
pub fn write_whole(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let written = || {
        let mut file = File::create(&partial)?;
        write(&mut file)?;
        file.sync_all()?;
        fs::rename(&partial, path)
    };
    written().inspect_err(|_| {
        // The first error is the one to tell.
        let _ = fs::remove_file(&partial);
    })
}
