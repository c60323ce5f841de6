//! Columns of NumPy to Arrow and back.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, PrimitiveArray, RecordBatch,
    RecordBatchOptions, StringArray, UInt32Array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Schema};
use numpy::{Element, IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// Key under which Polars looks for the names of an enumeration, each behind its length.
const ENUMERATION: &str = "_PL_ENUM_VALUES2";

/// A `Column` of the Python package.
#[derive(FromPyObject)]
pub struct Given<'py> {
    /// Numbers; of a column of names the places of its names.
    values: Bound<'py, PyAny>,
    /// Mask of present values; `None` if all are present.
    is_valid: Option<PyReadonlyArray1<'py, bool>>,
    names: Option<Vec<String>>,
    /// Whether the column can have these names and no others.
    are_all: bool,
}

/// Parts of a `Column` of the Python package: its attributes in their order.
type Taken = (Py<PyAny>, Option<Py<PyAny>>, Option<Vec<String>>, bool);

/// Columns side by side.
pub fn batch_of(columns: Vec<(String, Given<'_>)>) -> PyResult<RecordBatch> {
    let mut fields = Vec::with_capacity(columns.len());
    let mut arrays = Vec::with_capacity(columns.len());
    for (name, column) in columns {
        let nulls =
            column.is_valid.map(|valid| NullBuffer::from(contiguous(&valid))).filter(has_nulls);
        let (array, listed) = match column.names {
            None => (numbers(&column.values, nulls)?, None),
            Some(names) => named(&column.values, nulls, names, column.are_all)?,
        };
        let field = Field::new(name, array.data_type().clone(), true);
        fields.push(match listed {
            None => field,
            Some(listed) => field.with_metadata([(ENUMERATION.to_owned(), listed)]),
        });
        arrays.push(array);
    }
    let rows = arrays.first().map_or(0, Array::len);
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
        .map_err(|fault| PyTypeError::new_err(fault.to_string()))
}

/// A column that could have nulls and has none is written as one that can't: pages end alike.
fn has_nulls(nulls: &NullBuffer) -> bool {
    nulls.null_count() > 0
}

fn contiguous<T: Element + Copy>(values: &PyReadonlyArray1<'_, T>) -> Vec<T> {
    match values.as_slice() {
        Ok(slice) => slice.to_vec(),
        Err(_) => values.as_array().iter().copied().collect(),
    }
}

/// Hands the types of numbers that a column may have to a macro.
macro_rules! with_number_types {
    ($macro:ident) => {
        $macro!(
            UInt64Type,
            Int64Type,
            Float64Type,
            UInt32Type,
            UInt16Type,
            UInt8Type,
            Int32Type,
            Int16Type,
            Int8Type,
            Float32Type
        )
    };
}

/// Numbers, or truths.
fn numbers(values: &Bound<'_, PyAny>, nulls: Option<NullBuffer>) -> PyResult<ArrayRef> {
    if let Ok(found) = values.extract::<PyReadonlyArray1<'_, bool>>() {
        return Ok(Arc::new(BooleanArray::new(contiguous(&found).into(), nulls)));
    }
    macro_rules! of_types {
        ($($kind:ty),*) => {
            $(if let Some(array) = primitive::<$kind>(values, nulls.as_ref()) {
                return Ok(array);
            })*
        };
    }
    with_number_types!(of_types);
    Err(PyTypeError::new_err(format!("no column of a table: {}", values.get_type())))
}

/// Numbers of one type; `None` if they are of another.
fn primitive<T: ArrowPrimitiveType>(
    values: &Bound<'_, PyAny>,
    nulls: Option<&NullBuffer>,
) -> Option<ArrayRef>
where
    T::Native: Element,
{
    let found = values.extract::<PyReadonlyArray1<'_, T::Native>>().ok()?;
    Some(Arc::new(PrimitiveArray::<T>::new(contiguous(&found).into(), nulls.cloned())))
}

