//! Lines of blkparse in a format of the user's: `blkparse -f "%D %T.%t %a %d %S %n\n"`.
//!
//! A `%` and a letter print a field, with a width between them perhaps; all else stands as it is. Of
//! the letters (read from blkparse's `blkparse_fmt.c` and its manual) those count here:
//!
//! ```text
//! %a action    %d operation, see rwbs    %D major,minor   %M major   %m minor
//! %S sector    %n sectors    %N bytes    %T seconds       %t nanoseconds of the second
//! ```
//!
//! A field ends where the next piece of text begins, or at a blank; blanks that only fill up its
//! width don't count.

use super::blkparse::Asked;
use super::devices::{device_number, major_minor};
use super::fault::Fault;
use super::number;
use super::record::SECTOR;

/// Description of a valid format, for messages.
pub const EXPECTED: &str = "a format of blkparse -f with %T, %d, %S and %n or %N, each once, and text or a \
     blank between two fields, such as \"%D %T.%t %a %d %S %n\"";

const NS_PER_S: u64 = 1_000_000_000;
/// Every letter that blkparse knows.
const LETTERS: &[u8] = b"acCdDeMmnNpPsStTuUz";

/// The pieces of a line, from the left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fields(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    /// The field of this letter.
    Field(u8),
    /// One blank or more.
    Blank,
    /// This text.
    Text(Vec<u8>),
}

impl Fields {
    /// The pieces of `format`.
    ///
    /// # Errors
    /// If a line would not tell what a request needs, or not where a field ends: see [`EXPECTED`].
    pub fn of(format: &str) -> Result<Self, ()> {
        let mut pieces = Vec::new();
        let mut rest = format.trim_ascii_end().as_bytes();
        while let Some((piece, more)) = piece(rest)? {
            pieces.push(piece);
            rest = more;
        }
        let pieces = joined(pieces);
        let count = |letter| pieces.iter().filter(|piece| **piece == Piece::Field(letter)).count();
        let once = |letter| count(letter) == 1;
        let is_apart = |pair: &[Piece]| !matches!(pair, [Piece::Field(_), Piece::Field(_)]);
        let has_all = once(b'T') && once(b'd') && once(b'S') && (once(b'n') || once(b'N'));
        let is_clear = b"atDMm".iter().all(|letter| count(*letter) <= 1);
        let fields = pieces.windows(2).all(is_apart) && has_all && is_clear;
        fields.then_some(Self(pieces)).ok_or(())
    }

    /// The event on a line.
    pub fn event<'a>(&self, line: &'a [u8]) -> Result<Asked<'a>, Fault> {
        let mut asked = Asked::default();
        let mut device = (0, 0);
        let mut rest = line.trim_ascii();
        for (at, piece) in self.0.iter().enumerate() {
            let Piece::Field(letter) = piece else {
                rest = behind(piece, rest).ok_or_else(|| other(piece, rest))?;
                continue;
            };
            let (text, more) = cut(rest, *letter, self.0.get(at + 1));
            rest = more;
            take(&mut asked, &mut device, *letter, text)?;
        }
        if device != (0, 0) {
            asked.device = device_number(device.0, device.1);
        }
        Ok(asked)
    }
}

/// The first piece of a format, and what is behind it.
fn piece(format: &[u8]) -> Result<Option<(Piece, &[u8])>, ()> {
    Ok(Some(match format {
        [] => return Ok(None),
        [b'%', b'%', rest @ ..] => (Piece::Text(vec![b'%']), rest),
        [b'%', rest @ ..] => {
            let rest = rest.strip_prefix(b"-").unwrap_or(rest);
            let width = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let (letter, rest) = rest[width..].split_first().ok_or(())?;
            if !LETTERS.contains(letter) {
                return Err(());
            }
            (Piece::Field(*letter), rest)
        }
        // Escapes, as they stand on a command line.
        [b' ' | b'\t', rest @ ..] | [b'\\', b't', rest @ ..] => (Piece::Blank, rest),
        [b'\n', ..] | [b'\\', b'n', ..] => {
            let rest = format.strip_prefix(b"\n").unwrap_or(&format[1..]);
            let rest = rest.strip_prefix(b"n").unwrap_or(rest);
            return if rest.is_empty() { Ok(None) } else { Err(()) };
        }
        [b'\\', ..] => return Err(()),
        [byte, rest @ ..] => (Piece::Text(vec![*byte]), rest),
    }))
}

/// The pieces with neighbouring texts and blanks as one.
fn joined(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut joined: Vec<Piece> = Vec::new();
    for piece in pieces {
        match (joined.last_mut(), &piece) {
            (Some(Piece::Text(text)), Piece::Text(more)) => text.extend(more),
            (Some(Piece::Blank), Piece::Blank) => {}
            _ => joined.push(piece),
        }
    }
    joined
}

/// Rest of the line behind a piece that is no field; `None` if the line does not have the piece.
fn behind<'a>(piece: &Piece, line: &'a [u8]) -> Option<&'a [u8]> {
    match piece {
        // At the end, and beside what fills up a field, it may have gone.
        Piece::Text(text) => line.trim_ascii_start().strip_prefix(text.as_slice()),
        _ => Some(line.trim_ascii_start()),
    }
}

/// The field at the start of `line`, which ends before `next`, and what is behind.
fn cut<'a>(line: &'a [u8], letter: u8, next: Option<&Piece>) -> (&'a [u8], &'a [u8]) {
    let line = line.trim_ascii_start();
    // The names of processes, and what they sent, may have blanks in them.
    let is_free = matches!(letter, b'C' | b'P');
    let end = match next {
        None if is_free => line.len(),
        Some(Piece::Text(text)) if is_free => {
            memchr::memmem::find(line, text).unwrap_or(line.len())
        }
        Some(Piece::Text(text)) if letter != b'D' => {
            memchr::memmem::find(line, text).unwrap_or(line.len()).min(blank(line))
        }
        Some(Piece::Text(text)) => device_end(line, text),
        _ => blank(line),
    };
    line.split_at(end)
}

