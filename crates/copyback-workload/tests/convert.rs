//! Does a trace that is written read back as it was, and does Parquet hold what it should?

#[path = "convert/parquet.rs"]
mod parquet;
#[path = "convert/real.rs"]
mod real;
#[path = "convert/round_trip.rs"]
mod round_trip;
#[path = "convert/statistics.rs"]
mod statistics;
#[path = "trace_readers/support.rs"]
#[allow(dead_code)]
mod support;
