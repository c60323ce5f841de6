//! Five whole numbers: see [the readers](super::super::five_numbers).

use super::{Record, push};
use crate::Operation;
use crate::trace::record::SECTOR;

/// Appends a request, whose time is to count units of `unit_ns`.
pub fn push_line(out: &mut Vec<u8>, record: &Record, unit_ns: u64) {
    let time = record.time_ns / unit_ns;
    let read = u8::from(record.operation == Operation::Read);
    let (sector, sectors) = (record.offset / SECTOR, record.length / SECTOR);
    push(out, format_args!("{time} {} {sector} {sectors} {read}\n", record.device));
}
