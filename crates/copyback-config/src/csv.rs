//! A trace of comma-separated values with any columns: which of them say what, and in which unit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ReadOrWrite, quantity::Size};

/// Columns of a CSV trace. A column is named as in the file's first line, or by its number, from 1; if all are
/// numbers, the file has no line of names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CsvFormat {
    /// Arrival time and its unit, for example `"timestamp:us"`: `s`, `ms`, `us`, `ns` or `100ns`.
    pub time: String,
    /// First address and its unit, for example `"lba:sectors"`: `bytes`, `sectors` (of 512 bytes) or
    /// a size such as `4KiB`.
    pub offset: String,
    /// Size and its unit, as of the offset.
    pub length: String,
    /// The column of the operation. One of this, `all` and `negative` is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Operation of every row, if no column has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all: Option<ReadOrWrite>,
    /// Operation of rows with a minus before offset or length, if the sign tells it; rows without have the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub negative: Option<ReadOrWrite>,
    /// A column, and what it holds in rows that are passed over, for example `"action:Q|C"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip: Option<String>,
    /// Content of the column of the operation in a read; `|` stands between several.
    #[serde(default = "read")]
    pub read: String,
    /// Value of a write.
    #[serde(default = "write")]
    pub write: String,
    /// Value of a discard, if there are any.
    #[serde(default)]
    pub trim: Option<String>,
    /// Value of a flush, if there are any.
    #[serde(default)]
    pub flush: Option<String>,
    /// The column of the device, volume or disk, a whole number, if there is one.
    #[serde(default)]
    pub device: Option<String>,
    /// The measured response time and its unit, if there is one, for example `"latency:us"`. It may be
    /// empty for some requests.
    #[serde(default)]
    pub response: Option<String>,
    /// The column of the placement handle, a whole number, if there is one. It may be empty for some requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    /// Separator of columns: one character. A space stands for any number of spaces and tabs.
    #[serde(default = "comma")]
    pub separator: char,
}

fn read() -> String {
    "R".into()
}

fn write() -> String {
    "W".into()
}

fn comma() -> char {
    ','
}

/// A column of a CSV trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CsvColumn {
    /// Name in the first line.
    Named(String),
    /// Number of the column, from 0.
    Number(usize),
}

/// The unit of the times in a CSV trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CsvTime {
    /// Ten to this power is a nanosecond's share: 9 for seconds.
    Places(u32),
    /// Ticks of 100 ns.
    Ticks,
}

/// Source of the operation of a row in a CSV trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CsvOperation {
    /// The column of the operation.
    Column,
    /// One operation for every row.
    All(ReadOrWrite),
    /// The operation of rows with a minus before offset or length; rows without have the other.
    Negative(ReadOrWrite),
}

/// Rows of a CSV trace that are passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvSkip {
    /// The column that tells them.
    pub column: CsvColumn,
    /// Contents of that column in these rows.
    pub values: Vec<String>,
}

/// Columns and units of a CSV trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvColumns {
    /// Time, offset, length, operation, device, response and handle.
    pub columns: [Option<CsvColumn>; 7],
    /// Unit of time.
    pub time: CsvTime,
    /// Bytes in a unit of the offset.
    pub offset: u64,
    /// Bytes in a unit of the length.
    pub length: u64,
    /// Unit of the response time.
    pub response: CsvTime,
    /// Source of the operation.
    pub operation: CsvOperation,
    /// Rows that are passed over.
    pub skip: Option<CsvSkip>,
}

impl CsvFormat {
    /// Format without a named column.
    pub const EMPTY: Self = Self {
        time: String::new(),
        offset: String::new(),
        length: String::new(),
        operation: None,
        all: None,
        negative: None,
        skip: None,
        read: String::new(),
        write: String::new(),
        trim: None,
        flush: None,
        device: None,
        response: None,
        handle: None,
        separator: ',',
    };

