//! Prepared devices in a file.
//!
//! ```text
//! magic "copyback-state\n" | format version (u32) | checksum of the rest (u128) | zstd stream of
//! the fingerprint of the configuration, the number of devices and the facts of each, and, if they
//! were overwritten until that was steady, their write amplification round by round
//! ```
//!
//! All numbers are little endian. [`Saved`] says which facts those are; all else is made again from them. The file
//! is written beside its place and renamed.

mod fingerprint;

use std::fs;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use serde::{Serialize, de::DeserializeOwned};
use xxhash_rust::xxh3::xxh3_128;

use crate::Error;
use crate::config::{Cuts, Overwrites, Resolved};
use crate::ftl::{Ftl, Saved};
use crate::ids::SsdId;
use crate::precondition::{self, Preconditioner, Preparation, Rounds};
use crate::whole::write_whole;

pub use fingerprint::fingerprint;

const MAGIC: &[u8] = b"copyback-state\n";
const VERSION: u32 = 10;
const HEADER: usize = MAGIC.len() + 4 + 16;
/// Fast, and the tables shrink to about half.
const COMPRESSION_LEVEL: i32 = 1;

/// Saves prepared devices.
///
/// # Errors
/// If a policy from outside cannot say what it remembers, or the file not be written; nothing is left behind then.
pub fn save(config: &Resolved, devices: &Preparation, path: &Path) -> Result<(), Error> {
    let machine = |error: io::Error| Error::Machine(format!("{}: {error}", path.display()));
    let bytes = to_bytes(config, &fingerprint(config)?, devices).map_err(machine)?;
    if let Some(failed) = devices.policy_failed() {
        return Err(Error::Input(failed.to_string()));
    }
    write_whole(path, |file| file.write_all(&bytes)).map_err(machine)
}

/// The content of the file that prepared devices of this [`fingerprint`] are saved in.
///
/// # Errors
/// If it cannot be compressed.
pub fn to_bytes(
    config: &Resolved,
    fingerprint: &str,
    devices: &Preparation,
) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; HEADER];
    let mut encoder = zstd::Encoder::new(&mut bytes, COMPRESSION_LEVEL)?;
    let facts: Vec<_> = devices.devices().iter().map(|device| device.ftl.saved()).collect();
    write(&mut encoder, &(fingerprint, &facts))?;
    if has_rounds(config) {
        let rounds = devices.devices().iter();
        let rounds = rounds.map(|device| device.rounds().map_or(&[][..], Rounds::values));
        write(&mut encoder, &rounds.collect::<Vec<_>>())?;
    }
    if config.ssd.gc.has_lines() {
        write(&mut encoder, &facts.iter().map(|device| &device.lines).collect::<Vec<_>>())?;
    }
    if config.drive.slc.is_some() {
        write(&mut encoder, &facts.iter().map(|device| &device.slc_cache).collect::<Vec<_>>())?;
    }
    encoder.finish()?;
    let (header, body) = bytes.split_at_mut(HEADER);
    let (magic, numbers) = header.split_at_mut(MAGIC.len());
    let (version, checksum) = numbers.split_at_mut(4);
    magic.copy_from_slice(MAGIC);
    version.copy_from_slice(&VERSION.to_le_bytes());
    checksum.copy_from_slice(&xxh3_128(body).to_le_bytes());
    Ok(bytes)
}

fn write(out: impl Write, part: &impl Serialize) -> io::Result<()> {
    postcard::to_io(part, out).map(drop).map_err(io::Error::other)
}

const NO_SPARE_AREAS: &str = "ssd.power.cuts: found cuts on a saved device; allowed: a device that is prepared for the run, as the \
                              file does not tell in which order pages were programmed, nor what is in those that are \
                              out of date";

/// Pages written beforehand from which on it pays to keep what they made: a file takes as long to load as some hundred thousand
/// take to write.
const WORTH_KEEPING: f64 = 1e6;

/// A name under which the prepared devices of `config` can be kept for other runs, if that pays: of two runs with one name, built
/// from the same sources, each may start from the other's. Policies from outside have no part in it. A trace that cannot be read
/// makes no name: the run says why.
pub fn name_to_keep(config: &Resolved) -> Option<String> {
    let pays = config.pages_beforehand() >= WORTH_KEEPING && !lacks_spare_areas(config);
    let sources = env!("COPYBACK_SOURCES");
    let fingerprint = pays.then(|| fingerprint(config).ok()).flatten()?;
    Some(format!("{fingerprint}-{sources}-{VERSION}"))
}

/// Whether cuts of power ask for what a file does not tell: a recovery sees the order of all programs.
fn lacks_spare_areas(config: &Resolved) -> bool {
    config.ssd.power.cuts != Cuts::None
}

/// Loads the devices that `path` holds, to be run under `config`.
///
/// # Errors
/// If the file cannot be read, is damaged, holds a state that no device can be in, or was prepared
/// for another device.
pub fn load(config: &Resolved, path: &Path) -> Result<Preparation, Error> {
    if lacks_spare_areas(config) {
        return Err(Error::Input(NO_SPARE_AREAS.to_owned()));
    }
    let refuse = |problem: &str| Error::Input(format!("{}: {problem}", path.display()));
    let bytes = fs::read(path).map_err(|error| refuse(&error.to_string()))?;
    from_bytes(config, &bytes).map_err(|problem| refuse(&problem))
}

