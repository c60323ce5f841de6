//! Events in the Chrome trace event format, as text.

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::checkpoint::Checkpointed;
use crate::units::{Duration, Instant};

/// A row of the viewer: a process and one of its threads.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Row {
    /// The host is process 0, the drives follow.
    pub pid: usize,
    /// Threads of a process count from zero.
    pub tid: usize,
}

/// Phase of an event, as the format has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Phase {
    /// Has a begin and a duration; nests with others of its row.
    #[serde(rename = "X")]
    Complete,
    /// A span that may overlap others begins.
    #[serde(rename = "b")]
    Begin,
    /// End of an event.
    #[serde(rename = "e")]
    End,
    /// A counter changes.
    #[serde(rename = "C")]
    Counter,
    /// Names a row.
    #[serde(rename = "M")]
    Metadata,
}

/// One event.
#[derive(Debug, Serialize)]
pub struct Event<'a> {
    /// Label that the viewer writes on it.
    pub name: &'a str,
    /// Category of the event.
    pub cat: &'a str,
    /// Phase of the event.
    pub ph: Phase,
    /// When.
    #[serde(serialize_with = "micros")]
    pub ts: Instant,
    /// Duration, if it is complete.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "micros_of_some")]
    pub dur: Option<Duration>,
    /// Row in which it is shown.
    #[serde(flatten)]
    pub row: Row,
    /// Identifier that joins begins and ends of a category.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// Arguments: details that the viewer shows.
    pub args: Value,
}

/// The format counts microseconds, and takes fractions.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
fn micros<S: Serializer>(at: &Instant, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((*at - Instant::START).as_us_f64())
}

#[expect(clippy::ref_option, reason = "serde hands over references")]
fn micros_of_some<S: Serializer>(
    time: &Option<Duration>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.unwrap_or_default().as_us_f64())
}

/// A document that is written event by event, and taken piece by piece.
#[derive(Debug, Checkpointed)]
pub struct Document {
    text: Vec<u8>,
}

/// Text before the first event, and behind the last.
const HEAD: &[u8] = b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
const TAIL: &[u8] = b"\n]}\n";

impl Document {
    /// One that begins with `first`.
    pub fn new(first: &Event<'_>) -> Self {
        let mut document = Self { text: HEAD.to_vec() };
        document.write(first);
        document
    }

    /// Appends an event.
    pub fn push(&mut self, event: &Event<'_>) {
        self.text.extend(b",\n");
        self.write(event);
    }

    fn write(&mut self, event: &Event<'_>) {
        serde_json::to_writer(&mut self.text, event).expect("memory takes plain data");
    }

    /// Writes what goes behind the last event.
    pub fn close(&mut self) {
        self.text.extend(TAIL);
    }

    /// Bytes that have not been taken.
    pub const fn len(&self) -> usize {
        self.text.len()
    }

    /// Takes what has been written since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.text)
    }
}
