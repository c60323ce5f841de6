//! Which format a file is in, from its first lines.

use super::fault::shown;
use super::format::{Parser, TraceFormat};

/// Lines looked at.
const LINES: usize = 100;

/// The format that recognises most of the first lines in `head`. A damaged line among good ones
/// thus still leads to its format, whose parser then names the line.
///
/// # Errors
/// A sentence, if no format recognises any line.
pub fn detect(head: &[u8]) -> Result<TraceFormat, String> {
    let mut best = None;
    let mut most = 0;
    for &(format, _) in Parser::FORMATS {
        let count = lines(head).filter(|line| Parser::recognises(format, line)).count();
        if count > most {
            (best, most) = (Some(format), count);
        }
    }
    best.ok_or_else(|| unknown(head))
}

fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|line| !line.is_empty()).take(LINES)
}

fn unknown(head: &[u8]) -> String {
    let names: Vec<_> = Parser::FORMATS.iter().map(|(_, name)| *name).collect();
    format!(
        "no known format has lines like {}; expected one of {}, which workload.format can name",
        shown(lines(head).next().unwrap_or_default()),
        names.join(", "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_formats_by_their_lines() {
        let cases: [(&[u8], _); 6] = [
            (b"128166386783630075,hm,0,Write,3164164096,40960,2896\n", TraceFormat::Msr),
            (b"0,303567,3584,w,0.000000\r\n", TraceFormat::Spc),
            (b"\n\n26.214000\t0\t303574\t1\t0\n", TraceFormat::Disksim),
            (b"text\n\nstart ; sector; length ; op\n", TraceFormat::Blkreplay),
            (b"0.4 ; 37766917 ; 14 ; W ; 0.0 ; 0.0", TraceFormat::Blkreplay),
            (b"garbage\n0,303567,3584,w,0.000000\n", TraceFormat::Spc),
        ];
        for (head, format) in cases {
            assert_eq!(detect(head), Ok(format), "{}", String::from_utf8_lossy(head));
        }
    }

    #[test]
    fn refuses_to_guess() {
        assert_eq!(
            detect(b"\n26214000 0 303574 7 0\n").unwrap_err(),
            "no known format has lines like \"26214000 0 303574 7 0\"; expected one of msr, spc, \
             disksim, blkreplay, which workload.format can name"
        );
        assert!(detect(b"").is_err());
    }
}
