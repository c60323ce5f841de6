//! Timeline of a window of time, for the viewers of the Chrome trace event format (Perfetto, chrome://tracing).
//!
//! ```text
//!  process 0, host:     requests (b/e, they overlap), requests in the array (C)
//!  process 1.., drives: a row a die for its array (X), one for its collections (X), a row a channel (X),
//!                       whole collections (b/e), commands and free blocks of each die (C)
//! ```
//!
//! The text is taken as the run goes, so that a long window takes no memory.

mod event;
mod rows;

use serde_json::{Map, Value, json};

use crate::checkpoint::Checkpointed;
use crate::config::{self, Resolved};
use crate::drive::Drive;
use crate::host::Completion;
use crate::ids::{DieId, RequestNumber, SsdId};
use crate::nand::{Command, Geometry};
use crate::ssd::{Activity, Class, Collected, Entry, Work};
use crate::units::Instant;

use super::slowest::breakdown;
use event::{Document, Event, Phase, Row};
use rows::Rows;

/// Text that waits to be taken, in bytes, beyond which a run pauses.
const FULL: usize = 1 << 20;

/// The timeline of a run.
#[derive(Debug, Checkpointed)]
pub struct Timeline {
    from: Instant,
    to: Option<Instant>,
    geometry: Geometry,
    rows: Rows,
    drives: Vec<DriveState>,
    document: Document,
    collections: u64,
    /// Requests in the array, as last told.
    outstanding: Option<usize>,
}

/// Work under way in a drive, and its state as last reported.
#[derive(Debug, Clone, Checkpointed)]
struct DriveState {
    /// Present work of each die's array.
    arrays: Vec<Option<Slice>>,
    collections: Vec<Option<Running>>,
    outstanding: Option<usize>,
    free_blocks: Vec<Option<usize>>,
}

/// Work of an array or a channel, with the requests that it is for.
#[derive(Debug, Clone, Checkpointed)]
struct Slice {
    begin: Instant,
    end: Instant,
    work: Work,
    requests: Vec<RequestNumber>,
}

/// A collection that has not ended.
#[derive(Debug, Clone, Checkpointed)]
struct Running {
    number: u64,
    collected: Collected,
    begin: Instant,
    /// Since when it has the die, if it does.
    runs_since: Option<Instant>,
}

impl Timeline {
    /// The timeline of `window`, with nothing in it but the names of the rows.
    pub fn new(window: config::Window, config: &Resolved) -> Self {
        let geometry = Geometry::new(config);
        let rows = Rows::new(&geometry);
        let drives = config.array.drives() as usize;
        let dies = geometry.dies();
        let state = DriveState {
            arrays: vec![None; dies],
            collections: vec![None; dies],
            outstanding: None,
            free_blocks: vec![None; dies],
        };
        Self {
            from: Instant::START + window.from.0,
            to: window.to.map(|to| Instant::START + to.0),
            document: rows.document(drives),
            geometry,
            rows,
            drives: vec![state; drives],
            collections: 0,
            outstanding: None,
        }
    }

    /// Whether so much waits to be taken that the run should pause.
    pub const fn is_full(&self) -> bool {
        self.document.len() >= FULL
    }

