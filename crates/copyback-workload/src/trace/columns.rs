//! A line cut into columns, taken one by one from the left.

use super::fault::Fault;
use super::number;
use super::record::SECTOR;
use crate::Operation;

/// Separator between two columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    /// This byte; spaces around a column don't count.
    Byte(u8),
    /// Any number of spaces and tabs.
    Blanks,
}

/// The columns of one line.
#[derive(Debug, Clone)]
pub struct Columns<'a> {
    line: &'a [u8],
    rest: Option<&'a [u8]>,
    separator: Separator,
    layout: &'static str,
}

impl<'a> Columns<'a> {
    /// The columns of `line`. `layout` says what they should be, for messages.
    pub fn new(line: &'a [u8], separator: Separator, layout: &'static str) -> Self {
        let mut columns = Self { line, rest: Some(line), separator, layout };
        columns.skip_blanks();
        columns
    }

    /// The next column, without blanks around it.
    pub fn text(&mut self) -> Result<&'a [u8], Fault> {
        self.take().ok_or_else(|| self.wrong_count())
    }

    /// The next column as a whole number; `expected` says of what.
    pub fn whole(&mut self, field: &'static str, expected: &'static str) -> Result<u64, Fault> {
        let text = self.text()?;
        number::whole(text).ok_or_else(|| refused(field, text, expected, 0))
    }

    /// The next column as a number of sectors, in bytes.
    pub fn sectors(&mut self, field: &'static str) -> Result<u64, Fault> {
        self.multiple(field, SECTOR, "a whole number of 512-byte sectors")
    }

    /// The next column as a whole number, times `unit`; `expected` says of what.
    pub fn multiple(
        &mut self,
        field: &'static str,
        unit: u64,
        expected: &'static str,
    ) -> Result<u64, Fault> {
        let text = self.text()?;
        number::whole(text)
            .and_then(|count| count.checked_mul(unit))
            .ok_or_else(|| refused(field, text, expected, 0))
    }

    /// The next column as a hexadecimal number, with or without `0x`.
    pub fn hexadecimal(&mut self, field: &'static str) -> Result<u64, Fault> {
        let text = self.text()?;
        number::hexadecimal(text).ok_or_else(|| Fault::field(field, text, "a hexadecimal number"))
    }

    /// The next column as `R` or `W`, in either case.
    pub fn read_or_write(&mut self) -> Result<Operation, Fault> {
        match self.text()? {
            b"R" | b"r" => Ok(Operation::Read),
            b"W" | b"w" => Ok(Operation::Write),
            text => Err(Fault::field("operation", text, "R or W")),
        }
    }

    /// The next column as a decimal, times ten to the power `places`.
    pub fn decimal(
        &mut self,
        field: &'static str,
        places: u32,
        expected: &'static str,
    ) -> Result<u64, Fault> {
        let text = self.text()?;
        number::decimal(text, places).ok_or_else(|| refused(field, text, expected, 1))
    }

    /// Checks that no column is left.
    pub fn end(&mut self) -> Result<(), Fault> {
        if self.rest.is_none() { Ok(()) } else { Err(self.wrong_count()) }
    }

    fn take(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        match self.separator {
            Separator::Byte(separator) => {
                let end = memchr::memchr(separator, rest);
                self.rest = end.map(|end| &rest[end + 1..]);
                Some(rest[..end.unwrap_or(rest.len())].trim_ascii())
            }
            Separator::Blanks => {
                let end = rest.iter().position(is_blank).unwrap_or(rest.len());
                self.rest = Some(&rest[end..]);
                self.skip_blanks();
                Some(&rest[..end])
            }
        }
    }

    /// Between blanks, columns start at the next byte that isn't one; none starts at the end.
    fn skip_blanks(&mut self) {
        if self.separator == Separator::Blanks {
            self.rest = self.rest.and_then(|rest| {
                rest.iter().position(|byte| !is_blank(byte)).map(|start| &rest[start..])
            });
        }
    }

    #[cold]
    fn wrong_count(&self) -> Fault {
        let mut columns = Self::new(self.line, self.separator, self.layout);
        let mut found = 0;
        while columns.take().is_some() {
            found += 1;
        }
        Fault::columns(found, self.layout)
    }
}

fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// The fault of a column that is no number of the right kind. One of digits alone, with up to
/// `points` decimal points, can only have been refused for its size.
#[cold]
fn refused(field: &'static str, text: &[u8], expected: &'static str, points: usize) -> Fault {
    let others = text.iter().filter(|byte| !byte.is_ascii_digit()).count();
    let only_points = text.iter().filter(|byte| **byte == b'.').count() == others;
    let too_big = only_points && others <= points && text.len() > others;
    Fault::field(field, text, if too_big { "a smaller number" } else { expected })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(line: &str, separator: Separator) -> Vec<String> {
        let mut columns = Columns::new(line.as_bytes(), separator, "");
        let mut texts = Vec::new();
        while let Some(text) = columns.take() {
            texts.push(String::from_utf8_lossy(text).into_owned());
        }
        texts
    }

    #[test]
    fn cuts_at_a_byte_and_trims() {
        assert_eq!(all("a, b ,,\tc", Separator::Byte(b',')), ["a", "b", "", "c"]);
        assert_eq!(all("a,", Separator::Byte(b',')), ["a", ""]);
    }

    #[test]
    fn cuts_at_runs_of_blanks() {
        assert_eq!(all(" a \t b  ", Separator::Blanks), ["a", "b"]);
        assert_eq!(all(" \t", Separator::Blanks), [] as [&str; 0]);
    }

    #[test]
    fn counts_columns_in_the_message() {
        let mut columns = Columns::new(b"1 2", Separator::Blanks, "3 columns (a b c)");
        for _ in 0..2 {
            columns.text().unwrap();
        }
        let fault = columns.text().unwrap_err().to_string();
        assert_eq!(fault, "columns: found 2; expected 3 columns (a b c)");
        let mut columns = Columns::new(b"1 2", Separator::Blanks, "1 column");
        columns.text().unwrap();
        assert_eq!(columns.end().unwrap_err().to_string(), "columns: found 2; expected 1 column");
    }
}
