//! Names the sources that the crate is built from: a checkpoint can be read by none but those that wrote it.

use std::fs;
use std::path::{Path, PathBuf};
use std::{env, io};

/// The crates whose types a checkpoint keeps, as far as their sources lie beside ours.
const CRATES: [&str; 4] = ["copyback", "copyback-config", "copyback-derive", "copyback-workload"];

fn main() -> io::Result<()> {
    let ours = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo names our folder"));
    let mut name: u64 = 0;
    for sources in CRATES.map(|name| ours.join("..").join(name).join("src")) {
        if sources.is_dir() {
            println!("cargo:rerun-if-changed={}", sources.display());
            name = folder(&sources, name)?;
        }
    }
    println!("cargo:rustc-env=COPYBACK_SOURCES={name:016x}");
    Ok(())
}

/// The name of what came before and of a folder, whatever order the system lists it in.
fn folder(path: &Path, before: u64) -> io::Result<u64> {
    let mut entries: Vec<_> = fs::read_dir(path)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    entries.iter().try_fold(before, |name, entry| match entry.path() {
        path if path.is_dir() => folder(&path, name),
        path => Ok(hash(&fs::read(&path)?, name)),
    })
}

/// FNV-1a, begun with what came before.
fn hash(bytes: &[u8], before: u64) -> u64 {
    bytes.iter().fold(before ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
