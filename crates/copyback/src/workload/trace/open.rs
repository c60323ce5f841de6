//! Opening a trace: everything that can be wrong before its second request.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::bounds::Bounds;
use super::clock::Clock;
use super::decompress::{Bytes, decompress};
use super::detect::{detect, detect_binary};
use super::devices::Devices;
use super::format::{Parser, Piece};
use super::lines::{BUFFER, LineError, LineReader};
use super::{TraceSource, line_problem};
use crate::config::quantity::Size;
use crate::config::{TraceFormat, TraceWorkload};
use crate::workload::InputError;

const NO_REQUESTS: &str = "found no requests; expected at least one";

impl TraceSource {
    /// Opens the trace that `config` names, for a device of `capacity_bytes`. Reads up to its
    /// first request, so that a wrong format or an empty trace is known before anything is run.
    ///
    /// # Errors
    /// If the file can't be read, its format isn't known, it holds no request, its first request
    /// is malformed, or the configuration makes no sense.
    pub fn open(config: &TraceWorkload, capacity_bytes: u64) -> Result<Self, InputError> {
        check(config)?;
        let (file, size) = open_file(&config.path).map_err(|error| InputError {
            place: config.path.display().to_string(),
            problem: open_problem(&error),
        })?;
        Self::from_reader(Box::new(file), size, config, capacity_bytes)
    }

    /// The same for an input that is open already; `config.path` is only its name in messages.
    /// `size` is its length in bytes, or zero if that isn't known.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn from_reader(
        input: Bytes,
        size: u64,
        config: &TraceWorkload,
        capacity_bytes: u64,
    ) -> Result<Self, InputError> {
        check(config)?;
        let name = config.path.display().to_string();
        let fail = |problem| InputError { place: name.clone(), problem };
        let taken = Arc::new(AtomicU64::new(0));
        let (content, compression) =
            decompress(input, &taken).map_err(|error| fail(open_problem(&error)))?;
        let mut lines = LineReader::new(content);
        let line_fault = |error: LineError| fail(line_problem(&error, compression));
        let head = lines.head().map_err(line_fault)?;
        let format = match config.format.clone().or_else(|| detect_binary(head)) {
            Some(format) if Parser::new(&format).wants() != Piece::Line => format,
            named => {
                lines.drop_mark().map_err(line_fault)?;
                let head = lines.head().map_err(line_fault)?;
                if head.trim_ascii().is_empty() && head.len() < BUFFER {
                    return Err(fail(NO_REQUESTS.to_owned()));
                }
                named.map_or_else(|| detect(head).map_err(fail), Ok)?
            }
        };
        let limit = config.limit;
        Self {
            lines,
            compression,
            parser: Parser::new(&format),
            format: Box::new(format),
            clock: Clock::new(config.time_scale),
            bounds: Bounds::new(capacity_bytes, config.beyond_device),
            devices: Devices::default(),
            first: None,
            left: limit.unwrap_or(u64::MAX),
            limit,
            taken,
            size,
            name,
        }
        .primed()
    }

    /// Reads the first request ahead.
    fn primed(mut self) -> Result<Self, InputError> {
        self.first = self.read_request()?;
        if self.first.is_none() {
            return Err(self.whole_file(NO_REQUESTS.to_owned()));
        }
        Ok(self)
    }
}

fn open_file(path: &Path) -> io::Result<(File, u64)> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    Ok((file, if metadata.is_file() { metadata.len() } else { 0 }))
}

fn open_problem(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file; expected a trace".to_owned(),
        ErrorKind::IsADirectory => "found a directory; expected a trace file".to_owned(),
        ErrorKind::PermissionDenied => "permission to read it is denied".to_owned(),
        ErrorKind::Other => format!("found {error}"),
        _ => format!("can't be read: {error}"),
    }
}

fn check(config: &TraceWorkload) -> Result<(), InputError> {
    let fail =
        |key: &str, problem: String| InputError { place: format!("workload.{key}"), problem };
    if !(config.time_scale.is_finite() && config.time_scale > 0.0) {
        let problem = format!("found {}; expected a number above 0", config.time_scale);
        return Err(fail("time_scale", problem));
    }
    if config.path.as_os_str().is_empty() {
        return Err(fail("path", "found nothing; expected a trace file".to_owned()));
    }
    if config.limit == Some(0) {
        return Err(fail("limit", "found 0; expected at least 1".to_owned()));
    }
    if let Some(TraceFormat::Disksim { size_unit: Size(0) }) = config.format {
        return Err(fail("format.size_unit", "found 0B; expected at least 1B".to_owned()));
    }
    if let Some(TraceFormat::Csv(format)) = &config.format
        && let Err((key, found, expected)) = format.columns()
    {
        return Err(fail(&format!("format.{key}"), format!("found {found}; expected {expected}")));
    }
    Ok(())
}
