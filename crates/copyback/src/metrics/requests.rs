//! One row a request, in columns.

use crate::checkpoint::Checkpointed;
use crate::host::Completion;
use crate::ssd::Part;
use crate::units::Duration;

/// Columns with one entry a completed request, in order of completion.
#[derive(Debug, Default, Clone, PartialEq, Eq, Checkpointed)]
pub struct RequestColumns {
    /// Arrival in nanoseconds of simulated time.
    pub arrival_ns: Vec<u64>,
    /// Arrival to completion in nanoseconds.
    pub response_ns: Vec<u64>,
    /// The response time that the trace holds, in nanoseconds; zero where it holds none.
    pub measured_ns: Vec<u64>,
    /// Whether it holds none.
    pub is_unmeasured: Vec<bool>,
    /// First byte.
    pub offset: Vec<u64>,
    /// Length.
    pub bytes: Vec<u64>,
    /// 0 read, 1 write, 2 trim, 3 flush.
    pub operation: Vec<u8>,
    /// The flow it came from.
    pub flow: Vec<u16>,
    /// The drive on which it ended last.
    pub device: Vec<u16>,
    /// Nanoseconds of each part of the response time, in the order of [`Part::ALL`].
    pub parts_ns: [Vec<u64>; Part::ALL.len()],
}

impl RequestColumns {
    /// Adds a row.
    pub fn push(&mut self, completion: &Completion) {
        let request = &completion.request;
        self.arrival_ns.push(request.arrival.as_ns());
        self.response_ns.push(completion.response.as_ns());
        self.measured_ns.push(request.measured.map_or(0, Duration::as_ns));
        self.is_unmeasured.push(request.measured.is_none());
        self.offset.push(request.offset);
        self.bytes.push(request.length);
        self.operation.push(request.operation.number());
        self.flow.push(completion.flow.0);
        self.device.push(completion.device.0);
        for part in Part::ALL {
            self.parts_ns[part as usize].push(completion.parts[part].as_ns());
        }
    }

    /// Number of rows.
    pub const fn len(&self) -> usize {
        self.arrival_ns.len()
    }

    /// Whether there is no row.
    pub const fn is_empty(&self) -> bool {
        self.arrival_ns.is_empty()
    }
}
