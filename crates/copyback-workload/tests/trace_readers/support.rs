//! Traces to read, made in memory or in a scratch folder.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use copyback_config::{TraceFormat, TraceWorkload};
use copyback_workload::trace::TraceSource;
use copyback_workload::{InputError, Request};

pub const GIB: u64 = 1 << 30;

/// A configuration with nothing but a path in it.
pub fn config(path: impl Into<PathBuf>) -> TraceWorkload {
    TraceWorkload::new(path)
}

/// Opens bytes as the file `x.csv` on a device of 1 GiB.
pub fn open_bytes(bytes: &[u8], config: &TraceWorkload) -> Result<TraceSource, InputError> {
    TraceSource::from_bytes(bytes, config, GIB)
}

/// Every request of a source.
pub fn drain(source: &mut TraceSource) -> Result<Vec<Request>, InputError> {
    let mut requests = Vec::new();
    while let Some(request) = source.next_request()? {
        requests.push(request);
    }
    Ok(requests)
}

/// Reads bytes as the file `x.csv`.
pub fn read(bytes: impl AsRef<[u8]>) -> Result<Vec<Request>, InputError> {
    drain(&mut open_bytes(bytes.as_ref(), &config("x.csv"))?)
}

/// Reads bytes as the file `x.csv` in a named format.
pub fn read_as(format: TraceFormat, bytes: &[u8]) -> Result<Vec<Request>, InputError> {
    let config = TraceWorkload { format: Some(format), ..config("x.csv") };
    drain(&mut open_bytes(bytes, &config)?)
}

/// The message that reading ends with.
pub fn message(bytes: impl AsRef<[u8]>) -> String {
    read(bytes).expect_err("should be refused").to_string()
}

/// A file of its own, removed when dropped.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn path(name: &str) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("copyback-{}-{count}-{name}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    pub fn file(name: &str, content: &[u8]) -> Self {
        let scratch = Self::path(name);
        std::fs::write(&scratch.0, content).unwrap();
        scratch
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// `bytes` under each compression that is read, with the name used in messages.
pub fn compressed(bytes: &[u8]) -> [(&'static str, Vec<u8>); 4] {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(bytes).unwrap();
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(bytes).unwrap();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
    xz.write_all(bytes).unwrap();
    [
        ("gzip", gzip.finish().unwrap()),
        ("bzip2", bzip2.finish().unwrap()),
        ("zstd", zstd::encode_all(bytes, 1).unwrap()),
        ("xz", xz.finish().unwrap()),
    ]
}

/// A real trace of the folder that COPYBACK_TRACES names; `None`, and a line that says so, where
/// it isn't there.
pub fn real_trace(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("COPYBACK_TRACES").map(PathBuf::from);
    let path = folder.map(|folder| folder.join(name)).filter(|path| path.exists());
    if path.is_none() {
        println!("skipped: {name} is absent (set COPYBACK_TRACES to its folder)");
    }
    path
}

pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
