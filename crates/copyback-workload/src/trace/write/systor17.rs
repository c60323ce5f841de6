//! Systor '17: see [the reader](super::super::systor17).

use super::{Holds, LineWriter, Record, Response, push, push_decimal};
use crate::Operation;

/// The writer of a file.
#[derive(Debug, Default)]
pub struct Writer;

impl LineWriter for Writer {
    const HOLDS: Holds = Holds { response: Response::Optional(1), ..Holds::BYTES };
    const HEAD: &'static str = "Timestamp,Response,IOType,LUN,Offset,Size\n";

    fn line(&mut self, record: &Record, out: &mut Vec<u8>) {
        let operation = if record.operation == Operation::Read { 'R' } else { 'W' };
        let Record { time_ns, offset, length, device, measured, .. } = *record;
        push_decimal(out, time_ns, 9);
        out.push(b',');
        if let Some(measured) = measured {
            push_decimal(out, measured.as_ns(), 9);
        }
        push(out, format_args!(",{operation},{device},{offset},{length}\n"));
    }
}
