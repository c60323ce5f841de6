//! The rows of one file: read, parsed and judged. A damaged row ends the replay, or is skipped and
//! counted if the replay is lenient.

use super::clock::{Clock, ClockError, Inversions, Jumps, Rules, TOLERATED};
use super::completed::{Completed, Held};
use super::decompress::{Bytes, Compression};
use super::fault::Fault;
use super::format::{Parser, Piece, RowsRead};
use super::lines::{LineError, LineReader, MAX_LINE};
use super::names::are_names;
use super::pauses::Gaps;
use super::record::Record;
use crate::{InputError, Operation};
use copyback_config::TraceWorkload;
use copyback_config::units::Duration;

/// A row that is a request.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Time since the trace's first request.
    pub since_first: Duration,
    /// Record of the row.
    pub record: Record,
}

/// Answer of a queue that puts rows in order of arrival.
enum Released {
    /// The next.
    Row(Row),
    /// No row before another one is read.
    None,
    /// No more.
    End,
}

/// The rows of a file that is being read.
pub struct Rows {
    name: String,
    lines: LineReader<Bytes>,
    compression: Compression,
    parser: Parser,
    /// Rows that were read and not handed out, where the file is in order of completion.
    completed: Option<Completed>,
    /// The place of the row that was handed out last, if it is another than that read last.
    handed_out: Option<u64>,
    clock: Clock,
    rules: Rules,
    lenient: bool,
    findings: Findings,
    /// Findings of an earlier pass over the file, if there was one.
    before: Option<Findings>,
}

/// Oddities of the rows.
#[derive(Debug, Clone, Default)]
struct Findings {
    /// Notes of the parser.
    of_parser: Vec<String>,
    inversions: Inversions,
    jumps: Jumps,
    gaps: Option<Gaps>,
    /// Lines of column names that are not the header of the file.
    name_lines: u64,
    skipped: u64,
    /// Place and fault of the first row that was skipped.
    first_skipped: Option<String>,
}

impl Rows {
    /// The rows of `lines`, of a file called `name`.
    pub fn new(
        name: String,
        lines: LineReader<Bytes>,
        compression: Compression,
        parser: Parser,
        config: &TraceWorkload,
    ) -> Self {
        let rules = Rules::new(config.clock_jumps, config.lenient);
        Self {
            name,
            lines,
            compression,
            completed: parser.is_by_completion().then(Completed::default),
            handed_out: None,
            parser,
            clock: Clock::new(rules),
            rules,
            lenient: config.lenient,
            findings: Findings::default(),
            before: None,
        }
    }

    /// Starts again with `lines` and `parser`, the same file opened anew.
    pub fn restart(&mut self, lines: LineReader<Bytes>, parser: Parser) {
        self.before = Some(self.findings());
        self.findings = Findings::default();
        self.lines = lines;
        self.completed = parser.is_by_completion().then(Completed::default);
        self.handed_out = None;
        self.parser = parser;
        self.clock = Clock::new(self.rules);
    }

    /// The next row that is a request; `None` at the end of the file.
    ///
    /// # Errors
    /// If a row is damaged, unless it may be skipped; if the file can't be read.
    #[inline]
    pub fn next_row(&mut self) -> Result<Option<Row>, InputError> {
        loop {
            if self.completed.is_some() {
                match self.release()? {
                    Released::Row(row) => return Ok(Some(row)),
                    Released::End => return Ok(None),
                    Released::None => {}
                }
            }
            let wanted = self.parser.wants();
            let piece = match wanted {
                Piece::Line => self.lines.next_line(),
                Piece::Bytes(count) => self.lines.next_bytes(count),
                Piece::Nothing => Ok(Some(&b""[..])),
                Piece::End => Ok(None),
            };
            let line = match piece {
                Ok(Some(line)) => line,
                Ok(None) => {
                    self.at_end()?;
                    let Some(completed) = &mut self.completed else { return Ok(None) };
                    completed.end();
                    continue;
                }
                Err(error) => {
                    self.skip_line(&error)?;
                    continue;
                }
            };
            if wanted == Piece::Line && is_blank(line) {
                continue;
            }
            match self.parser.parse(line) {
                Ok(Some(record)) if self.completed.is_some() => self.hold(record),
                Ok(Some(record)) => match self.judge(&record) {
                    Ok(since_first) => return Ok(Some(Row { since_first, record })),
                    Err(fault) => self.skip(&fault, true)?,
                },
                Ok(None) => {}
                Err(_) if wanted == Piece::Line && self.parser.can_go_on() && are_names(line) => {
                    self.findings.name_lines += 1;
                }
                Err(fault) => self.skip(&fault, self.parser.can_go_on())?,
            }
        }
    }