/// Loads the devices that the content of a file holds.
///
/// # Errors
/// As [`load`], as a sentence.
pub fn from_bytes(config: &Resolved, bytes: &[u8]) -> Result<Preparation, String> {
    let body = checked_body(bytes)?;
    // A number is read byte by byte, which a decoder serves at a cost each time.
    let mut decoder = zstd::Decoder::new(body).map(BufReader::new).map_err(|_| DAMAGED)?;
    if read::<String>(&mut decoder)? != fingerprint(config).map_err(|error| error.to_string())? {
        return Err(OTHER_DEVICE.to_owned());
    }
    let count = config.array.drives() as usize;
    let mut devices: Vec<Saved<'_>> = read(&mut decoder)?;
    let rounds = match has_rounds(config) {
        true => read(&mut decoder)?,
        false => vec![Vec::<f64>::new(); count],
    };
    if config.ssd.gc.has_lines() {
        add(&mut devices, read(&mut decoder)?, |device, lines| device.lines = lines)?;
    }
    if config.drive.slc.is_some() {
        add(&mut devices, read(&mut decoder)?, |device, cache| device.slc_cache = cache)?;
    }
    let is_number = rounds.iter().flatten().all(|value| value.is_finite());
    let is_whole = devices.len() == count && rounds.len() == count && is_number;
    if !is_whole || decoder.bytes().next().is_some() {
        return Err(DAMAGED.to_owned());
    }
    let devices = devices.into_iter().zip(rounds).enumerate();
    let devices = devices
        .map(|(id, (saved, rounds))| restored(config, SsdId::from_index(id), saved, &rounds));
    Ok(Preparation::of(devices.collect::<Result<_, _>>()?))
}

/// Reads the next part of a file.
fn read<T: DeserializeOwned>(from: impl Read) -> Result<T, String> {
    let mut scratch = vec![0; 1 << 12];
    let read = postcard::from_io((from, &mut scratch));
    read.map(|(part, _)| part).map_err(|_| DAMAGED.to_owned())
}

/// Adds to each device what stands apart in the file.
fn add<'a, T>(
    devices: &mut [Saved<'a>],
    parts: Vec<T>,
    add: impl Fn(&mut Saved<'a>, T),
) -> Result<(), String> {
    if parts.len() != devices.len() {
        return Err(DAMAGED.to_owned());
    }
    devices.iter_mut().zip(parts).for_each(|(device, part)| add(device, part));
    Ok(())
}

/// Whether the file holds the rounds of the preparation, too.
fn has_rounds(config: &Resolved) -> bool {
    matches!(config.precondition.overwrites, Overwrites::UntilSteady { .. })
}

fn restored(
    config: &Resolved,
    device: SsdId,
    saved: Saved<'_>,
    rounds: &[f64],
) -> Result<Preconditioner, String> {
    let ftl = Ftl::restored(saved, config, &precondition::name(device)).map_err(|part| {
        format!("damaged: its {part} can't be that of this device; expected a file as saved")
    })?;
    Ok(Preconditioner::prepared(config, ftl, device, rounds))
}

const OTHER_DEVICE: &str = "prepared for another device: geometry, ftl, gc, wear, faults, \
                            precondition, drives of the array and seed must be those it was saved with";
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

#[cfg(test)]
mod tests {
    use crate::test_config;

    use super::*;

    fn fingerprint_of(settings: &[(&str, &str)]) -> String {
        fingerprint(&test_config::changed(settings)).expect("no trace is read")
    }

    #[test]
    fn drives_are_kept_where_that_pays_and_cuts_need_no_more_than_a_file_tells() {
        let name = |settings: &[(&str, &str)]| name_to_keep(&test_config::changed(settings));
        assert_eq!(name(&[("precondition.overwrites", "0.0")]), None);
        let much = ("precondition.overwrites", "1000.0");
        let kept = name(&[much]).expect("a million pages and more");
        assert_ne!(name(&[much, ("seed", "7")]).as_ref(), Some(&kept));
        assert_eq!(name(&[much, ("ssd.timing.read", "1us")]), Some(kept));
        let cut = ("ssd.power.cuts", "{ type = 'at', times = ['1s'] }");
        assert_eq!(name(&[much, cut, ("ssd.ftl.mapping", "log_block")]), None);
    }

    #[test]
    fn what_decides_how_a_drive_is_prepared_is_in_the_fingerprint() {
        let plain = fingerprint_of(&[]);
        for setting in [
            ("seed", "7"),
            ("ssd.geometry.channels", "2"),
            ("ssd.ftl.over_provisioning", "0.4"),
            ("ssd.wear.static_threshold", "7"),
            ("ssd.gc.victim", "fifo"),
            ("ssd.gc.soft_threshold", "{ blocks = 17 }"),
            ("ssd.gc.hard_threshold", "{ blocks = 2 }"),
            ("ssd.gc.hysteresis_blocks", "3"),
            ("ssd.gc.threshold_scope", "drive"),
            ("ssd.gc.threshold_unit", "free_pages"),
            ("ssd.faults.factory_bad_blocks", "0.001"),
            ("precondition.fill", "0.9"),
            ("precondition.overwrites", "0.9"),
            ("precondition.valid_pages", "mean_field"),
            ("ssd.slc_cache.static", "{ blocks = 2 }"),
        ] {
            assert_ne!(fingerprint_of(&[setting]), plain, "{}", setting.0);
        }
    }

    #[test]
    fn what_decides_about_the_run_alone_is_not() {
        let plain = fingerprint_of(&[]);
        for setting in [
            ("audit", "true"),
            ("host.queue_depth", "7"),
            ("ssd.timing.program", "777us"),
            ("ssd.gc.preemption", "semi_preemptive"),
            ("ssd.power.protection", "none"),
            // Perfect flash does not wear out.
            ("ssd.endurance.rated_cycles", "777"),
        ] {
            assert_eq!(fingerprint_of(&[setting]), plain, "{}", setting.0);
        }
    }
}
