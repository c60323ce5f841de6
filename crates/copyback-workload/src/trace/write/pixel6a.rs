//! The Pixel 6a phone, with a process that says nothing: see [the reader](super::super::pixel6a).

use super::{Holds, LineWriter, Record, push, push_decimal};
use crate::Operation;
use crate::trace::record::SECTOR;

/// The writer of a file.
#[derive(Debug, Default)]
pub struct Writer;

impl LineWriter for Writer {
    const HOLDS: Holds = Holds::SECTORS;
    const HEAD: &'static str = "proces,device,rw_flag,sector,size,timestamp\n";

    fn line(&mut self, record: &Record, out: &mut Vec<u8>) {
        let operation = if record.operation == Operation::Read { 'R' } else { 'W' };
        let (sector, sectors) = (record.offset / SECTOR, record.length / SECTOR);
        push(out, format_args!("trace-0,{},{operation},{sector},{sectors},", record.device));
        push_decimal(out, record.time_ns, 9);
        out.push(b'\n');
    }
}
