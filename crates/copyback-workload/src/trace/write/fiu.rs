//! FIU, with a process and a digest that say nothing: see [the reader](super::super::fiu).

use super::{Holds, LineWriter, Record, push};
use crate::Operation;
use crate::trace::record::SECTOR;

/// The writer of a file.
#[derive(Debug, Default)]
pub struct Writer;

impl LineWriter for Writer {
    const HOLDS: Holds = Holds::SECTORS;

    fn line(&mut self, record: &Record, out: &mut Vec<u8>) {
        let operation = if record.operation == Operation::Read { 'R' } else { 'W' };
        let (sector, sectors) = (record.offset / SECTOR, record.length / SECTOR);
        let (major, minor) = (record.device >> 20, record.device & 0xf_ffff);
        let time_ns = record.time_ns;
        push(
            out,
            format_args!("{time_ns} 0 trace {sector} {sectors} {operation} {major} {minor} 0\n"),
        );
    }
}