/// Names in place of their numbers: an enumeration, with what it lists, where they are all that there
/// can be; else text.
fn named(
    places: &Bound<'_, PyAny>,
    nulls: Option<NullBuffer>,
    names: Vec<String>,
    are_all: bool,
) -> PyResult<(ArrayRef, Option<String>)> {
    let places =
        UInt32Array::new(contiguous(&places.extract::<PyReadonlyArray1<'_, u32>>()?).into(), nulls);
    if !are_all {
        let texts: StringArray =
            places.iter().map(|place| place.map(|place| &names[place as usize])).collect();
        return Ok((Arc::new(texts), None));
    }
    let listed = names.iter().map(|name| format!("{};{name}", name.len())).collect();
    let array = DictionaryArray::try_new(places, Arc::new(StringArray::from(names)))
        .map_err(|fault| PyTypeError::new_err(fault.to_string()))?;
    Ok((Arc::new(array), Some(listed)))
}

/// Converts an array to the parts of a `Column`.
pub fn taken(py: Python<'_>, field: &Field, array: &ArrayRef) -> PyResult<Taken> {
    let nulls = array.nulls().cloned().filter(has_nulls);
    let valid = nulls.map(|nulls| numpy_of(py, nulls.iter().collect::<Vec<bool>>()));
    if let Some(names) = array.as_any().downcast_ref::<DictionaryArray<UInt32Type>>() {
        return Ok(taken_names(py, field, names, valid));
    }
    if let Some(truths) = array.as_boolean_opt() {
        return Ok((
            numpy_of(py, truths.values().iter().collect::<Vec<bool>>()),
            valid,
            None,
            false,
        ));
    }
    macro_rules! of_types {
        ($($kind:ty),*) => {
            $(if let Some(numbers) = array.as_primitive_opt::<$kind>() {
                return Ok((numpy_of(py, numbers.values().to_vec()), valid, None, false));
            })*
        };
    }
    with_number_types!(of_types);
    Err(PyTypeError::new_err(format!("{} is of the type {}", field.name(), array.data_type())))
}

fn numpy_of<T: Element>(py: Python<'_>, values: Vec<T>) -> Py<PyAny> {
    values.into_pyarray(py).into_any().unbind()
}

fn taken_names(
    py: Python<'_>,
    field: &Field,
    array: &DictionaryArray<UInt32Type>,
    valid: Option<Py<PyAny>>,
) -> Taken {
    let here: Vec<String> = array
        .values()
        .as_string::<i32>()
        .iter()
        .map(|name| name.unwrap_or_default().to_owned())
        .collect();
    let places = array.keys().values();
    let whole = field.metadata().get(ENUMERATION).map(|listed| enumerated(listed));
    // What a file's piece has of an enumeration are the names that occur in it.
    let moved = whole.as_ref().and_then(|whole| {
        here.iter()
            .map(|name| whole.iter().position(|known| known == name))
            .collect::<Option<Vec<_>>>()
    });
    match (whole, moved) {
        (Some(whole), Some(moved)) => {
            let at = |place: &u32| moved.get(*place as usize).map_or(0, |&to| to as u32);
            let places: Vec<u32> = places.iter().map(at).collect();
            (numpy_of(py, places), valid, Some(whole), true)
        }
        _ => (numpy_of(py, places.to_vec()), valid, Some(here), false),
    }
}

/// The names of an enumeration as Polars lists them.
fn enumerated(mut listed: &str) -> Vec<String> {
    let mut names = Vec::new();
    while let Some((length, rest)) = listed.split_once(';') {
        let Some(name) = length.parse().ok().and_then(|length: usize| rest.get(..length)) else {
            break;
        };
        names.push(name.to_owned());
        listed = &rest[name.len()..];
    }
    names
}

/// The schema by which a file is read: text as names, each once.
pub fn reading_schema(found: &Schema) -> Schema {
    let fields = found.fields().iter().map(|field| match text(field.data_type()) {
        false => field.as_ref().clone(),
        true => field.as_ref().clone().with_data_type(DataType::Dictionary(
            Box::new(DataType::UInt32),
            Box::new(DataType::Utf8),
        )),
    });
    Schema::new(fields.collect::<Vec<_>>())
}

fn text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => text(values),
        _ => false,
    }
}
