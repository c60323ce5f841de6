//! The write buffer, through whole runs of small traces.

use copyback::metrics::RequestColumns;
use copyback::ssd::Part;
use copyback::{Simulation, Status};
use serde_json::Value;
use tempfile::NamedTempFile;

use crate::toy::config;

/// Rows of a replay: operation (0 read, 1 write, 2 trim, 3 flush), arrival, response, and the part
/// of it that the buffer took, in nanoseconds.
type Row = (u8, u64, u64, u64);

fn replay(lines: &str, changes: &[(&str, &str)]) -> Vec<Row> {
    rows(&run(lines, changes).take_requests())
}

/// The summary of a replay.
pub fn summary(lines: &str, changes: &[(&str, &str)]) -> Value {
    run(lines, changes).summary().expect("it has run").to_json()
}

fn run(lines: &str, changes: &[(&str, &str)]) -> Simulation {
    let file = NamedTempFile::new().expect("there is room for files");
    std::fs::write(&file, lines).expect("the file is ours");
    let quoted = format!("{:?}", file.path().display().to_string());
    let mut all = vec![
        ("workload.type", "trace"),
        ("workload.path", quoted.as_str()),
        ("workload.format", "blkreplay"),
        ("ssd.buffer.capacity", "32KiB"),
        ("metrics.requests", "true"),
    ];
    all.extend(changes);
    let mut simulation = Simulation::new(&config(&all), None).expect("the trace opens");
    while simulation.advance(1000).expect("nothing is violated") == Status::Running {}
    simulation
}

fn rows(columns: &RequestColumns) -> Vec<Row> {
    let buffer = &columns.parts_ns[Part::Buffer as usize];
    let row =
        |i: usize| (columns.operation[i], columns.arrival_ns[i], columns.response_ns[i], buffer[i]);
    (0..columns.len()).map(row).collect()
}

#[test]
fn a_buffered_write_takes_the_latency_of_dram() {
    let rows_found = replay("0 ; 0 ; 8 ; W\n", &[]);
    assert_eq!(rows_found, [(1, 0, 1_000, 1_000)]);
}

#[test]
fn a_read_of_what_the_buffer_holds_touches_no_flash() {
    let found = replay("0 ; 0 ; 8 ; W\n0.000002 ; 3 ; 2 ; R\n", &[]);
    assert_eq!(found, [(1, 0, 1_000, 1_000), (0, 2_000, 1_000, 1_000)]);
}

#[test]
fn a_flush_ends_when_everything_before_it_is_in_flash() {
    let found = replay("0 ; 0 ; 8 ; W\n0.000005 ; 0 ; 0 ; F\n", &[]);
    assert_eq!(found, [(1, 0, 1_000, 1_000), (3, 5_000, 211_000, 211_000)]);
}

#[test]
fn a_flush_waits_for_a_page_that_is_written_on_while_it_waits_to_leave() {
    let lines = "0;0;8;W\n0.000005;0;0;F\n0.000006;0;8;W\n0.00001;0;0;F\n0.000011;0;8;W\n";
    let found = replay(lines, &[]);
    let writes = [0, 6_000, 11_000].map(|arrival| (1, arrival, 1_000, 1_000));
    assert_eq!(found[..3], writes);
    // The page that the second flush is for can leave only when its older version is in flash, at 216 us.
    assert_eq!(found[3..], [(3, 5_000, 211_000, 211_000), (3, 10_000, 417_000, 417_000)]);
}

#[test]
fn a_flush_of_nothing_ends_at_once() {
    let found = replay("0 ; 0 ; 0 ; F\n", &[]);
    assert_eq!(found, [(3, 0, 0, 0)]);
}

#[test]
fn a_flush_whose_data_are_trimmed_ends_with_the_trim() {
    let found = replay("0 ; 0 ; 8 ; W\n0.000005;0;0;F\n0.000005;0;8;D\n", &[]);
    assert_eq!(found, [(1, 0, 1_000, 1_000), (3, 5_000, 0, 0), (2, 5_000, 0, 0)]);
}

#[test]
fn a_write_without_room_waits_for_a_page_to_reach_flash() {
    let one_page = [
        ("ssd.buffer.capacity", "4KiB"),
        ("ssd.buffer.high_watermark", "1.0"),
        ("ssd.buffer.low_watermark", "0.0"),
    ];
    let found = replay("0 ; 0 ; 8 ; W\n0.000005 ; 8 ; 8 ; W\n", &one_page);
    // The first leaves at once, at 100% dirty; the second gets its place at 211 us.
    assert_eq!(found, [(1, 0, 1_000, 1_000), (1, 5_000, 207_000, 207_000)]);
}

