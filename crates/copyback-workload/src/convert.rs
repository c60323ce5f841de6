//! A workload written out as a trace.

use std::fs::File;
use std::path::Path;

use crate::Error;
use crate::Status;
use crate::trace::{Dropped, Record, Target, TraceWriter, WriteError};
use crate::{AddressSpace, Hint, InputError, Stream};
use copyback_config::Config;

/// A trace in the making. Call [`advance`](Self::advance) until it is done, then
/// [`finish`](Self::finish).
pub struct Conversion {
    stream: Stream,
    writer: TraceWriter,
    output: String,
    requests: u64,
}

impl Conversion {
    /// The workload of a checked configuration, for a device with the addresses of `space`, to be
    /// written to `output`, which is replaced.
    ///
    /// # Errors
    /// If a trace can't be opened or its first line is malformed; if the output can't be written.
    pub fn new(
        config: &Config,
        space: AddressSpace,
        output: &Path,
        target: &Target,
        dropped: Dropped,
    ) -> Result<Self, Error> {
        let stream = Stream::open(config, space)?;
        let name = output.display().to_string();
        let source = base_name(&stream.name());
        let writer = File::create(output).and_then(|file| match stream.names_handles() {
            true => TraceWriter::with_handles(file, target, dropped, &source),
            false => TraceWriter::new(file, target, dropped, &source),
        });
        let writer = writer.map_err(|error| unwritten(&name, &error))?;
        Ok(Self { stream, writer, output: name, requests: 0 })
    }

    /// Writes up to `budget` requests.
    ///
    /// # Errors
    /// If the trace turns out to be malformed, or a request can't be held or written.
    pub fn advance(&mut self, budget: u64) -> Result<Status, Error> {
        let origin_ns = self.stream.origin_ns();
        let names_handles = self.stream.names_handles();
        for _ in 0..budget {
            let Some(next) = self.stream.next_request()? else { return Ok(Status::Done) };
            self.requests += 1;
            let request = next.request;
            let time_ns = request.arrival.as_ns().checked_add(origin_ns);
            let time_ns =
                time_ns.ok_or_else(|| self.unheld("time: expected a smaller one".into()))?;
            let record = Record::new(time_ns, request.operation, request.offset, request.length)
                .on(next.device)
                .took(request.measured)
                .with(if names_handles { request.hint.and_then(Hint::handle) } else { None });
            self.writer.add(&record).map_err(|error| match error {
                WriteError::Unheld(problem) => self.unheld(problem),
                WriteError::Output(error) => unwritten(&self.output, &error),
            })?;
        }
        Ok(Status::Running)
    }

    /// Writes the rest of the file; what got lost, one line each.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn finish(self) -> Result<Vec<String>, Error> {
        let mut notes = self.stream.notes();
        let lost = self.writer.finish();
        notes.extend(lost.map_err(|error| unwritten(&self.output, &error))?);
        if !self.stream.is_timed() {
            notes.push("a closed loop has no times: they mean nothing in the trace".to_owned());
        }
        Ok(notes)
    }

    /// Share of the input that has been read.
    pub fn fraction(&self) -> f64 {
        self.stream.consumed()
    }

    /// Requests so far.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    fn unheld(&self, problem: String) -> Error {
        let place = format!("{}: request {}", self.stream.name(), self.requests);
        InputError { place, problem }.into()
    }
}

/// The name without its folders, which are nobody's business.
fn base_name(name: &str) -> String {
    let base = Path::new(name).file_name();
    base.map_or_else(|| name.to_owned(), |base| base.to_string_lossy().into_owned())
}

fn unwritten(name: &str, error: &std::io::Error) -> Error {
    Error::Machine(format!("{name}: can't be written: {error}"))
}
