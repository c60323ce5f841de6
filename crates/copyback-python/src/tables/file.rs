//! Tables in Parquet files.

use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::arrow::{Given, batch_of, reading_schema, taken};
use crate::error::InputError;

/// Fast to write, and near the smallest that any level makes of such columns.
const LEVEL: i32 = 3;

/// Bytes of the values of a column that repeat: where there are more, what they grow by is smaller.
const DICTIONARY: usize = 32 << 10;

/// A Parquet file in the making.
#[pyclass(module = "copyback._core")]
pub struct TableWriter {
    path: PathBuf,
    row_group: usize,
    file: Mutex<Option<ArrowWriter<File>>>,
}

#[pymethods]
impl TableWriter {
    /// Creates nothing yet: the first rows say which columns there are.
    #[new]
    fn new(path: PathBuf, row_group: usize) -> Self {
        Self { path, row_group, file: Mutex::new(None) }
    }

    fn write(&self, py: Python<'_>, columns: Vec<(String, Given<'_>)>) -> PyResult<()> {
        let batch = batch_of(columns)?;
        py.detach(|| self.add(&batch)).map_err(error_of)
    }

    /// Keeps a fact beside the table, once there are rows.
    fn note(&self, key: String, value: String) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(writer) = &mut *file {
            writer.append_key_value_metadata(KeyValue::new(key, value));
        }
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner).take();
        py.detach(|| file.map_or(Ok(()), |file| file.close().map(|_| ()))).map_err(error_of)
    }
}

impl TableWriter {
    fn add(&self, batch: &RecordBatch) -> Result<(), ParquetError> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let writer = match &mut *file {
            Some(writer) => writer,
            none => {
                let properties = properties(&batch.schema(), self.row_group);
                let created = File::create(&self.path)?;
                none.insert(ArrowWriter::try_new(created, batch.schema(), Some(properties))?)
            }
        };
        writer.write(batch)
    }
}

/// Properties of the file that is written: whole numbers are stored as differences, which are small.
fn properties(schema: &Schema, row_group: usize) -> WriterProperties {
    let level = ZstdLevel::try_new(LEVEL).unwrap_or_default();
    let mut properties = WriterProperties::builder()
        .set_created_by(concat!("copyback ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(level))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_dictionary_page_size_limit(DICTIONARY)
        .set_max_row_group_row_count(Some(row_group));
    for field in schema.fields() {
        if matches!(field.data_type(), DataType::UInt64 | DataType::Int64) {
            let column = ColumnPath::from(field.name().as_str());
            properties = properties.set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
        }
    }
    properties.build()
}

/// The exception that stands for a fault of a file: what the system said, if it did.
fn error_of(fault: ParquetError) -> PyErr {
    match fault {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(system) => of_system(&system),
            Err(other) => InputError::new_err(other.to_string()),
        },
        other => InputError::new_err(other.to_string()),
    }
}

/// Converts an error of the system to Python's exception, with its number, which says what kind of fault it is.
fn of_system(fault: &io::Error) -> PyErr {
    let text = fault.to_string();
    let words = text.split(" (os error").next().unwrap_or_default().to_owned();
    match fault.raw_os_error() {
        Some(number) => PyOSError::new_err((number, words)),
        None => PyOSError::new_err(words),
    }
}

/// Reads a Parquet file batch by batch: an iterator over the columns of each.
#[pyclass(module = "copyback._core")]
pub struct TableReader {
    schema: Arc<Schema>,
    rows: Mutex<ParquetRecordBatchReader>,
    notes: Vec<(String, String)>,
    #[pyo3(get)]
    height: i64,
}

#[pymethods]
impl TableReader {
    /// Opens a file, for some of its columns or for all.
    #[new]
    #[pyo3(signature = (path, batch, columns=None))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        batch: usize,
        columns: Option<Vec<String>>,
    ) -> PyResult<Self> {
        py.detach(|| undamaged(|| Self::open(&path, batch, columns.as_deref())))
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let found = py.detach(|| {
            undamaged(|| {
                let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(rows.next().transpose()?)
            })
        })?;
        found.map(|batch| columns_of(py, &batch)).transpose()
    }

    /// The facts beside the table.
    fn notes(&self) -> Vec<(String, String)> {
        self.notes.clone()
    }

    /// The columns of no row: what a file of no batch has.
    fn empty<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        columns_of(py, &RecordBatch::new_empty(Arc::clone(&self.schema)))
    }
}

impl TableReader {
    fn open(
        path: &PathBuf,
        batch: usize,
        columns: Option<&[String]>,
    ) -> Result<Self, ParquetError> {
        let file = File::open(path)?;
        let found = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())?;
        let schema = Arc::new(reading_schema(found.schema()));
        let options = ArrowReaderOptions::new().with_schema(schema);
        let metadata = ArrowReaderMetadata::try_new(Arc::clone(found.metadata()), options)?;
        let height = metadata.metadata().file_metadata().num_rows();
        let notes = metadata.metadata().file_metadata().key_value_metadata();
        let notes = notes.into_iter().flatten().filter_map(noted).collect();
        let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
            .with_batch_size(batch);
        if let Some(names) = columns {
            let chosen = names.iter().map(String::as_str);
            let mask = ProjectionMask::columns(builder.parquet_schema(), chosen);
            builder = builder.with_projection(mask);
        }
        let rows = builder.build()?;
        let schema = arrow_array::RecordBatchReader::schema(&rows);
        Ok(Self { schema, rows: Mutex::new(rows), notes, height })
    }
}

fn noted(fact: &KeyValue) -> Option<(String, String)> {
    Some((fact.key.clone(), fact.value.clone()?))
}

fn columns_of<'py>(py: Python<'py>, batch: &RecordBatch) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    for (field, array) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        columns.set_item(field.name(), taken(py, field, array)?)?;
    }
    Ok(columns)
}

/// Reads a file whose damage may make the library panic; a panic becomes an error.
fn undamaged<T>(work: impl FnOnce() -> Result<T, ParquetError>) -> PyResult<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(found) => found.map_err(error_of),
        Err(_) => Err(InputError::new_err("the file is damaged")),
    }
}
