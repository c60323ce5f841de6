//! Response times interval by interval, in the format of HdrHistogram logs.
//!
//! A line holds the histogram of the reads or of the writes that were completed in an interval, in
//! nanoseconds. Only the interval under way is held as histograms; those before it are text, which
//! [`LatencyLog::take`] hands out.

use std::time::{Duration as StdDuration, UNIX_EPOCH};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};

use crate::checkpoint::Checkpointed;
use crate::units::{Duration, Instant};
use crate::workload::Operation;

use super::latency::DIGITS;

/// Lines before the first interval; `#` is put before each, and the start time comes after them.
const HEADER: [&str; 2] = [
    "Response times simulated by Copyback, in nanoseconds; times are simulated seconds",
    "[Histogram log format version 1.3]",
];
const LEGEND: &str =
    "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";

/// A log under way.
#[derive(Checkpointed)]
pub struct LatencyLog {
    interval: Duration,
    /// Of the interval under way.
    start: Instant,
    reads: Histogram<u64>,
    writes: Histogram<u64>,
    #[checkpoint(skip)]
    serializer: V2DeflateSerializer,
    text: Vec<u8>,
}

impl LatencyLog {
    /// A log without intervals.
    pub fn new(interval: Duration) -> Self {
        let histogram = || Histogram::new(DIGITS).expect("three digits are allowed");
        let mut log = Self {
            interval,
            start: Instant::START,
            reads: histogram(),
            writes: histogram(),
            serializer: V2DeflateSerializer::new(),
            text: Vec::new(),
        };
        log.begin();
        log
    }

    fn begin(&mut self) {
        let mut builder = IntervalLogWriterBuilder::new();
        for line in HEADER {
            builder.add_comment(line);
        }
        builder
            .with_start_time(UNIX_EPOCH)
            .begin_log_with(&mut self.text, &mut self.serializer)
            .expect("memory takes what is written");
        self.text.extend_from_slice(LEGEND.as_bytes());
    }

    /// A request has been completed at `now`.
    pub fn completed(&mut self, operation: Operation, response: Duration, now: Instant) {
        if now >= self.start + self.interval {
            self.end_interval();
            self.start = Instant::START + self.interval * (now.as_ns() / self.interval.as_ns());
        }
        let histogram = match operation {
            Operation::Read => &mut self.reads,
            Operation::Write => &mut self.writes,
            Operation::Trim | Operation::Flush => return,
        };
        histogram.record(response.as_ns()).expect("the histogram grows with its values");
    }

    /// Writes the interval under way and begins another; one without requests has no lines.
    pub fn end_interval(&mut self) {
        let std = |duration: Duration| StdDuration::from_nanos(duration.as_ns());
        let (start, length) = (std(self.start - Instant::START), std(self.interval));
        let mut writer = IntervalLogWriterBuilder::new()
            .begin_log_with(&mut self.text, &mut self.serializer)
            .expect("memory takes what is written");
        for (name, histogram) in [("read", &mut self.reads), ("write", &mut self.writes)] {
            if !histogram.is_empty() {
                writer
                    .write_histogram(histogram, start, length, Tag::new(name))
                    .expect("memory takes what is written");
                histogram.reset();
            }
        }
    }

    /// The text since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.text)
    }
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    use super::*;

    #[test]
    fn each_interval_has_its_reads_and_writes_and_empty_ones_have_no_line() {
        let mut log = LatencyLog::new(Duration::from_us(1000));
        let at = |us: u64| Instant::from_ns(us * 1000);
        for (operation, response, now) in [
            (Operation::Read, 70, 10),
            (Operation::Write, 900, 999),
            (Operation::Flush, 5, 999),
            (Operation::Read, 71, 3000),
        ] {
            log.completed(operation, Duration::from_us(response), at(now));
        }
        log.end_interval();
        let text = log.take();
        assert!(log.take().is_empty());
        let entries = IntervalLogIterator::new(&text).map(|entry| entry.expect("it can be read"));
        let lines: Vec<_> = entries
            .map(|entry| match entry {
                LogEntry::StartTime(start) => format!("starts at {}", start.as_secs()),
                LogEntry::Interval(line) => format!(
                    "{} at {:?} for {:?} up to {}",
                    line.tag().expect("it has a tag").as_str(),
                    line.start_timestamp(),
                    line.duration(),
                    line.max()
                ),
                other => format!("{other:?}"),
            })
            .collect();
        assert_eq!(
            lines,
            [
                "starts at 0",
                "read at 0ns for 1ms up to 70015",
                "write at 0ns for 1ms up to 900095",
                "read at 3ms for 1ms up to 71039",
            ]
        );
    }
}
