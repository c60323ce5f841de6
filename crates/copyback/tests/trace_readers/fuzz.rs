//! Rubbish and nearly good input for every reader: an answer or one clear line, never a panic.

use copyback::config::{BeyondDevice, TraceFormat, TraceWorkload};
use copyback::workload::InputError;
use proptest::prelude::*;

use crate::support::{GIB, compressed, config, drain, open_bytes};

const SAMPLES: [(TraceFormat, &str); 4] = [
    (TraceFormat::Msr, "128166386783630075,hm,0,Write,316416,40960,2896\n"),
    (TraceFormat::Spc, "1,55596,3072,r,0.078643\r\n"),
    (TraceFormat::Disksim, "5265.313 0 63571 8 0\n"),
    (TraceFormat::Blkreplay, "start ; sector; length ; op\n 0.45 ; 377669 ; 14 ; W ; 0.0\n"),
];

/// What is put in the place of a byte: all that means something to a parser, and NUL.
const BYTES: &[u8] = b"0123456789.,; \t\r\n-+eExRWrwDFNS#\"\0\xff\xef";

fn format() -> impl Strategy<Value = Option<TraceFormat>> {
    prop::option::of(prop::sample::select(SAMPLES.map(|(format, _)| format).to_vec()))
}

/// Reads to the end; whatever comes out must make sense.
fn survive(bytes: &[u8], format: Option<TraceFormat>, beyond_device: BeyondDevice) {
    let config = TraceWorkload { format, beyond_device, ..config("x") };
    let outcome = open_bytes(bytes, &config).and_then(|mut source| drain(&mut source));
    match outcome {
        Ok(requests) => {
            assert!(!requests.is_empty());
            assert!(requests.is_sorted_by_key(|request| request.arrival));
            assert!(requests.iter().all(|request| request.offset + request.length <= GIB));
        }
        Err(InputError { place, problem }) => {
            assert!(place == "x" || place.starts_with("x:"), "{place}");
            assert!(problem.len() < 500 && !problem.contains(['\n', '\0']), "{problem:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        format in format(),
    ) {
        survive(&bytes, format, BeyondDevice::Refuse);
    }

    #[test]
    fn random_text(
        picks in prop::collection::vec(0..BYTES.len(), 0..200),
        format in format(),
    ) {
        let bytes: Vec<u8> = picks.into_iter().map(|pick| BYTES[pick]).collect();
        survive(&bytes, format, BeyondDevice::Wrap);
    }

    #[test]
    fn good_lines_with_bytes_changed(
        sample in 0..SAMPLES.len(),
        changes in prop::collection::vec((0_usize..500, 0..BYTES.len(), 0..3), 1..6),
        named: bool,
        wrap: bool,
    ) {
        let (format, line) = SAMPLES[sample];
        let mut bytes = line.repeat(4).into_bytes();
        for (at, pick, kind) in changes {
            let at = at % bytes.len();
            match kind {
                0 => bytes[at] = BYTES[pick],
                1 => bytes.insert(at, BYTES[pick]),
                _ => drop(bytes.remove(at)),
            }
        }
        let beyond = if wrap { BeyondDevice::Wrap } else { BeyondDevice::Refuse };
        survive(&bytes, named.then_some(format), beyond);
    }

    #[test]
    fn numbers_of_every_size(sample in 0..SAMPLES.len(), at in 0_usize..8, number in "-?[0-9]{1,40}(\\.[0-9]{0,30})?") {
        let (format, line) = SAMPLES[sample];
        let mut field = 0;
        let text: String = line
            .split_inclusive([',', ' ', ';', '\n'])
            .map(|piece| {
                field += 1;
                if field == at + 1 { format!("{number}{}", &piece[piece.len() - 1..]) } else { piece.to_owned() }
            })
            .collect();
        survive(format!("{text}{line}").as_bytes(), Some(format), BeyondDevice::Wrap);
    }

    #[test]
    fn compressed_rubbish(
        which in 0_usize..4,
        at in 0_usize..2000,
        change: u8,
        cut in 0_usize..4000,
    ) {
        let (_, mut bytes) = compressed(SAMPLES[1].1.repeat(50).as_bytes())[which].clone();
        let at = at % bytes.len();
        bytes[at] ^= change;
        bytes.truncate(cut.max(1));
        survive(&bytes, None, BeyondDevice::Refuse);
    }
}