    /// Takes the text that has been written since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        self.document.take()
    }

    /// Whether what lasts from `begin` to `end` is to be seen in the window.
    fn shows(&self, begin: Instant, end: Instant) -> bool {
        end >= self.from && self.to.is_none_or(|to| begin < to)
    }

    /// A drive did something, for these requests.
    pub fn observe(&mut self, device: SsdId, entry: Entry, requests: Vec<RequestNumber>) {
        match entry {
            Entry::Array { die, at, time, work } => {
                let slice = Slice { begin: at, end: at + time, work, requests };
                let before = self.drive(device).arrays[die.index()].replace(slice);
                self.write_array(device, die, before, false);
            }
            Entry::Cut { die, at } => {
                let cut = self.drive(device).arrays[die.index()].take();
                let cut = cut.map(|slice| Slice { end: at, ..slice });
                self.write_array(device, die, cut, true);
            }
            Entry::Transfer { channel, at, time, work, .. } => {
                let row = self.rows.channel(device, channel);
                self.write_slice(row, &Slice { begin: at, end: at + time, work, requests }, false);
            }
            Entry::Waited(_) => {}
            Entry::Begins { die, at, collected } => {
                self.begin_collection(device, die, collected, at);
            }
            Entry::Runs { die, at } => self.collection_runs(device, die, at),
            Entry::Rests { die, at } => self.collection_rests(device, die, at),
            Entry::Ends { die, at } => self.end_collection(device, die, at, false),
        }
    }

    fn drive(&mut self, device: SsdId) -> &mut DriveState {
        &mut self.drives[device.index()]
    }

    fn write_array(&mut self, device: SsdId, die: DieId, slice: Option<Slice>, is_cut: bool) {
        if let Some(slice) = slice {
            self.write_slice(self.rows.array(device, die), &slice, is_cut);
        }
    }

    fn write_slice(&mut self, row: Row, slice: &Slice, is_cut: bool) {
        let Slice { begin, end, work, requests } = slice;
        if !self.shows(*begin, *end) {
            return;
        }
        let blocks = work.pages.iter().map(|page| self.geometry.block_of(*page).0);
        let mut args = Map::new();
        args.insert("command".into(), work.command.name().into());
        args.insert("blocks".into(), blocks.collect());
        if work.command != Command::Erase {
            let offsets = work.pages.iter().map(|page| self.geometry.page_offset(*page));
            args.insert("pages".into(), offsets.collect());
        }
        let planes = work.pages.iter().map(|page| self.geometry.plane_of(*page).0);
        args.insert("planes".into(), planes.collect());
        if !requests.is_empty() {
            args.insert("requests".into(), requests.iter().map(|number| number.0).collect());
        }
        for (key, applies) in [("suspended", is_cut), ("resumed", work.resumed)] {
            if applies {
                args.insert(key.into(), Value::Bool(true));
            }
        }
        self.document.push(&Event {
            name: &label(work),
            cat: work.class.name(),
            ph: Phase::Complete,
            ts: *begin,
            dur: Some(*end - *begin),
            row,
            id: None,
            args: Value::Object(args),
        });
    }

    fn begin_collection(
        &mut self,
        device: SsdId,
        die: DieId,
        collected: Collected,
        begin: Instant,
    ) {
        let running = Running { number: self.collections, collected, begin, runs_since: None };
        self.collections += 1;
        self.drive(device).collections[die.index()] = Some(running);
    }

    fn collection_runs(&mut self, device: SsdId, die: DieId, at: Instant) {
        if let Some(running) = &mut self.drive(device).collections[die.index()] {
            running.runs_since = Some(at);
        }
    }

    fn collection_rests(&mut self, device: SsdId, die: DieId, at: Instant) {
        let Some(running) = &mut self.drive(device).collections[die.index()] else { return };
        let Some(begin) = running.runs_since.take() else { return };
        let reason = Activity::from(running.collected.reason).name();
        let args = json!({ "collection": running.number, "blocks": blocks(&running.collected) });
        if self.shows(begin, at) {
            self.document.push(&Event {
                name: &format!("collecting ({})", reason.replace('_', " ")),
                cat: "collecting",
                ph: Phase::Complete,
                ts: begin,
                dur: Some(at - begin),
                row: self.rows.collections(device, die),
                id: None,
                args,
            });
        }
    }

    fn end_collection(&mut self, device: SsdId, die: DieId, at: Instant, is_cut: bool) {
        self.collection_rests(device, die, at);
        let Some(ended) = self.drive(device).collections[die.index()].take() else { return };
        if !self.shows(ended.begin, at) {
            return;
        }
        let Running { number, collected, begin, .. } = ended;
        let valid: Vec<_> = collected.victims.iter().map(|(_, valid)| *valid).collect();
        let args = json!({
            "die": die.0,
            "reason": Activity::from(collected.reason).name(),
            "kind": collected.kind.name(),
            "blocks": blocks(&collected),
            "planes": planes(&collected, &self.geometry),
            "valid_pages": valid,
            "unfinished": is_cut,
        });
        let row = self.rows.collections(device, die);
        self.span("collection", "collection", number, (begin, at), row, args);
    }

    /// A span that may overlap others: a begin and an end.
    fn span(
        &mut self,
        name: &str,
        cat: &str,
        id: u64,
        (begin, end): (Instant, Instant),
        row: Row,
        args: Value,
    ) {
        let id = Some(id);
        let ph = Phase::Begin;
        self.document.push(&Event { name, cat, ph, ts: begin, dur: None, row, id, args });
        let (ph, args) = (Phase::End, Value::Object(Map::new()));
        self.document.push(&Event { name, cat, ph, ts: end, dur: None, row, id, args });
    }

    /// A request has been completed at `now`.
    pub fn completed(&mut self, completion: &Completion, now: Instant) {
        let request = &completion.request;
        if !self.shows(request.arrival, now) {
            return;
        }
        let args = json!({
            "request": completion.number.0,
            "offset": request.offset,
            "bytes": request.length,
            "flow": completion.flow.0,
            "breakdown_us": breakdown(&completion.parts),
        });
        let span = (request.arrival, now);
        let id = completion.number.0;
        self.span(request.operation.name(), "request", id, span, self.rows.host(), args);
    }

    /// At the end of an instant, something has happened to `drive`.
    pub fn note_drive(&mut self, device: SsdId, drive: &Drive, now: Instant) {
        if !self.shows(now, now) {
            return;
        }
        let row = self.rows.drive(device);
        let commands = drive.outstanding();
        if self.drive(device).outstanding.replace(commands) != Some(commands) {
            self.count("commands in the drive", "commands", commands, row, now);
        }
        for die in (0..self.geometry.dies()).map(DieId::from_index) {
            let planes = self.geometry.planes_of_die(die);
            let free = planes.map(|plane| drive.ssd.backend().ftl.space().free_blocks(plane)).sum();
            if self.drive(device).free_blocks[die.index()].replace(free) != Some(free) {
                self.count(&format!("free blocks of die {}", die.0), "blocks", free, row, now);
            }
        }
    }

    /// At the end of an instant, so many requests are in the array.
    pub fn note_outstanding(&mut self, requests: usize, now: Instant) {
        if self.shows(now, now) && self.outstanding.replace(requests) != Some(requests) {
            let row = self.rows.host();
            self.count("requests in the drive or array", "requests", requests, row, now);
        }
    }

    fn count(&mut self, name: &str, key: &str, value: usize, row: Row, now: Instant) {
        let (cat, ph) = ("level", Phase::Counter);
        let args = Value::Object(Map::from_iter([(key.to_owned(), json!(value))]));
        self.document.push(&Event { name, cat, ph, ts: now, dur: None, row, id: None, args });
    }

    /// The run has ended: what is under way ends here.
    pub fn finish(&mut self, now: Instant) {
        for device in (0..self.drives.len()).map(SsdId::from_index) {
            for die in (0..self.geometry.dies()).map(DieId::from_index) {
                let left = self.drive(device).arrays[die.index()].take();
                let left = left.map(|slice| Slice { end: slice.end.min(now), ..slice });
                self.write_array(device, die, left, false);
                self.end_collection(device, die, now, true);
            }
        }
        self.document.close();
    }
}

/// Label of an operation in the viewer.
fn label(work: &Work) -> String {
    match (work.class, work.command) {
        (Class::HostRead, Command::Read) => "host read".to_owned(),
        (Class::HostWrite, Command::Program) => "host write".to_owned(),
        (class, command) => format!("{} {}", class.name().replace('_', " "), command.name()),
    }
}

fn blocks(collected: &Collected) -> Vec<u32> {
    collected.victims.iter().map(|(block, _)| block.0).collect()
}

fn planes(collected: &Collected, geometry: &Geometry) -> Vec<u32> {
    collected.victims.iter().map(|(block, _)| geometry.plane_of_block(*block).0).collect()
}
