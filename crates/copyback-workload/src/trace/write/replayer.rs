//! The replayer of IODA: see [the reader](super::super::replayer).

use super::{Holds, LineWriter, Record, push, push_decimal};
use crate::Operation;

/// The writer of a file.
#[derive(Debug, Default)]
pub struct Writer;

impl LineWriter for Writer {
    const HOLDS: Holds = Holds::BYTES;

    fn line(&mut self, record: &Record, out: &mut Vec<u8>) {
        let read = u8::from(record.operation == Operation::Read);
        let Record { time_ns, offset, length, device, .. } = *record;
        push_decimal(out, time_ns, 6);
        push(out, format_args!(" {device} {offset} {length} {read}\n"));
    }
}
