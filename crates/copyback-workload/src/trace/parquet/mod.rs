//! The compact form: Parquet, a column for each fact, which `trace convert` writes and which replays
//! faster than any text.
//!
//! ```text
//! arrival_ns            whole number, nanoseconds since whatever the trace counts from
//! operation             text: read, write, trim or flush
//! offset, bytes         whole numbers, in bytes
//! device                whole number; may be missing
//! measured_response_ns  whole number, null where nothing was measured; may be missing
//! handle                whole number, null where no placement handle is named; may be missing
//! ```
//!
//! The order of the columns is free, others are ignored, and any writer's file will do. It is read
//! from its end, so it can't come through a pipe or be compressed as a whole.

mod checksum;
mod column;
mod read;
mod write;

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek};

pub use self::read::ParquetReader;
pub use self::write::ParquetWriter;
use super::fault::{Fault, shown};
use super::format::{LineParser, Piece, RowsRead};
use super::record::Record;

/// The first bytes of a Parquet file, and the last.
pub const MAGIC: &[u8] = b"PAR1";

/// The key of the checksums of the row groups, in the metadata of a file: optional, separated by
/// blanks.
const CHECKSUMS: &str = "copyback.checksums";

/// The columns, by name.
mod names {
    pub const ARRIVAL: &str = "arrival_ns";
    pub const OPERATION: &str = "operation";
    pub const OFFSET: &str = "offset";
    pub const BYTES: &str = "bytes";
    pub const DEVICE: &str = "device";
    pub const MEASURED: &str = "measured_response_ns";
    pub const HANDLE: &str = "handle";
}

/// The parser of a file. It has no rows where bytes can only be read in order, and refuses them.
#[derive(Default)]
pub struct Parser {
    rows: Option<Box<ParquetReader>>,
    ended: bool,
}

impl Parser {
    /// A parser that reads `file` by itself; `None` if it doesn't start as Parquet does.
    ///
    /// # Errors
    /// A sentence, if it is damaged or lacks a column.
    pub fn open(file: &File) -> Result<Option<Self>, String> {
        let unreadable = |error: io::Error| format!("can't be read: {error}");
        let mut start = Vec::with_capacity(MAGIC.len());
        let mut file = file.try_clone().map_err(unreadable)?;
        file.by_ref().take(MAGIC.len() as u64).read_to_end(&mut start).map_err(unreadable)?;
        file.rewind().map_err(unreadable)?;
        if start != MAGIC {
            return Ok(None);
        }
        let rows = Some(Box::new(ParquetReader::open(file)?));
        Ok(Some(Self { rows, ended: false }))
    }
}

impl LineParser for Parser {
    fn recognises(_: &[u8]) -> bool {
        false
    }

    fn recognises_start(head: &[u8]) -> bool {
        head.starts_with(MAGIC)
    }

    #[inline]
    fn wants(&self) -> Piece {
        match self.rows {
            None => Piece::Bytes(1),
            Some(_) if self.ended => Piece::End,
            Some(_) => Piece::Nothing,
        }
    }

    #[inline]
    fn parse(&mut self, start: &[u8]) -> Result<Option<Record>, Fault> {
        let Some(rows) = &mut self.rows else { return Err(refused(start)) };
        let record = rows.next_record()?;
        self.ended = record.is_none();
        Ok(record)
    }

    /// A batch of rows is decoded at once.
    fn can_go_on(&self) -> bool {
        false
    }

    fn names_handles(&self) -> bool {
        self.rows.as_deref().is_some_and(ParquetReader::names_handles)
    }

    fn rows_read(&self) -> Option<RowsRead> {
        self.rows.as_deref().map(ParquetReader::rows_read)
    }
}

#[cold]
fn refused(start: &[u8]) -> Fault {
    Fault::other(if MAGIC.starts_with(start) {
        "found Parquet through a pipe or compression; expected a plain file, as it is read from \
         its end"
            .to_owned()
    } else {
        format!("found a first byte of {}; expected a Parquet file", shown(start))
    })
}

impl fmt::Debug for Parser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parser").field("rows", &self.rows_read()).finish()
    }
}
