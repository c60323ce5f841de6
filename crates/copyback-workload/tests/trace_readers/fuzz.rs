//! Rubbish and nearly good input for every reader: an answer or one clear line, never a panic.

use copyback_config::quantity::Size;
use copyback_config::{
    BeyondDevice, BlkparseAction, CsvFormat, ReadOrWrite, TraceFormat, TraceWorkload,
};
use proptest::prelude::*;

use crate::fuzz_target::survive;
use crate::support::{compressed, config, drain, open_bytes, read_as};

const SAMPLES: [(TraceFormat, &str); 24] = [
    (TraceFormat::Msr, "128166386783630075,hm,0,Write,316416,40960,2896\n"),
    (TraceFormat::Spc, "1,55596,3072,r,0.078643\r\n"),
    (TraceFormat::Disksim { size_unit: Size(512), time_unit: None }, "5265.313 0 63571 8 0\n"),
    (TraceFormat::Disksim { size_unit: Size(4096), time_unit: None }, "5265.313 0 63571 8 0\n"),
    (TraceFormat::Blkreplay, "start ; sector; length ; op\n 0.45 ; 377669 ; 14 ; W ; 0.0\n"),
    (
        TraceFormat::Blkparse { action: BlkparseAction::Queued, fields: None },
        " 8,33 21 1 0.001 6742 Q FWS 41943 + 8 [x]\n 8,33 21 1 0.1 6742 m N cfq\n",
    ),
    (
        TraceFormat::FioIolog,
        "fio version 2 iolog\nd open\nd write 8192 4096\nd wait 100 0\nd sync\n",
    ),
    (TraceFormat::FioIolog, "fio version 3 iolog\n2 d open\n30 d trim 8192 4096\n40 d sync\n"),
    (TraceFormat::Fiu, "467651 2522 kjournald 64466 8 W 6 0 98b9cb7e\n"),
    (TraceFormat::Alibaba, "419,W,879273,16384,1577808144360767\n"),
    (TraceFormat::Tencent, "1538323200,42472,128,1,1058\n"),
    (TraceFormat::Systor17, "1455592200.006159842,0.000318,R,3,43188,4096\n"),
    (TraceFormat::HpCsv, "0.007832,0x1f016000,R,120365,4096,4,7012,0x40000002\n"),
    (TraceFormat::Pixel6a, "kworker/u17:2-5642,8388608,W,44636,8,45220.864636\n"),
    (
        TraceFormat::Nexus5,
        "4043\t\t8\t\t4096\t\t5\t\t139839.1\t\t139839.2\t\t139839.3\t\t139839.4\n",
    ),
    (TraceFormat::Ssdsim, "26214000 0 303574 7 0\n"),
    (TraceFormat::Mqsim, "938513000 4 26471 16 0\n"),
    (TraceFormat::Dtrs, "979 0 287641 128 1\n"),
    (
        TraceFormat::BlockEvents { action: BlkparseAction::Issued },
        "k-9 [6] d..1 118.392: block_rq_issue: 8,0 W 4096 () 1136 + 8 [k]\n",
    ),
    (TraceFormat::FioLatency, "12, 88042, 1, 4096, 65536, 0\n12, 9, 0, 512, 0, 0, 11850123\n"),
    (TraceFormat::Biosnoop, "0.000178  kworker/0:1 19  xvda1 WS 13092432 4096 ?  0.02   0.61\n"),
    (
        TraceFormat::Etw,
        "BeginHeader\nDiskRead,TimeStamp,Process,ByteOffset,IOSize,ElapsedTime,DiskNum\nEndHeader\n\
         DiskRead,86,x.exe (3),0x18f0b8000,0x1000,28,0\n",
    ),
    (TraceFormat::Flashnet, "0.000,134,1,4096,42242048,0.100,4096\n"),
    (TraceFormat::Replayer { time_unit: None }, "2.516 5 902529024 327680 1\n"),
];

/// A CSV that is read by names.
fn csv() -> (TraceFormat, &'static str) {
    let format = CsvFormat {
        time: "t:us".into(),
        offset: "at:sectors".into(),
        length: "size:4KiB".into(),
        operation: Some("op".into()),
        read: "R".into(),
        write: "W".into(),
        flush: Some("F".into()),
        ..CsvFormat::EMPTY
    };
    (TraceFormat::Csv(format), "t,x,at,size,op\n1.5,0,8,1,R\n2,0,8,1,W\n3,,,,F\n")
}

