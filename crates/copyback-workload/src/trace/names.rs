//! The line of column names that some formats start with.

use std::marker::PhantomData;
use std::mem;

use super::fault::Fault;
use super::format::LineParser;
use super::record::Record;

/// Whether that line may still come: only a file's first line can be one.
#[derive(Debug, Default)]
pub struct Names {
    behind: bool,
}

impl Names {
    /// Whether `line` is a line of column names and may be; `first` is the first of them.
    pub fn are(&mut self, line: &[u8], first: &str) -> bool {
        !mem::replace(&mut self.behind, true) && is_named(line, first)
    }
}

/// Whether `line` starts with the name `first`, in either case.
pub fn is_named(line: &[u8], first: &str) -> bool {
    let line = line.trim_ascii_start();
    line.get(..first.len()).is_some_and(|name| name.eq_ignore_ascii_case(first.as_bytes()))
}

/// Words in the names of traces' columns.
const WORDS: [&str; 24] = [
    "time",
    "stamp",
    "ts",
    "start",
    "offset",
    "lba",
    "sector",
    "address",
    "addr",
    "block",
    "size",
    "length",
    "len",
    "bytes",
    "op",
    "operation",
    "type",
    "rw",
    "device",
    "dev",
    "disk",
    "volume",
    "lun",
    "response",
];

/// Whether `line` can be nothing but names of a trace's columns, such as files repeat that were
/// written in parts and joined: at least three columns, none of them a number, of which two are called
/// as columns of traces are.
pub fn are_names(line: &[u8]) -> bool {
    let separators: &[u8] = match line.iter().find(|byte| matches!(byte, b',' | b';' | b'\t')) {
        Some(b',') => b",",
        Some(b';') => b";",
        _ => b" \t",
    };
    let columns = line.split(|byte| separators.contains(byte)).map(<[u8]>::trim_ascii);
    let (mut count, mut known) = (0, 0);
    for column in columns.filter(|column| !column.is_empty()) {
        let name = column.trim_ascii_start();
        let name = name.strip_prefix(b"\"").unwrap_or(name);
        let name = name.strip_prefix(b"#").unwrap_or(name).trim_ascii_start();
        if !name.first().is_none_or(u8::is_ascii_alphabetic) || name.len() > LONGEST {
            return false;
        }
        count += 1;
        known += u32::from(is_known(name));
    }
    count >= 3 && known >= 2
}

/// Longest name of a column.
const LONGEST: usize = 64;

/// Whether a word of the name is one of [`WORDS`], alone or at the end of what is written together
/// (`TimeStamp`, `arrival_ns` is none).
fn is_known(name: &[u8]) -> bool {
    let mut words = name.split(|byte| !byte.is_ascii_alphabetic());
    words.any(|word| {
        WORDS.iter().any(|known| {
            let (known, length) = (known.as_bytes(), known.len());
            word.eq_ignore_ascii_case(known)
                || length > 3
                    && (word.len() > length)
                    && (word[..length].eq_ignore_ascii_case(known)
                        || word[word.len() - length..].eq_ignore_ascii_case(known))
        })
    })
}

/// A format of one request a line after a line of column names.
pub trait Rows: Default {
    /// The first of the names, by which a line of names is told from a request.
    const FIRST_NAME: &'static str;
    /// The line of names in full.
    const NAMES: &'static str;

    /// The request on `line`.
    ///
    /// # Errors
    /// If a column is wrong, missing or one too many.
    fn request(line: &[u8]) -> Result<Record, Fault>;
}

/// The parser of such a file.
#[derive(Debug, Default)]
pub struct NamedRows<R> {
    names: Names,
    rows: PhantomData<R>,
}

impl<R: Rows> LineParser for NamedRows<R> {
    fn recognises(line: &[u8]) -> bool {
        line.trim_ascii().eq_ignore_ascii_case(R::NAMES.as_bytes()) || R::request(line).is_ok()
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<Record>, Fault> {
        if self.names.are(line, R::FIRST_NAME) {
            return Ok(None);
        }
        R::request(line).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_columns_are_told_from_requests_and_rubbish() {
        for names in [
            "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
            "timestamp,offset,size,io_type,volume_id",
            "start ; sector; length ; op ;  replay_delay=0 ; replay_duration=0",
            "# time\tdev\tlba\tsize\trw",
            "time device offset bytes read",
            "\"op\",\"time\",\"lba\",\"size\"",
        ] {
            assert!(are_names(names.as_bytes()), "{names}");
        }
        for other in [
            "",
            "rubbish",
            "time,offset",
            "128166386783630075,hm,0,Write,3164164096,40960,2896",
            "kworker-5642,8388608,W,44636,8,45220.8",
            "# a comment of several words",
            "hm,Write,x,y,z",
            "R W time x",
            "time,offset,size,12",
            "Copyright Thomas Schoebel-Theuer /  1&1 Internet AG",
        ] {
            assert!(!are_names(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn are_the_first_line_or_none() {
        let mut names = Names::default();
        assert!(names.are(b"Time,Offset", "time"));
        assert!(!names.are(b"Time,Offset", "time"));
        assert!(!Names::default().are(b"1,2", "time"));
        assert!(!Names::default().are(b"", "time"));
    }
}
