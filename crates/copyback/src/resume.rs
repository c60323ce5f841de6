//! A run under way in a file, to go on from it.
//!
//! ```text
//! magic "copyback-checkpoint\n" | checksum of the rest (u128) | the header | zstd stream of all that the run has
//! in memory
//! ```
//!
//! Only the program that wrote a file goes on from it, with the same configuration and the same traces: that is
//! what the [header](Header) says.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::Error;
use crate::checkpoint::{Checkpointed, Reader, Writer};
use crate::config::{Flow, Resolved};
use crate::host::sources;
use crate::progress::{Phase, Progress};
use crate::whole::write_whole;
use crate::workload::{InputError, trace};

const MAGIC: &[u8] = b"copyback-checkpoint\n";
/// Fast, and the tables shrink to about half.
const COMPRESSION_LEVEL: i32 = 1;
/// Bytes that are checked at a time.
const BUFFER: usize = 1 << 20;

const DAMAGED: &str = "damaged: its content does not agree with its checksum";

/// The run that a checkpoint is of: what must be the same for it to go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    version: String,
    /// The sources of the program.
    sources: String,
    configuration: String,
    /// Digests of the traces, in the order of their flows.
    traces: Vec<String>,
}

impl Identity {
    /// Identity of a checked configuration.
    ///
    /// # Errors
    /// If a trace can't be read, or not again.
    pub fn of(config: &Resolved) -> Result<Self, Error> {
        let traces = config.workload.flows().into_iter().filter_map(|flow| match flow {
            Flow::Trace(config) => Some(trace::digest(&config)),
            Flow::Synthetic(_) => None,
        });
        let traces = traces.map(|digest| digest.map(|digest| format!("{digest:032x}")));
        Ok(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            sources: env!("COPYBACK_SOURCES").to_owned(),
            configuration: config.digest(),
            traces: traces.collect::<Result<_, InputError>>()?,
        })
    }

    /// Reason why a run with this identity can't go on from one with `other`.
    fn differs_from(&self, other: &Self) -> Option<&'static str> {
        if (&self.version, &self.sources) != (&other.version, &other.sources) {
            Some(
                "written by another version of Copyback; expected one of this version, as no other can read it: \
                 remove it to run from the start",
            )
        } else if self.configuration != other.configuration {
            Some("of another configuration; expected one of a run with the same settings")
        } else if self.traces != other.traces {
            Some(
                "of a run with another trace; expected one of a run with the trace that is there now",
            )
        } else {
            None
        }
    }
}

/// Header of a checkpoint.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    of: Identity,
    found: Found,
}

/// Progress of a checkpoint's run, and the note of its owner.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Found {
    /// Whether its drives were still being prepared.
    pub is_preparing: bool,
    /// Simulated time.
    pub simulated_ns: u64,
    /// Requests completed.
    pub requests: u64,
    /// For the caller.
    pub note: String,
}

impl Found {
    /// Describes a run that has made this `progress`.
    pub fn new(progress: &Progress, note: &str) -> Self {
        Self {
            is_preparing: progress.phase == Phase::Precondition,
            simulated_ns: progress.simulated.as_ns(),
            requests: progress.requests,
            note: note.to_owned(),
        }
    }
}

/// Writes the run that `keep` keeps, whole or not at all.
///
/// # Errors
/// If the file can't be written.
pub fn write(
    path: &Path,
    of: &Identity,
    found: Found,
    keep: impl FnOnce(&mut Writer<'_>),
) -> Result<(), Error> {
    let written = write_whole(path, |file| {
        let mut file = BufWriter::new(file);
        file.write_all(MAGIC)?;
        file.write_all(&[0; 16])?;
        let mut hashed = Hashed { inner: &mut file, hash: Xxh3::new() };
        let header = serde_json::to_string(&Header { of: of.clone(), found })?;
        let mut plain = Writer::new(&mut hashed);
        header.keep(&mut plain);
        plain.finish()?;
        let mut encoder = zstd::Encoder::new(&mut hashed, COMPRESSION_LEVEL)?;
        let mut out = Writer::new(&mut encoder);
        keep(&mut out);
        out.finish()?;
        encoder.finish()?;
        let checksum = hashed.hash.digest128();
        file.seek(SeekFrom::Start(MAGIC.len() as u64))?;
        file.write_all(&checksum.to_le_bytes())?;
        file.flush()
    });
    written.map_err(|error| Error::Machine(format!("{}: {error}", path.display())))
}

/// Passes on what it is given, and remembers it in short.
struct Hashed<W> {
    inner: W,
    hash: Xxh3,
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Reads a run with the identity `expected` back by `load`.
///
/// # Errors
/// If the file can't be read, is no checkpoint or a damaged one, or is of a run with another identity.
pub fn read<T>(
    path: &Path,
    config: &Resolved,
    expected: &Identity,
    load: impl FnOnce(&mut Reader<'_>) -> io::Result<T>,
) -> Result<(T, Found), Error> {
    let refuse = |problem: &str| Error::Input(format!("{}: {problem}", path.display()));
    let unreadable = |error: io::Error| refuse(&error.to_string());
    let mut file = BufReader::new(File::open(path).map_err(unreadable)?);
    check(&mut file).map_err(|problem| refuse(&problem))?;
    let damaged = |_| refuse(DAMAGED);
    file.seek(SeekFrom::Start((MAGIC.len() + 16) as u64)).map_err(unreadable)?;
    let Header { of, found } = header(&mut file).map_err(damaged)?;
    if let Some(problem) = expected.differs_from(&of) {
        return Err(refuse(problem));
    }
    let sources = sources(config)?;
    let mut decoder = zstd::Decoder::with_buffer(file).map_err(damaged)?;
    let run = load(&mut Reader::new(&mut decoder, config, sources)).map_err(unreadable)?;
    Ok((run, found))
}

/// Checks that a file is a checkpoint, and that nothing in it has changed.
fn check(file: &mut impl Read) -> Result<(), String> {
    let mut start = [0; MAGIC.len() + 16];
    let is_short = file.read_exact(&mut start).is_err();
    if !start.starts_with(MAGIC) {
        return Err("not a checkpoint: expected a file of copyback run --checkpoint".to_owned());
    }
    if is_short {
        return Err(DAMAGED.to_owned());
    }
    let mut hash = Xxh3::new();
    let mut buffer = vec![0; BUFFER];
    loop {
        match file.read(&mut buffer).map_err(|error| error.to_string())? {
            0 => break,
            read => hash.update(&buffer[..read]),
        }
    }
    if start[MAGIC.len()..] != hash.digest128().to_le_bytes() {
        return Err(DAMAGED.to_owned());
    }
    Ok(())
}

/// The header, which the rest follows at once.
fn header(file: &mut impl Read) -> io::Result<Header> {
    let mut len = [0; 8];
    file.read_exact(&mut len)?;
    let mut text = vec![0; u64::from_le_bytes(len) as usize];
    file.read_exact(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}
