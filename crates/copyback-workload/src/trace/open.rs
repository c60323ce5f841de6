//! Opening a trace: everything that can be wrong before its second request.

use std::fs::File;
use std::io::{self, Cursor, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::addresses::Addresses;
use super::blkparse_fields::{self, Fields};
use super::blktrace_files::{self, Merged};
use super::decompress::{Bytes, Compression, Consumed, decompress};
use super::detect::{detect, detect_binary};
use super::devices::{Devices, Selector};
use super::format::{Parser, Piece};
use super::lines::{BUFFER, LineError, LineReader};
use super::rows::{Rows, line_problem, placed};
use super::schedule::Schedule;
use super::{TraceSource, parquet, survey, units};
use crate::InputError;
use copyback_config::quantity::Size;
use copyback_config::units::Instant;
use copyback_config::{DeviceName, TraceFormat, TraceWorkload};

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
        Self::of(Origin::Files(files_of(config)), config, capacity_bytes)
    }

    /// Opens a trace that is in memory; `config.path` is only its name in messages.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn from_bytes(
        content: impl Into<Arc<[u8]>>,
        config: &TraceWorkload,
        capacity_bytes: u64,
    ) -> Result<Self, InputError> {
        check(config)?;
        Self::of(Origin::Memory(content.into()), config, capacity_bytes)
    }

    fn of(origin: Origin, config: &TraceWorkload, capacity: u64) -> Result<Self, InputError> {
        let consumed = Arc::new(Consumed::default());
        let name = config.path.display().to_string();
        let input = Input::of(&name, &origin, config.format.as_ref(), &consumed)?;
        let is_pipe = input.size.is_none();
        if config.duration.is_some() && is_pipe {
            let problem = "workload.duration starts the trace again, which a pipe can't; expected \
                           a file";
            return Err(InputError { place: name, problem: problem.to_owned() });
        }
        // Before the trace is read to its end, for what it touches.
        let devices = Devices::new(selectors(config, &input.format)?);
        let again = |addresses| {
            let consumed = Arc::default();
            let input = Input::of(&name, &origin, Some(&input.format), &consumed)?;
            let devices = Devices::new(selectors(config, &input.format)?);
            Ok(Self::new(origin.clone(), input, consumed, config, devices, addresses))
        };
        let again = (!is_pipe).then_some(again);
        let addresses = survey::addresses(config, capacity, &name, again)?;
        let mut source = Self::new(origin, input, consumed, config, devices, addresses);
        source.repeats = config.duration.is_some();
        source.primed()
    }

    /// Yet without a request, and to be read once.
    fn new(
        origin: Origin,
        input: Input,
        consumed: Arc<Consumed>,
        config: &TraceWorkload,
        devices: Devices,
        addresses: Addresses,
    ) -> Self {
        let name = config.path.display().to_string();
        let Input { lines, compression, parser, format, size, units } = input;
        let limit = config.limit;
        Self {
            origin,
            rows: Rows::new(name.clone(), lines, compression, parser, config),
            format: Box::new(format),
            schedule: Schedule::new(config),
            devices,
            wanted: config.devices.clone(),
            addresses,
            device: 0,
            units,
            first: None,
            left: limit.unwrap_or(u64::MAX),
            limit,
            repeats: false,
            rounds: 1,
            reached_end: false,
            is_alive: false,
            is_over: false,
            latest: Instant::START,
            consumed,
            size: size.unwrap_or(0),
            name,
        }
    }

    /// Reads the first request ahead.
    fn primed(mut self) -> Result<Self, InputError> {
        self.first = self.read_request()?;
        if self.first.is_none() {
            return Err(self.rows.whole_file(self.why_empty()));
        }
        Ok(self)
    }

    /// Reason why the trace has no request at all, for the error.
    fn why_empty(&self) -> String {
        let skipped = self.rows.skipped_note();
        let skipped = skipped.map_or(String::new(), |note| format!(" ({note})"));
        let rows = self.rows.count();
        if rows == 0 {
            return format!("{NO_REQUESTS}{skipped}");
        }
        format!(
            "found {rows} requests, none of which workload.devices, from, until and duration let \
             through; expected at least one{skipped}"
        )
    }
}