    /// Columns and units.
    ///
    /// # Errors
    /// The key that makes no sense, what was found, and what is allowed.
    pub fn columns(&self) -> Result<CsvColumns, (&'static str, String, &'static str)> {
        let time = |key, text| time(text).ok_or_else(|| (key, found(text), TIME));
        let (time_column, unit) = time("time", &self.time)?;
        let response = self.response.as_deref().map(|text| time("response", text)).transpose()?;
        let bytes = |key, text| bytes(text).ok_or_else(|| (key, found(text), BYTES));
        let (offset_column, offset) = bytes("offset", &self.offset)?;
        let (length_column, length) = bytes("length", &self.length)?;
        let plain = |key, text: &str| column(text).ok_or_else(|| (key, found(text), "a column"));
        let operation = self.operation()?;
        let operation_column =
            self.operation.as_deref().map(|text| plain("operation", text)).transpose()?;
        let skip = self.skip.as_deref().map(skip).transpose()?;
        let device = self.device.as_deref().map(|text| plain("device", text)).transpose()?;
        let handle = self.handle.as_deref().map(|text| plain("handle", text)).transpose()?;
        if !self.separator.is_ascii() || self.separator == '\n' || self.separator == '"' {
            let found = found(&self.separator.to_string());
            return Err(("separator", found, "one ASCII character"));
        }
        let (response_column, response) = response.unzip();
        let columns = [
            Some(time_column),
            Some(offset_column),
            Some(length_column),
            operation_column,
            device,
            response_column,
            handle,
        ];
        let response = response.unwrap_or(unit);
        Ok(CsvColumns { columns, time: unit, offset, length, response, operation, skip })
    }

    /// Returns the source of the operation, or the key that is at fault, what was found and what is allowed.
    fn operation(&self) -> Result<CsvOperation, (&'static str, String, &'static str)> {
        match (&self.operation, self.all, self.negative) {
            (Some(_), None, None) => Ok(CsvOperation::Column),
            (None, Some(all), None) => Ok(CsvOperation::All(all)),
            (None, None, Some(negative)) => Ok(CsvOperation::Negative(negative)),
            (None, None, None) => Err(("operation", "nothing".into(), OPERATION)),
            _ => Err(("operation", "more than one of operation, all and negative".into(), ONE)),
        }
    }
}

const OPERATION: &str = "the column of the operation, or all = \"write\" (or \"read\") if no column has it, or \
     negative = \"read\" (or \"write\") if the sign of offset or length has it";
const ONE: &str = "one of them";
const SKIP: &str = "a column and values such as \"action:Q|C\"";

const TIME: &str = "a column and a unit such as \"timestamp:us\" (s, ms, us, ns or 100ns)";
const BYTES: &str =
    "a column and a unit such as \"lba:sectors\" (bytes, sectors or a size such as 4KiB)";

fn found(text: &str) -> String {
    format!("{text:?}")
}

fn split(text: &str) -> (&str, &str) {
    text.rsplit_once(':').unwrap_or((text, ""))
}

fn column(name: &str) -> Option<CsvColumn> {
    match (name.trim(), name.trim().parse::<usize>()) {
        ("", _) => None,
        (_, Ok(number)) => number.checked_sub(1).map(CsvColumn::Number),
        (name, Err(_)) => Some(CsvColumn::Named(name.into())),
    }
}

fn skip(text: &str) -> Result<CsvSkip, (&'static str, String, &'static str)> {
    let (name, values) = split(text);
    let values: Vec<_> = values.split('|').map(str::to_owned).collect();
    match column(name) {
        Some(column) if text.contains(':') => Ok(CsvSkip { column, values }),
        _ => Err(("skip", found(text), SKIP)),
    }
}

fn time(text: &str) -> Option<(CsvColumn, CsvTime)> {
    let (name, unit) = split(text);
    let unit = match unit {
        "s" => CsvTime::Places(9),
        "ms" => CsvTime::Places(6),
        "us" => CsvTime::Places(3),
        "ns" => CsvTime::Places(0),
        "100ns" => CsvTime::Ticks,
        _ => return None,
    };
    column(name).map(|column| (column, unit))
}

fn bytes(text: &str) -> Option<(CsvColumn, u64)> {
    let (name, unit) = split(text);
    let unit = match unit {
        "bytes" => 1,
        "sectors" => 512,
        size => size.parse::<Size>().ok()?.0,
    };
    column(name).filter(|_| unit > 0).map(|column| (column, unit))
}
