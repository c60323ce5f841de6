//! blkreplay: see [the reader](super::super::blkreplay).

use super::{Holds, LineWriter, Record, push, push_decimal};
use crate::Operation;
use crate::trace::record::SECTOR;

/// The writer of a file.
#[derive(Debug, Default)]
pub struct Writer;

impl LineWriter for Writer {
    const HOLDS: Holds = Holds { device: false, trims: true, flushes: true, ..Holds::SECTORS };
    const HEAD: &'static str =
        "start ; sector; length ; op ;  replay_delay=0 ; replay_duration=0\n";

    fn line(&mut self, record: &Record, out: &mut Vec<u8>) {
        let operation = match record.operation {
            Operation::Read => 'R',
            Operation::Write => 'W',
            Operation::Trim => 'D',
            Operation::Flush => 'F',
        };
        let (sector, sectors) = (record.offset / SECTOR, record.length / SECTOR);
        push_decimal(out, record.time_ns, 9);
        push(out, format_args!(" ; {sector} ; {sectors} ; {operation} ; 0.0 ; 0.0\n"));
    }
}