/// Origin of a trace: files or a pipe.
#[derive(Debug, Clone)]
pub enum Origin {
    /// A file, or several that are merged.
    Files(Vec<PathBuf>),
    /// The content of a file.
    Memory(Arc<[u8]>),
}

/// Input of a trace, once its format is known.
pub struct Input {
    /// Lines that feed the parser.
    pub lines: LineReader<Bytes>,
    /// The parser, at the start of the trace.
    pub parser: Parser,
    compression: Compression,
    format: TraceFormat,
    /// Compressed bytes in all, unless it comes from a pipe.
    size: Option<u64>,
    /// Note on the units of its numbers: what was assumed, or is odd about them.
    units: Option<String>,
}

impl Input {
    /// The start of the trace that messages call `name`. `consumed` counts the compressed bytes read.
    ///
    /// # Errors
    /// If it can't be read, or its format isn't known; if one of several files is damaged at its start.
    pub fn of(
        name: &str,
        origin: &Origin,
        format: Option<&TraceFormat>,
        consumed: &Arc<Consumed>,
    ) -> Result<Self, InputError> {
        match origin {
            Origin::Files(files) => Self::of_files(name, files, format, consumed),
            Origin::Memory(content) => {
                let size = Some(content.len() as u64);
                let stream = Box::new(Cursor::new(Arc::clone(content)));
                Self::of_stream(name, stream, size, format, consumed)
            }
        }
    }

    /// The content of a file, or of several that are merged.
    fn of_files(
        name: &str,
        files: &[PathBuf],
        format: Option<&TraceFormat>,
        consumed: &Arc<Consumed>,
    ) -> Result<Self, InputError> {
        let [path] = files else {
            let merged = Merged::open(files, consumed)?;
            let size = merged.size();
            return Self::of_content(name, Box::new(merged), Compression::None, size, format);
        };
        let (file, size) = open_file(path)?;
        match rows_of(path, &file, size, format)? {
            Some(parser) => Ok(Self::of_rows(parser, size)),
            None => Self::of_stream(name, Box::new(file), size, format, consumed),
        }
    }

    /// Opens `stream`, plain or compressed.
    fn of_stream(
        name: &str,
        stream: Bytes,
        size: Option<u64>,
        format: Option<&TraceFormat>,
        consumed: &Arc<Consumed>,
    ) -> Result<Self, InputError> {
        let (content, compression) = decompress(stream, consumed).map_err(|error| InputError {
            place: name.to_owned(),
            problem: open_problem(&error),
        })?;
        Self::of_content(name, content, compression, size, format)
    }

    /// Lines or records of content that is read from its start.
    fn of_content(
        name: &str,
        content: Bytes,
        compression: Compression,
        size: Option<u64>,
        format: Option<&TraceFormat>,
    ) -> Result<Self, InputError> {
        let fail = |problem| InputError { place: name.to_owned(), problem };
        let mut lines = LineReader::new(content);
        let line_fault = |error: LineError| {
            placed(&error).unwrap_or_else(|| fail(line_problem(&error, compression)))
        };
        let head = lines.head().map_err(line_fault)?;
        let (format, units) = match format.cloned().or_else(|| detect_binary(head)) {
            Some(format) if Parser::new(&format).wants() != Piece::Line => (format, None),
            named => {
                lines.drop_mark().map_err(line_fault)?;
                let head = lines.head().map_err(line_fault)?;
                if head.trim_ascii().is_empty() && head.len() < BUFFER {
                    return Err(fail(NO_REQUESTS.to_owned()));
                }
                known(named, head).map_err(fail)?
            }
        };
        Ok(Self { lines, compression, parser: Parser::new(&format), format, size, units })
    }

    /// A file that its parser reads by itself.
    fn of_rows(parser: Parser, size: Option<u64>) -> Self {
        Self {
            lines: LineReader::new(Box::new(io::empty())),
            compression: Compression::None,
            parser,
            format: TraceFormat::Parquet,
            size,
            units: None,
        }
    }
}

