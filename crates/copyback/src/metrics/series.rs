//! Rows over time. If no interval is configured, rows start fine and are merged two by two whenever
//! there are too many, so that a run of any length ends with about a thousand.

use std::borrow::Cow;

use crate::checkpoint::Checkpointed;
use crate::host::Completion;
use crate::ids::FlowId;
use crate::less::Less;
use crate::ssd::PacingTally;
use crate::units::{Duration, Instant, TotalTime};
use crate::workload::Operation;

use super::Written;
use super::class_rows::ClassRows;

/// Rows at which neighbours are merged.
const MOST_ROWS: usize = 2048;
/// Rows of a configured interval beyond which the run is refused rather than the memory filled: so many of one flow,
/// and of several as many as take no more memory.
const MOST_FIXED_ROWS: u64 = 1 << 23;
/// Width of the first rows when no interval is configured.
const FINEST: Duration = Duration::from_us(100);

/// Running totals and levels of the device, sampled at the end of each row.
#[derive(Debug, Clone, Copy, Default, Checkpointed)]
pub struct Sample {
    /// Pages programmed for the host.
    pub host_programs: u64,
    /// Pages moved.
    pub gc_programs: u64,
    /// Bytes programmed into flash, for whatever reason.
    pub media_bytes: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Collections begun because space was short, and ended.
    pub collections: u64,
    /// Fewest free blocks of a plane.
    pub free_blocks_min: u64,
    /// Free blocks of all planes.
    pub free_blocks: u64,
    /// Blocks that are bad, if any can be.
    pub bad_blocks: Option<u64>,
    /// Pages that an SLC cache could take and could hold, if there is one.
    pub slc_pages: Option<[u64; 2]>,
    /// Charges to writes, if there are any.
    pub pacing: Option<PacingTally>,
}

impl Sample {
    /// Adds up these drives and `others`.
    pub fn together(self, others: Self) -> Self {
        Self {
            host_programs: self.host_programs + others.host_programs,
            gc_programs: self.gc_programs + others.gc_programs,
            media_bytes: self.media_bytes + others.media_bytes,
            erases: self.erases + others.erases,
            collections: self.collections + others.collections,
            free_blocks_min: self.free_blocks_min.min(others.free_blocks_min),
            free_blocks: self.free_blocks + others.free_blocks,
            bad_blocks: self
                .bad_blocks
                .zip(others.bad_blocks)
                .map(|(these, others)| these + others),
            slc_pages: self
                .slc_pages
                .zip(others.slc_pages)
                .map(|(these, others)| [these[0] + others[0], these[1] + others[1]]),
            pacing: self.pacing.zip(others.pacing).map(|(these, others)| these.and(others)),
        }
    }
}

/// Names of the columns that [`Series::columns`] returns, in order.
pub const SAMPLE_COLUMNS: [&str; 21] = [
    "start_s",
    "end_s",
    "requests",
    "reads",
    "writes",
    "read_bytes",
    "write_bytes",
    "response_mean_us",
    "response_max_us",
    "read_mean_us",
    "read_max_us",
    "write_mean_us",
    "write_max_us",
    "host_programs",
    "gc_programs",
    "media_bytes",
    "erases",
    "collections",
    "gc_busy_us",
    "free_blocks_min",
    "free_blocks_total",
];

/// The column that the series has beside those if blocks can be bad.
pub const BAD_BLOCKS: &str = "bad_blocks";

/// The columns that it has if there is an SLC cache.
pub const SLC_COLUMNS: [&str; 2] = ["slc_free_pages", "slc_pages"];
/// The columns that it has if collections are paced: steps that the host's pages were charged in the row, and writes that
/// waited for steps.
pub const PACING: [&str; 2] = ["gc_steps_charged", "throttled_writes"];

