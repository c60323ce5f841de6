//! SSDsim: see [the reader](super::super::ssdsim).

use super::{Holds, LineWriter, Record, five_numbers};

const NS: u64 = 1;

/// The writer of a file.
#[derive(Debug, Default)]
pub struct Writer;

impl LineWriter for Writer {
    const HOLDS: Holds = Holds { time_ns: NS, ..Holds::SECTORS };

    fn line(&mut self, record: &Record, out: &mut Vec<u8>) {
        five_numbers::push_line(out, record, NS);
    }
}
