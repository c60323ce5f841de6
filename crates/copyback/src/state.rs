//! A prepared device in a file.
//!
//! ```text
//! magic "copyback-state\n" | format version (u32) | checksum of the rest (u128) | zstd stream of
//! the fingerprint of the configuration and the translation layer
//! ```
//!
//! All numbers are little endian. The file is written beside its place and renamed.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use crate::config::Config;
use crate::error::Error;
use crate::ftl::Ftl;
use crate::precondition::Preconditioner;

const MAGIC: &[u8] = b"copyback-state\n";
const VERSION: u32 = 1;
const HEADER: usize = MAGIC.len() + 4 + 16;
/// Fast, and the tables shrink to about half.
const COMPRESSION_LEVEL: i32 = 1;

/// What is saved.
#[derive(Serialize, Deserialize)]
struct State<F> {
    fingerprint: String,
    ftl: F,
}

/// Saves a prepared device.
///
/// # Errors
/// If the file cannot be written; nothing is left behind then.
pub fn save(config: &Config, device: &Preconditioner, path: &Path) -> Result<(), Error> {
    let state = State { fingerprint: fingerprint(config), ftl: &device.ftl };
    let failed = |error: io::Error| Error::Machine(format!("{}: {error}", path.display()));
    let body = encode(&state).map_err(failed)?;
    let mut header = MAGIC.to_vec();
    header.extend(VERSION.to_le_bytes());
    header.extend(xxh3_128(&body).to_le_bytes());
    write_whole(path, &[&header, &body]).map_err(failed)
}

/// A digest of every setting that decides what a prepared device looks like.
fn fingerprint(config: &Config) -> String {
    let gc = &config.ssd.gc;
    let decisive = serde_json::json!([
        config.seed,
        config.ssd.geometry,
        config.ssd.ftl,
        config.ssd.wear,
        gc.victim,
        gc.soft_threshold,
        gc.hard_threshold,
        gc.hysteresis_blocks,
        config.precondition,
    ]);
    format!("{:032x}", xxh3_128(decisive.to_string().as_bytes()))
}

fn encode<T: Serialize>(state: &T) -> io::Result<Vec<u8>> {
    let mut encoder = zstd::Encoder::new(Vec::new(), COMPRESSION_LEVEL)?;
    postcard::to_io(state, &mut encoder).map_err(io::Error::other)?;
    encoder.finish()
}

/// Writes a file beside `path` and renames it, so that `path` is never half written.
fn write_whole(path: &Path, pieces: &[&[u8]]) -> io::Result<()> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let write = || {
        let mut file = fs::File::create(&partial)?;
        for piece in pieces {
            file.write_all(piece)?;
        }
        file.sync_all()?;
        fs::rename(&partial, path)
    };
    write().inspect_err(|_| {
        // The first error is the one to tell.
        let _ = fs::remove_file(&partial);
    })
}

/// Loads the device that `path` holds, to be run under `config`.
///
/// # Errors
/// If the file cannot be read, is damaged, or was prepared for another device.
pub fn load(config: &Config, path: &Path) -> Result<Preconditioner, Error> {
    let refuse = |problem: &str| Error::Input(format!("{}: {problem}", path.display()));
    let bytes = fs::read(path).map_err(|error| refuse(&error.to_string()))?;
    let body = checked_body(&bytes).map_err(refuse)?;
    let decoder = zstd::Decoder::new(body).map_err(|_| refuse(DAMAGED))?;
    let mut scratch = vec![0; 1 << 12];
    let (state, _): (State<Ftl>, _) =
        postcard::from_io((decoder, &mut scratch)).map_err(|_| refuse(DAMAGED))?;
    if state.fingerprint != fingerprint(config) {
        return Err(refuse(
            "prepared for another device: geometry, ftl, gc, wear, precondition and seed must be \
             those it was saved with",
        ));
    }
    Ok(Preconditioner::prepared(config, state.ftl))
}

const DAMAGED: &str = "damaged: its content does not agree with its checksum";

fn checked_body(bytes: &[u8]) -> Result<&[u8], &'static str> {
    if !bytes.starts_with(MAGIC) {
        return Err("not a saved device state: expected a file of copyback precondition --save");
    }
    if bytes.len() < HEADER {
        return Err(DAMAGED);
    }
    let (header, body) = bytes.split_at(HEADER);
    let (version, checksum) = header[MAGIC.len()..].split_at(4);
    if version != VERSION.to_le_bytes() {
        return Err("saved by another version of Copyback: prepare the device again");
    }
    if checksum != xxh3_128(body).to_le_bytes() {
        return Err(DAMAGED);
    }
    Ok(body)
}