/// Columns of the series by name.
pub type SeriesColumns = Vec<(Cow<'static, str>, Vec<f64>)>;

#[derive(Debug, Clone, Copy, Default, Checkpointed)]
struct Class {
    count: u64,
    bytes: u64,
    sum_ns: u128,
    max_ns: u64,
}

/// Requests that were completed in a row.
#[derive(Debug, Clone, Copy, Default, Checkpointed)]
struct Served {
    reads: Class,
    writes: Class,
}

#[derive(Debug, Clone, Copy, Default, Checkpointed)]
struct Row {
    served: Served,
    /// Totals at the end of the row.
    end: Sample,
    /// Die time spent collecting until then.
    collecting: TotalTime,
}

/// The series of a run.
#[derive(Debug, Checkpointed)]
pub struct Series {
    interval: Duration,
    fixed: bool,
    rows: Vec<Row>,
    current: Row,
    /// Completions of each flow, where there are several, in the same rows.
    flows: Vec<FlowRows>,
    /// Blocks that classes of the placement hold, in the same rows.
    classes: ClassRows,
    ends: Instant,
    finished_at: Instant,
}

/// Completions of one flow.
#[derive(Debug, Default, Checkpointed)]
struct FlowRows {
    rows: Vec<Served>,
    current: Served,
}

impl Series {
    /// No rows yet; rows of `interval`, or of a width that adapts, also of each of so many flows.
    pub fn new(interval: Option<Duration>, flows: usize) -> Self {
        let width = interval.unwrap_or(FINEST);
        Self {
            interval: width,
            fixed: interval.is_some(),
            rows: Vec::new(),
            current: Row::default(),
            flows: (0..flows).map(|_| FlowRows::default()).collect(),
            classes: ClassRows::default(),
            ends: Instant::START + width,
            finished_at: Instant::START,
        }
    }

    /// When the current row ends: [`close_rows`](Self::close_rows) is due then.
    pub const fn due(&self) -> Instant {
        self.ends
    }

    /// Whether the rows until `now` are too many to be kept.
    pub fn overflows_at(&self, now: Instant) -> bool {
        let of_flows = self.flows.len() * size_of::<Served>();
        let bytes = |rows: u64, of_row: usize| u128::from(rows) * of_row as u128;
        let rows = now.as_ns() / self.interval.as_ns();
        let most = bytes(MOST_FIXED_ROWS, size_of::<Row>());
        self.fixed && bytes(rows, size_of::<Row>() + of_flows) > most
    }

    /// Ends every row that ends at or before `now`. Nothing has changed since the last event, so
    /// one sample and the blocks `held` by each class serve them all, but for what grows with time: the die time
    /// spent `collecting` until the end of a row.
    pub fn close_rows(
        &mut self,
        now: Instant,
        (sample, held): (&Sample, &[u64]),
        collecting: impl Fn(Instant) -> TotalTime,
    ) {
        while self.ends <= now {
            self.current.end = *sample;
            self.current.collecting = collecting(self.ends);
            self.rows.push(std::mem::take(&mut self.current));
            self.flows.iter_mut().for_each(FlowRows::close);
            self.classes.close(held);
            if !self.fixed && self.rows.len() >= MOST_ROWS {
                self.halve();
            }
            self.ends = Instant::START + self.interval * (self.rows.len() as u64 + 1);
        }
    }

    /// Ends the last row at the end of the run.
    pub fn finish(
        &mut self,
        now: Instant,
        (sample, held): (&Sample, &[u64]),
        collecting: impl Fn(Instant) -> TotalTime,
    ) {
        self.close_rows(now, (sample, held), &collecting);
        self.finished_at = now;
        self.current.end = *sample;
        self.current.collecting = collecting(now);
        let rest = std::mem::take(&mut self.current);
        let begun = now > Instant::START + self.interval * self.rows.len() as u64;
        match self.rows.last_mut() {
            // What happens on the last edge belongs to the row that ends there.
            Some(last) if !begun => {
                *last = last.merged(Some(&rest));
                self.flows.iter_mut().for_each(FlowRows::close_into_last);
                self.classes.close_into_last(held);
            }
            _ => {
                self.rows.push(rest);
                self.flows.iter_mut().for_each(FlowRows::close);
                self.classes.close(held);
            }
        }
    }

    fn halve(&mut self) {
        self.interval = self.interval * 2;
        self.rows = self.rows.chunks(2).map(|pair| pair[0].merged(pair.get(1))).collect();
        self.flows.iter_mut().for_each(FlowRows::halve);
        self.classes.halve();
    }

    /// A request has been completed.
    pub fn completed(&mut self, completion: &Completion) {
        self.current.served.completed(completion);
        if let Some(flow) = self.flows.get_mut(completion.flow.index()) {
            flow.current.completed(completion);
        }
    }

    /// Bytes that had been written at the end of each row since `from`, or since the row in which that lies began.
    pub(super) fn written_since(&self, from: Instant) -> Vec<Written> {
        let earlier = (from - Instant::START).as_ns() / self.interval.as_ns();
        let so_far = self.rows.iter().scan(0, |host, row| {
            *host += row.served.writes.bytes;
            Some(Written { host: *host, media: row.end.media_bytes })
        });
        let mut so_far: Vec<_> = so_far.collect();
        let later = so_far.split_off((earlier as usize).min(so_far.len()));
        let before = so_far.last().copied().unwrap_or_default();
        later.into_iter().map(|end| end.less(before)).collect()
    }

    /// The rows as columns, named by [`SAMPLE_COLUMNS`], bad blocks if there can be any, what an SLC cache has left and has, [`PACING`] if there is one,
    /// and the blocks of each class if there are several. Counts are those of the row, blocks that are free, bad or of a class the level at its end; a mean or maximum of no request is NaN.
    pub fn columns(&self) -> SeriesColumns {
        let mut columns: SeriesColumns = SAMPLE_COLUMNS
            .iter()
            .map(|name| (Cow::from(*name), Vec::with_capacity(self.rows.len())))
            .collect();
        let mut before = Row::default();
        for (index, row) in self.rows.iter().enumerate() {
            let values = row.values(self.span(index), &before);
            for ((_, column), value) in columns.iter_mut().zip(values) {
                column.push(value);
            }
            before = *row;
        }
        let bad = self.rows.iter().map(|row| Some(row.end.bad_blocks? as f64));
        columns.extend(bad.collect::<Option<_>>().map(|bad| (Cow::from(BAD_BLOCKS), bad)));
        for (index, name) in SLC_COLUMNS.into_iter().enumerate() {
            let slc = self.rows.iter().map(|row| Some(row.end.slc_pages?[index] as f64));
            columns.extend(slc.collect::<Option<_>>().map(|slc| (Cow::from(name), slc)));
        }
        columns.extend(self.pacing_columns().into_iter().flatten());
        columns.extend(self.classes.columns());
        columns
    }

    fn pacing_columns(&self) -> Option<SeriesColumns> {
        let totals: Vec<PacingTally> =
            self.rows.iter().map(|row| row.end.pacing).collect::<Option<_>>()?;
        let mut before = PacingTally::default();
        let mut columns = PACING.map(|name| (Cow::from(name), Vec::with_capacity(totals.len())));
        for total in totals {
            let row = total.less(before);
            let values = [row.steps(), row.throttled as f64];
            columns.iter_mut().zip(values).for_each(|((_, column), value)| column.push(value));
            before = total;
        }
        Some(columns.into())
    }
}

impl Series {
    /// Begin and end of a row, in seconds.
    fn span(&self, row: usize) -> [f64; 2] {
        let start = Instant::START + self.interval * row as u64;
        [start, (start + self.interval).min(self.finished_at)].map(Instant::as_secs_f64)
    }

    /// Completions of each flow: the flow, and then the first of [`SAMPLE_COLUMNS`], those that tell of
    /// requests; flow by flow. Empty unless there are several.
    pub fn flow_columns(&self) -> FlowColumns {
        let mut columns = FlowColumns::default();
        for (flow, rows) in self.flows.iter().enumerate() {
            for (index, row) in rows.rows.iter().enumerate() {
                columns.flow.push(FlowId::from_index(flow).0);
                let values = self.span(index).into_iter().chain(row.values());
                for (column, value) in columns.served.iter_mut().zip(values) {
                    column.push(value);
                }
            }
        }
        columns
    }
}

/// Columns of [`SAMPLE_COLUMNS`] that tell of requests and not of the drive.
const OF_REQUESTS: usize = 13;

/// Completions of each flow over time.
#[derive(Debug, Clone, Default)]
pub struct FlowColumns {
    /// The flow.
    pub flow: Vec<u16>,
    /// The columns, named by [`FlowColumns::NAMES`].
    pub served: [Vec<f64>; OF_REQUESTS],
}

impl FlowColumns {
    /// Names of the columns.
    pub const NAMES: &'static [&'static str] = SAMPLE_COLUMNS.split_at(OF_REQUESTS).0;
}

