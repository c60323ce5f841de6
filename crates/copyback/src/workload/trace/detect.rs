//! Which format a file is in, from its first bytes or lines.

use super::fault::shown;
use super::format::{Parser, TraceFormat};

/// Lines looked at.
const LINES: usize = 100;

/// The text format that recognises most of the first lines in `head`. A damaged line among good ones
/// thus still leads to its format, whose parser then names the line.
///
/// # Errors
/// A sentence, if no format recognises any line.
pub fn detect(head: &[u8]) -> Result<TraceFormat, String> {
    let mut best = None;
    let mut most = 0;
    for (format, _) in Parser::FORMATS {
        let count = lines(head).filter(|line| Parser::recognises(format, line)).count();
        if count > most {
            (best, most) = (Some(format.clone()), count);
        }
    }
    best.ok_or_else(|| unknown(head))
}

/// The binary format that a file with this head is in, if any.
pub fn detect_binary(head: &[u8]) -> Option<TraceFormat> {
    let mut formats = Parser::FORMATS.iter().map(|(format, _)| format);
    formats.find(|format| Parser::recognises_start(format, head)).cloned()
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
    use crate::config::BlkparseAction;
    use crate::config::quantity::Size;

    #[test]
    fn tells_formats_by_their_lines() {
        let disksim = TraceFormat::Disksim { size_unit: Size(512) };
        let blkparse = TraceFormat::Blkparse { action: BlkparseAction::Queued };
        let cases: [(&[u8], _); 18] = [
            (b"128166386783630075,hm,0,Write,3164164096,40960,2896\n", TraceFormat::Msr),
            (b"0,303567,3584,w,0.000000\r\n", TraceFormat::Spc),
            (b"\n\n26.214000\t0\t303574\t1\t0\n", disksim),
            (b"text\n\nstart ; sector; length ; op\n", TraceFormat::Blkreplay),
            (b"0.4 ; 37766917 ; 14 ; W ; 0.0 ; 0.0", TraceFormat::Blkreplay),
            (b"8,0 3 11 0.009 697 C W 223490 + 8 [0]\n", blkparse.clone()),
            (b"# Maj,Mn\n8,0 3 1 0.009 697 m N cfq\n", blkparse),
            (b"fio version 2 iolog\nsda add\n", TraceFormat::FioIolog),
            (b"fio version 3 iolog\n0 sda add\n", TraceFormat::FioIolog),
            (b"467651 2522 kjournald 644661632 8 W 6 0 98b9\n", TraceFormat::Fiu),
            (b"419,W,8792731648,16384,1577808144360767\n", TraceFormat::Alibaba),
            (b"1538323200,4247200,128,1,1058\n", TraceFormat::Tencent),
            (b"Timestamp,Response,IOType,LUN,Offset,Size\n", TraceFormat::Systor17),
            (b"1455592200.006,,W,0,43188457472,4096\n", TraceFormat::Systor17),
            (b"0.007,0x1f016000,R,12036,4096,4,7012,0x40000002\n", TraceFormat::HpCsv),
            (b"dmd-1151,8388608,W,93897440,1024,44186.011543\n", TraceFormat::Pixel6a),
            (b"8\t\t1\t\t512\t\t5\t\t1.0\t\t1.1\t\t1.2\t\t1.3\n", TraceFormat::Nexus5),
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
             disksim, blkreplay, blkparse, fio_iolog, fiu, alibaba, tencent, systor17, hp_csv, \
             pixel6a, nexus5, ssdsim, mqsim, dtrs, csv, hp_srt, vscsi, blktrace, parquet, which workload.format can name"
        );
        assert!(detect(b"").is_err());
    }
}
