//! MSR Cambridge: see [the reader](super::super::msr). The host is called `trace`.

use super::{Holds, LineWriter, Record, Response, push};
use crate::workload::Operation;

const NS_PER_TICK: u64 = 100;

/// The writer of a file.
#[derive(Debug, Default)]
pub struct Writer;

impl LineWriter for Writer {
    const HOLDS: Holds =
        Holds { time_ns: NS_PER_TICK, response: Response::Always(NS_PER_TICK), ..Holds::BYTES };

    fn line(&mut self, record: &Record, out: &mut Vec<u8>) {
        let Record { time_ns, operation, offset, length, device, measured } = *record;
        let operation = if operation == Operation::Read { "Read" } else { "Write" };
        let ticks = time_ns / NS_PER_TICK;
        let response = measured.unwrap_or_default().as_ns() / NS_PER_TICK;
        push(
            out,
            format_args!("{ticks},trace,{device},{operation},{offset},{length},{response}\n"),
        );
    }
}
