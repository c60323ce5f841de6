//! Rows of the viewer: processes and threads of the trace event format, and their names.

use serde_json::json;

use crate::checkpoint::Checkpointed;
use crate::ids::{ChannelId, DieId, SsdId};
use crate::nand::Geometry;
use crate::units::Instant;

use super::event::{Document, Event, Phase, Row};

/// The process of the host; the drives follow.
const HOST: usize = 0;

/// The rows of every drive.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct Rows {
    dies: usize,
    channels: usize,
}

impl Rows {
    /// Rows of drives of this geometry.
    pub const fn new(geometry: &Geometry) -> Self {
        Self { dies: geometry.dies(), channels: geometry.channels as usize }
    }

    /// The requests.
    pub const fn host(self) -> Row {
        Row { pid: HOST, tid: 0 }
    }

    /// Row of a drive as a whole.
    pub const fn drive(self, device: SsdId) -> Row {
        Row { pid: HOST + 1 + device.index(), tid: 0 }
    }

    /// Row of a die's array.
    pub const fn array(self, device: SsdId, die: DieId) -> Row {
        Row { tid: 1 + 2 * die.index(), ..self.drive(device) }
    }

    /// When a die collects, below what its array does.
    pub const fn collections(self, device: SsdId, die: DieId) -> Row {
        Row { tid: 2 + 2 * die.index(), ..self.drive(device) }
    }

    /// Row of a channel.
    pub const fn channel(self, device: SsdId, channel: ChannelId) -> Row {
        Row { tid: 1 + 2 * self.dies + channel.index(), ..self.drive(device) }
    }

    /// A document with the names of all rows of so many drives.
    pub fn document(self, drives: usize) -> Document {
        let mut document = Document::new(&name("process_name", "host", self.host()));
        document.push(&name("thread_name", "requests", self.host()));
        for device in (0..drives).map(SsdId::from_index) {
            let drive = format!("drive {}", device.0);
            document.push(&name("process_name", &drive, self.drive(device)));
            for die in (0..self.dies).map(DieId::from_index) {
                let array = format!("die {}", die.0);
                document.push(&name("thread_name", &array, self.array(device, die)));
                let collections = format!("die {} collects", die.0);
                document.push(&name("thread_name", &collections, self.collections(device, die)));
            }
            for channel in (0..self.channels).map(ChannelId::from_index) {
                let text = format!("channel {}", channel.0);
                document.push(&name("thread_name", &text, self.channel(device, channel)));
            }
        }
        document
    }
}

fn name<'a>(what: &'a str, name: &str, row: Row) -> Event<'a> {
    Event {
        name: what,
        cat: "__metadata",
        ph: Phase::Metadata,
        ts: Instant::START,
        dur: None,
        row,
        id: None,
        args: json!({ "name": name }),
    }
}
