//! Format and compression of a file to be written, by its name.

use std::path::Path;

use super::format::Writer;
use crate::trace::decompress::Compression;

/// Format and compression of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Parquet, which is compressed inside.
    Parquet,
    /// A text format, by name.
    Text(&'static str, Compression),
}

impl Target {
    /// The names of all formats that can be written.
    pub fn formats() -> impl Iterator<Item = &'static str> {
        std::iter::once(PARQUET).chain(Writer::NAMES.iter().copied())
    }

    /// Picks the format of the file `path`: `format`, or else the extension of its name; an extension behind
    /// that names the compression: `x.msr.gz`.
    ///
    /// # Errors
    /// A sentence, if that is no format that can be written.
    pub fn of(path: &Path, format: Option<&str>) -> Result<Self, String> {
        let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let (stem, compression) = compression_of(&name);
        let extension = stem.rsplit_once('.').map(|(_, extension)| extension);
        let Some(format) = format.or(extension) else {
            return Err(format!("found no format; expected --to with {}", names()));
        };
        if format == PARQUET {
            return match compression {
                Compression::None => Ok(Self::Parquet),
                _ => Err("found Parquet, which is compressed inside; expected no compression \
                          around it"
                    .to_owned()),
            };
        }
        let known = Writer::NAMES.iter().find(|known| **known == format);
        let known = known.map(|known| Self::Text(known, compression));
        known.ok_or_else(|| format!("found format {format:?}; expected --to with {}", names()))
    }

    /// The name of the format.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Parquet => PARQUET,
            Self::Text(name, _) => name,
        }
    }
}

const PARQUET: &str = "parquet";

fn names() -> String {
    Target::formats().collect::<Vec<_>>().join(", ")
}

fn compression_of(name: &str) -> (&str, Compression) {
    const EXTENSIONS: [(&str, Compression); 4] = [
        (".gz", Compression::Gzip),
        (".bz2", Compression::Bzip2),
        (".zst", Compression::Zstd),
        (".xz", Compression::Xz),
    ];
    let found = EXTENSIONS.iter().find_map(|(extension, compression)| {
        name.strip_suffix(extension).map(|stem| (stem, *compression))
    });
    found.unwrap_or((name, Compression::None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str, format: Option<&str>) -> Result<Target, String> {
        Target::of(Path::new(path), format)
    }

    #[test]
    fn by_extension_and_by_name() {
        assert_eq!(of("a/b.parquet", None), Ok(Target::Parquet));
        assert_eq!(of("b", Some("parquet")), Ok(Target::Parquet));
        assert_eq!(of("b.spc", None), Ok(Target::Text("spc", Compression::None)));
        assert_eq!(of("b.c.msr.zst", None), Ok(Target::Text("msr", Compression::Zstd)));
        assert_eq!(of("b.gz", Some("csv")), Ok(Target::Text("csv", Compression::Gzip)));
        assert_eq!(of("b.txt", Some("fiu")), Ok(Target::Text("fiu", Compression::None)));
    }

    #[test]
    fn says_what_can_be_written() {
        let problem = of("b.txt", None).unwrap_err();
        assert!(problem.starts_with("found format \"txt\"; expected --to with parquet, "));
        assert!(of("b", None).unwrap_err().starts_with("found no format"));
        assert!(of("b.parquet.gz", None).unwrap_err().contains("compressed inside"));
        assert!(of("b.hp_srt", None).is_err());
    }
}
