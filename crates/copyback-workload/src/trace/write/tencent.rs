//! Tencent cloud block storage, which counts whole seconds: see [the reader](super::super::tencent).

use super::{Holds, LineWriter, Record, push};
use crate::Operation;
use crate::trace::record::SECTOR;

const NS_PER_S: u64 = 1_000_000_000;

/// The writer of a file.
#[derive(Debug, Default)]
pub struct Writer;

impl LineWriter for Writer {
    const HOLDS: Holds = Holds { time_ns: NS_PER_S, ..Holds::SECTORS };

    fn line(&mut self, record: &Record, out: &mut Vec<u8>) {
        let write = u8::from(record.operation != Operation::Read);
        let (sector, sectors) = (record.offset / SECTOR, record.length / SECTOR);
        let seconds = record.time_ns / NS_PER_S;
        push(out, format_args!("{seconds},{sector},{sectors},{write},{}\n", record.device));
    }
}
