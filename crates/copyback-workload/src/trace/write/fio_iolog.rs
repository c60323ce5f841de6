//! fio's I/O log, version 3; devices are files called `disk` and a number: see
//! [the reader](super::super::fio_iolog).

use std::collections::BTreeSet;

use super::{Holds, LineWriter, Record, push};
use crate::Operation;

const NS_PER_US: u64 = 1000;

/// The writer of a file: knows which devices it has opened.
#[derive(Debug, Default)]
pub struct Writer {
    open: BTreeSet<u64>,
}

impl LineWriter for Writer {
    const HOLDS: Holds = Holds { time_ns: NS_PER_US, trims: true, flushes: true, ..Holds::BYTES };
    const HEAD: &'static str = "fio version 3 iolog\n";

    fn line(&mut self, record: &Record, out: &mut Vec<u8>) {
        let Record { time_ns, operation, offset, length, device, .. } = *record;
        let us = time_ns / NS_PER_US;
        if self.open.insert(device) {
            push(out, format_args!("{us} disk{device} add\n{us} disk{device} open\n"));
        }
        let action = match operation {
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Trim => "trim",
            Operation::Flush => "sync",
        };
        push(out, format_args!("{us} disk{device} {action} {offset} {length}\n"));
    }
}
