//! HP's SRT, binary: a header of text that a form feed ends, then records, most significant byte
//! first:
//!
//! ```text
//! both: size u32, minor version u16, kind u16, seconds u32, us u32, queue us u32, service us u32,
//!       bytes u32
//! 1.3:  sector u32, device u32, two u32, flags u32, two u32
//! 1.7:  machine u32, device u32, u32, flags u64, two u32, logical volume u32, offset in bytes u64, ...
//! ```
//!
//! Version 1.3 counts sectors of the size that the header states. Bit 0 of the flags is set for a
//! read. Each disk has an address space of its own; here all of them are laid over one another.

use super::binary::{be16, be32, be64};
use super::fault::Fault;
use super::format::{LineParser, Piece};
use super::number;
use super::record::Record;
use crate::Operation;
use copyback_config::units::Duration;

const START: &[u8] = b"$$TR_IOREC-1.";
const END_OF_HEADER: u8 = 0x0c;
/// Longest header that is taken for one.
const LONGEST_HEADER: usize = 1 << 20;
const LONGEST_HEADER_LINE: usize = 1000;
const REQUEST: u64 = 1;
const READ: u64 = 1;

/// The parser of a file: in its header or behind it.
#[derive(Debug, Default)]
pub struct Parser {
    version: Option<Version>,
    header: Header,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    /// 1.3, with sectors of so many bytes.
    Three {
        sector: u64,
    },
    Seven,
}

impl LineParser for Parser {
    fn recognises(_: &[u8]) -> bool {
        false
    }

    fn recognises_start(head: &[u8]) -> bool {
        head.starts_with(START)
    }

    #[inline]
    fn wants(&self) -> Piece {
        Piece::Bytes(self.version.map_or(1, Version::record_size))
    }

    fn parse(&mut self, bytes: &[u8]) -> Result<Option<Record>, Fault> {
        match self.version {
            Some(version) => version.request(bytes).map(Some),
            None => {
                self.version = self.header.take(bytes[0])?;
                Ok(None)
            }
        }
    }

    fn can_go_on(&self) -> bool {
        self.version.is_some()
    }

    fn at_end(&self) -> Result<(), Fault> {
        match self.version {
            Some(_) => Ok(()),
            None => Err(Fault::other("found no form feed; expected one at the end of the header")),
        }
    }
}

/// State of the header: absent, begun or read.
#[derive(Debug, Default)]
struct Header {
    size: usize,
    line: Vec<u8>,
    first: Vec<u8>,
    sector: Option<u64>,
}

impl Header {
    /// Takes the next byte; the version once the header has ended.
    fn take(&mut self, byte: u8) -> Result<Option<Version>, Fault> {
        self.size += 1;
        if self.size > LONGEST_HEADER {
            let problem = "found a header of more than 1 MiB; expected a form feed at its end";
            return Err(Fault::other(problem));
        }
        match byte {
            END_OF_HEADER => self.version().map(Some),
            b'\n' => self.end_line().map(|()| None),
            _ => {
                if self.line.len() < LONGEST_HEADER_LINE {
                    self.line.push(byte);
                }
                Ok(None)
            }
        }
    }

    fn end_line(&mut self) -> Result<(), Fault> {
        if self.first.is_empty() {
            self.first.clone_from(&self.line);
        }
        if let Some(value) = value(&self.line, b"sectorsize") {
            let size = number::whole(value).filter(|size| *size > 0);
            let expected = "a whole number of bytes";
            let size = size.ok_or_else(|| Fault::field("sectorsize", value, expected))?;
            if self.sector.is_some_and(|other| other != size) {
                let expected = "that of the other disks";
                return Err(Fault::field("sectorsize", value, expected));
            }
            self.sector = Some(size);
        }
        self.line.clear();
        Ok(())
    }

    fn version(&self) -> Result<Version, Fault> {
        let minor = self.first.strip_prefix(START).and_then(<[u8]>::first);
        match (minor, self.sector) {
            (Some(b'3'), Some(sector)) => Ok(Version::Three { sector }),
            (Some(b'3'), None) => {
                Err(Fault::other("sectorsize: found none in the header; expected one"))
            }
            (Some(b'7'), _) => Ok(Version::Seven),
            _ => Err(Fault::field("header", &self.first, "version 1.3 or 1.7 of SRT")),
        }
    }
}

