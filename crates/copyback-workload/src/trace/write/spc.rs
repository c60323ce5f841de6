//! SPC: see [the reader](super::super::spc).

use super::{Holds, LineWriter, Record, push, push_decimal};
use crate::Operation;
use crate::trace::record::SECTOR;

/// The writer of a file.
#[derive(Debug, Default)]
pub struct Writer;

impl LineWriter for Writer {
    const HOLDS: Holds = Holds { length: 1, ..Holds::SECTORS };

    fn line(&mut self, record: &Record, out: &mut Vec<u8>) {
        let operation = if record.operation == Operation::Read { 'r' } else { 'w' };
        let (sector, bytes) = (record.offset / SECTOR, record.length);
        push(out, format_args!("{},{sector},{bytes},{operation},", record.device));
        push_decimal(out, record.time_ns, 9);
        out.push(b'\n');
    }
}
