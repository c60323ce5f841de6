//! The operations of blktrace and its relatives, in letters: `R`, `W`, `D` (discard) or `F` (flush),
//! with modifiers behind (`RA` reads ahead, `WS` writes synchronously). `FW` flushes and then
//! writes: a write if it carries data, else a flush.

use super::fault::Fault;
use crate::Operation;

/// Operation that the letters `text` ask for, of a request of `length` bytes.
pub fn operation(text: &[u8], length: u64) -> Result<Operation, Fault> {
    let modifiers_fit = text.iter().all(u8::is_ascii_alphabetic);
    let known = match text {
        [b'R' | b'r', ..] => Some(Operation::Read),
        [b'W' | b'w', ..] => Some(Operation::Write),
        [b'D' | b'd', ..] => Some(Operation::Trim),
        [b'F' | b'f', b'W' | b'w', ..] if length > 0 => Some(Operation::Write),
        [b'F' | b'f', ..] => Some(Operation::Flush),
        _ => None,
    };
    known.filter(|_| modifiers_fit).ok_or_else(|| {
        Fault::field("operation", text, "R, W, D (discard) or F (flush), with modifiers")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_operations_of_blkparse() {
        let of = |text: &str, length| operation(text.as_bytes(), length).ok();
        assert_eq!(of("RA", 8), Some(Operation::Read));
        assert_eq!(of("WSM", 8), Some(Operation::Write));
        assert_eq!(of("D", 8), Some(Operation::Trim));
        assert_eq!(of("FWFS", 8), Some(Operation::Write));
        assert_eq!(of("FWS", 0), Some(Operation::Flush));
        assert_eq!(of("F", 0), Some(Operation::Flush));
        assert_eq!(of("N", 8), None);
        assert_eq!(of("W1", 8), None);
        assert_eq!(of("", 8), None);
    }
}
