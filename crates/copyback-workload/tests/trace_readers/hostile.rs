//! Every format against every damage: what is refused, where, and that the message shows what was
//! found. One table of formats, one test a damage.

use copyback_config::{TraceFormat, TraceWorkload};
use copyback_workload::{InputError, Request};

use crate::fuzz::binary_samples;
use crate::support::{compressed, config, drain, open_bytes};

/// A format and a line of it with `TIME`, `OFFSET` and `LENGTH` in their places.
struct Sample {
    /// As in JSON.
    format: &'static str,
    head: &'static str,
    line: &'static str,
    /// Units of time in a second.
    second: u64,
    /// A length that the rest of the line fits to.
    length: &'static str,
    /// Whether rows stand in order of completion, so that arrivals may go back.
    by_completion: bool,
}

const fn sample(format: &'static str, line: &'static str, second: u64) -> Sample {
    Sample { format, head: "", line, second, length: "8", by_completion: false }
}

const SAMPLES: [Sample; 22] = [
    Sample {
        length: "4096",
        ..sample(r#""msr""#, "TIME,hm,0,Write,OFFSET,LENGTH,2896", 10_000_000)
    },
    sample(r#""spc""#, "1,OFFSET,LENGTH,r,TIME", 1),
    sample(r#"{"disksim":{}}"#, "TIME 0 OFFSET LENGTH 0", 1000),
    Sample {
        head: "start ; sector; length ; op\n",
        ..sample(r#""blkreplay""#, "TIME ; OFFSET ; LENGTH ; W ; 0.0 ; 0.0", 1)
    },
    sample(r#"{"blkparse":{}}"#, "8,0 1 1 TIME 7 Q W OFFSET + LENGTH [x]", 1),
    sample(r#"{"block_events":{}}"#, "TIME: block_rq_issue: 8,0 W 0 () OFFSET + LENGTH [k]", 1),
    Sample {
        head: "fio version 3 iolog\n0 d open\n",
        ..sample(r#""fio_iolog""#, "TIME d write OFFSET LENGTH", 1_000_000)
    },
    Sample {
        length: "4096",
        by_completion: true,
        ..sample(r#""fio_latency""#, "TIME, 88042, 1, LENGTH, OFFSET, 0", 1000)
    },
    sample(r#"{"blkparse":{"fields":"%D %T %a %d %S %n"}}"#, "8,0 TIME Q W OFFSET LENGTH", 1),
    sample(
        r#"{"libcachesim_csv":{"operation":"write","object_unit":"512B"}}"#,
        "TIME,OFFSET,LENGTH,-1",
        1,
    ),
    sample(r#""fiu""#, "TIME 25 k OFFSET LENGTH W 6 0 98b9cb7e", 1_000_000_000),
    sample(r#""alibaba""#, "419,W,OFFSET,LENGTH,TIME", 1_000_000),
    sample(r#""tencent""#, "TIME,OFFSET,LENGTH,1,1058", 1),
    sample(r#""systor17""#, "TIME,0.0003,R,3,OFFSET,LENGTH", 1),
    sample(r#""hp_csv""#, "TIME,0x1f,R,OFFSET,LENGTH,4,7012,0x4", 1),
    sample(r#""pixel6a""#, "k-1,83,W,OFFSET,LENGTH,TIME", 1),
    sample(r#""nexus5""#, "OFFSET\t\tLENGTH\t\t4096\t\t5\t\tTIME\t\t9e0\t\t9e0\t\t9e0", 1),
    sample(r#""ssdsim""#, "TIME 0 OFFSET LENGTH 0", 1_000_000_000),
    sample(r#""mqsim""#, "TIME 0 OFFSET LENGTH 0", 1_000_000_000),
    sample(r#""dtrs""#, "TIME 0 OFFSET LENGTH 0", 1_000_000),
    Sample { length: "4096", ..sample(r#"{"replayer":{}}"#, "TIME 0 OFFSET LENGTH 0", 1000) },
    Sample {
        head: "t,at,n,op\n",
        ..sample(
            r#"{"csv":{"time":"t:us","offset":"at:sectors","length":"n:bytes","operation":"op"}}"#,
            "TIME,OFFSET,LENGTH,W",
            1_000_000,
        )
    },
];

const FIELDS: [&str; 3] = ["TIME", "OFFSET", "LENGTH"];

impl Sample {
    fn format(&self) -> TraceFormat {
        serde_json::from_str(self.format).expect(self.format)
    }

    /// A line at so many seconds.
    fn line(&self, seconds: u64) -> String {
        self.line_with(seconds, "", "")
    }

    /// The same with `value` in the place of `field`.
    fn line_with(&self, seconds: u64, field: &str, value: &str) -> String {
        let time = (seconds * self.second).to_string();
        let line = self.line.replace("9e0", &time);
        let values = [(FIELDS[0], &*time), (FIELDS[1], "64"), (FIELDS[2], self.length)];
        values.iter().fold(line, |line, (name, good)| {
            line.replace(name, if *name == field { value } else { good })
        })
    }

    /// A file of two good lines and `third`.
    fn file(&self, third: &str) -> String {
        format!("{}{}\n{}\n{third}\n", self.head, self.line(20), self.line(21))
    }

    fn read(&self, bytes: impl AsRef<[u8]>) -> Result<Vec<Request>, InputError> {
        let config = TraceWorkload { format: Some(self.format()), ..config("x") };
        drain(&mut open_bytes(bytes.as_ref(), &config)?)
    }

    /// The message about the third line.
    fn refused(&self, third: &str) -> String {
        let error = self.read(self.file(third)).expect_err(third).to_string();
        let place = format!("x:{}: ", self.head.lines().count() + 3);
        let message = error.strip_prefix(&place);
        message.unwrap_or_else(|| panic!("{} {third:?}: {error}", self.format)).to_owned()
    }
}

#[test]
fn the_samples_are_good() {
    for sample in SAMPLES {
        let read = sample.read(sample.file(&sample.line(22)));
        assert_eq!(read.map(|requests| requests.len()), Ok(3), "{}", sample.format);
    }
}

#[test]
fn numbers_that_are_none_are_shown_with_what_is_expected() {
    let huge = "340282366920938463463374607431768211456";
    for sample in SAMPLES {
        for field in FIELDS {
            for value in ["-1", "x", "1.8E+11", "1e3", "0x10", "1,5", huge, "nan", "+1"] {
                if value == "1,5" && sample.line.contains(',') {
                    continue;
                }
                let message = sample.refused(&sample.line_with(22, field, value));
                let shown = message.contains(&format!("found \"{value}\""));
                assert!(shown, "{} {field}: {message}", sample.format);
                assert!(message.contains("; expected "), "{} {field}: {message}", sample.format);
            }
        }
    }
}

#[test]
fn addresses_and_sizes_have_no_fractions() {
    for sample in SAMPLES {
        for field in ["OFFSET", "LENGTH"] {
            let message = sample.refused(&sample.line_with(22, field, "8.5"));
            assert!(message.contains("found \"8.5\""), "{} {field}: {message}", sample.format);
        }
    }
}

#[test]
fn addresses_that_overflow_are_not_wrapped() {
    for sample in SAMPLES {
        for value in ["18446744073709551615", "9223372036854775807", "36028797018963968"] {
            let message = sample.refused(&sample.line_with(22, "OFFSET", value));
            let named = message.contains(value) || message.contains("offset: found bytes");
            assert!(named && message.contains("expected"), "{}: {message}", sample.format);
        }
    }
}

#[test]
fn times_that_go_back() {
    for sample in SAMPLES.into_iter().filter(|sample| !sample.by_completion) {
        let message = sample.refused(&sample.line(3));
        let expected = "time: found 18 s before an earlier line's; expected lines in order of time \
                        (up to 1 s back is tolerated; workload.clock_jumps = \"close\" takes more for a \
                        clock that was set)";
        assert_eq!(message, expected, "{}", sample.format);
    }
}

#[test]
fn requests_of_no_length() {
    for sample in SAMPLES {
        let message = sample.refused(&sample.line_with(22, "LENGTH", "0"));
        assert!(message.contains("expected"), "{}: {message}", sample.format);
    }
}

#[test]
fn wrong_columns() {
    for sample in SAMPLES {
        let line = sample.line(22);
        let place = line.rfind([',', ' ', '\t', ';']).expect("a line has columns");
        let first = line.find([',', ' ', '\t', ';']).expect("a line has columns");
        for wrong in [&line[..first], &line[first + 1..], "rubbish", "a b c d e f g h i j k"] {
            let message = sample.refused(wrong);
            assert!(message.contains("expected"), "{} {wrong:?}: {message}", sample.format);
        }
        // What stands last may be ignored by the format, so it may go, but not panic.
        let _ = sample.read(sample.file(&line[..place]));
    }
}

#[test]
fn line_ends_marks_and_an_end_without_one() {
    for sample in SAMPLES {
        let good = sample.file(&sample.line(22));
        let expected = sample.read(&good);
        let mixed = good.replacen('\n', "\r\n", 1) + "\r\n\n \n";
        for other in
            [good.trim_end(), &mixed, &good.replace('\n', "\r\n"), &format!("\u{feff}{good}")]
        {
            assert_eq!(sample.read(other), expected, "{} {other:?}", sample.format);
        }
    }
}

#[test]
fn files_cut_anywhere_give_a_request_less_or_a_message() {
    for sample in SAMPLES {
        let good = sample.file(&sample.line(22));
        for end in 0..good.len() {
            match sample.read(&good[..end]) {
                Ok(requests) => assert!((1..=3).contains(&requests.len()), "{}", sample.format),
                Err(error) => assert!(error.place.starts_with('x'), "{error}"),
            }
        }
    }
}

#[test]
fn files_of_nothing_or_of_something_else() {
    for sample in SAMPLES {
        let nothing = "x: found no requests; expected at least one";
        for empty in ["", "\n\n", "\u{feff}", " \r\n"] {
            assert_eq!(sample.read(empty).unwrap_err().to_string(), nothing, "{}", sample.format);
        }
        let spaced: Vec<u8> = sample.file("").bytes().flat_map(|byte| [byte, 0]).collect();
        for other in [&b"\x7fELF\x02\x01\x01\0\0\0"[..], &[0; 4096], &[0xff; 4096], &spaced] {
            let message = sample.read(other).unwrap_err().to_string();
            assert!(message.starts_with("x:") && message.contains("expected"), "{message}");
        }
    }
}

#[test]
fn compressed_rubbish() {
    for sample in SAMPLES {
        let good = sample.file(&sample.line(22));
        for (name, bytes) in compressed(good.as_bytes()) {
            assert_eq!(sample.read(&bytes).unwrap().len(), 3, "{} {name}", sample.format);
            let message = sample.read(&bytes[..bytes.len() - 3]).unwrap_err().to_string();
            assert!(message.contains(&format!("the {name} data is cut short")), "{message}");
            let rubbish = [&bytes[..8], &[0x5a; 200]].concat();
            let message = sample.read(rubbish).unwrap_err().to_string();
            assert!(message.contains(&format!("the {name} data is cut short")), "{message}");
        }
    }
}

#[test]
fn binary_files_cut_anywhere_or_followed_by_rubbish() {
    for (format, bytes) in binary_samples() {
        let read = |bytes: &[u8]| {
            let config = TraceWorkload { format: Some(format.clone()), ..config("x") };
            open_bytes(bytes, &config).and_then(|mut source| drain(&mut source))
        };
        assert_eq!(read(&bytes).unwrap().len(), 3);
        for end in 0..bytes.len() {
            match read(&bytes[..end]) {
                Ok(requests) => assert!((1..3).contains(&requests.len()), "{format:?}"),
                Err(error) => assert!(error.problem.contains("expected"), "{error}"),
            }
        }
        let tail = [&bytes[..], &[0xa5; 200]].concat();
        let message = read(&tail).unwrap_err().to_string();
        assert!(message.starts_with(&format!("x:byte {}: ", bytes.len())), "{message}");
        let empty = read(b"").unwrap_err().to_string();
        assert!(empty.contains("expected"), "{empty}");
    }
}
