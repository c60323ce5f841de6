//! Rows per second of each trace reader, of the floor under them (finding line ends and nothing
//! else), and requests per second of the generator. One thread, no file system.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, OnceLock};

use copyback_config::quantity::{Share, Size};
use copyback_config::{
    AddressDistribution, BeyondDevice, CsvFormat, RequestSize, SyntheticWorkload, TraceFormat,
    TraceWorkload,
};
use copyback_workload::AddressSpace;
use copyback_workload::synthetic::Generator;
use copyback_workload::trace::{Dropped, Record, Target, TraceSource, TraceWriter};
use divan::Bencher;
use divan::counter::ItemsCount;

const ROWS: u64 = 300_000;
const DEVICE: u64 = 1 << 40;

fn main() {
    divan::main();
    let _ = std::fs::remove_file(as_parquet());
}

/// Rows with the digits that real traces have.
fn text(format: &TraceFormat) -> String {
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
            TraceFormat::Disksim { .. } => {
                let ms = ns / 1_000_000;
                let flags = u8::from(read);
                writeln!(text, "{ms}.{:06}\t0\t{sector}\t8\t{flags}", ns % 1_000_000)
            }
            TraceFormat::Blkreplay => {
                let kind = if read { 'R' } else { 'W' };
                writeln!(text, "{seconds:>7}.{rest:09} ; {sector:>12} ;   16 ; {kind} ; 0.0 ; 0.0")
            }
            TraceFormat::Blkparse { .. } => {
                let kind = if read { 'R' } else { 'W' };
                let (cpu, time) = (i % 32, format!("{seconds}.{rest:09}"));
                writeln!(
                    text,
                    "  8,0 {cpu:>4} {i:>8} {time:>15}  6742  Q  {kind} {sector} + 8 [db]"
                )
            }
            TraceFormat::BlockEvents { .. } => {
                let kind = if read { 'R' } else { 'W' };
                writeln!(
                    text,
                    " kworker/0:1H-250 [007] .... {seconds}.{rest:09}: block_rq_issue: 8,0 {kind} 4096 \
                     () {sector} + 8 [kworker/0:1H]"
                )
            }
            TraceFormat::FioIolog => {
                let kind = if read { "read" } else { "write" };
                let head = if i == 0 { "fio version 3 iolog\n" } else { "" };
                writeln!(text, "{head}{} /dev/sda {kind} {} 4096", ns / 1000, sector * 512)
            }
            TraceFormat::FioLatency => {
                let (ms, kind) = (ns / 1_000_000, u8::from(!read));
                writeln!(text, "{ms}, 88042, {kind}, 4096, {}, 0", sector * 512)
            }
            TraceFormat::Biosnoop => {
                let (kind, us) = (if read { 'R' } else { 'W' }, rest / 1000);
                writeln!(
                    text,
                    "{seconds}.{us:06}    supervise      1950   xvda1     {kind} {sector:<10} 4096       \
                     0.74"
                )
            }
            TraceFormat::Etw => {
                let (kind, us) = (if read { "Read" } else { "Write" }, ns / 1000);
                if i == 0 {
                    let columns = "TimeStamp, Process, ByteOffset, IOSize, ElapsedTime, DiskNum";
                    text.push_str(&format!(
                        "BeginHeader\nDiskRead, {columns}\nDiskWrite, {columns}\nEndHeader\n"
                    ));
                }
                let offset = sector * 512;
                writeln!(text, "Disk{kind}, {us}, x.exe (3984), {offset:#012x}, 0x00001000, 283, 0")
            }
            TraceFormat::Flashnet => {
                let (ms, rest) = (ns / 1_000_000, ns % 1_000_000 / 1000);
                let (kind, offset) = (u8::from(read), sector * 512);
                writeln!(text, "{ms}.{rest:03},134,{kind},4096,{offset},{ms}.{rest:03},4096")
            }
            TraceFormat::LibcachesimCsv { .. } => writeln!(text, "{seconds},{sector},4096,-1"),
            TraceFormat::Fiu => {
                let (kind, digest) = (if read { 'R' } else { 'W' }, i * 7919);
                writeln!(text, "{ns} 2522 kjournald {sector} 8 {kind} 6 0 {digest:032x}")
            }
            TraceFormat::Alibaba => {
                let kind = if read { 'R' } else { 'W' };
                let us = 1_577_808_144_360_767 + ns / 1000;
                writeln!(text, "{},{kind},{},16384,{us}", i % 20, sector * 512)
            }
            TraceFormat::Tencent => {
                let time = 1_538_323_200 + seconds;
                writeln!(text, "{time},{sector},128,{},{}", u8::from(!read), i % 20)
            }
            TraceFormat::Systor17 => {
                let (kind, time) = (if read { 'R' } else { 'W' }, 1_455_592_200 + seconds);
                writeln!(text, "{time}.{rest:09},0.000318,{kind},0,{},4096", sector * 512)
            }
            TraceFormat::HpCsv => {
                let (kind, us) = (if read { 'R' } else { 'W' }, rest / 1000);
                let offset = sector * 512;
                writeln!(
                    text,
                    "{seconds}.{us:06},0x1f016000,{kind},{offset},4096,3,7487,0x40000002"
                )
            }
            TraceFormat::Pixel6a => {
                let (kind, us) = (if read { 'R' } else { 'W' }, rest / 1000);
                writeln!(text, "dmd-1151,8388608,{kind},{sector},8,{seconds}.{us:06}")
            }
            TraceFormat::Nexus5 => {
                let time = format!("139839{:04}.{rest:09}", 6860 + seconds);
                let kind = if read { 0 } else { 5 };
                let times = format!("{time}\t\t{time}\t\t{time}\t\t{time}");
                writeln!(text, "{sector}\t\t8\t\t4096\t\t{kind}\t\t{times}")
            }
            TraceFormat::Ssdsim | TraceFormat::Mqsim => {
                writeln!(text, "{ns} 0 {sector} 8 {}", u8::from(read))
            }
            TraceFormat::Csv(_) => {
                let (kind, us) = (if read { 'R' } else { 'W' }, ns / 1000);
                let head = if i == 0 { "op,time,disk,offset,size,latency\n" } else { "" };
                let (disk, offset) = (i % 20, sector * 512);
                writeln!(text, "{head}{kind},{us},{disk},{offset},4096,317.25")
            }
            TraceFormat::HpSrt
            | TraceFormat::Vscsi
            | TraceFormat::Libcachesim { .. }
            | TraceFormat::Parquet
            | TraceFormat::Blktrace { .. } => Ok(()),
            TraceFormat::Replayer { .. } => {
                let (ms, offset) = (ns / 1_000_000, sector * 512);
                writeln!(text, "{ms}.{:06} 0 {offset} 4096 {}", ns % 1_000_000, u8::from(read))
            }
            TraceFormat::Dtrs => writeln!(text, "{} 0 {sector} 8 {}", ns / 1000, u8::from(read)),
        };
        line.expect("a String takes any text");
    }
    text
}

