//! Numbers from binary records.

#[cfg(test)]
use super::{
    fault::Fault,
    format::{LineParser, Piece},
    record::Record,
};

/// The two bytes from `at` on, the most significant first.
pub fn be16(record: &[u8], at: usize) -> u64 {
    record[at..at + 2].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The four bytes from `at` on, the most significant first.
pub fn be32(record: &[u8], at: usize) -> u64 {
    be16(record, at) << 16 | be16(record, at + 2)
}

/// The eight bytes from `at` on, the most significant first.
pub fn be64(record: &[u8], at: usize) -> u64 {
    be32(record, at) << 32 | be32(record, at + 4)
}

/// The two bytes from `at` on, the least significant first.
pub fn le16(record: &[u8], at: usize) -> u64 {
    u64::from(record[at]) | u64::from(record[at + 1]) << 8
}

/// The four bytes from `at` on, the least significant first.
pub fn le32(record: &[u8], at: usize) -> u64 {
    le16(record, at) | le16(record, at + 2) << 16
}

/// The eight bytes from `at` on, the least significant first.
pub fn le64(record: &[u8], at: usize) -> u64 {
    le32(record, at) | le32(record, at + 4) << 32
}

/// The requests in a whole binary file, for the tests of its reader.
#[cfg(test)]
pub fn records<P: LineParser>(bytes: &[u8]) -> Result<Vec<Record>, Fault> {
    let (mut parser, mut rest, mut records) = (P::default(), bytes, Vec::new());
    while let Piece::Bytes(count) = parser.wants()
        && let Some((record, more)) = rest.split_at_checked(count)
    {
        records.extend(parser.parse(record)?);
        rest = more;
    }
    parser.at_end().map(|()| records)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_orders() {
        let record = [0, 1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(be16(&record, 1), 0x0102);
        assert_eq!(be32(&record, 1), 0x0102_0304);
        assert_eq!(be64(&record, 1), 0x0102_0304_0506_0708);
        assert_eq!(le16(&record, 1), 0x0201);
        assert_eq!(le32(&record, 1), 0x0403_0201);
        assert_eq!(le64(&record, 1), 0x0807_0605_0403_0201);
    }
}
