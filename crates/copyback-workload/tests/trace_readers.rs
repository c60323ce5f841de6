//! The trace readers as a user meets them: whole files, good and bad.

#![allow(missing_docs)]

#[path = "trace_readers/support.rs"]
mod support;

#[path = "trace_readers/blktrace.rs"]
mod blktrace;
#[path = "trace_readers/completed.rs"]
mod completed;
#[path = "trace_readers/faults.rs"]
mod faults;
#[path = "trace_readers/files.rs"]
mod files;
#[path = "trace_readers/fuzz.rs"]
mod fuzz;
#[path = "trace_readers/fuzz_target.rs"]
#[allow(dead_code)]
mod fuzz_target;
#[path = "trace_readers/hostile.rs"]
mod hostile;
#[path = "trace_readers/lenient.rs"]
mod lenient;
#[path = "trace_readers/real.rs"]
mod real;
#[path = "trace_readers/replay.rs"]
mod replay;
#[path = "trace_readers/shaping.rs"]
mod shaping;
#[path = "trace_readers/units.rs"]
mod units;