    /// Keeps a request until no earlier one can follow.
    #[cold]
    fn hold(&mut self, record: Record) {
        let place = self.lines.number();
        if let Some(completed) = &mut self.completed {
            completed.add(Held { record, place });
        }
    }

    /// The next of the requests that are held, if no earlier one can follow.
    #[cold]
    fn release(&mut self) -> Result<Released, InputError> {
        self.handed_out = None;
        while let Some(completed) = &mut self.completed {
            let Some(Held { record, place }) = completed.next() else {
                return Ok(if completed.is_over() { Released::End } else { Released::None });
            };
            self.handed_out = Some(place);
            match self.judge(&record) {
                Ok(since_first) => return Ok(Released::Row(Row { since_first, record })),
                Err(fault) => self.skip(&fault, true)?,
            }
        }
        Ok(Released::None)
    }

    /// From the first request to when one would follow the latest.
    pub fn length(&self) -> Duration {
        self.clock.length()
    }

    /// Whether the file may name placement handles.
    pub fn names_handles(&self) -> bool {
        self.parser.names_handles()
    }

    /// Progress of a format that reads its file by itself.
    pub fn rows_read(&self) -> Option<RowsRead> {
        self.parser.rows_read()
    }

    /// The trace's time of its first request; zero before it.
    pub fn origin_ns(&self) -> u64 {
        self.clock.origin_ns()
    }

    /// Requests read from the start of the file.
    pub fn count(&self) -> u64 {
        self.clock.count()
    }

    /// Notes for the user, one line each.
    pub fn notes(&self) -> Vec<String> {
        let Findings { inversions, jumps, gaps, of_parser, name_lines, .. } = self.findings();
        let mut notes = Vec::from_iter(self.skipped_note());
        let mut note = |text: String| notes.push(format!("{}: {text}", self.name));
        of_parser.into_iter().for_each(&mut note);
        if name_lines > 0 {
            let lines =
                counted(name_lines, "line of column names was", "lines of column names were");
            note(format!("{lines} passed over"));
        }
        if inversions.count > 0 {
            note(self.inversions_note(&inversions));
        }
        if jumps.count > 0 {
            note(self.jumps_note(&jumps));
        }
        if let Some(gaps) = gaps {
            note(self.gaps_note(&gaps));
        }
        notes
    }

    fn inversions_note(&self, inversions: &Inversions) -> String {
        format!(
            "{} a time before an earlier line's (the first at {} {}, by at most {} s); such a time counts \
             as that line's",
            counted(inversions.count, "request has", "requests have"),
            self.unit(),
            inversions.first_line,
            inversions.worst.as_secs_f64(),
        )
    }

    fn jumps_note(&self, jumps: &Jumps) -> String {
        format!(
            "its clock was set {} (the first before {} {}): {} ahead and {} back in all, which \
             count for no time",
            counted(jumps.count, "time", "times"),
            self.unit(),
            jumps.first_line,
            in_words(jumps.ahead),
            in_words(jumps.back),
        )
    }

    fn gaps_note(&self, gaps: &Gaps) -> String {
        format!(
            "{} of its {} lie in {} (the longest, {}, before {} {}), so that rates over all of it mean \
             little; workload.clock_jumps = \"close\" leaves out pauses of more than an hour",
            in_words(gaps.together),
            in_words(gaps.whole),
            counted(gaps.count as u64, "pause", "pauses"),
            in_words(gaps.longest),
            self.unit(),
            gaps.line,
        )
    }

