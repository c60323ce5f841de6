//! The files that blktrace writes for each processor, against the one that holds all their events.

use std::fs;
use std::path::{MAIN_SEPARATOR, PathBuf};

use copyback_config::{BlkparseAction, TraceFormat, TraceWorkload};
use copyback_workload::Request;
use copyback_workload::trace::TraceSource;

use crate::support::{GIB, Scratch, compressed, config, drain};

const PROCESSORS: u64 = 3;

/// An event that queues a request, with a payload now and then.
fn event(number: u64, time_ns: u64, processor: u64) -> Vec<u8> {
    let payload = vec![7; if number.is_multiple_of(5) { 12 } else { 0 }];
    let asked = if number.is_multiple_of(3) { 1 } else { 2 };
    let mut event = Vec::new();
    event.extend(0x6561_7407_u32.to_le_bytes());
    event.extend((number as u32).to_le_bytes());
    event.extend(time_ns.to_le_bytes());
    event.extend((number * 8 % 1_000_000).to_le_bytes());
    for value in [4096, 1 | asked << 16, 697, 8 << 20, processor as u32] {
        event.extend(value.to_le_bytes());
    }
    event.extend(0_u16.to_le_bytes());
    event.extend((payload.len() as u16).to_le_bytes());
    event.extend(payload);
    event
}

/// A stream of events in order of time, and the same cut up by processor. Some share a time: then
/// the lower processor comes first.
fn streams(events: u64) -> (Vec<u8>, Vec<Vec<u8>>) {
    let (mut whole, mut parts) = (Vec::new(), vec![Vec::new(); PROCESSORS as usize]);
    for number in 0..events {
        let processor = number * 7 / 2 % PROCESSORS;
        let event = event(number, 1000 + 100 * (4 * number + processor), processor);
        whole.extend(&event);
        parts[processor as usize].extend(&event);
    }
    for processor in 0..PROCESSORS {
        let last = event(events + processor, 1 << 40, processor);
        whole.extend(&last);
        parts[processor as usize].extend(&last);
    }
    (whole, parts)
}