/// Value of the line `name = value,`.
fn value<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let rest = line.trim_ascii().strip_prefix(name)?.trim_ascii_start().strip_prefix(b"=")?;
    let rest = rest.trim_ascii();
    Some(rest.strip_suffix(b",").or_else(|| rest.strip_suffix(b";")).unwrap_or(rest).trim_ascii())
}

impl Version {
    fn record_size(self) -> usize {
        match self {
            Self::Three { .. } => 56,
            Self::Seven => 88,
        }
    }

    fn request(self, record: &[u8]) -> Result<Record, Fault> {
        let (size, kind) = (be32(record, 0), be16(record, 6));
        if size != self.record_size() as u64 || kind != REQUEST {
            return Err(Fault::other(format!(
                "record: found {size} bytes of kind {kind}; expected {} of kind {REQUEST}",
                self.record_size()
            )));
        }
        // No product or sum of 32-bit numbers overflows here.
        let time_ns = (be32(record, 8) * 1_000_000 + be32(record, 12)) * 1000;
        let (offset, flags) = match self {
            Self::Three { sector } => (be32(record, 28).checked_mul(sector), be32(record, 44)),
            Self::Seven => (Some(be64(record, 64)), be64(record, 40)),
        };
        Ok(Record {
            time_ns,
            operation: if flags & READ != 0 { Operation::Read } else { Operation::Write },
            offset: offset.ok_or_else(|| Fault::other("sector: expected a smaller number"))?,
            length: be32(record, 24),
            device: be32(record, 32),
            measured: Some(Duration::from_us(be32(record, 16) + be32(record, 20))),
            handle: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::binary::records;
    use super::*;

    const THREE: &[u8] = b"$$TR_IOREC-1.3 (x)\0\nversion = 1.3;\n  sectorsize  = 256,\n};\n\x0c";
    const SEVEN: &[u8] = b"$$TR_IOREC-1.7 : x\0\nversion = 1.7;\n\x0c";

    fn record(numbers: &[u32]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
    }

    fn read(bytes: &[u8]) -> Result<Vec<Record>, Fault> {
        records::<Parser>(bytes)
    }

    #[test]
    fn reads_every_field_of_both_versions() {
        let expected = Record {
            time_ns: 30_183_968_000,
            operation: Operation::Read,
            offset: 1056 * 256,
            length: 4096,
            device: 0x0800_0107,
            measured: Some(Duration::from_us(146 + 36_899)),
            handle: None,
        };
        let three =
            [56, 4 << 16 | 1, 30, 183_968, 146, 36_899, 4096, 1056, 0x0800_0107, 4, 1, 27, 7, 1];
        assert_eq!(read(&[THREE, &record(&three)].concat()), Ok(vec![expected]));
        let mut seven = vec![88, 7 << 16 | 1, 30, 183_968, 3, 7487, 4096, 9, 0x0800_0107, 0];
        seven.extend([0, 0x0020_401b, 0xb_0000, 0, 0x2c99, 0x4000_0002, 0, 1056 * 256]);
        seven.extend([0, 0, 10, 0x4300]);
        let seven = record(&seven);
        let expected = expected.took(Some(Duration::from_us(3 + 7487)));
        assert_eq!(read(&[SEVEN, &seven, &seven].concat()), Ok(vec![expected; 2]));
        assert!(Parser::recognises_start(SEVEN));
    }

    #[test]
    fn says_what_is_wrong() {
        let fault = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
        assert_eq!(
            fault(b"$$TR_IOREC-1.5\n\x0c"),
            "header: found \"$$TR_IOREC-1.5\"; expected version 1.3 or 1.7 of SRT"
        );
        assert_eq!(
            fault(b"$$TR_IOREC-1.3\n\x0c"),
            "sectorsize: found none in the header; expected one"
        );
        assert_eq!(
            fault(b"$$TR_IOREC-1.3\nsectorsize = 256,\nsectorsize = 512,\n\x0c"),
            "sectorsize: found \"512\"; expected that of the other disks"
        );
        assert_eq!(
            fault(b"$$TR_IOREC-1.7\n"),
            "found no form feed; expected one at the end of the header"
        );
        assert_eq!(
            fault(&[SEVEN, &[0; 88]].concat()),
            "record: found 0 bytes of kind 0; expected 88 of kind 1"
        );
    }
}
