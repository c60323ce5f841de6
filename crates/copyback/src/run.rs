//! The measured part of a simulation: the loop over instants, and the way of a request through the
//! drive.
//!
//! ```text
//!            ┌── write: link in ──┐                                 ┌── read: link out ──┐
//!  admitted ─┤                    ├─► controller ─► buffer / flash ─┤                    ├─► done
//!            └── read, trim, flush┘                                 └── others ──────────┘
//! ```

use serde_json::{Map, Value, json};

use crate::buffer::{Sectors, WriteBuffer, all_sectors};
use crate::config::Config;
use crate::error::Error;
use crate::event::{Agenda, Event, LinkDirection};
use crate::ftl::Ftl;
use crate::host::{Host, Link};
use crate::ids::{Lpn, RequestId};
use crate::metrics::{Recorder, Sample, WearStats, summary};
use crate::progress::{Phase, Progress, Status};
use crate::ssd::{Finished, Owner, Part, Parts, Ssd};
use crate::units::{Duration, Instant};
use crate::workload::Operation;

/// A run.
pub struct Run {
    /// What has been measured.
    pub recorder: Recorder,
    ssd: Ssd,
    host: Host,
    buffer: Option<WriteBuffer>,
    link: Option<Link>,
    agenda: Agenda,
    settings: Settings,
    now: Instant,
    /// Whether a request may have become able to enter the device since the host was last asked.
    host_may_go_on: bool,
    /// Page operations that have ended at this instant; kept to reuse its memory.
    finished: Vec<Finished>,
    violation: Option<String>,
}

#[derive(Debug, Clone, Copy)]
struct Settings {
    command_overhead: Duration,
    page_size: u64,
    audit: bool,
}

impl Run {
    /// A run on a prepared device. `first_order` is above the order of every write so far.
    ///
    /// # Errors
    /// If the trace is malformed.
    pub fn new(config: &Config, ftl: Ftl, first_order: u64, host: Host) -> Result<Self, Error> {
        let page_size = ftl.geometry.page_size;
        let mut run = Self {
            recorder: Recorder::new(&config.metrics),
            ssd: Ssd::new(config, ftl, first_order),
            host,
            buffer: WriteBuffer::new(&config.ssd.buffer, page_size),
            link: Link::new(&config.host),
            agenda: Agenda::default(),
            settings: Settings {
                command_overhead: config.host.command_overhead.0,
                page_size: u64::from(page_size),
                audit: config.audit,
            },
            now: Instant::START,
            host_may_go_on: true,
            finished: Vec::new(),
            violation: None,
        };
        run.settle()?;
        Ok(run)
    }

    /// Works through up to `budget` instants.
    ///
    /// # Errors
    /// If the trace is malformed, or an audited invariant breaks.
    pub fn advance(&mut self, budget: u64) -> Result<Status, Error> {
        for _ in 0..budget {
            let Some(next) = self.agenda.next_time() else { return self.end() };
            if self.host.is_done() && self.buffer.is_none() {
                return self.end();
            }
            self.enter(next)?;
            while let Some(event) = self.agenda.pop_at(next) {
                self.apply(event)?;
            }
            self.settle()?;
        }
        Ok(Status::Running)
    }

    /// Moves the clock to the next instant; rows of the series that end before it are closed.
    fn enter(&mut self, next: Instant) -> Result<(), Error> {
        if next >= self.recorder.series.due() {
            if self.recorder.series.overflows_at(next) {
                let seconds = next.as_secs_f64();
                return Err(Error::Input(format!(
                    "metrics.interval: gives more than eight million rows in the {seconds:.0} s \
                     simulated so far; choose a longer one, or none for one that adapts"
                )));
            }
            let sample = self.sample(next);
            self.recorder.series.close_rows(next, &sample);
        }
        self.now = next;
        Ok(())
    }

