//! DiskSim ASCII, sizes in sectors: see [the reader](super::super::disksim).

use super::{Holds, LineWriter, Record, push, push_decimal};
use crate::Operation;
use crate::trace::record::SECTOR;

/// The writer of a file.
#[derive(Debug, Default)]
pub struct Writer;

impl LineWriter for Writer {
    const HOLDS: Holds = Holds::SECTORS;

    fn line(&mut self, record: &Record, out: &mut Vec<u8>) {
        let flags = u8::from(record.operation == Operation::Read);
        let (sector, sectors) = (record.offset / SECTOR, record.length / SECTOR);
        push_decimal(out, record.time_ns, 6);
        push(out, format_args!(" {} {sector} {sectors} {flags}\n", record.device));
    }
}