/// The format of text that starts with `head`, as `named` or detected, and what should be known about its units.
fn known(named: Option<TraceFormat>, head: &[u8]) -> Result<(TraceFormat, Option<String>), String> {
    let Some(format) = named else {
        let format = detect(head)?;
        let units = units::taken(&format, head);
        return Ok((format, units));
    };
    let units = units::odd_in(&format, head);
    Ok((format, units))
}

/// The parser of a file that it reads by itself, if the file is one.
fn rows_of(
    path: &Path,
    file: &File,
    size: Option<u64>,
    format: Option<&TraceFormat>,
) -> Result<Option<Parser>, InputError> {
    if size.is_none() || !matches!(format, None | Some(TraceFormat::Parquet)) {
        return Ok(None);
    }
    let fail = |problem| InputError { place: path.display().to_string(), problem };
    Ok(parquet::Parser::open(file).map_err(fail)?.map(Parser::Parquet))
}

/// The files that `config.path` stands for.
pub(super) fn files_of(config: &TraceWorkload) -> Vec<PathBuf> {
    let several = match config.format {
        None | Some(TraceFormat::Blktrace { .. }) => blktrace_files::find(&config.path),
        Some(_) => Vec::new(),
    };
    if several.is_empty() { vec![config.path.clone()] } else { several }
}

/// Devices of a trace in `format` that are replayed.
fn selectors(config: &TraceWorkload, format: &TraceFormat) -> Result<Vec<Selector>, InputError> {
    let selector = |name: &DeviceName| {
        Parser::selector(format, name.0.as_bytes()).map_err(|expected| {
            fault_of("devices", format!("found {:?}; expected {expected}", name.0))
        })
    };
    config.devices.iter().map(selector).collect()
}

#[cold]
fn fault_of(key: &str, problem: String) -> InputError {
    InputError { place: format!("workload.{key}"), problem }
}

/// The file and, unless it is a pipe, its size.
pub(super) fn open_file(path: &Path) -> Result<(File, Option<u64>), InputError> {
    try_open(path).map_err(|error| cannot_open(path, &error))
}

#[cold]
pub(super) fn cannot_open(path: &Path, error: &io::Error) -> InputError {
    InputError { place: path.display().to_string(), problem: open_problem(error) }
}

fn try_open(path: &Path) -> io::Result<(File, Option<u64>)> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    Ok((file, metadata.is_file().then_some(metadata.len())))
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
    if !(config.time_scale.is_finite() && config.time_scale > 0.0) {
        let problem = format!("found {}; expected a number above 0", config.time_scale);
        return Err(fault_of("time_scale", problem));
    }
    if config.path.as_os_str().is_empty() {
        return Err(fault_of("path", "found nothing; expected a trace file".to_owned()));
    }
    if config.limit == Some(0) {
        return Err(fault_of("limit", "found 0; expected at least 1".to_owned()));
    }
    if let Some(TraceFormat::Disksim { size_unit: Size(0), .. }) = config.format {
        return Err(fault_of("format.size_unit", "found 0B; expected at least 1B".to_owned()));
    }
    if let Some(TraceFormat::Blkparse { fields: Some(fields), .. }) = &config.format
        && Fields::of(fields).is_err()
    {
        let problem = format!("found {fields:?}; expected {}", blkparse_fields::EXPECTED);
        return Err(fault_of("format.fields", problem));
    }
    if let Some(
        TraceFormat::Libcachesim { object_unit: Some(Size(0)), .. }
        | TraceFormat::LibcachesimCsv { object_unit: Some(Size(0)), .. },
    ) = config.format
    {
        return Err(fault_of("format.object_unit", "found 0B; expected at least 1B".to_owned()));
    }
    if let Some(TraceFormat::Csv(format)) = &config.format
        && let Err((key, found, expected)) = format.columns()
    {
        return Err(fault_of(
            &format!("format.{key}"),
            format!("found {found}; expected {expected}"),
        ));
    }
    Ok(())
}
