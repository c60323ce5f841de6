//! Output of libCacheSim's tracePrint (read from `traceUtils/tracePrintMain.cpp` and `traceConv.cpp`): seconds,
//! number of the object, size in bytes and perhaps the number of the next request for it, `26,8301,4096,-1`,
//! after `# time,object,size` or without it.
//!
//! A cache's trace says neither whether a request reads or writes, nor how objects lie on a drive. For
//! traces that were made of block traces, whose objects are addresses, the user says both.

use super::columns::{Columns, Separator};
use super::fault::Fault;
use super::format::{LineParser, TraceFormat};
use super::libcachesim::Objects;
use super::number;
use super::record::Record;

const LAYOUT: &str = "3 or 4 columns (seconds,object,bytes,next)";

/// The parser of a file.
#[derive(Debug, Default)]
pub struct Parser {
    objects: Objects,
}

impl LineParser for Parser {
    fn configure(&mut self, format: &TraceFormat) {
        if let TraceFormat::LibcachesimCsv { operation, object_unit } = format {
            self.objects = Objects::new("libcachesim_csv", *operation, *object_unit);
        }
    }

    /// Three numbers say nothing.
    fn recognises(line: &[u8]) -> bool {
        line.trim_ascii().starts_with(b"# time,object,size")
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<Record>, Fault> {
        if line.trim_ascii_start().starts_with(b"#") {
            return Ok(None);
        }
        let mut columns = Columns::new(line, Separator::Byte(b','), LAYOUT);
        let time_ns = columns.decimal("time", 9, "a number of seconds")?;
        let object = columns.whole("object", "a whole number")?;
        let length = columns.whole("size", "a whole number of bytes")?;
        if columns.end().is_err() {
            next(columns.text()?)?;
        }
        columns.end()?;
        self.objects.request(time_ns, object, length, None).map(Some)
    }
}

fn next(text: &[u8]) -> Result<(), Fault> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    number::whole(digits).map(drop).ok_or_else(|| Fault::field("next", text, "a whole number"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operation;
    use copyback_config::ReadOrWrite;
    use copyback_config::quantity::Size;

    fn read(line: &str, operation: Option<ReadOrWrite>) -> Result<Option<Record>, String> {
        let mut parser = Parser::default();
        parser.configure(&TraceFormat::LibcachesimCsv { operation, object_unit: Some(Size(512)) });
        parser.parse(line.as_bytes()).map_err(|fault| fault.to_string())
    }

    #[test]
    fn reads_every_field() {
        let expected = Record::new(26_000_000_000, Operation::Read, 8301 * 512, 4096);
        for line in ["26,8301,4096", "26,8301,4096,-1", "26,8301,4096,9223372036854775807"] {
            assert_eq!(read(line, Some(ReadOrWrite::Read)), Ok(Some(expected)), "{line}");
        }
        assert_eq!(read("# time,object,size", None), Ok(None));
    }

    #[test]
    fn says_what_is_wrong() {
        let fault = |line| read(line, Some(ReadOrWrite::Write)).unwrap_err();
        assert_eq!(fault("26,8301"), format!("columns: found 2; expected {LAYOUT}"));
        assert_eq!(fault("26,8301,4096,-1,0"), format!("columns: found 5; expected {LAYOUT}"));
        assert_eq!(fault("26,8301,4096,x"), "next: found \"x\"; expected a whole number");
        assert_eq!(
            read("26,8301,4096", None).unwrap_err(),
            "the trace of a cache says neither what its requests are nor how its objects lie on a \
             drive; expected workload.format = { type = \"libcachesim_csv\", operation = \"read\" or \
             \"write\", object_unit = \"512B\" or whatever lies between one object and the next }"
        );
    }
}