    /// The first phase of an instant: one state change.
    fn apply(&mut self, event: Event) -> Result<(), Error> {
        match event {
            Event::ArrayDone(die) => self.ssd.array_done(die, self.now),
            Event::TransferDone(channel) => self.ssd.transfer_done(channel, self.now),
            Event::LinkDone(direction) => self.link_done(direction),
            Event::ControllerDone(request) => self.controller_done(request),
            Event::Arrival(flow) => {
                self.host.arrived(flow);
                self.host_may_go_on = true;
            }
        }
        Ok(())
    }

    /// The second phase: everything that is free looks for work, until nothing changes.
    fn settle(&mut self) -> Result<(), Error> {
        loop {
            self.collect_finished();
            self.admit()?;
            if let Some(buffer) = &mut self.buffer {
                buffer.destage(&mut self.ssd, self.now);
            }
            self.ssd.arbitrate(self.now, &mut self.agenda);
            self.start_link();
            if !self.ssd.has_finished() {
                break;
            }
        }
        self.audit()
    }

    fn admit(&mut self) -> Result<(), Error> {
        while self.host_may_go_on {
            let Some(request) = self.host.admit(self.now, &mut self.agenda)? else {
                self.host_may_go_on = false;
                break;
            };
            let active = self.host.requests.get_mut(request).request;
            match &mut self.link {
                Some(link) if active.operation == Operation::Write => {
                    link.ask(LinkDirection::In, request, active.length);
                }
                _ => self.start_controller(request),
            }
        }
        Ok(())
    }

    fn start_link(&mut self) {
        let Some(link) = &mut self.link else { return };
        while let Some(transfer) = link.grant() {
            self.host.requests.get_mut(transfer.request).spend(Part::Bus, self.now);
            self.agenda.add(self.now + transfer.time, Event::LinkDone(transfer.direction));
        }
    }

    fn link_done(&mut self, direction: LinkDirection) {
        let Some(request) = self.link.as_mut().and_then(|link| link.release(direction)) else {
            return;
        };
        self.host.requests.get_mut(request).spend(Part::Service, self.now);
        match direction {
            LinkDirection::In => self.start_controller(request),
            LinkDirection::Out => self.complete(request),
        }
    }

    fn start_controller(&mut self, request: RequestId) {
        if self.settings.command_overhead.is_zero() {
            self.dispatch(request);
        } else {
            let done = self.now + self.settings.command_overhead;
            self.agenda.add(done, Event::ControllerDone(request));
        }
    }

    /// The controller has finished with a command, or with the DRAM of a request in the buffer.
    fn controller_done(&mut self, request: RequestId) {
        let active = self.host.requests.get_mut(request);
        if active.in_buffer {
            active.spend(Part::Buffer, self.now);
            self.after_pages(request);
        } else {
            active.spend(Part::Service, self.now);
            self.dispatch(request);
        }
    }

    /// Splits a request into page operations.
    fn dispatch(&mut self, request: RequestId) {
        let active = self.host.requests.get_mut(request).request;
        match active.operation {
            Operation::Read => self.dispatch_pages(request, Self::read_page),
            Operation::Write => self.dispatch_pages(request, Self::write_page),
            Operation::Trim => self.trim(request),
            Operation::Flush => self.flush(request),
        }
    }

    /// Hands in every page of a request. `hand_in` returns where the page is served.
    fn dispatch_pages(
        &mut self,
        request: RequestId,
        hand_in: fn(&mut Self, RequestId, Lpn, Sectors) -> Served,
    ) {
        let page_size = self.settings.page_size;
        let active = self.host.requests.get_mut(request);
        let (start, end) = (active.request.offset, active.request.offset + active.request.length);
        let pages = start / page_size..end.div_ceil(page_size);
        active.pages_left = (pages.end - pages.start) as u32;
        let mut in_buffer = 0;
        for page in pages {
            let sectors = sectors_of_page(page, page_size, start, end);
            match hand_in(self, request, Lpn(page as u32), sectors) {
                Served::Flash => {}
                Served::Buffer => in_buffer += 1,
                Served::BufferLater => self.host.requests.get_mut(request).in_buffer = true,
            }
        }
        if in_buffer > 0 {
            self.pages_buffered(request, in_buffer);
        }
    }

