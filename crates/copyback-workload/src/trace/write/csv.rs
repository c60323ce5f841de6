//! Comma-separated values with the columns of [the Parquet form](super::super::parquet), each named
//! in the first line. To read it, `workload.format` must name them: see the guide on traces.

use super::{Holds, LineWriter, Record, push};
use crate::Operation;

/// The writer of a file.
#[derive(Debug, Default)]
pub struct Writer {
    names_handles: bool,
}

impl LineWriter for Writer {
    const HOLDS: Holds = Holds::EVERYTHING;
    const HEAD: &'static str = "arrival_ns,operation,offset,bytes,device,measured_response_ns\n";

    fn name_handles(&mut self) {
        self.names_handles = true;
    }

    fn head(&self) -> &'static str {
        match self.names_handles {
            true => "arrival_ns,operation,offset,bytes,device,measured_response_ns,handle\n",
            false => Self::HEAD,
        }
    }

    fn line(&mut self, record: &Record, out: &mut Vec<u8>) {
        let Record { time_ns, operation, offset, length, device, measured, handle } = *record;
        let operation = match operation {
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Trim => "trim",
            Operation::Flush => "flush",
        };
        push(out, format_args!("{time_ns},{operation},{offset},{length},{device},"));
        if let Some(measured) = measured {
            push(out, format_args!("{}", measured.as_ns()));
        }
        if self.names_handles {
            out.push(b',');
            if let Some(handle) = handle {
                push(out, format_args!("{}", handle.0));
            }
        }
        out.push(b'\n');
    }
}