/// A folder of its own, removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let path = Scratch::path("blktrace").0.clone();
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, content: &[u8]) {
        fs::write(self.0.join(name), content).unwrap();
    }

    fn open(&self, name: &str) -> Result<TraceSource, String> {
        self.open_as(None, name)
    }

    fn open_as(&self, format: Option<TraceFormat>, name: &str) -> Result<TraceSource, String> {
        let config = TraceWorkload { format, ..config(self.0.join(name)) };
        TraceSource::open(&config, GIB).map_err(|error| self.told(&error.to_string()))
    }

    fn read(&self, name: &str) -> Result<Vec<Request>, String> {
        drain(&mut self.open(name)?).map_err(|error| self.told(&error.to_string()))
    }

    fn told(&self, message: &str) -> String {
        message.replace(&format!("{}{}", self.0.display(), MAIN_SEPARATOR), "")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn files_of_processors_are_the_merged_stream() {
    let (whole, parts) = streams(20_000);
    let folder = Folder::new();
    folder.write("all", &whole);
    for (processor, part) in parts.iter().enumerate() {
        folder.write(&format!("sda.blktrace.{processor}"), part);
    }
    folder.write("sda.blktrace.3", b"");
    folder.write("sdb.blktrace.0", &parts[0]);
    folder.write("sda.blktrace.txt", b"text");
    let expected = folder.read("all").unwrap();
    assert_eq!(expected.len(), 20_003);
    for name in ["sda", "sda.blktrace", "sda.blktrace.0", "sda.blktrace.2"] {
        assert_eq!(folder.read(name).unwrap(), expected, "{name}");
    }
    let mut source = folder.open("sda").unwrap();
    drain(&mut source).unwrap();
    assert_eq!(source.consumed(), 1.0);
    let notes: Vec<_> = source.notes().iter().map(|note| folder.told(note)).collect();
    assert_eq!(notes, ["sda: 4 files were merged by time"]);
    let alone = folder.open("sdb.blktrace.0").unwrap();
    assert!(alone.notes().is_empty());
}

#[test]
fn all_files_are_read_again_in_each_round() {
    let (whole, parts) = streams(500);
    let folder = Folder::new();
    folder.write("all", &whole);
    for (processor, part) in parts.iter().enumerate() {
        folder.write(&format!("sda.blktrace.{processor}"), part);
    }
    let open = |name: &str| {
        let duration = Some("3000s".parse().unwrap());
        let config = TraceWorkload { duration, ..config(folder.0.join(name)) };
        TraceSource::open(&config, GIB).unwrap()
    };
    let (mut merged, mut whole) = (open("sda"), open("all"));
    let requests = drain(&mut merged).unwrap();
    assert_eq!(requests.len(), 503 + 503 + 500, "the last ones come after 1100 s");
    assert_eq!(requests, drain(&mut whole).unwrap());
    let notes: Vec<_> = merged.notes().iter().map(|note| folder.told(note)).collect();
    assert_eq!(notes, ["sda: 3 files were merged by time", "sda: the trace was started 3 times"]);
}

#[test]
fn compressed_files_are_merged_too() {
    let (whole, parts) = streams(500);
    let folder = Folder::new();
    folder.write("all", &whole);
    let suffixes = ["gz", "bz2", "zst"];
    for (processor, (part, suffix)) in parts.iter().zip(suffixes).enumerate() {
        let content = &compressed(part)[processor].1;
        folder.write(&format!("sda.blktrace.{processor}.{suffix}"), content);
    }
    assert_eq!(folder.read("sda").unwrap(), folder.read("all").unwrap());
    assert_eq!(folder.read("sda.blktrace.1.bz2").unwrap(), folder.read("all").unwrap());
}

#[test]
fn a_fault_names_the_file_that_it_is_in() {
    let (_, parts) = streams(300);
    let folder = Folder::new();
    for (processor, part) in parts.iter().enumerate() {
        folder.write(&format!("sda.blktrace.{processor}"), part);
    }
    let length = parts[1].len();
    folder.write("sda.blktrace.1", &parts[1][..length - 4]);
    let message = folder.read("sda").unwrap_err();
    let place = length - 48;
    assert_eq!(
        message,
        format!(
            "sda.blktrace.1:byte {place}: found 44 bytes at the end of the file; expected a record \
             of 48"
        )
    );
    folder.write("sda.blktrace.1", b"no events, but text that is longer than the head of one");
    let message = folder.open("sda").err().unwrap();
    assert_eq!(
        message,
        "sda.blktrace.1:byte 0: magic number: found 0x65206f6e; expected 0x65617407, blktrace's of \
         version 7"
    );
    folder.write("sda.blktrace.1", &compressed(&parts[1])[0].1[..100]);
    let message = folder.open("sda").err().unwrap();
    assert!(message.starts_with("sda.blktrace.1:byte "), "{message}");
    assert!(message.contains("the gzip data is cut short or damaged here"), "{message}");
    fs::remove_file(folder.0.join("sda.blktrace.1")).unwrap();
    fs::create_dir(folder.0.join("sda.blktrace.1")).unwrap();
    let message = folder.open("sda").err().unwrap();
    assert_eq!(message, "sda.blktrace.1: found a directory; expected a trace file");
}

#[test]
fn what_is_no_blktrace_stands_for_itself() {
    let (_, parts) = streams(300);
    let folder = Folder::new();
    for (processor, part) in parts.iter().enumerate() {
        folder.write(&format!("sda.blktrace.{processor}"), part);
    }
    folder.write("sda", b"0,0,512,r,0\n");
    assert_eq!(folder.read("sda").unwrap().len(), 1, "a file of this name comes first");
    let missing = folder.open("sdc").err().unwrap();
    assert_eq!(missing, "sdc: there is no such file; expected a trace");
    let other = folder.open_as(Some(TraceFormat::Vscsi), "sda.blktrace.0").err().unwrap();
    assert!(other.starts_with("sda.blktrace.0:byte 0: found no vscsi record"), "{other}");
    let action = BlkparseAction::Queued;
    let named = folder.open_as(Some(TraceFormat::Blktrace { action }), "sda.blktrace.0");
    assert_eq!(drain(&mut named.unwrap()).unwrap().len(), 303);
}