    /// Unit in which a place in the file is counted.
    fn unit(&self) -> &'static str {
        match self.parser.wants() {
            Piece::Line => "line",
            Piece::Bytes(_) => "byte",
            Piece::Nothing | Piece::End => "row",
        }
    }

    /// Note on the skipped rows: their number, and the first of them.
    pub fn skipped_note(&self) -> Option<String> {
        let Findings { skipped, first_skipped, .. } = self.findings();
        let first = first_skipped?;
        let skipped = counted(skipped, "damaged row was", "damaged rows were");
        Some(format!("{}: {skipped} skipped, the first at {first}", self.name))
    }

    /// `fault` at the last row.
    #[cold]
    pub fn fault(&self, fault: &Fault) -> InputError {
        let place = format!("{}:{}", self.name, self.place());
        InputError { place, problem: fault.to_string() }
    }

    /// A problem of the file as a whole.
    #[cold]
    pub fn whole_file(&self, problem: String) -> InputError {
        InputError { place: self.name.clone(), problem }
    }

    fn findings(&self) -> Findings {
        let now = || Findings {
            of_parser: self.parser.notes(),
            inversions: self.clock.inversions(),
            jumps: self.clock.jumps(),
            gaps: self.clock.gaps(),
            ..self.findings.clone()
        };
        self.before.clone().unwrap_or_else(now)
    }

    fn at_end(&self) -> Result<(), InputError> {
        self.parser.at_end().map_err(|fault| self.whole_file(fault.to_string()))
    }

    /// Checks a row for faults that do not depend on the device; returns its time since the first request.
    #[inline]
    fn judge(&mut self, record: &Record) -> Result<Duration, Fault> {
        if record.length == 0 && record.operation != Operation::Flush {
            return Err(Fault::field("size", b"0", "at least one byte"));
        }
        if record.measured.is_some_and(|measured| measured > Duration::LONGEST) {
            return Err(Fault::other("response: found more than 292 years; expected less"));
        }
        let row = self.parser.rows_read().map_or(0, |rows| rows.row);
        let read = self.lines.number().max(self.lines.position()).max(row);
        let place = self.handed_out.unwrap_or(read);
        self.clock.since_first(record.time_ns, place).map_err(clock_fault)
    }

    #[cold]
    fn skip(&mut self, fault: &Fault, can_go_on: bool) -> Result<(), InputError> {
        if !(self.lenient && can_go_on) {
            return Err(self.fault(fault));
        }
        self.findings.skipped += 1;
        if self.findings.first_skipped.is_none() {
            self.findings.first_skipped = Some(format!("{}: {fault}", self.place()));
        }
        Ok(())
    }

    /// Of what can't even be taken for a line, only one with a NUL byte can be skipped.
    #[cold]
    fn skip_line(&mut self, error: &LineError) -> Result<(), InputError> {
        if self.lenient && matches!(error, LineError::Nul) {
            self.lines.pass();
            let fault = Fault::other(line_problem(error, self.compression));
            return self.skip(&fault, self.parser.can_go_on());
        }
        Err(self.line_error(error))
    }

    /// Place of the last row: a line, a row, or a byte from 0 in a binary file.
    #[cold]
    fn place(&self) -> String {
        if let Some(RowsRead { row, .. }) = self.parser.rows_read() {
            return format!("row {row}");
        }
        match self.handed_out.unwrap_or(self.lines.number()) {
            0 => format!("byte {}", self.lines.position()),
            number => number.to_string(),
        }
    }

    #[cold]
    fn line_error(&self, error: &LineError) -> InputError {
        if let Some(placed) = placed(error) {
            return placed;
        }
        let place = match self.parser.wants() {
            Piece::Line => format!("{}:{}", self.name, self.lines.number() + 1),
            _ => format!("{}:byte {}", self.name, self.lines.position()),
        };
        InputError { place, problem: line_problem(error, self.compression) }
    }
}

/// A number with the noun and verb that go with it.
fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A duration in the largest unit that it has some of.
fn in_words(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match seconds {
        86_400.0.. => format!("{:.1} days", seconds / 86_400.0),
        3600.0.. => format!("{:.1} h", seconds / 3600.0),
        60.0.. => format!("{:.1} min", seconds / 60.0),
        _ => format!("{seconds:.1} s"),
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t'))
}

#[cold]
fn clock_fault(error: ClockError) -> Fault {
    Fault::other(match error {
        ClockError::Back(back) => format!(
            "time: found {} s before an earlier line's; expected lines in order of time (up to {} \
             s back is tolerated; workload.clock_jumps = \"close\" takes more for a clock that was \
             set)",
            back.as_secs_f64(),
            TOLERATED.as_secs_f64(),
        ),
        ClockError::Ahead(pause) => format!(
            "time: found {} days after the line before; expected at most 365",
            pause.as_ns() / 86_400_000_000_000,
        ),
    })
}

/// A fault whose place the stream itself knows, as that of several files does.
pub fn placed(error: &LineError) -> Option<InputError> {
    match error {
        LineError::Read(error) => error.get_ref()?.downcast_ref::<InputError>().cloned(),
        _ => None,
    }
}

/// Message for a piece that can't be read.
pub fn line_problem(error: &LineError, compression: Compression) -> String {
    match error {
        LineError::Read(error) if compression == Compression::None => {
            format!("can't be read: {error}")
        }
        LineError::Read(error) => {
            format!("the {} data is cut short or damaged here ({error})", compression.name())
        }
        LineError::TooLong => format!("found a line of more than {MAX_LINE} bytes; expected text"),
        LineError::Nul => "found a NUL byte; expected text".to_owned(),
        LineError::Cut { found, expected } => {
            format!("found {found} bytes at the end of the file; expected a record of {expected}")
        }
        LineError::Utf16 => "found text in UTF-16; expected ASCII or UTF-8".to_owned(),
    }
}