    fn read_page(&mut self, request: RequestId, lpn: Lpn, sectors: Sectors) -> Served {
        if let Some(buffer) = &mut self.buffer
            && buffer.read(lpn, sectors)
        {
            return Served::Buffer;
        }
        self.ssd.read(Owner::Host(request), lpn, self.now);
        Served::Flash
    }

    fn write_page(&mut self, request: RequestId, lpn: Lpn, sectors: Sectors) -> Served {
        match &mut self.buffer {
            Some(buffer) => match buffer.write(request, lpn, sectors) {
                true => Served::Buffer,
                false => Served::BufferLater,
            },
            None => {
                let whole = sectors == all_sectors(self.settings.page_size as u32);
                self.ssd.write(Owner::Host(request), lpn, whole, self.now);
                Served::Flash
            }
        }
    }

    /// Pages of a request have found their place in DRAM.
    fn pages_buffered(&mut self, request: RequestId, pages: u32) {
        let active = self.host.requests.get_mut(request);
        active.pages_left -= pages;
        if active.pages_left == 0 {
            active.in_buffer = true;
            let latency = self.buffer.as_ref().map_or(Duration::ZERO, |buffer| buffer.latency);
            self.agenda.add(self.now + latency, Event::ControllerDone(request));
        }
    }

    /// Forgets every page that the request covers whole.
    fn trim(&mut self, request: RequestId) {
        let page_size = self.settings.page_size;
        let range = self.host.requests.get_mut(request).request;
        let end = (range.offset + range.length) / page_size;
        for page in range.offset.div_ceil(page_size)..end {
            let lpn = Lpn(page as u32);
            if let Some(buffer) = &mut self.buffer {
                buffer.trim(lpn);
            }
            self.ssd.trim(lpn);
        }
        self.use_buffer_room();
        self.complete(request);
    }

    /// Without a volatile buffer an acknowledged write is durable already.
    fn flush(&mut self, request: RequestId) {
        let nothing_to_do = self.buffer.as_mut().is_none_or(|buffer| buffer.flush(request));
        if nothing_to_do {
            self.complete(request);
        }
    }

    /// Books the page operations that have ended.
    fn collect_finished(&mut self) {
        let mut finished = std::mem::take(&mut self.finished);
        self.ssd.take_finished(&mut finished);
        for page in &finished {
            match page.owner {
                Owner::Host(request) => self.page_finished(request, &page.parts),
                Owner::Destage => {
                    if let Some(buffer) = &mut self.buffer {
                        buffer.written_to_flash(page.lpn, &mut self.ssd);
                    }
                }
            }
        }
        self.finished = finished;
        self.use_buffer_room();
    }

    fn page_finished(&mut self, request: RequestId, parts: &Parts) {
        let active = self.host.requests.get_mut(request);
        active.pages_left -= 1;
        if active.pages_left == 0 {
            active.spend_parts(parts, self.now);
            self.after_pages(request);
        }
    }

    /// Writes and flushes that the buffer held up go on.
    fn use_buffer_room(&mut self) {
        while let Some(request) = self.buffer.as_mut().and_then(WriteBuffer::make_room) {
            self.pages_buffered(request, 1);
        }
        while let Some(request) = self.buffer.as_mut().and_then(WriteBuffer::ended_flush) {
            self.host.requests.get_mut(request).spend(Part::Buffer, self.now);
            self.complete(request);
        }
    }

    /// The last page of a request has been served.
    fn after_pages(&mut self, request: RequestId) {
        let active = self.host.requests.get_mut(request).request;
        match &mut self.link {
            Some(link) if active.operation == Operation::Read => {
                link.ask(LinkDirection::Out, request, active.length);
            }
            _ => self.complete(request),
        }
    }