fn blank(line: &[u8]) -> usize {
    line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len())
}

/// Finds where `major,minor` ends: the text behind it may have a comma, too.
fn device_end(line: &[u8], text: &[u8]) -> usize {
    let comma = memchr::memchr(b',', line).map_or(0, |comma| comma + 1);
    let end = memchr::memmem::find(&line[comma..], text).map_or(line.len(), |end| comma + end);
    end.min(blank(line))
}

fn take<'a>(
    asked: &mut Asked<'a>,
    device: &mut (u64, u64),
    letter: u8,
    text: &'a [u8],
) -> Result<(), Fault> {
    let whole = |field, unit: u64, expected| {
        let number = number::whole(text).and_then(|number| number.checked_mul(unit));
        number.ok_or_else(|| Fault::field(field, text, expected))
    };
    match letter {
        b'T' => {
            let seconds = whole("time", NS_PER_S, "a number of seconds")?;
            asked.time_ns = seconds
                .checked_add(asked.time_ns)
                .ok_or_else(|| Fault::field("time", text, "a number of seconds"))?;
        }
        b't' => {
            let ns = whole("time", 1, "nanoseconds of a second")?;
            if ns >= NS_PER_S {
                return Err(Fault::field("time", text, "nanoseconds of a second"));
            }
            asked.time_ns = asked.time_ns.saturating_add(ns);
        }
        b'a' => asked.action = Some(text),
        b'd' => asked.kind = text,
        b'S' => asked.offset = whole("sector", SECTOR, "a whole number of 512-byte sectors")?,
        b'n' => asked.length = whole("size", SECTOR, "a whole number of 512-byte sectors")?,
        b'N' => asked.length = whole("size", 1, "a whole number of bytes")?,
        b'D' => {
            let expected = "major,minor";
            let number = major_minor(text);
            asked.device = number.ok_or_else(|| Fault::field("device", text, expected))?;
        }
        b'M' => device.0 = whole("device", 1, "a whole number")?,
        b'm' => device.1 = whole("device", 1, "a whole number")?,
        _ => {}
    }
    Ok(())
}

#[cold]
fn other(piece: &Piece, found: &[u8]) -> Fault {
    let expected = match piece {
        Piece::Text(text) => super::fault::shown(text),
        _ => "a blank".to_owned(),
    };
    let found = super::fault::shown(found);
    Fault::other(format!(
        "line: found {found}; expected {expected}, as workload.format.fields says"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event<'a>(format: &str, line: &'a str) -> Result<Asked<'a>, String> {
        let fields = Fields::of(format).unwrap_or_else(|()| panic!("{format}"));
        fields.event(line.as_bytes()).map_err(|fault| fault.to_string())
    }

    fn read(format: &str, line: &str) -> (u64, u64, u64, u64) {
        let Asked { device, time_ns, offset, length, .. } = event(format, line).unwrap();
        (device, time_ns, offset / 512, length)
    }

    #[test]
    fn widths_texts_and_blanks() {
        let (device, expected) = (8 << 20 | 33, (8 << 20 | 33, 1_500_000_007, 64, 4096));
        for (format, line) in [
            ("%D %T.%t %a %d %S %n", "  8,33      1.500000007 D   R 64 8"),
            (
                "%D %2c %8s %5T.%9t %5p %2a %3d %S + %n [%C]\\n",
                "  8,33  1 7 1.500000007 9 D R 64 + 8 [a b]",
            ),
            ("%T.%t,%D,%d,%S,%N\n", "1.500000007,  8,33 ,R,64,4096"),
            ("%a:%d:%-12S:%n at %T.%t on %M-%m", "D:RA:64          :8 at 1.500000007 on 8-33"),
            ("%T\\t%t\\t%d\\t%S\\t%n\\t%M\\t%m", "1\t500000007\tR\t64\t8\t8\t33"),
        ] {
            assert_eq!(read(format, line), expected, "{format}");
        }
        assert_eq!(read("%T %d %S %n", "2 R 64 8"), (0, 2_000_000_000, 64, 4096), "{device}");
    }

    #[test]
    fn refuses_formats_that_tell_too_little() {
        for format in [
            "",
            "%T.%t %d %S",
            "%t %d %S %n",
            "%T.%t %S %n",
            "%T%t %d %S %n",
            "%T.%t %d %S %n %S",
            "%T.%t %d %S %n %",
            "%T.%t %d %S %n %q",
            "%T.%t %d %S %n\\x",
            "%T.%t\\n%d %S %n",
        ] {
            assert_eq!(Fields::of(format), Err(()), "{format}");
        }
    }

    #[test]
    fn says_what_is_wrong() {
        let fault = |line| event("%T.%t %d %S + %n", line).unwrap_err();
        assert_eq!(fault("x.5 R 8 + 8"), "time: found \"x\"; expected a number of seconds");
        assert_eq!(
            fault("1.1000000000 R 8 + 8"),
            "time: found \"1000000000\"; expected nanoseconds of a second"
        );
        assert_eq!(
            fault("1.5 R -8 + 8"),
            "sector: found \"-8\"; expected a whole number of 512-byte sectors"
        );
        assert_eq!(
            fault("1.5 R 8 8"),
            "line: found \"8\"; expected \"+\", as workload.format.fields says"
        );
        assert_eq!(fault(""), "time: found nothing; expected a number of seconds");
    }
}
