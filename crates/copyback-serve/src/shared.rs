//! State that the server shares with the threads that look at it.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::log::LogColumns;

/// Lines of one kind that are told; of the rest only how many there were.
const MOST_OF_A_KIND: u64 = 5;

/// A place where the server leaves what others take, and where it is told to end.
#[derive(Debug)]
pub struct Shared {
    inner: Mutex<Inner>,
    /// Wakes the server up.
    waker: Mutex<UnixStream>,
}

#[derive(Debug, Default)]
struct Inner {
    wants_end: bool,
    rows: Vec<LogColumns>,
    lines: Vec<String>,
    /// Number of lines of each kind.
    kinds: BTreeMap<&'static str, u64>,
    status: Value,
    cuts: Vec<Value>,
    watched: Vec<Value>,
}

impl Shared {
    pub(crate) fn new(waker: UnixStream) -> Self {
        Self { inner: Mutex::default(), waker: Mutex::new(waker) }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the server to end.
    pub fn end(&self) {
        self.inner().wants_end = true;
        self.wake();
    }

    fn wake(&self) {
        // A server that is full of such bytes is awake.
        let _ = self.waker.lock().unwrap_or_else(PoisonError::into_inner).write(&[0]);
    }

    pub(crate) fn is_to_end(&self) -> bool {
        self.inner().wants_end
    }

    pub(crate) fn add_rows(&self, rows: LogColumns) {
        if !rows.is_empty() {
            self.inner().rows.push(rows);
        }
    }

    /// Takes the rows of the log since the last call.
    pub fn take_rows(&self) -> Vec<LogColumns> {
        std::mem::take(&mut self.inner().rows)
    }

    /// Leaves a line for the user. Of many of a kind only the first ones are kept.
    pub(crate) fn report(&self, kind: &'static str, line: impl FnOnce() -> String) {
        let mut inner = self.inner();
        let count = inner.kinds.entry(kind).or_default();
        *count += 1;
        match *count {
            ..MOST_OF_A_KIND => {
                let line = line();
                inner.lines.push(line);
            }
            MOST_OF_A_KIND => {
                let line = format!("{}; more of this kind are counted only", line());
                inner.lines.push(line);
            }
            _ => {}
        }
    }

    /// Takes the lines for the user since the last call.
    pub fn take_lines(&self) -> Vec<String> {
        std::mem::take(&mut self.inner().lines)
    }

    /// Number of errors of each kind.
    pub(crate) fn troubles(&self) -> Value {
        let inner = self.inner();
        inner.kinds.iter().map(|(kind, count)| ((*kind).to_owned(), Value::from(*count))).collect()
    }

    pub(crate) fn set_status(&self, status: Value) {
        self.inner().status = status;
    }

    pub(crate) fn add_cut(&self, cut: Value) {
        self.inner().cuts.push(cut);
    }

    pub(crate) fn last_cut(&self) -> Value {
        self.inner().cuts.last().cloned().unwrap_or_default()
    }

    /// All cuts of power, in order.
    pub fn cuts(&self) -> Value {
        Value::Array(self.inner().cuts.clone())
    }

    pub(crate) fn add_watched(&self, row: Value) {
        self.inner().watched.push(row);
    }

    /// Takes what was seen of the drive, a row for each interval since the last call, if somebody looks.
    pub fn take_watched(&self) -> Value {
        Value::Array(std::mem::take(&mut self.inner().watched))
    }

    /// State of the drive at the server's last report.
    pub fn status(&self) -> Value {
        self.inner().status.clone()
    }
}
