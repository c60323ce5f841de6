//! Rows of a Parquet file, a batch at a time: memory grows neither with the file nor with its row
//! groups, only with their pages (1 MiB or so).

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::errors::ParquetError;
use parquet::file::metadata::FileMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::SchemaDescriptor;

use super::checksum::Checksum;
use super::column::{Numbers, Scale, Texts, check_text, scale_of};
use super::{CHECKSUMS, names};
use crate::trace::fault::{Fault, shown};
use crate::trace::format::RowsRead;
use crate::trace::record::Record;
use crate::{Handle, Operation};
use copyback_config::units::Duration;

/// Rows that are decoded together.
const BATCH: usize = 4096;

/// A Parquet file that is read from its first row to its last.
pub struct ParquetReader {
    file: SerializedFileReader<File>,
    places: Places,
    next_group: usize,
    group: Option<Group>,
    batch: Batch,
    /// The next row of the batch.
    at: usize,
    row: u64,
    rows: u64,
    /// Of the rows of this row group so far, and of each row group as it was written.
    checksum: Checksum,
    checksums: Vec<String>,
}

/// A column in the file.
#[derive(Debug, Clone, Copy)]
struct Place<T> {
    index: usize,
    optional: bool,
    kind: T,
}

/// Indices of the columns.
#[derive(Debug)]
struct Places {
    arrival: Place<Scale>,
    operation: Place<()>,
    offset: Place<Scale>,
    bytes: Place<Scale>,
    device: Option<Place<Scale>>,
    measured: Option<Place<Scale>>,
    handle: Option<Place<Scale>>,
}

/// The columns of a row group that is being read.
struct Group {
    left: usize,
    arrival: Numbers,
    operation: Texts,
    offset: Numbers,
    bytes: Numbers,
    device: Option<Numbers>,
    measured: Option<Numbers>,
    handle: Option<Numbers>,
}

/// Decoded rows.
#[derive(Default)]
struct Batch {
    arrival: Vec<u64>,
    operation: Vec<Operation>,
    offset: Vec<Option<u64>>,
    bytes: Vec<Option<u64>>,
    device: Vec<u64>,
    measured: Vec<Option<u64>>,
    handle: Vec<Option<u64>>,
}

impl ParquetReader {
    /// A file that starts as Parquet does.
    ///
    /// # Errors
    /// A sentence, if it is damaged or lacks a column.
    pub fn open(file: File) -> Result<Self, String> {
        let file =
            guarded(|| SerializedFileReader::new(file)).map_err(|fault| fault.to_string())?;
        let metadata = file.metadata().file_metadata();
        let places = Places::of(metadata.schema_descr())?;
        let rows = u64::try_from(metadata.num_rows()).unwrap_or(0);
        let checksums = checksums(metadata);
        Ok(Self {
            file,
            places,
            next_group: 0,
            group: None,
            batch: Batch::default(),
            at: 0,
            row: 0,
            rows,
            checksum: Checksum::default(),
            checksums,
        })
    }

    /// The next row, or `None` at the end.
    ///
    /// # Errors
    /// If the file is damaged, or a value makes no sense.
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<Record>, Fault> {
        if self.at == self.batch.arrival.len() && !self.read_batch()? {
            return Ok(None);
        }
        self.row += 1;
        let record = self.batch.record(self.at)?;
        self.checksum.add(&record);
        self.at += 1;
        Ok(Some(record))
    }

    /// Whether it has a column of placement handles.
    pub fn names_handles(&self) -> bool {
        self.places.handle.is_some()
    }

    /// Rows that were read so far.
    pub fn rows_read(&self) -> RowsRead {
        RowsRead { row: self.row, rows: self.rows }
    }

    #[cold]
    fn read_batch(&mut self) -> Result<bool, Fault> {
        self.at = 0;
        self.batch.arrival.clear();
        loop {
            let Some(group) = &mut self.group else {
                if self.next_group == self.file.num_row_groups() {
                    return Ok(false);
                }
                let index = self.next_group;
                self.next_group += 1;
                self.group = Some(guarded(|| Group::open(&self.file, index, &self.places))?);
                continue;
            };
            if group.left == 0 {
                self.end_group()?;
                continue;
            }
            guarded(|| group.read())?;
            group.decode(&mut self.batch, self.row + 1)?;
            return Ok(true);
        }
    }
}

