//! Rows per second of each trace reader, of the floor under them (finding line ends and nothing
//! else), and requests per second of the generator. One thread, no file system.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use std::sync::OnceLock;

use copyback::config::{BeyondDevice, SyntheticWorkload, TraceFormat, TraceWorkload};
use copyback::workload::AddressSpace;
use copyback::workload::synthetic::Generator;
use copyback::workload::trace::TraceSource;
use divan::Bencher;
use divan::counter::ItemsCount;

const ROWS: u64 = 300_000;
const DEVICE: u64 = 1 << 40;

fn main() {
    divan::main();
}

/// Rows with the digits that real traces have.
fn text(format: TraceFormat) -> String {
    let mut text = String::new();
    for i in 0..ROWS {
        let (ns, sector) = (i * 1_234_567, i * 7919 % 90_000_000);
        let (seconds, rest) = (ns / 1_000_000_000, ns % 1_000_000_000);
        let read = i % 3 == 0;
        let line = match format {
            TraceFormat::Msr => {
                let kind = if read { "Read" } else { "Write" };
                let ticks = 128_166_386_783_630_075 + ns / 100;
                writeln!(text, "{ticks},hm,0,{kind},{},40960,2896", sector * 512)
            }
            TraceFormat::Spc => {
                let kind = if read { 'r' } else { 'w' };
                writeln!(text, "{},{sector},3584,{kind},{seconds}.{:06}", i % 20, rest / 1000)
            }
            TraceFormat::Disksim => {
                let ms = ns / 1_000_000;
                let flags = u8::from(read);
                writeln!(text, "{ms}.{:06}\t0\t{sector}\t8\t{flags}", ns % 1_000_000)
            }
            TraceFormat::Blkreplay => {
                let kind = if read { 'R' } else { 'W' };
                writeln!(text, "{seconds:>7}.{rest:09} ; {sector:>12} ;   16 ; {kind} ; 0.0 ; 0.0")
            }
        };
        line.expect("a String takes any text");
    }
    text
}

/// The same text for every sample.
fn trace(format: TraceFormat) -> &'static [u8] {
    static TRACES: [OnceLock<String>; 4] = [const { OnceLock::new() }; 4];
    TRACES[format as usize].get_or_init(|| text(format)).as_bytes()
}

fn gzipped(format: TraceFormat) -> &'static [u8] {
    static TRACES: [OnceLock<Vec<u8>>; 4] = [const { OnceLock::new() }; 4];
    TRACES[format as usize].get_or_init(|| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(trace(format)).expect("memory takes any bytes");
        gzip.finish().expect("memory takes any bytes")
    })
}

fn replay(bytes: &'static [u8], format: TraceFormat) -> u64 {
    let config = TraceWorkload {
        path: "bench".into(),
        format: Some(format),
        time_scale: 1.0,
        limit: None,
        beyond_device: BeyondDevice::Refuse,
        iodepth: None,
    };
    let input = Box::new(Cursor::new(bytes));
    let mut source = TraceSource::from_reader(input, 0, &config, DEVICE).expect("a good trace");
    let mut total = 0;
    while let Some(request) = source.next_request().expect("a good trace") {
        total += request.length;
    }
    total
}

const FORMATS: [TraceFormat; 4] =
    [TraceFormat::Msr, TraceFormat::Spc, TraceFormat::Disksim, TraceFormat::Blkreplay];

#[divan::bench(args = FORMATS, sample_count = 10)]
fn floor_line_ends(bencher: Bencher, format: TraceFormat) {
    let bytes = trace(format);
    bencher
        .counter(ItemsCount::new(ROWS))
        .bench(|| memchr::memchr_iter(b'\n', divan::black_box(bytes)).count());
}

#[divan::bench(args = FORMATS, sample_count = 10)]
fn plain(bencher: Bencher, format: TraceFormat) {
    let bytes = trace(format);
    bencher.counter(ItemsCount::new(ROWS)).bench(|| replay(bytes, format));
}

#[divan::bench(args = FORMATS, sample_count = 10)]
fn gzip(bencher: Bencher, format: TraceFormat) {
    let bytes = gzipped(format);
    bencher.counter(ItemsCount::new(ROWS)).bench(|| replay(bytes, format));
}

#[divan::bench(sample_count = 10)]
fn generator(bencher: Bencher) {
    let config = SyntheticWorkload { requests: ROWS, ..SyntheticWorkload::default() };
    bencher.counter(ItemsCount::new(ROWS)).bench(|| {
        let mut generator = Generator::new(
            &config,
            AddressSpace { bytes: DEVICE, page_size: 4096 },
            1,
            "workload/0",
        )
        .expect("a good configuration");
        let mut total = 0;
        while let Some(request) = generator.next_request() {
            total += request.length ^ request.offset ^ request.arrival.as_ns();
        }
        total
    });
}