impl FlowRows {
    fn close(&mut self) {
        self.rows.push(std::mem::take(&mut self.current));
    }

    fn close_into_last(&mut self) {
        let rest = std::mem::take(&mut self.current);
        if let Some(last) = self.rows.last_mut() {
            *last = last.merged(rest);
        }
    }

    fn halve(&mut self) {
        let pair = |pair: &[Served]| pair[0].merged(pair.get(1).copied().unwrap_or_default());
        self.rows = self.rows.chunks(2).map(pair).collect();
    }
}

impl Served {
    fn completed(&mut self, completion: &Completion) {
        let class = match completion.request.operation {
            Operation::Read => &mut self.reads,
            Operation::Write => &mut self.writes,
            Operation::Trim | Operation::Flush => return,
        };
        let ns = completion.response.as_ns();
        class.count += 1;
        class.bytes += completion.request.length;
        class.sum_ns += u128::from(ns);
        class.max_ns = class.max_ns.max(ns);
    }

    fn merged(self, other: Self) -> Self {
        Self { reads: self.reads.merged(other.reads), writes: self.writes.merged(other.writes) }
    }

    /// In the order of [`SAMPLE_COLUMNS`], behind begin and end.
    fn values(&self) -> [f64; OF_REQUESTS - 2] {
        let Self { reads, writes } = self;
        let all = reads.merged(*writes);
        [
            all.count as f64,
            reads.count as f64,
            writes.count as f64,
            reads.bytes as f64,
            writes.bytes as f64,
            all.mean_us(),
            all.max_us(),
            reads.mean_us(),
            reads.max_us(),
            writes.mean_us(),
            writes.max_us(),
        ]
    }
}

