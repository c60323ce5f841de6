//! DTRS, a developer tools release server of Microsoft: `us device sector sectors 0|1`, 1 = read, for example
//! `979 0 287641400 128 1`. Formats with other units of time have the same columns, so it must be named.

use super::fault::Fault;
use super::five_numbers::request;
use super::format::LineParser;
use super::record::Record;

const LAYOUT: &str = "5 columns (us device sector sectors 0|1)";
const NS: u64 = 1000;

/// The parser of a file.
#[derive(Debug, Default)]
pub struct Parser;

impl LineParser for Parser {
    fn recognises(_: &[u8]) -> bool {
        false
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<Record>, Fault> {
        request(line, NS, "a whole number of microseconds", LAYOUT).map(Some)
    }
}
