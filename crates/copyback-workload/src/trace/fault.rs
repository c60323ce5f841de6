//! Faults of a line. Faults are rare, so they are boxed: a parsed line stays small.

use std::fmt;

/// Longest piece of the input that a message shows.
const SHOWN: usize = 40;

/// A fault in one line of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault(Box<Kind>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// A field that does not hold what it should.
    Field { field: &'static str, found: String, expected: &'static str },
    /// Wrong number of fields: too few or too many.
    Columns { found: usize, layout: &'static str },
    /// Anything else, as a whole sentence.
    Other(String),
}

impl Fault {
    /// `field` holds `found`, but should hold `expected`.
    #[cold]
    pub fn field(field: &'static str, found: &[u8], expected: &'static str) -> Self {
        Self(Box::new(Kind::Field { field, found: shown(found), expected }))
    }

    /// The line has `found` columns, but `layout` describes what it should have.
    #[cold]
    pub fn columns(found: usize, layout: &'static str) -> Self {
        Self(Box::new(Kind::Columns { found, layout }))
    }

    /// A fault in words.
    #[cold]
    pub fn other(problem: impl Into<String>) -> Self {
        Self(Box::new(Kind::Other(problem.into())))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Kind::Field { field, found, expected } => {
                write!(f, "{field}: found {found}; expected {expected}")
            }
            Kind::Columns { found, layout } => {
                write!(f, "columns: found {found}; expected {layout}")
            }
            Kind::Other(problem) => f.write_str(problem),
        }
    }
}

/// `bytes` quoted for a message: one printable line of bounded length.
pub fn shown(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "nothing".to_owned();
    }
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * SHOWN)]);
    let mut quoted = String::from("\"");
    for (i, c) in text.chars().enumerate() {
        if i == SHOWN {
            quoted.push('…');
            break;
        }
        if c == '\'' { quoted.push(c) } else { quoted.extend(c.escape_debug()) }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_any_bytes_on_one_short_line() {
        assert_eq!(shown(b"abc"), "\"abc\"");
        assert_eq!(shown(b""), "nothing");
        assert_eq!(shown(b"a\nb\0\"'"), r#""a\nb\0\"'""#);
        assert_eq!(shown(&[0xff]), "\"\u{fffd}\"");
        assert_eq!(shown(&[b'x'; 100_000]), format!("\"{}…\"", "x".repeat(40)));
    }
}