#[test]
fn a_page_that_is_rewritten_on_its_way_to_flash_keeps_the_sectors_of_before() {
    // The first half of the page leaves at 5 us, as a flush asks; the second is written meanwhile.
    let lines = "0;0;4;W\n0.000005;0;0;F\n0.00001;4;4;W\n0.00002;0;8;R\n0.001;0;8;R\n";
    let found = replay(lines, &[]);
    let [first, second, both, flush, later] = found[..] else { panic!("{found:?}") };
    assert_eq!([first.2, second.2], [1_000, 1_000]);
    assert_eq!(
        flush,
        (3, 5_000, 211_000, 211_000),
        "the first half is on its way as the page is read"
    );
    assert_eq!(both, (0, 20_000, 1_000, 1_000), "the buffer has the whole page");
    assert_eq!(later, (0, 1_000_000, 1_000, 1_000));
}

#[test]
fn destaging_begins_and_ends_at_the_watermarks() {
    let of_ten = [
        ("ssd.buffer.capacity", "40KiB"),
        // 7.5 pages, which are eight, and 2.5, which are two.
        ("ssd.buffer.high_watermark", "0.75"),
        ("ssd.buffer.low_watermark", "0.25"),
        ("metrics.slowest", "1"),
    ];
    // Two milliseconds apart, so that what leaves has left before the next comes.
    for (writes, programs) in [(7, 0), (8, 6), (13, 6), (14, 12)] {
        let line = |page: u64| format!("{} ; {} ; 8 ; W\n", 0.002 * page as f64, page * 8);
        let lines: String = (0..writes).map(line).collect();
        let summary = summary(&lines, &of_ten);
        assert_eq!(summary["flash"]["host_programs"], programs, "{writes} writes");
    }
}

#[test]
fn a_flush_waits_for_a_program_that_fails_and_is_made_up_for() {
    let fails = [
        ("ssd.geometry.blocks_per_plane", "16"),
        ("ssd.ftl.over_provisioning", "0.75"),
        ("ssd.faults.program_failures", "1.0"),
    ];
    let found = replay("0 ; 0 ; 8 ; W\n0.000005 ; 0 ; 0 ; F\n", &fails);
    assert_eq!(found, [(1, 0, 1_000, 1_000), (3, 5_000, 422_000, 422_000)]);
}

#[test]
fn a_flush_waits_for_pages_in_the_mode_of_their_blocks() {
    let cache = [
        ("ssd.geometry.pages_per_block", "6"),
        ("ssd.geometry.blocks_per_plane", "16"),
        ("ssd.slc_cache.static", "{ blocks = 1 }"),
        ("ssd.slc_cache.timing", r#"{ read = "5us", program = "50us", erase = "500us" }"#),
        ("ssd.slc_cache.when_full", "write_past"),
    ];
    // Two pages go to the cache, and the third past it.
    for (pages, expected) in [(1, 61_000), (2, 122_000), (3, 333_000)] {
        let lines = format!("0 ; 0 ; {} ; W\n0.000005 ; 0 ; 0 ; F\n", 8 * pages);
        assert_eq!(replay(&lines, &cache)[1], (3, 5_000, expected, expected), "{pages} pages");
    }
}

#[test]
fn what_was_on_its_way_when_the_power_failed_leaves_again_in_the_same_order() {
    let changes = [
        ("ssd.power.cuts", "{ type = 'at', times = ['100us'] }"),
        // The page at offset n of its block is read in n + 1 times 10 us.
        ("ssd.timing.read", "['10us', '20us', '30us', '40us']"),
    ];
    let lines = "0;0;24;W\n0.000005;0;0;F\n0.01;0;8;R\n0.02;8;8;R\n0.03;16;8;R\n";
    let found = replay(lines, &changes);
    // The first of three pages was being programmed, which capacitors finish. Then all of them leave.
    let reads: Vec<_> = found.iter().filter(|row| row.0 == 0).map(|row| row.2).collect();
    assert_eq!(reads, [31_000, 41_000, 51_000]);
}

#[test]
fn a_flush_that_was_a_lie_promises_nothing_behind_the_cut_that_showed_it() {
    let changes = [
        ("ssd.power.protection", "none"),
        ("ssd.power.flush", "ignored"),
        ("ssd.power.cuts", "{ type = 'at', times = ['1ms', '20ms'] }"),
    ];
    // The page is lost twice, the second time without a flush before.
    let lines = "0;0;8;W\n0.0001;0;0;F\n0.01;0;8;W\n0.03;8;8;R\n";
    let loss = &summary(lines, &changes)["power_loss"];
    assert_eq!(loss["cuts"], 2);
    assert_eq!(loss["buffered_pages_lost"], 2);
    assert_eq!(loss["flushed_pages_lost"], 1);
}
