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
    fn are_the_first_line_or_none() {
        let mut names = Names::default();
        assert!(names.are(b"Time,Offset", "time"));
        assert!(!names.are(b"Time,Offset", "time"));
        assert!(!Names::default().are(b"1,2", "time"));
        assert!(!Names::default().are(b"", "time"));
    }
}