    fn complete(&mut self, request: RequestId) {
        let completion = self.host.leave(request, self.now);
        self.host_may_go_on = true;
        if self.settings.audit && completion.parts.total() != completion.response {
            let problem = format!("the parts of a response do not add up: {completion:?}");
            self.violation.get_or_insert(problem);
        }
        self.recorder.completed(&completion, self.now);
    }

    fn audit(&mut self) -> Result<(), Error> {
        if !self.settings.audit {
            return Ok(());
        }
        let violation = self.violation.as_deref().or_else(|| self.ssd.violation());
        match violation {
            Some(problem) => Err(Error::Internal(format!("at {:?}: {problem}", self.now))),
            None => Ok(()),
        }
    }

    /// Nothing is left to happen.
    fn end(&mut self) -> Result<Status, Error> {
        if !self.host.is_done() {
            return Err(Error::Internal(format!(
                "{} requests can never be completed: no plane has room for their pages",
                self.host.requests.len()
            )));
        }
        if self.settings.audit {
            self.ssd.ftl.check().map_err(Error::Internal)?;
        }
        // The buffer may have been at work after the last request.
        let sample = self.sample(self.now);
        self.recorder.series.finish(self.now, &sample);
        Ok(Status::Done)
    }

    fn sample(&self, now: Instant) -> Sample {
        let counters = self.ssd.counters();
        let planes = self.ssd.ftl.free_blocks_by_plane();
        Sample {
            host_programs: counters.host_programs,
            gc_programs: counters.pages_moved,
            erases: counters.erases,
            collections: counters.collections,
            collecting: self.ssd.collecting_until(now),
            free_blocks_min: planes.clone().min().unwrap_or(0) as u64,
            free_blocks: planes.sum::<usize>() as u64,
        }
    }

    /// How far the run has come.
    pub fn progress(&self) -> Progress {
        Progress {
            phase: Phase::Run,
            fraction: self.host.consumed(self.now),
            simulated: self.now,
            requests: self.recorder.responses.all.count(),
            page_operations: self.ssd.counters().page_operations(),
        }
    }

    /// The summary of the run but for what the configuration says.
    pub fn summary(&self) -> Map<String, Value> {
        let counters = self.ssd.counters();
        let collecting = self.ssd.collecting_until(self.now);
        let wear = WearStats::of(self.ssd.ftl.erase_counts());
        let planes = self.ssd.plane_use(self.now);
        let mut summary = summary(&self.recorder, &counters, collecting, &planes, &wear);
        let simulator = json!({
            "events": self.agenda.scheduled(),
            "page_operations": counters.page_operations(),
        });
        summary.insert("simulator".into(), simulator);
        summary.insert("notes".into(), json!(self.host.notes()));
        summary
    }
}

/// Where a page of a request is served.
enum Served {
    /// By the flash; the drive says when it has ended.
    Flash,
    /// By the buffer, at once.
    Buffer,
    /// By the buffer, when there is room.
    BufferLater,
}

/// The sectors of `page` that the bytes from `start` to `end` touch.
fn sectors_of_page(page: u64, page_size: u64, start: u64, end: u64) -> Sectors {
    let first_byte = page * page_size;
    if start <= first_byte && first_byte + page_size <= end {
        return all_sectors(page_size as u32);
    }
    let first = start.saturating_sub(first_byte) / 512;
    let last = (end - first_byte).min(page_size).div_ceil(512);
    let below = |sector: u64| if sector >= 64 { Sectors::MAX } else { (1 << sector) - 1 };
    below(last) & !below(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_of_whole_and_partial_pages() {
        assert_eq!(sectors_of_page(0, 4096, 0, 4096), 0xff);
        assert_eq!(sectors_of_page(1, 4096, 512, 10_000), 0xff);
        assert_eq!(sectors_of_page(0, 4096, 512, 1024), 0b10);
        assert_eq!(sectors_of_page(1, 4096, 0, 4097), 0b1);
        assert_eq!(sectors_of_page(2, 4096, 8192 + 3584, 20_000), 0x80);
        assert_eq!(sectors_of_page(0, 32_768, 32_256, 32_768), 1 << 63);
    }
}