impl Class {
    fn merged(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            bytes: self.bytes + other.bytes,
            sum_ns: self.sum_ns + other.sum_ns,
            max_ns: self.max_ns.max(other.max_ns),
        }
    }

    fn mean_us(self) -> f64 {
        if self.count == 0 { f64::NAN } else { self.sum_ns as f64 / self.count as f64 / 1e3 }
    }

    fn max_us(self) -> f64 {
        if self.count == 0 { f64::NAN } else { self.max_ns as f64 / 1e3 }
    }
}

impl Row {
    fn merged(&self, next: Option<&Self>) -> Self {
        match next {
            None => *self,
            Some(next) => Self {
                served: self.served.merged(next.served),
                end: next.end,
                collecting: next.collecting,
            },
        }
    }

    /// In the order of [`SAMPLE_COLUMNS`].
    fn values(&self, span: [f64; 2], before: &Self) -> [f64; SAMPLE_COLUMNS.len()] {
        let end = &self.end;
        let collecting = self.collecting - before.collecting;
        let before = &before.end;
        let device = [
            end.host_programs.less(before.host_programs) as f64,
            end.gc_programs.less(before.gc_programs) as f64,
            end.media_bytes.less(before.media_bytes) as f64,
            end.erases.less(before.erases) as f64,
            end.collections.less(before.collections) as f64,
            collecting.as_us_f64(),
            end.free_blocks_min as f64,
            end.free_blocks as f64,
        ];
        let mut values = [0.0; SAMPLE_COLUMNS.len()];
        let all = span.into_iter().chain(self.served.values()).chain(device);
        values.iter_mut().zip(all).for_each(|(value, known)| *value = known);
        values
    }
}

#[cfg(test)]
mod tests {
    use crate::ids::{FlowId, RequestNumber, SsdId};
    use crate::outcome::Outcome;
    use crate::ssd::Parts;
    use crate::workload::Request;

    use super::*;

