//! Detection of a file's format, from its first bytes or lines.

use super::fault::shown;
use super::format::{Parser, Piece, TraceFormat};
use super::plausible::Reading;
use super::{recipe, totals, units};

/// Lines looked at.
const LINES: usize = 1000;

/// The text format that recognises most of the first lines in `head`. A damaged line among good ones
/// thus still leads to its format, whose parser then names the line.
///
/// Lines of numbers alone may be of several formats, which differ in their units only. Then the one
/// counts that makes sense; if none does, or several do, the user has to say. Its unit of time is
/// [settled](units::settled).
///
/// # Errors
/// A sentence, if no format, or not one alone, is certain.
pub fn detect(head: &[u8]) -> Result<TraceFormat, String> {
    if let Some(fault) = totals::of(head) {
        return Err(fault);
    }
    let mut fits = Vec::new();
    for (format, name) in Parser::FORMATS {
        let count = lines_of(head).filter(|line| Parser::recognises(format, line)).count();
        fits.push((format, *name, count));
    }
    let most = fits.iter().map(|(_, _, count)| *count).max().unwrap_or(0);
    if most == 0 {
        return Err(unknown(head));
    }
    // A damaged line may be one format's and not its look-alike's.
    fits.retain(|(_, _, count)| 10 * count >= 9 * most);
    match fits.as_slice() {
        [(format, _, _)] if !are_numbers_alone(head, format) => Ok((*format).clone()),
        _ => plausible(head, &fits),
    }
}

/// The only one of `fits` that makes sense of the first lines.
fn plausible(head: &[u8], fits: &[(&TraceFormat, &str, usize)]) -> Result<TraceFormat, String> {
    let readings = fits.iter().map(|(format, name, _)| {
        let format = units::settled(format, head);
        let reading = Reading::of(&format, lines_of(head));
        (format, *name, reading)
    });
    let readings: Vec<_> = readings.collect();
    let mut sound = readings.iter().filter(|(_, _, reading)| reading.odd().is_none());
    match (sound.next(), sound.next()) {
        (Some((format, _, _)), None) => Ok(format.clone()),
        (None, _) => Err(senseless(&readings)),
        (Some(_), Some(_)) => {
            let means = |(_, name, reading): &(_, &str, Reading)| format!("{name} ({reading})");
            let names: Vec<_> = readings.iter().map(means).collect();
            Err(format!(
                "the first lines fit several formats: {}; expected workload.format to name one",
                names.join(" and ")
            ))
        }
    }
}

fn senseless(readings: &[(TraceFormat, &str, Reading)]) -> String {
    let means = |(_, name, reading): &(_, &str, Reading)| {
        format!("{name}, which would mean {}", reading.odd().unwrap_or_default())
    };
    let names: Vec<_> = readings.iter().map(means).collect();
    format!(
        "the first lines look like {}; expected workload.format to name what they are, this format \
         or another",
        names.join(" and "),
    )
}

/// Whether no letter tells what the numbers on the lines of `format` are.
fn are_numbers_alone(head: &[u8], format: &TraceFormat) -> bool {
    let mut lines = lines_of(head).filter(|line| Parser::recognises(format, line));
    !lines.any(|line| line.iter().any(u8::is_ascii_alphabetic))
}

/// The binary format that a file with this head is in, if any.
pub fn detect_binary(head: &[u8]) -> Option<TraceFormat> {
    let mut formats = Parser::FORMATS.iter().map(|(format, _)| format);
    formats.find(|format| Parser::recognises_start(format, head)).cloned()
}

/// The first lines of `head` that are not blank.
pub fn lines_of(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|line| !line.is_empty()).take(LINES)
}

/// The formats in which nearly all of the first lines are requests, though none is certain.
fn possible(head: &[u8]) -> Vec<String> {
    let count = lines_of(head).count() as u64;
    let mut possible = Vec::new();
    for (format, name) in Parser::FORMATS {
        if Parser::new(format).wants() != Piece::Line {
            continue;
        }
        let reading = Reading::of(format, lines_of(head));
        if reading.requests > 0 && 10 * reading.requests >= 9 * count {
            possible.push(format!("{name} ({reading})"));
        }
    }
    possible
}

