//! Compressed output, whole only after [`Compressor::finish`].

use std::fs::File;
use std::io::{self, Write};

use crate::trace::decompress::Compression;

/// A file that is compressed as it is written.
pub enum Compressor {
    /// Not at all.
    None(File),
    /// gzip.
    Gzip(flate2::write::GzEncoder<File>),
    /// bzip2.
    Bzip2(bzip2::write::BzEncoder<File>),
    /// Zstandard.
    Zstd(zstd::stream::write::Encoder<'static, File>),
    /// xz.
    Xz(liblzma::write::XzEncoder<File>),
}

const XZ_LEVEL: u32 = 6;

impl Compressor {
    /// An empty file.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn new(file: File, compression: Compression) -> io::Result<Self> {
        Ok(match compression {
            Compression::None => Self::None(file),
            Compression::Gzip => {
                Self::Gzip(flate2::write::GzEncoder::new(file, flate2::Compression::default()))
            }
            Compression::Bzip2 => {
                Self::Bzip2(bzip2::write::BzEncoder::new(file, bzip2::Compression::default()))
            }
            Compression::Zstd => Self::Zstd(zstd::stream::write::Encoder::new(
                file,
                zstd::DEFAULT_COMPRESSION_LEVEL,
            )?),
            Compression::Xz => Self::Xz(liblzma::write::XzEncoder::new(file, XZ_LEVEL)),
        })
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::None(file) => file.write_all(bytes),
            Self::Gzip(file) => file.write_all(bytes),
            Self::Bzip2(file) => file.write_all(bytes),
            Self::Zstd(file) => file.write_all(bytes),
            Self::Xz(file) => file.write_all(bytes),
        }
    }

    /// Writes the end of the stream.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn finish(self) -> io::Result<File> {
        match self {
            Self::None(file) => Ok(file),
            Self::Gzip(file) => file.finish(),
            Self::Bzip2(file) => file.finish(),
            Self::Zstd(file) => file.finish(),
            Self::Xz(file) => file.finish(),
        }
    }
}
