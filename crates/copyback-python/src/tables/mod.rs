//! Tables of results: columns of NumPy as Arrow, which other libraries take and Parquet files hold.

mod arrow;
mod file;

use arrow_array::RecordBatchIterator;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use statrs::distribution::{ContinuousCDF, StudentsT};

use self::arrow::Given;
pub use self::file::{TableReader, TableWriter};
use crate::error::InputError;

/// Columns as an Arrow C stream of one batch, in the capsule that its Python protocol asks for.
#[pyfunction]
pub fn arrow_stream<'py>(
    py: Python<'py>,
    columns: Vec<(String, Given<'py>)>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let batch = arrow::batch_of(columns)?;
    let schema = batch.schema();
    let batches = RecordBatchIterator::new([Ok(batch)], schema);
    let stream = FFI_ArrowArrayStream::new(Box::new(batches));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

/// The value that a share of Student's distribution with so many degrees of freedom is below.
#[pyfunction]
pub fn student_quantile(share: f64, degrees: f64) -> PyResult<f64> {
    if !(share > 0.0 && share < 1.0) {
        return Err(InputError::new_err(format!("{share} is no share between 0 and 1")));
    }
    let student = StudentsT::new(0.0, 1.0, degrees).map_err(|_| {
        InputError::new_err(format!("{degrees} is no number of degrees of freedom"))
    })?;
    Ok(student.inverse_cdf(share))
}