/// Records of a binary format.
fn records(format: &TraceFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    if *format == TraceFormat::HpSrt {
        bytes.extend(b"$$TR_IOREC-1.3\0\nsectorsize = 256,\n\x0c");
    }
    for i in 0..ROWS {
        let (us, sector, read) = (i * 1_234, i * 7919 % 90_000_000, i % 3 == 0);
        match format {
            TraceFormat::HpSrt => {
                let (seconds, us) = ((us / 1_000_000) as u32, (us % 1_000_000) as u32);
                let times = [56, 4 << 16 | 1, seconds, us, 146, 36_899];
                let rest = [4096, 2 * sector as u32, i as u32 % 20, 4, 1, u32::from(read), 7, 1];
                bytes.extend(times.into_iter().chain(rest).flat_map(u32::to_be_bytes));
            }
            TraceFormat::Vscsi => {
                let command = if read { 0x28 } else { 0x2a };
                let head = [i as u32, 4096, 1, command | 1 << 24];
                bytes.extend(head.into_iter().flat_map(u32::to_le_bytes));
                bytes.extend([sector, us].into_iter().flat_map(u64::to_le_bytes));
            }
            TraceFormat::Libcachesim { .. } => {
                bytes.extend(((us / 1_000_000) as u32).to_le_bytes());
                bytes.extend(sector.to_le_bytes());
                bytes.extend(4096_u32.to_le_bytes());
                bytes.extend((-1_i64).to_le_bytes());
            }
            _ => {
                bytes.extend([0x6561_7407, i as u32].into_iter().flat_map(u32::to_le_bytes));
                bytes.extend([1000 * us, sector].into_iter().flat_map(u64::to_le_bytes));
                let asked = if read { 1 } else { 2 };
                let rest = [4096, 1 | asked << 16, 697, 8 << 20, 3, 0];
                bytes.extend(rest.into_iter().flat_map(u32::to_le_bytes));
            }
        }
    }
    bytes
}

