//! MSR Cambridge: see [the reader](super::super::msr). The lower half of a device's number is the disk,
//! the upper half tells hosts apart: it names them.

use super::{Holds, LineWriter, Record, Response, push};
use crate::Operation;

const NS_PER_TICK: u64 = 100;
const DISK: u64 = u32::MAX as u64;

/// The writer of a file.
#[derive(Debug, Default)]
pub struct Writer;

impl LineWriter for Writer {
    const HOLDS: Holds =
        Holds { time_ns: NS_PER_TICK, response: Response::Always(NS_PER_TICK), ..Holds::BYTES };

    fn line(&mut self, record: &Record, out: &mut Vec<u8>) {
        let Record { time_ns, operation, offset, length, device, measured, .. } = *record;
        let operation = if operation == Operation::Read { "Read" } else { "Write" };
        let ticks = time_ns / NS_PER_TICK;
        let response = measured.unwrap_or_default().as_ns() / NS_PER_TICK;
        let (host, disk) = (device >> 32, device & DISK);
        push(
            out,
            format_args!("{ticks},h{host:x},{disk},{operation},{offset},{length},{response}\n"),
        );
    }
}