impl ParquetReader {
    /// Compares what was read of a row group with its checksum, if the file has one.
    fn end_group(&mut self) -> Result<(), Fault> {
        self.group = None;
        let found = std::mem::take(&mut self.checksum).text();
        match self.checksums.get(self.next_group - 1) {
            Some(written) if *written != found => {
                Err(damaged("the checksum of its last rows is another"))
            }
            _ => Ok(()),
        }
    }
}

/// The checksums of the row groups; none in a file of others.
fn checksums(metadata: &FileMetaData) -> Vec<String> {
    let mut entries = metadata.key_value_metadata().into_iter().flatten();
    let entry = entries.find(|entry| entry.key == CHECKSUMS);
    let text = entry.and_then(|entry| entry.value.as_deref()).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

impl Places {
    fn of(schema: &SchemaDescriptor) -> Result<Self, String> {
        let number = |name| place(schema, name, scale_of);
        let required = |name| number(name)?.ok_or_else(|| missing(schema, name));
        let operation = place(schema, names::OPERATION, check_text)?;
        Ok(Self {
            arrival: required(names::ARRIVAL)?,
            operation: operation.ok_or_else(|| missing(schema, names::OPERATION))?,
            offset: required(names::OFFSET)?,
            bytes: required(names::BYTES)?,
            device: number(names::DEVICE)?,
            measured: number(names::MEASURED)?,
            handle: number(names::HANDLE)?,
        })
    }
}

fn place<T>(
    schema: &SchemaDescriptor,
    name: &str,
    kind: fn(&parquet::schema::types::ColumnDescriptor) -> Result<T, String>,
) -> Result<Option<Place<T>>, String> {
    let mut columns = schema.columns().iter().enumerate();
    let Some((index, column)) = columns.find(|(_, column)| column.path().string() == name) else {
        return Ok(None);
    };
    let kind = kind(column).map_err(|problem| format!("column {name}: {problem}"))?;
    Ok(Some(Place { index, optional: column.max_def_level() > 0, kind }))
}

fn missing(schema: &SchemaDescriptor, name: &str) -> String {
    let columns: Vec<_> = schema.columns().iter().map(|column| column.path().string()).collect();
    format!(
        "found no column {name} among {}; expected {}, {}, {}, {}, and perhaps {}, {} and {}",
        shown(columns.join(", ").as_bytes()),
        names::ARRIVAL,
        names::OPERATION,
        names::OFFSET,
        names::BYTES,
        names::DEVICE,
        names::MEASURED,
        names::HANDLE,
    )
}

impl Group {
    fn open(
        file: &SerializedFileReader<File>,
        index: usize,
        places: &Places,
    ) -> Result<Self, ParquetError> {
        let group = file.get_row_group(index)?;
        let unlike = || ParquetError::General("a column's type differs from the schema".into());
        let number = |place: Place<Scale>| {
            let reader = group.get_column_reader(place.index)?;
            Numbers::new(reader, place.kind, place.optional).ok_or_else(unlike)
        };
        let left = usize::try_from(group.metadata().num_rows());
        let operation = group.get_column_reader(places.operation.index)?;
        Ok(Self {
            left: left.map_err(|_| ParquetError::General("a negative count of rows".into()))?,
            arrival: number(places.arrival)?,
            operation: Texts::new(operation, places.operation.optional).ok_or_else(unlike)?,
            offset: number(places.offset)?,
            bytes: number(places.bytes)?,
            device: places.device.map(number).transpose()?,
            measured: places.measured.map(number).transpose()?,
            handle: places.handle.map(number).transpose()?,
        })
    }

    /// Reads the next rows of every column.
    fn read(&mut self) -> Result<(), ParquetError> {
        let rows = self.left.min(BATCH);
        let mut counts = vec![
            self.arrival.read(rows)?,
            self.operation.read(rows)?,
            self.offset.read(rows)?,
            self.bytes.read(rows)?,
        ];
        let others = [&mut self.device, &mut self.measured, &mut self.handle];
        for column in others.into_iter().flatten() {
            counts.push(column.read(rows)?);
        }
        if counts.iter().any(|count| *count != rows) {
            return Err(ParquetError::General("its columns have fewer rows than it says".into()));
        }
        self.left -= rows;
        Ok(())
    }

    /// Turns what was read into the rows of `batch`, the first of which has the number `first`.
    fn decode(&self, batch: &mut Batch, first: u64) -> Result<(), Fault> {
        let number = "a whole number, not negative";
        let fault = |field: &str, expected: &str| {
            let last = first + BATCH as u64 - 1;
            Fault::other(format!(
                "{field}: expected {expected}, in every row from {first} to {last}"
            ))
        };
        let of = |field, decoded: Option<()>| decoded.ok_or_else(|| fault(field, number));
        of(names::ARRIVAL, self.arrival.required(&mut batch.arrival))?;
        of(names::OFFSET, self.offset.optional(&mut batch.offset))?;
        of(names::BYTES, self.bytes.optional(&mut batch.bytes))?;
        if self.operation.meanings(&mut batch.operation, operation).is_none() {
            let found =
                self.operation.first_without(operation).map_or(&b""[..], |text| text.data());
            return Err(Fault::field("operation", found, "read, write, trim or flush"));
        }
        match &self.device {
            Some(device) => of(names::DEVICE, device.required(&mut batch.device))?,
            None => batch.device.clear(),
        }
        match &self.measured {
            Some(measured) => of(names::MEASURED, measured.optional(&mut batch.measured))?,
            None => batch.measured.clear(),
        }
        match &self.handle {
            Some(handle) => of(names::HANDLE, handle.optional(&mut batch.handle))?,
            None => batch.handle.clear(),
        }
        Ok(())
    }
}

impl Batch {
    #[inline]
    fn record(&self, row: usize) -> Result<Record, Fault> {
        let operation = self.operation[row];
        let (offset, bytes) = match (self.offset[row], self.bytes[row]) {
            (Some(offset), Some(bytes)) => (offset, bytes),
            _ if operation == Operation::Flush => (0, 0),
            (None, _) => return Err(Fault::field(names::OFFSET, b"", "a whole number of bytes")),
            (_, None) => return Err(Fault::field(names::BYTES, b"", "a whole number of bytes")),
        };
        let measured = self.measured.get(row).copied().flatten().map(Duration::from_ns);
        let device = self.device.get(row).copied().unwrap_or(0);
        let handle = self.handle.get(row).copied().flatten().map(handle).transpose()?;
        let record = Record::new(self.arrival[row], operation, offset, bytes);
        Ok(record.on(device).took(measured).with(handle))
    }
}

fn handle(number: u64) -> Result<Handle, Fault> {
    let handle = u16::try_from(number).map(Handle);
    handle.map_err(|_| Fault::field(names::HANDLE, number.to_string().as_bytes(), Handle::EXPECTED))
}

fn operation(text: &[u8]) -> Option<Operation> {
    const NAMES: [(&[u8], Operation); 4] = [
        (b"read", Operation::Read),
        (b"write", Operation::Write),
        (b"trim", Operation::Trim),
        (b"flush", Operation::Flush),
    ];
    let exact = NAMES.iter().find(|(name, _)| *name == text);
    let either = || NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
    exact.or_else(either).map(|(_, operation)| *operation)
}

/// Runs `work` of the Parquet library, which may panic where a file is damaged.
fn guarded<T>(work: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, Fault> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(error)) => Err(damaged(&error.to_string())),
        Err(_) => Err(damaged("its parts contradict each other")),
    }
}

#[cold]
fn damaged(how: &str) -> Fault {
    let how = how.split_whitespace().collect::<Vec<_>>().join(" ");
    Fault::other(format!("the Parquet data is cut short or damaged here ({how})"))
}