fn content(name: &str) -> Vec<u8> {
    let format = format(name);
    if BINARY.contains(&name) { records(&format) } else { text(&format).into_bytes() }
}

/// The format called `name`, with its keys at their defaults.
fn format(name: &str) -> TraceFormat {
    if name == "csv" {
        return TraceFormat::Csv(CsvFormat {
            time: "time:us".into(),
            offset: "offset:bytes".into(),
            length: "size:bytes".into(),
            operation: Some("op".into()),
            device: Some("disk".into()),
            response: Some("latency:us".into()),
            read: "R".into(),
            write: "W".into(),
            separator: ',',
            ..CsvFormat::EMPTY
        });
    }
    if name.starts_with("libcachesim") {
        let keys = serde_json::json!({ "operation": "read", "object_unit": "512B" });
        return serde_json::from_value(serde_json::json!({ name: keys })).expect("a format");
    }
    serde_json::from_value(serde_json::json!({ name: {} }))
        .or_else(|_| serde_json::from_value(name.into()))
        .expect("a format")
}

type Texts<T> = Mutex<BTreeMap<&'static str, &'static T>>;

/// Bytes that are equal for every sample.
fn trace(name: &'static str) -> &'static [u8] {
    static TRACES: Texts<Vec<u8>> = Mutex::new(BTreeMap::new());
    let mut traces = TRACES.lock().expect("no panic before");
    traces.entry(name).or_insert_with(|| Box::leak(Box::new(content(name))))
}

fn gzipped(name: &'static str) -> &'static [u8] {
    static TRACES: Texts<Vec<u8>> = Mutex::new(BTreeMap::new());
    let compress = || {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(trace(name)).expect("memory takes any bytes");
        gzip.finish().expect("memory takes any bytes")
    };
    let mut traces = TRACES.lock().expect("no panic before");
    traces.entry(name).or_insert_with(|| Box::leak(Box::new(compress())))
}

/// A replay that reads the trace once, and not before for what it touches.
fn once(path: impl Into<PathBuf>) -> TraceWorkload {
    TraceWorkload { beyond_device: BeyondDevice::Refuse, ..TraceWorkload::new(path) }
}

fn open(bytes: &'static [u8], name: &str) -> TraceSource {
    let config = TraceWorkload { format: Some(format(name)), ..once("bench") };
    TraceSource::from_bytes(bytes, &config, DEVICE).expect("a good trace")
}

fn drain(mut source: TraceSource) -> u64 {
    let mut total = 0;
    while let Some(request) = source.next_request().expect("a good trace") {
        total += request.length;
    }
    total
}

fn replay(bytes: &'static [u8], name: &str) -> u64 {
    drain(open(bytes, name))
}

const BINARY: [&str; 4] = ["hp_srt", "vscsi", "blktrace", "libcachesim"];

const TEXT: [&str; 24] = [
    "msr",
    "spc",
    "disksim",
    "blkreplay",
    "blkparse",
    "block_events",
    "fio_iolog",
    "fio_latency",
    "biosnoop",
    "etw",
    "fiu",
    "alibaba",
    "tencent",
    "systor17",
    "hp_csv",
    "pixel6a",
    "nexus5",
    "ssdsim",
    "mqsim",
    "dtrs",
    "replayer",
    "flashnet",
    "csv",
    "libcachesim_csv",
];

#[divan::bench(args = TEXT, sample_count = 10)]
fn floor_line_ends(bencher: Bencher, format: &'static str) {
    let bytes = trace(format);
    bencher
        .counter(ItemsCount::new(ROWS))
        .bench(|| memchr::memchr_iter(b'\n', divan::black_box(bytes)).count());
}

#[divan::bench(args = TEXT.into_iter().chain(BINARY), sample_count = 10)]
fn plain(bencher: Bencher, format: &'static str) {
    let bytes = trace(format);
    bencher.counter(ItemsCount::new(ROWS)).bench(|| replay(bytes, format));
}

#[divan::bench(args = TEXT.into_iter().chain(BINARY), sample_count = 10)]
fn gzip(bencher: Bencher, format: &'static str) {
    let bytes = gzipped(format);
    bencher.counter(ItemsCount::new(ROWS)).bench(|| replay(bytes, format));
}

/// The rows of a text trace as Parquet, in a file: it can't be read from memory.
fn as_parquet() -> &'static Path {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    FILE.get_or_init(|| {
        let path = std::env::temp_dir().join(format!("copyback-bench-{}.parquet", process::id()));
        let file = File::create(&path).expect("the folder for temporary files can be written");
        let mut writer = TraceWriter::new(file, &Target::Parquet, Dropped::default(), "bench")
            .expect("the file can be written");
        let mut source = open(trace("msr"), "msr");
        while let Some(request) = source.next_request().expect("a good trace") {
            let time_ns = request.arrival.as_ns();
            let record = Record::new(time_ns, request.operation, request.offset, request.length);
            writer.add(&record.took(request.measured)).expect("the file can be written");
        }
        writer.finish().expect("the file can be written");
        path
    })
}

