//! Log of requests: operation, simulated arrival and response time, enough to run it again.

use std::collections::VecDeque;

use copyback::embedded::Ask;
use copyback::workload::Operation;

/// Number of a row of the log, from the first on. It is the tag that the drive knows a request by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowId(pub u64);

/// Rows, column by column, in order of arrival. Times are simulated nanoseconds.
#[derive(Debug, Clone, Default)]
pub struct LogColumns {
    /// Arrivals, as the engine used them; the first is zero.
    pub arrival_ns: Vec<u64>,
    /// The number of the operation: read, write, trim, flush.
    pub operation: Vec<u8>,
    /// First bytes.
    pub offset: Vec<u64>,
    /// Bytes.
    pub bytes: Vec<u64>,
    /// Placement handles.
    pub handle: Vec<Option<u16>>,
    /// Response times that the drive gave.
    pub response_ns: Vec<u64>,
    /// Response times that clients saw, if they did.
    pub seen_response_ns: Vec<Option<u64>>,
    /// Longest time that each may have waited before the server saw it, in nanoseconds of the host's clock:
    /// those above zero came late.
    pub unseen_ns: Vec<u64>,
}

impl LogColumns {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.arrival_ns.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.arrival_ns.is_empty()
    }

    fn push(&mut self, row: &Row, response_ns: u64) {
        let Ask { operation, offset, length, hint } = row.ask;
        self.arrival_ns.push(row.arrival_ns);
        self.operation.push(match operation {
            Operation::Read => 0,
            Operation::Write => 1,
            Operation::Trim => 2,
            Operation::Flush => 3,
        });
        self.offset.push(offset);
        self.bytes.push(length);
        self.handle.push(hint.and_then(|hint| hint.handle()).map(|handle| handle.0));
        self.response_ns.push(response_ns);
        self.seen_response_ns.push(row.seen_ns);
        self.unseen_ns.push(row.unseen_ns);
    }
}

/// Row of the log: one request to the drive.
#[derive(Debug)]
pub struct Row {
    /// When, in simulated nanoseconds.
    pub arrival_ns: u64,
    /// For what.
    pub ask: Ask,
    /// The request of a client that this is part of, by its place.
    pub of: usize,
    /// Longest time that the request may have waited before the server saw it, in nanoseconds.
    pub unseen_ns: u64,
    response_ns: Option<u64>,
    seen_ns: Option<u64>,
}

/// The rows that are under way, and those that wait to be taken.
#[derive(Debug, Default)]
pub struct Log {
    /// Rows from the first that is not done on.
    rows: VecDeque<Row>,
    /// Number of rows that were finished before them.
    before: u64,
    /// Finished rows, if they are kept.
    kept: Option<LogColumns>,
}

impl Log {
    /// An empty one; `keeps` whether somebody will take what is done.
    pub fn new(keeps: bool) -> Self {
        Self { kept: keeps.then(LogColumns::default), ..Self::default() }
    }

    /// Adds a row.
    pub fn add(&mut self, arrival_ns: u64, ask: Ask, of: usize, unseen_ns: u64) -> RowId {
        let id = RowId(self.before + self.rows.len() as u64);
        self.rows.push_back(Row {
            arrival_ns,
            ask,
            of,
            unseen_ns,
            response_ns: None,
            seen_ns: None,
        });
        id
    }

    /// The drive has done a row. Returns of which request it is part.
    pub fn done(&mut self, id: RowId, response_ns: u64) -> usize {
        let row = &mut self.rows[(id.0 - self.before) as usize];
        row.response_ns = Some(response_ns);
        row.of
    }

    /// Of which request of a client a row is part that is not done yet, by its place.
    pub fn of(&self, id: RowId) -> usize {
        self.rows[(id.0 - self.before) as usize].of
    }

    /// A client has seen the answer to a row so long after it arrived.
    pub fn seen(&mut self, id: RowId, seen_ns: u64) {
        self.rows[(id.0 - self.before) as usize].seen_ns = Some(seen_ns);
    }

    /// Lets go of the rows that are done.
    pub fn settle(&mut self) {
        while let Some(response_ns) = self.rows.front().and_then(|row| row.response_ns) {
            let Some(row) = self.rows.pop_front() else { return };
            self.before += 1;
            if let Some(kept) = &mut self.kept {
                kept.push(&row, response_ns);
            }
        }
    }

    /// Takes what is done and was not taken yet.
    pub fn take(&mut self) -> LogColumns {
        self.kept.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Number of rows that wait to be taken.
    pub fn waiting(&self) -> usize {
        self.kept.as_ref().map_or(0, LogColumns::len)
    }

    /// Number of rows so far.
    pub fn count(&self) -> u64 {
        self.before + self.rows.len() as u64
    }
}
