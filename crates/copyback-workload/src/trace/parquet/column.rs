//! One column of a Parquet file, a batch of values at a time.

use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::schema::types::ColumnDescriptor;

/// Scale of a column's numbers: the unit that they count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// Whether the highest bit is a digit, not a sign.
    unsigned: bool,
    /// Nanoseconds, or bytes, in one.
    unit: i64,
}

/// Scale of a column of numbers, or the reason why it is none.
pub fn scale_of(column: &ColumnDescriptor) -> Result<Scale, String> {
    check_flat(column)?;
    if !matches!(column.physical_type(), Type::INT32 | Type::INT64) {
        return Err(format!("found {}; expected whole numbers", column.physical_type()));
    }
    let plain = Scale { unsigned: false, unit: 1 };
    match column.logical_type_ref() {
        None => match column.converted_type() {
            ConvertedType::UINT_32 | ConvertedType::UINT_64 => {
                Ok(Scale { unsigned: true, ..plain })
            }
            _ => Ok(plain),
        },
        Some(LogicalType::Integer(integer)) => Ok(Scale { unsigned: !integer.is_signed, ..plain }),
        Some(LogicalType::Timestamp(stamp)) => Ok(Scale { unit: unit_ns(&stamp.unit), ..plain }),
        Some(other) => Err(format!("found {other:?}; expected whole numbers")),
    }
}

const fn unit_ns(unit: &TimeUnit) -> i64 {
    match unit {
        TimeUnit::MILLIS => 1_000_000,
        TimeUnit::MICROS => 1000,
        TimeUnit::NANOS => 1,
    }
}

/// Whether a column holds text, or why not.
pub fn check_text(column: &ColumnDescriptor) -> Result<(), String> {
    check_flat(column)?;
    match column.physical_type() {
        Type::BYTE_ARRAY => Ok(()),
        other => Err(format!("found {other}; expected text")),
    }
}

fn check_flat(column: &ColumnDescriptor) -> Result<(), String> {
    if column.max_rep_level() > 0 || column.max_def_level() > 1 {
        return Err("found lists or structures; expected one value a row".to_owned());
    }
    Ok(())
}

/// A column of one row group.
struct Values<T: DataType> {
    reader: ColumnReaderImpl<T>,
    optional: bool,
    values: Vec<T::T>,
    /// Whether each row has a value, if some may have none.
    levels: Vec<i16>,
}

impl<T: DataType> Values<T> {
    fn new(reader: ColumnReaderImpl<T>, optional: bool) -> Self {
        Self { reader, optional, values: Vec::new(), levels: Vec::new() }
    }

    /// Reads the next `rows` rows; how many there were.
    fn read(&mut self, rows: usize) -> Result<usize, ParquetError> {
        self.values.clear();
        self.levels.clear();
        let mut got = 0;
        while got < rows {
            let levels = self.optional.then_some(&mut self.levels);
            let (records, ..) =
                self.reader.read_records(rows - got, levels, None, &mut self.values)?;
            if records == 0 {
                break;
            }
            got += records;
        }
        Ok(got)
    }

    /// Puts the value of every row into `all`, or none for a null.
    fn spread<V>(&self, all: &mut Vec<V>, one: impl Fn(Option<&T::T>) -> Option<V>) -> Option<()> {
        all.clear();
        if !self.optional || self.values.len() == self.levels.len() {
            for value in &self.values {
                all.push(one(Some(value))?);
            }
            return Some(());
        }
        let mut values = self.values.iter();
        for level in &self.levels {
            let value = if *level > 0 { values.next() } else { None };
            all.push(one(value)?);
        }
        Some(())
    }
}

/// A column of whole numbers of one row group.
pub struct Numbers {
    values: Width,
    scale: Scale,
}

enum Width {
    Narrow(Values<Int32Type>),
    Wide(Values<Int64Type>),
}

impl Numbers {
    /// A column whose scale is known; `None` if the file says otherwise here.
    pub fn new(reader: ColumnReader, scale: Scale, optional: bool) -> Option<Self> {
        let values = match reader {
            ColumnReader::Int32ColumnReader(reader) => Width::Narrow(Values::new(reader, optional)),
            ColumnReader::Int64ColumnReader(reader) => Width::Wide(Values::new(reader, optional)),
            _ => return None,
        };
        Some(Self { values, scale })
    }

    /// Reads the next `rows` rows; how many there were.
    pub fn read(&mut self, rows: usize) -> Result<usize, ParquetError> {
        match &mut self.values {
            Width::Narrow(values) => values.read(rows),
            Width::Wide(values) => values.read(rows),
        }
    }

    /// Appends the values that were read, nothing for a null; `None` if a number is negative or too large.
    pub fn optional(&self, all: &mut Vec<Option<u64>>) -> Option<()> {
        let scale = self.scale;
        match &self.values {
            Width::Narrow(values) => values.spread(all, |value| match value {
                Some(value) => scale.narrow(*value).map(Some),
                None => Some(None),
            }),
            Width::Wide(values) => values.spread(all, |value| match value {
                Some(value) => scale.wide(*value).map(Some),
                None => Some(None),
            }),
        }
    }

    /// Appends the values that were read; `None` if a number is missing, negative or too large.
    pub fn required(&self, all: &mut Vec<u64>) -> Option<()> {
        let scale = self.scale;
        match &self.values {
            Width::Narrow(values) => values.spread(all, |value| scale.narrow(*value?)),
            Width::Wide(values) => values.spread(all, |value| scale.wide(*value?)),
        }
    }
}

impl Scale {
    #[inline]
    fn wide(self, value: i64) -> Option<u64> {
        if self.unsigned {
            return Some(value as u64);
        }
        let scaled = if self.unit == 1 { value } else { value.checked_mul(self.unit)? };
        u64::try_from(scaled).ok()
    }

    #[inline]
    fn narrow(self, value: i32) -> Option<u64> {
        if self.unsigned { Some((value as u32).into()) } else { self.wide(value.into()) }
    }
}

/// A column of text of one row group.
pub struct Texts(Values<ByteArrayType>);

impl Texts {
    /// A column; `None` if the file says otherwise here.
    pub fn new(reader: ColumnReader, optional: bool) -> Option<Self> {
        match reader {
            ColumnReader::ByteArrayColumnReader(reader) => {
                Some(Self(Values::new(reader, optional)))
            }
            _ => None,
        }
    }

    /// Reads the next `rows` rows; how many there were.
    pub fn read(&mut self, rows: usize) -> Result<usize, ParquetError> {
        self.0.read(rows)
    }

    /// Appends the meaning of each text that was read; `None` if one is missing or has none.
    pub fn meanings<V>(&self, all: &mut Vec<V>, of: impl Fn(&[u8]) -> Option<V>) -> Option<()> {
        self.0.spread(all, |text| of(text?.data()))
    }

    /// The first text that means nothing, for a message.
    pub fn first_without<V>(&self, of: impl Fn(&[u8]) -> Option<V>) -> Option<&ByteArray> {
        self.0.values.iter().find(|text| of(text.data()).is_none())
    }
}
