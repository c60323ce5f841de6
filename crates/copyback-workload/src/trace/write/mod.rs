//! Writing traces: the other way from a [`Record`] to a line of a format, or a row of Parquet.
//!
//! ```text
//! Record -> fit (what the format can hold) -> Writer (msr, spc, ...) -> compress -> file
//! ```
//!
//! What a format can't hold is never lost silently: requests that it has no words for are refused,
//! unless they are to be left out; times are rounded to its unit, devices and measured times left
//! out, and [`TraceWriter::notes`] says so.

mod alibaba;
mod blkparse;
mod blkreplay;
mod compress;
mod csv;
mod disksim;
mod dtrs;
mod fio_iolog;
mod fit;
mod fiu;
mod five_numbers;
mod format;
mod hp_csv;
mod mqsim;
mod msr;
mod nexus5;
mod pixel6a;
mod replayer;
mod spc;
mod ssdsim;
mod systor17;
mod target;
mod tencent;

use std::fs::File;
use std::io::{self, Write};

use self::compress::Compressor;
pub use self::fit::Dropped;
use self::fit::{Fit, Holds, Response};
use self::format::Writer;
pub use self::target::Target;
use super::parquet::ParquetWriter;
use super::record::Record;

/// Lines are gathered up to this many bytes.
const CHUNK: usize = 64 << 10;

/// Reason why a request can't be written.
#[derive(Debug)]
pub enum WriteError {
    /// The format can't hold it: a sentence.
    Unheld(String),
    /// The output failed.
    Output(io::Error),
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// A trace in the making.
pub struct TraceWriter {
    fit: Fit,
    output: Output,
}

enum Output {
    Parquet(Box<ParquetWriter<File>>),
    Text(Box<Text>),
}

/// Lines of a text format, gathered and then compressed.
struct Text {
    writer: Writer,
    lines: Vec<u8>,
    file: Compressor,
}

impl TraceWriter {
    /// An empty trace in `file`. `source` says what its requests come from.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn new(file: File, target: &Target, dropped: Dropped, source: &str) -> io::Result<Self> {
        Self::with(false, file, target, dropped, source)
    }

    /// An empty trace in `file` of requests that name placement handles: with a column of them, if the format may
    /// have one.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn with_handles(
        file: File,
        target: &Target,
        dropped: Dropped,
        source: &str,
    ) -> io::Result<Self> {
        Self::with(true, file, target, dropped, source)
    }

    fn with(
        handles: bool,
        file: File,
        target: &Target,
        dropped: Dropped,
        source: &str,
    ) -> io::Result<Self> {
        let (holds, output) = match target {
            Target::Parquet => {
                let writer = ParquetWriter::new(file, source, handles)?;
                (Holds::EVERYTHING, Output::Parquet(Box::new(writer)))
            }
            Target::Text(name, compression) => {
                let mut writer = Writer::named(name).ok_or(io::ErrorKind::InvalidInput)?;
                if handles {
                    writer.name_handles();
                }
                let mut lines = Vec::with_capacity(2 * CHUNK);
                writer.head(&mut lines);
                let file = Compressor::new(file, *compression)?;
                (writer.holds(), Output::Text(Box::new(Text { writer, lines, file })))
            }
        };
        Ok(Self { fit: Fit::new(target.name(), holds, dropped), output })
    }

    /// Adds a request.
    ///
    /// # Errors
    /// If the format can't hold it, or the file can't be written.
    pub fn add(&mut self, record: &Record) -> Result<(), WriteError> {
        let Some(record) = self.fit.fit(record).map_err(WriteError::Unheld)? else {
            return Ok(());
        };
        match &mut self.output {
            Output::Parquet(writer) => writer.add(&record)?,
            Output::Text(text) => {
                text.writer.line(&record, &mut text.lines);
                if text.lines.len() >= CHUNK {
                    text.file.write_all(&text.lines)?;
                    text.lines.clear();
                }
            }
        }
        Ok(())
    }

    /// Writes what is left, down to the disk.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn finish(self) -> io::Result<Vec<String>> {
        let file = match self.output {
            Output::Parquet(writer) => writer.finish()?,
            Output::Text(mut text) => {
                text.file.write_all(&text.lines)?;
                text.file.finish()?
            }
        };
        file.sync_all()?;
        Ok(self.fit.notes())
    }
}

/// Writer of a text format. A writer is made anew for each file and is given its requests in order.
trait LineWriter: Default {
    /// Capabilities of the format: what it can hold of a request.
    const HOLDS: Holds;
    /// Optional: what stands before the first request, line ends included.
    const HEAD: &'static str = "";

    /// Optional: has a column of placement handles.
    fn name_handles(&mut self) {}

    /// Text before the first request of this file, line ends included.
    fn head(&self) -> &'static str {
        Self::HEAD
    }

    /// Appends a request, which fits what the format holds, with its line end.
    fn line(&mut self, record: &Record, out: &mut Vec<u8>);
}

/// Appends `time`, which counts units of ten to the power -`places`, as a decimal.
fn push_decimal(out: &mut Vec<u8>, time: u64, places: u32) {
    let unit = 10_u64.pow(places);
    let width = places as usize;
    push(out, format_args!("{}.{:0width$}", time / unit, time % unit));
}

/// Appends text. A vector takes any.
fn push(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("memory takes any bytes");
}