    /// Requests in each row of 100 us, of a run with requests that are completed at these times.
    fn requests(completed_us: &[u64]) -> Vec<f64> {
        let mut series = Series::new(Some(Duration::from_us(100)), 0);
        let mut now = Instant::START;
        for us in completed_us {
            now = Instant::from_ns(us * 1000);
            series.close_rows(now, (&Sample::default(), &[]), |_| TotalTime::ZERO);
            series.completed(&read());
        }
        series.finish(now, (&Sample::default(), &[]), |_| TotalTime::ZERO);
        let columns = series.columns();
        let found = columns.into_iter().find(|(name, _)| *name == "requests");
        found.expect("there is such a column").1
    }

    #[test]
    fn rows_of_many_flows_take_no_more_memory_than_those_of_one() {
        let after = |flows, rows: u64| {
            Series::new(Some(Duration::from_us(1)), flows)
                .overflows_at(Instant::from_ns(rows * 1000))
        };
        assert!(!after(0, MOST_FIXED_ROWS) && after(0, MOST_FIXED_ROWS + 1));
        let flows = 64;
        let held = |rows: u64| rows as usize * (size_of::<Row>() + flows * size_of::<Served>());
        let most = (1..).map(|power| 1 << power).take_while(|rows| !after(flows, *rows)).last();
        let most = held(most.expect("some rows are kept"));
        let allowed = MOST_FIXED_ROWS as usize * size_of::<Row>();
        assert!(most <= allowed && 2 * most > allowed);
    }

    fn read() -> Completion {
        let (arrival, operation) = (Instant::START, Operation::Read);
        Completion {
            number: RequestNumber(0),
            request: Request {
                arrival,
                operation,
                offset: 0,
                length: 4096,
                measured: None,
                hint: None,
            },
            flow: FlowId(0),
            device: SsdId(0),
            response: Duration::from_us(1),
            parts: Parts::default(),
            measured_from: Instant::START,
            outcome: Outcome::Done,
        }
    }

    #[test]
    fn what_happens_as_a_row_ends_belongs_to_the_next() {
        assert_eq!(requests(&[30, 100, 130]), [1.0, 2.0]);
    }

    #[test]
    fn the_rows_of_flows_add_up_to_those_of_all() {
        let mut series = Series::new(None, 3);
        let (mut now, sample) = (Instant::START, Sample::default());
        // So long that rows are merged twice; the last request ends on the edge of a row.
        for request in 0..8_000_u64 {
            now = Instant::from_ns(request * 100_000);
            series.close_rows(now, (&sample, &[]), |_| TotalTime::ZERO);
            let flow = FlowId((request % 7 % 3) as u16);
            series.completed(&Completion { flow, ..read() });
        }
        series.finish(now, (&sample, &[]), |_| TotalTime::ZERO);
        let (whole, flows) = (series.columns(), series.flow_columns());
        let rows = whole[0].1.len();
        assert_eq!(flows.flow.len(), 3 * rows);
        assert_eq!(flows.flow[rows], 1);
        for (column, (name, values)) in flows.served.iter().zip(&whole) {
            let by_flow = |row: usize| (0..3).map(move |flow| column[flow * rows + row]);
            for (row, value) in values.iter().enumerate() {
                match name.as_ref() {
                    "start_s" | "end_s" => assert!(by_flow(row).all(|of| of == *value), "{name}"),
                    "requests" | "reads" | "read_bytes" => {
                        assert_eq!(by_flow(row).sum::<f64>(), *value, "{name} {row}");
                    }
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn each_row_has_the_time_collected_until_its_own_end() {
        let mut series = Series::new(Some(Duration::from_us(100)), 0);
        // The die collects from 130 to 350; nothing happens between.
        let collecting = |at: Instant| {
            let end = at.min(Instant::from_ns(350_000));
            if end < Instant::from_ns(130_000) {
                TotalTime::ZERO
            } else {
                (end - Instant::from_ns(130_000)).into()
            }
        };
        let now = Instant::from_ns(350_000);
        series.close_rows(now, (&Sample::default(), &[]), collecting);
        series.finish(now, (&Sample::default(), &[]), collecting);
        let columns = series.columns();
        let found = columns.into_iter().find(|(name, _)| *name == "gc_busy_us");
        assert_eq!(found.expect("there is such a column").1, [0.0, 70.0, 100.0, 50.0]);
    }

    #[test]
    fn unless_the_run_ends_there() {
        assert_eq!(requests(&[30, 100]), [2.0]);
    }
}
