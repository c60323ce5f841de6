//! Alibaba cloud block storage: see [the reader](super::super::alibaba).

use super::{Holds, LineWriter, Record, push};
use crate::Operation;

const NS_PER_US: u64 = 1000;

/// The writer of a file.
#[derive(Debug, Default)]
pub struct Writer;

impl LineWriter for Writer {
    const HOLDS: Holds = Holds { time_ns: NS_PER_US, ..Holds::BYTES };

    fn line(&mut self, record: &Record, out: &mut Vec<u8>) {
        let operation = if record.operation == Operation::Read { 'R' } else { 'W' };
        let Record { time_ns, offset, length, device, .. } = *record;
        let us = time_ns / NS_PER_US;
        push(out, format_args!("{device},{operation},{offset},{length},{us}\n"));
    }
}