#[divan::bench(sample_count = 10)]
fn parquet(bencher: Bencher) {
    let config = once(as_parquet());
    bencher
        .counter(ItemsCount::new(ROWS))
        .bench(|| drain(TraceSource::open(&config, DEVICE).expect("a good trace")));
}

fn generate(config: &SyntheticWorkload) -> u64 {
    let space = AddressSpace { bytes: DEVICE, page_size: 4096, drive: None };
    let mut generator =
        Generator::new(config, space, 1, "workload/0", "workload").expect("a good configuration");
    let mut total = 0;
    while let Some(request) = generator.next_request().expect("they arrive") {
        total += request.length ^ request.offset ^ request.arrival.as_ns();
    }
    total
}

#[divan::bench(sample_count = 10)]
fn generator(bencher: Bencher) {
    let config = SyntheticWorkload { requests: ROWS.into(), ..SyntheticWorkload::default() };
    bencher.counter(ItemsCount::new(ROWS)).bench(|| generate(&config));
}

const ADDRESSES: [&str; 5] = ["uniform", "hot_cold", "zoned", "zipf", "pareto"];

/// Random addresses over 2^28 pages, nothing else drawn.
#[divan::bench(args = ADDRESSES, sample_count = 10)]
fn generator_addresses(bencher: Bencher, name: &str) {
    let (most, rest) = (Share(0.8), Share(0.2));
    let config = SyntheticWorkload {
        requests: ROWS.into(),
        request_size: RequestSize::Fixed(Size(4096)),
        sequential_share: Share(0.0),
        address: match name {
            "hot_cold" => {
                AddressDistribution::HotCold { requests: most, pages: rest, scattered: false }
            }
            "zoned" => AddressDistribution::Zoned {
                requests: vec![most, rest],
                pages: vec![rest, most],
                scattered: false,
            },
            "zipf" => AddressDistribution::Zipf { theta: 0.99, scattered: true, ranks: None },
            "pareto" => AddressDistribution::Pareto { h: 0.2, scattered: true },
            _ => AddressDistribution::Uniform,
        },
        ..SyntheticWorkload::default()
    };
    bencher.counter(ItemsCount::new(ROWS)).bench(|| generate(&config));
}
