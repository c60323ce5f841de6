//! The Nexus 5 phone, with no time between queue and drive: see [the reader](super::super::nexus5).

use super::{Holds, LineWriter, Record, Response, push, push_decimal};
use crate::Operation;
use crate::trace::record::SECTOR;

/// The writer of a file.
#[derive(Debug, Default)]
pub struct Writer;

impl LineWriter for Writer {
    const HOLDS: Holds = Holds { device: false, response: Response::Always(1), ..Holds::SECTORS };

    fn line(&mut self, record: &Record, out: &mut Vec<u8>) {
        let Record { time_ns, operation, offset, length, measured, .. } = *record;
        let kind = u8::from(operation != Operation::Read);
        let (sector, sectors) = (offset / SECTOR, length / SECTOR);
        push(out, format_args!("{sector}\t{sectors}\t{length}\t{kind}"));
        let completed = time_ns.saturating_add(measured.unwrap_or_default().as_ns());
        for time in [time_ns, time_ns, time_ns, completed] {
            out.push(b'\t');
            push_decimal(out, time, 9);
        }
        out.push(b'\n');
    }
}