fn unknown(head: &[u8]) -> String {
    let line = shown(lines_of(head).next().unwrap_or_default());
    let possible = possible(head);
    if !possible.is_empty() {
        return format!(
            "no format is certain for lines like {line}, whose units they don't tell; expected \
             workload.format to name one, of these perhaps: {}",
            possible.join(", ")
        );
    }
    let names: Vec<_> = Parser::FORMATS.iter().map(|(_, name)| *name).collect();
    let recipe = recipe::of(head).map_or_else(String::new, |recipe| format!("{recipe}; or "));
    format!(
        "no known format has lines like {line}; expected {recipe}one of {}, which workload.format \
         can name",
        names.join(", "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use copyback_config::quantity::Size;
    use copyback_config::{BlkparseAction, TimeUnit};

    #[test]
    fn tells_formats_by_their_lines() {
        let disksim = TraceFormat::Disksim { size_unit: Size(512), time_unit: Some(TimeUnit::Ms) };
        let blkparse = TraceFormat::Blkparse { action: BlkparseAction::Queued, fields: None };
        let events = TraceFormat::BlockEvents { action: BlkparseAction::Issued };
        let unknown = TraceFormat::LibcachesimCsv { operation: None, object_unit: None };
        let cases: [(&[u8], _); 26] = [
            (b"128166386783630075,hm,0,Write,3164164096,40960,2896\n", TraceFormat::Msr),
            (b"0,303567,3584,w,0.000000\r\n", TraceFormat::Spc),
            (b"\n\n26.214000\t0\t303574\t1\t0\n", disksim),
            (b"text\n\nstart ; sector; length ; op\n", TraceFormat::Blkreplay),
            (b"0.4 ; 37766917 ; 14 ; W ; 0.0 ; 0.0", TraceFormat::Blkreplay),
            (b"8,0 3 11 0.009 697 C W 223490 + 8 [0]\n", blkparse.clone()),
            (b"# Maj,Mn\n8,0 3 1 0.009 697 m N cfq\n", blkparse),
            (
                b"# tracer: nop\nk-9 [6] .... 1.5: block_rq_issue: 8,0 W 0 () 8 + 8 [k]\n",
                events.clone(),
            ),
            (b"k 9 [6] 1.5: block:block_rq_issue: 8,0 W 0 () 8 + 8 0x2,0,4 [k]\n", events),
            (b"TIME(s)  COMM  PID  DISK  T SECTOR  BYTES  LAT(ms)\n", TraceFormat::Biosnoop),
            (b"0.000004  a b  1950  xvda1  W 13092560  4096  0.74\n", TraceFormat::Biosnoop),
            (b"0.000,134,1,4096,42242048,0.100,4096\n", TraceFormat::Flashnet),
            (b"BeginHeader\n", TraceFormat::Etw),
            (b" DiskRead,  8612, x.exe (3), 1, 0xf, 0x0, 0x1000\n", TraceFormat::Etw),
            (b"# time,object,size\n26,8301,4096\n", unknown),
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
            "no format is certain for lines like \"26214000 0 303574 7 0\", whose units they don't \
             tell; expected workload.format to name one, of these perhaps: disksim (3.5 KiB a \
             request, up to address 148.2 MiB, in 0.000 s), ssdsim (3.5 KiB a request, up to \
             address 148.2 MiB, in 0.000 s), mqsim (3.5 KiB a request, up to address 148.2 MiB, in \
             0.000 s), dtrs (3.5 KiB a request, up to address 148.2 MiB, in 0.000 s), replayer (7 B \
             a request, up to address 296.5 KiB, in 0.000 s)"
        );
        assert!(detect(b"").unwrap_err().starts_with("no known format has lines like nothing"));
    }

    /// Lines of five numbers; sizes are a number of 4 KiB.
    fn five(lines: u64, unit: u64, size: impl Fn(u64) -> u64) -> String {
        let line = |i: u64| {
            let offset = i * 7919 % 50_000 * 4096;
            format!("{i}.5 0 {} {} {}\n", offset / unit, size(i) * 4096 / unit, i % 2)
        };
        (0..lines).map(line).collect()
    }

    #[test]
    fn bytes_are_not_taken_for_sectors() {
        let mixed = |i: u64| 1 + i % 32;
        let sectors = TraceFormat::Disksim { size_unit: Size(512), time_unit: Some(TimeUnit::Ms) };
        assert_eq!(detect(five(500, 512, mixed).as_bytes()), Ok(sectors));
        assert_eq!(
            detect(five(500, 1, mixed).as_bytes()),
            Ok(TraceFormat::Replayer { time_unit: Some(TimeUnit::Ms) })
        );
        let damaged = format!("{}0.5 0 4097 4096 1\n", five(500, 1, mixed));
        assert_eq!(
            detect(damaged.as_bytes()),
            Ok(TraceFormat::Replayer { time_unit: Some(TimeUnit::Ms) })
        );
    }

    #[test]
    fn two_formats_that_both_fit_are_named() {
        let message = detect(b"0.5 0 1024 512 1\n7.5 0 2048 1024 0\n").unwrap_err();
        assert_eq!(
            message,
            "the first lines fit several formats: disksim (384.0 KiB a request, up to address 1.5 MiB, \
             in 0.007 s) and replayer (768 B a request, up to address 3.0 KiB, in 0.007 s); expected \
             workload.format to name one"
        );
    }

    #[test]
    fn what_no_drive_has_seen_is_not_taken_for_a_trace() {
        let message = detect(b"0.5 0 1025 5120 1\n7.5 0 2048 8192 0\n").unwrap_err();
        assert_eq!(
            message,
            "the first lines look like disksim, which would mean requests of 3.2 MiB on average; \
             expected workload.format to name what they are, this format or another"
        );
        let far = detect(b"0.5 0 275000000001 8 1\n").unwrap_err();
        assert!(far.contains("would mean addresses up to 128.1 TiB"), "{far}");
        let back: String = (0..50).map(|i| format!("{}.5 0 17 8 1\n", 9000 * (i % 2))).collect();
        let back = detect(back.as_bytes()).unwrap_err();
        assert!(back.contains("would mean 24 times that go back"), "{back}");
        let fast: String = (0..200).map(|i| format!("0.{i:06} 0 17 256 1\n")).collect();
        let fast = detect(fast.as_bytes()).unwrap_err();
        assert!(fast.contains("would mean more than 64.0 GiB a second"), "{fast}");
    }
}
