//! The CSV form of HP's 77 disks, with all of the response time as service: see
//! [the reader](super::super::hp_csv).

use super::{Holds, LineWriter, Record, Response, push, push_decimal};
use crate::Operation;

const NS_PER_US: u64 = 1000;

/// The writer of a file.
#[derive(Debug, Default)]
pub struct Writer;

impl LineWriter for Writer {
    const HOLDS: Holds = Holds { response: Response::Always(NS_PER_US), ..Holds::BYTES };
    const HEAD: &'static str = "time_s,disk_dev,op,offset_bytes,bytes,queue_us,service_us,lv_dev\n";

    fn line(&mut self, record: &Record, out: &mut Vec<u8>) {
        let operation = if record.operation == Operation::Read { 'R' } else { 'W' };
        let Record { time_ns, offset, length, device, measured, .. } = *record;
        let service = measured.unwrap_or_default().as_ns() / NS_PER_US;
        push_decimal(out, time_ns, 9);
        push(out, format_args!(",0x{device:08x},{operation},{offset},{length},0,{service},0x0\n"));
    }
}