/// Formats that take keys, of which there is more than a constant.
fn with_keys() -> [(TraceFormat, &'static str); 2] {
    let fields = |fields: &str| Some(fields.to_owned());
    let action = BlkparseAction::Queued;
    let unit = Some(Size(512));
    [
        (
            TraceFormat::Blkparse {
                action,
                fields: fields("%D %2c,%5T.%9t [%C] %a:%d %S + %n\\n"),
            },
            "  8,33   1,    0.000178000 [a b] Q:WS 64 + 8\n",
        ),
        (
            TraceFormat::LibcachesimCsv { operation: Some(ReadOrWrite::Read), object_unit: unit },
            "# time,object,size\n26,8301,4096,-1\n",
        ),
    ]
}

#[test]
fn samples_are_good() {
    for (format, text) in SAMPLES.into_iter().chain(with_keys()).chain([csv()]) {
        let requests = read_as(format.clone(), text.as_bytes());
        assert!(requests.is_ok_and(|requests| !requests.is_empty()), "{format:?}");
    }
}

/// What is put in the place of a byte: all that means something to a parser, and NUL.
const BYTES: &[u8] = b"0123456789.,; \t\r\n-+eExRWrwDFNSQC[(:#\"\0\xff\xef";

fn format() -> impl Strategy<Value = Option<TraceFormat>> {
    prop::option::of(prop::sample::select(SAMPLES.map(|(format, _)| format).to_vec()))
}

/// Files of the binary formats, good ones.
pub fn binary_samples() -> [(TraceFormat, Vec<u8>); 5] {
    let numbers = |numbers: &[u32]| -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
    };
    let srt = numbers(&[56, 4 << 16 | 1, 30, 183_968, 146, 36_899, 4096, 1056, 7, 4, 1, 27, 7, 1]);
    let header = b"$$TR_IOREC-1.3\0\nsectorsize = 256,\n\x0c";
    let vscsi_1 = numbers(&[7, 0x2_0000, 0x100_0000, 0x2a00_0001, 9 << 16, 0, 5 << 24, 0]);
    let vscsi_2 = numbers(&[0x2a00_0002, 7, 0x2_0000, 1 << 24, 9 << 16, 0, 5 << 24, 0, 0, 0]);
    let mut blktrace = numbers(&[0x6561_7407, 1, 0, 5, 0, 8, 512, 1 | 1 << 20, 6, 8, 3, 4]);
    blktrace.extend(b"load");
    let mut object =
        [7_u32, 64, 0, 4096].into_iter().flat_map(u32::to_le_bytes).collect::<Vec<_>>();
    object.extend((-1_i64).to_le_bytes());
    let operation = Some(ReadOrWrite::Read);
    [
        (TraceFormat::HpSrt, [&header[..], &srt, &srt, &srt].concat()),
        (TraceFormat::Vscsi, vscsi_1.repeat(3)),
        (TraceFormat::Vscsi, vscsi_2.repeat(3)),
        (TraceFormat::Blktrace { action: BlkparseAction::Queued }, blktrace.repeat(3)),
        (TraceFormat::Libcachesim { operation, object_unit: Some(Size(512)) }, object.repeat(3)),
    ]
}

#[test]
fn binary_samples_are_good() {
    for (format, bytes) in binary_samples() {
        // Without a mark, three records are too few to be certain of.
        let named = matches!(format, TraceFormat::Libcachesim { .. }).then(|| format.clone());
        let config = TraceWorkload { format: named, ..config("x") };
        let mut source = open_bytes(&bytes, &config).unwrap();
        assert_eq!(*source.format(), format);
        assert_eq!(drain(&mut source).unwrap().len(), 3);
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
        let (format, line) = SAMPLES[sample].clone();
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
    fn good_records_with_bytes_changed(
        sample in 0_usize..5,
        changes in prop::collection::vec((0_usize..500, any::<u8>()), 0..6),
        cut in 0_usize..300,
        named: bool,
    ) {
        let (format, mut bytes) = binary_samples()[sample].clone();
        for (at, value) in changes {
            let at = at % bytes.len();
            bytes[at] = value;
        }
        bytes.truncate(cut.max(1));
        survive(&bytes, named.then_some(format), BeyondDevice::Wrap);
    }

    #[test]
    fn formats_with_keys_with_bytes_changed(
        sample in 0_usize..3,
        changes in prop::collection::vec((0_usize..500, 0..BYTES.len()), 0..6),
    ) {
        let [fields, objects] = with_keys();
        let (format, text) = [csv(), fields, objects][sample].clone();
        let mut bytes = text.as_bytes().to_vec();
        for (at, pick) in changes {
            let at = at % bytes.len();
            bytes[at] = BYTES[pick];
        }
        survive(&bytes, Some(format), BeyondDevice::Wrap);
    }

    #[test]
    fn random_bytes_as_binary(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        sample in 0_usize..5,
    ) {
        survive(&bytes, Some(binary_samples()[sample].0.clone()), BeyondDevice::Wrap);
    }

    #[test]
    fn numbers_of_every_size(sample in 0..SAMPLES.len(), at in 0_usize..8, number in "-?[0-9]{1,40}(\\.[0-9]{0,30})?") {
        let (format, line) = SAMPLES[sample].clone();
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
