//! Compressed input, told by its first bytes and not by its name, decompressed as it is read.

use std::io::{self, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that tell the compression.
const MAGIC: usize = 6;
const CHUNK: usize = 64 << 10;
/// Memory that an .xz file may ask for.
const XZ_MEMORY: u64 = 1 << 30;

/// A stream of bytes that may move between threads.
pub type Bytes = Box<dyn Read + Send>;

/// How a file is compressed.
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
    /// How the names of compressed files end.
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

/// The content of `input`, and how it was compressed. `taken` counts the compressed bytes read.
///
/// # Errors
/// If the input can't be read, or is an archive that must be unpacked first.
pub fn decompress(input: Bytes, taken: &Arc<AtomicU64>) -> io::Result<(Bytes, Compression)> {
    let mut input = Counted { input, taken: Arc::clone(taken) };
    let mut magic = Vec::with_capacity(MAGIC);
    input.by_ref().take(MAGIC as u64).read_to_end(&mut magic)?;
    let compression = Compression::of(&magic);
    if magic.starts_with(b"PK\x03\x04") || magic.starts_with(b"7z\xbc\xaf") {
        return Err(io::Error::other("an archive; expected a single file: unpack it first"));
    }
    let whole = Cursor::new(magic).chain(input);
    Ok((decoder(whole, compression)?, compression))
}

fn decoder(input: impl Read + Send + 'static, compression: Compression) -> io::Result<Bytes> {
    if compression == Compression::None {
        return Ok(Box::new(input));
    }
    let input = BufReader::with_capacity(CHUNK, input);
    Ok(match compression {
        Compression::None => Box::new(input),
        Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(input)),
        Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(input)),
        Compression::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(input)?),
        Compression::Xz => {
            let concatenated = liblzma::stream::CONCATENATED;
            let stream = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY, concatenated)?;
            Box::new(liblzma::bufread::XzDecoder::new_stream(input, stream))
        }
    })
}

/// Counts the bytes that pass.
struct Counted {
    input: Bytes,
    taken: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.taken.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}
