//! Compressed input, told by its first bytes and not by its name, decompressed as it is read.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::GzDecoder;

/// Bytes that tell the compression.
const MAGIC: usize = 6;
const CHUNK: usize = 64 << 10;
/// Memory that an .xz file may ask for.
const XZ_MEMORY: u64 = 1 << 30;

/// A stream of bytes that may move between threads.
pub type Bytes = Box<dyn Read + Send>;

/// Compression of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// gzip, one member or several.
    Gzip,
    /// bzip2, one stream or several.
    Bzip2,
    /// Zstandard.
    Zstd,
    /// xz.
    Xz,
}

impl Compression {
    /// Suffixes of the names of compressed files.
    pub const SUFFIXES: [&str; 4] = [".gz", ".bz2", ".zst", ".xz"];

    /// The name of the format.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "plain",
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
            Self::Zstd => "zstd",
            Self::Xz => "xz",
        }
    }

    fn of(magic: &[u8]) -> Self {
        match magic {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Self::Bzip2,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            [0xfd, b'7', b'z', b'X', b'Z', 0] => Self::Xz,
            _ => Self::None,
        }
    }
}

/// Counts and digest of the bytes of a trace's files, beside their content.
#[derive(Debug, Default)]
pub struct Consumed {
    taken: AtomicU64,
    ignored: AtomicU64,
}

impl Consumed {
    /// Bytes read, compressed as they are.
    pub fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Bytes behind gzip data that are none, of the file with most of them.
    pub fn ignored(&self) -> u64 {
        self.ignored.load(Ordering::Relaxed)
    }
}

/// The content of `input`, and how it was compressed. `consumed` counts on the way.
///
/// # Errors
/// If the input can't be read, or is an archive that must be unpacked first.
pub fn decompress(input: Bytes, consumed: &Arc<Consumed>) -> io::Result<(Bytes, Compression)> {
    let mut input = Counted { input, consumed: Arc::clone(consumed) };
    let mut magic = Vec::with_capacity(MAGIC);
    input.by_ref().take(MAGIC as u64).read_to_end(&mut magic)?;
    let compression = Compression::of(&magic);
    if magic.starts_with(b"PK\x03\x04") || magic.starts_with(b"7z\xbc\xaf") {
        return Err(io::Error::other("an archive; expected a single file: unpack it first"));
    }
    let whole = Cursor::new(magic).chain(input);
    Ok((decoder(whole, compression, consumed)?, compression))
}

/// The whole content of a file, plain or compressed.
///
/// # Errors
/// As [`decompress`], or if the file is damaged.
pub fn read_whole(path: &Path) -> io::Result<Vec<u8>> {
    let (mut content, _) = decompress(Box::new(File::open(path)?), &Arc::default())?;
    let mut whole = Vec::new();
    content.read_to_end(&mut whole)?;
    Ok(whole)
}

fn decoder(
    input: impl Read + Send + 'static,
    compression: Compression,
    consumed: &Arc<Consumed>,
) -> io::Result<Bytes> {
    if compression == Compression::None {
        return Ok(Box::new(input));
    }
    let input = BufReader::with_capacity(CHUNK, input);
    Ok(match compression {
        Compression::None => Box::new(input),
        Compression::Gzip => Box::new(Members::new(input, Arc::clone(consumed))),
        Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(input)),
        Compression::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(input)?),
        Compression::Xz => {
            let concatenated = liblzma::stream::CONCATENATED;
            let stream = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY, concatenated)?;
            Box::new(liblzma::bufread::XzDecoder::new_stream(input, stream))
        }
    })
}

/// The members of a gzip file, one after the other. What is behind the last is passed over, as gzip
/// does: zeros, with which tapes and block devices pad, and anything else, which is counted.
struct Members<R> {
    /// The member that is read; `None` behind the last.
    member: Option<GzDecoder<R>>,
    consumed: Arc<Consumed>,
}

impl<R: BufRead> Members<R> {
    fn new(input: R, consumed: Arc<Consumed>) -> Self {
        Self { member: Some(GzDecoder::new(input)), consumed }
    }

    /// Goes on to the member behind the one that has ended, if there is one.
    fn go_on(&mut self) -> io::Result<()> {
        let Some(ended) = self.member.take() else { return Ok(()) };
        let mut rest = ended.into_inner();
        skip_zeros(&mut rest)?;
        // Where the second byte is not at hand, the decoder finds out.
        if matches!(rest.fill_buf()?, [0x1f] | [0x1f, 0x8b, ..]) {
            self.member = Some(GzDecoder::new(rest));
        } else {
            let ignored = io::copy(&mut rest, &mut io::sink())?;
            self.consumed.ignored.fetch_max(ignored, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let count = member.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            self.go_on()?;
        }
        Ok(0)
    }
}

fn skip_zeros(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let zeros = buffer.iter().position(|byte| *byte != 0).unwrap_or(buffer.len());
        let is_done = zeros < buffer.len() || buffer.is_empty();
        input.consume(zeros);
        if is_done {
            return Ok(());
        }
    }
}

/// Counts the bytes that pass.
struct Counted {
    input: Bytes,
    consumed: Arc<Consumed>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.consumed.taken.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}
