//! Writing the compact form: row groups of a fixed number of rows, so that memory is flat and the
//! same requests give the same bytes.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type};

use super::checksum::Checksum;
use super::{CHECKSUMS, names};
use crate::trace::record::Record;

/// Rows of a row group.
const ROW_GROUP: usize = 131_072;
/// Fast to read, and near the smallest that any level makes of such columns.
const LEVEL: i32 = 3;

/// A Parquet file in the making.
pub struct ParquetWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    rows: Rows,
    /// Of the rows that wait, and of the row groups that were written.
    checksum: Checksum,
    checksums: Vec<String>,
    /// The names of the operations, shared by all rows.
    operations: [ByteArray; 4],
}

/// Rows that wait for their row group to be full.
#[derive(Default)]
struct Rows {
    arrival: Vec<i64>,
    operation: Vec<ByteArray>,
    offset: Vec<i64>,
    bytes: Vec<i64>,
    device: Vec<i64>,
    measured: Vec<i64>,
    /// Whether each row was measured.
    levels: Vec<i16>,
    /// The placement handles, in a file that has a column of them.
    handles: Option<Handles>,
}

/// The handles of rows that name one.
#[derive(Default)]
struct Handles {
    handles: Vec<i64>,
    /// Whether each row names one.
    levels: Vec<i16>,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// An empty file, with a column of placement handles or without. `source` says what its requests come from.
    ///
    /// # Errors
    /// If `output` can't be written.
    pub fn new(output: W, source: &str, handles: bool) -> io::Result<Self> {
        let schema = Arc::new(schema(handles).map_err(failed)?);
        let file = SerializedFileWriter::new(output, schema, Arc::new(properties(source)));
        let operations = ["read", "write", "trim", "flush"].map(ByteArray::from);
        Ok(Self {
            file: file.map_err(failed)?,
            rows: Rows { handles: handles.then(Handles::default), ..Rows::default() },
            checksum: Checksum::default(),
            checksums: Vec::new(),
            operations,
        })
    }

    /// Adds a request.
    ///
    /// # Errors
    /// If the output can't be written.
    pub fn add(&mut self, record: &Record) -> io::Result<()> {
        let Record { time_ns, operation, offset, length, device, measured, handle } = *record;
        self.checksum.add(record);
        let rows = &mut self.rows;
        rows.arrival.push(time_ns as i64);
        rows.operation.push(self.operations[usize::from(operation.number())].clone());
        rows.offset.push(offset as i64);
        rows.bytes.push(length as i64);
        rows.device.push(device as i64);
        rows.levels.push(i16::from(measured.is_some()));
        rows.measured.extend(measured.map(|measured| measured.as_ns() as i64));
        if let Some(handles) = &mut rows.handles {
            handles.levels.push(i16::from(handle.is_some()));
            handles.handles.extend(handle.map(|handle| i64::from(handle.0)));
        }
        if rows.arrival.len() == ROW_GROUP { self.end_group() } else { Ok(()) }
    }

    /// Writes what is left and the end of the file.
    ///
    /// # Errors
    /// If the output can't be written.
    pub fn finish(mut self) -> io::Result<W> {
        if !self.rows.arrival.is_empty() {
            self.end_group()?;
        }
        let checksums = KeyValue::new(CHECKSUMS.to_owned(), self.checksums.join(" "));
        self.file.append_key_value_metadata(checksums);
        self.file.into_inner().map_err(failed)
    }

    fn end_group(&mut self) -> io::Result<()> {
        let mut group = self.file.next_row_group().map_err(failed)?;
        self.rows.write(&mut group).map_err(failed)?;
        group.close().map_err(failed)?;
        self.rows.clear();
        self.checksums.push(std::mem::take(&mut self.checksum).text());
        Ok(())
    }
}

impl Rows {
    /// Writes the columns, in the order of the schema.
    fn write<W: Write + Send>(
        &self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        column::<Int64Type, W>(group, &self.arrival, None)?;
        column::<ByteArrayType, W>(group, &self.operation, None)?;
        column::<Int64Type, W>(group, &self.offset, None)?;
        column::<Int64Type, W>(group, &self.bytes, None)?;
        column::<Int64Type, W>(group, &self.device, None)?;
        column::<Int64Type, W>(group, &self.measured, Some(&self.levels))?;
        match &self.handles {
            Some(Handles { handles, levels }) => {
                column::<Int64Type, W>(group, handles, Some(levels))
            }
            None => Ok(()),
        }
    }

    /// Forgets the rows, and keeps their memory.
    fn clear(&mut self) {
        let numbers = [
            &mut self.arrival,
            &mut self.offset,
            &mut self.bytes,
            &mut self.device,
            &mut self.measured,
        ];
        numbers.into_iter().for_each(Vec::clear);
        self.operation.clear();
        self.levels.clear();
        if let Some(handles) = &mut self.handles {
            handles.handles.clear();
            handles.levels.clear();
        }
    }
}

fn column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let missing = || ParquetError::General("the schema has too few columns".into());
    let mut column = group.next_column()?.ok_or_else(missing)?;
    column.typed::<T>().write_batch(values, levels, None)?;
    column.close()
}

fn schema(handles: bool) -> Result<Type, ParquetError> {
    let number = |name, repetition| {
        Type::primitive_type_builder(name, Physical::INT64)
            .with_repetition(repetition)
            .with_logical_type(Some(LogicalType::integer(64, false)))
            .build()
    };
    let text = Type::primitive_type_builder(names::OPERATION, Physical::BYTE_ARRAY)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(Some(LogicalType::String))
        .build();
    let columns = [
        number(names::ARRIVAL, Repetition::REQUIRED),
        text,
        number(names::OFFSET, Repetition::REQUIRED),
        number(names::BYTES, Repetition::REQUIRED),
        number(names::DEVICE, Repetition::REQUIRED),
        number(names::MEASURED, Repetition::OPTIONAL),
    ];
    let handle = handles.then(|| number(names::HANDLE, Repetition::OPTIONAL));
    let columns = columns.into_iter().chain(handle).map(|column| column.map(Arc::new));
    Type::group_type_builder("trace").with_fields(columns.collect::<Result<_, _>>()?).build()
}

fn properties(source: &str) -> WriterProperties {
    let level = ZstdLevel::try_new(LEVEL).unwrap_or_default();
    let metadata = [("copyback.version", env!("CARGO_PKG_VERSION")), ("copyback.source", source)];
    let metadata = metadata.map(|(key, value)| KeyValue::new(key.to_owned(), value.to_owned()));
    let mut properties = WriterProperties::builder()
        .set_created_by(concat!("copyback ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(level))
        .set_key_value_metadata(Some(metadata.to_vec()))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_max_row_group_row_count(Some(ROW_GROUP));
    // Times grow by little; offsets and measured times hardly ever repeat.
    for (name, encoding) in [
        (names::ARRIVAL, Encoding::DELTA_BINARY_PACKED),
        (names::OFFSET, Encoding::PLAIN),
        (names::MEASURED, Encoding::DELTA_BINARY_PACKED),
    ] {
        let column = ColumnPath::from(name);
        properties = properties
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_encoding(column, encoding);
    }
    properties.build()
}

/// Converts the library's error to one of the output: the rows themselves are sound.
fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
