//! Writer of blkparse's output, of requests that are queued by one processor: see [the
//! reader](super::super::blkparse).

use super::{Holds, LineWriter, Record, push, push_decimal};
use crate::Operation;
use crate::trace::record::SECTOR;

/// The writer of a file: numbers its lines.
#[derive(Debug, Default)]
pub struct Writer {
    lines: u64,
}

impl LineWriter for Writer {
    const HOLDS: Holds = Holds { trims: true, flushes: true, ..Holds::SECTORS };

    fn line(&mut self, record: &Record, out: &mut Vec<u8>) {
        self.lines += 1;
        let (major, minor) = (record.device >> 20, record.device & 0xf_ffff);
        push(out, format_args!("{major},{minor} 0 {} ", self.lines));
        push_decimal(out, record.time_ns, 9);
        let operation = match record.operation {
            Operation::Read => 'R',
            Operation::Write => 'W',
            Operation::Trim => 'D',
            Operation::Flush => return out.extend_from_slice(b" 0 Q FN [trace]\n"),
        };
        let (sector, sectors) = (record.offset / SECTOR, record.length / SECTOR);
        push(out, format_args!(" 0 Q {operation} {sector} + {sectors} [trace]\n"));
    }
}
