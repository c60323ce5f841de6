//! Cuts of power: what they leave in the flash, what a recovery makes of that, and how long it takes.

use copyback::ids::{BlockId, Lpn, PlaneId};
use copyback::metrics::RequestColumns;
use copyback::ssd::Cut;
use copyback::units::Duration;
use copyback::{Simulation, Status};
use serde_json::Value;

use crate::buffer::summary;
use crate::parallel::{CALLS, about_to_collect};
use crate::toy::{Toy, config};

const UNPROTECTED: (&str, &str) = ("ssd.power.protection", "none");
/// Makes a drive with capacitors keep account of what its flash holds.
const CUT_LATER: (&str, &str) = ("ssd.power.cuts", "{ type = 'at', times = ['1h'] }");

#[test]
fn a_page_that_was_being_programmed_is_lost_and_its_block_filled_on_behind_it() {
    let mut toy = Toy::new(&[UNPROTECTED]);
    toy.writes(0, &[(1, 5), (2, 6)]);
    let cut = toy.cut_power(300_000);
    assert_eq!((cut.torn_pages, cut.lost.len()), (1, 0));
    toy.write(1_000_000, 3, 7);
    toy.run();
    let place = |lpn| {
        toy.ssd
            .backend()
            .ftl
            .lookup(Lpn(lpn))
            .map(|page| toy.ssd.backend().ftl.geometry().page_offset(page))
    };
    assert_eq!([5, 6, 7].map(place), [Some(0), None, Some(2)]);
}

/// Where logical pages lie after a cut while the third page of a block is being programmed, by block and offset: the first
/// of it holds page 5, of which the full block before has an older version. With the cut.
fn torn_with(paired_pages: &str) -> (Cut, [Option<(BlockId, u32)>; 3]) {
    let paired = ("ssd.power.paired_pages", paired_pages);
    let mut toy = Toy::filled(&[UNPROTECTED, paired], &[5, 1, 2, 3]);
    toy.writes(0, &[(1, 5), (2, 6), (3, 7)]);
    let cut = toy.cut_power(500_000);
    let ftl = &toy.ssd.backend().ftl;
    let place = |lpn| {
        let page = ftl.lookup(Lpn(lpn))?;
        Some((ftl.geometry().block_of(page), ftl.geometry().page_offset(page)))
    };
    let places = [5, 6, 7].map(place);
    (cut, places)
}

#[test]
fn a_torn_page_takes_those_of_its_cells_that_were_programmed_before() {
    let at = |block, offset| Some((BlockId(block), offset));
    for (paired, torn, lost, places) in [
        ("1", 0, 0, [at(1, 0), at(1, 1), None]),
        // Pages 2 and 3 of the block share cells; nothing was in 3.
        ("2", 0, 0, [at(1, 0), at(1, 1), None]),
        ("3", 2, 2, [at(0, 0), None, None]),
        ("8", 2, 2, [at(0, 0), None, None]),
    ] {
        let (cut, found) = torn_with(paired);
        let lost_so = (cut.paired_pages_torn, cut.paired_pages_lost);
        assert_eq!((cut.torn_pages, lost_so, found), (1, (torn, lost), places), "{paired}");
        assert_eq!(cut.lost, [], "{paired}");
    }
}

#[test]
fn what_was_out_of_date_is_no_loss_when_it_is_torn_with_another() {
    let mut toy = Toy::new(&[UNPROTECTED, ("ssd.power.paired_pages", "3")]);
    toy.writes(0, &[(1, 5), (2, 5), (3, 6)]);
    let cut = toy.cut_power(500_000);
    assert_eq!((cut.paired_pages_torn, cut.paired_pages_lost, cut.lost.len()), (2, 1, 0));
}

#[test]
fn capacitors_tear_nothing_whatever_shares_cells() {
    let mut toy = Toy::new(&[CUT_LATER, ("ssd.power.paired_pages", "4")]);
    toy.writes(0, &[(1, 5), (2, 6)]);
    let cut = toy.cut_power(300_000);
    assert_eq!((cut.torn_pages, cut.paired_pages_torn, cut.paired_pages_lost), (0, 0, 0));
}

#[test]
fn capacitors_finish_what_is_programmed_and_remember_what_is_trimmed() {
    let mut toy = Toy::new(&[CUT_LATER]);
    toy.writes(0, &[(1, 5), (2, 6)]);
    toy.trim(250_000, 5);
    let cut = toy.cut_power(300_000);
    assert_eq!((cut.torn_pages, cut.lost.len()), (0, 0));
    let is_found = |lpn| toy.ssd.backend().ftl.lookup(Lpn(lpn)).is_some();
    assert_eq!([5, 6].map(is_found), [false, true]);
}

#[test]
fn a_mapping_that_fits_in_its_cache_knows_the_pages_that_a_cut_has_left_in_dram() {
    let width = "{ type = 'blind', cache = '8KiB' }";
    let mapping = ("ssd.ftl.mapping", "{ type = 'demand_paged', cache = '64KiB' }");
    let mut toy = about_to_collect(width, &[0, 1, 2], &[CUT_LATER, mapping]);
    toy.write(0, 1, CALLS);
    toy.run_until(1_000_000);
    assert_eq!(toy.ssd.backend().ftl.staged().len(), 2, "as in a collection without cuts");
    toy.cut_power(1_100_000);
    assert_eq!(toy.ssd.backend().ftl.staged().len(), 2, "capacitors keep what is in DRAM");
    toy.run();
    assert_eq!(toy.ssd.backend().ftl.staged().len(), 0);
    let mapping = toy.ssd.counters().mapping;
    toy.reads(20_000_000, &[(2, 2), (3, 4)]);
    toy.run();
    let after = toy.ssd.counters().mapping;
    assert_eq!((after.hits - mapping.hits, after.misses - mapping.misses), (2, 0));
    assert_eq!((after.reads, after.writes), (0, 0), "there are no translation pages");
}

#[test]
fn blocks_stay_as_worn_as_they_were() {
    let overwritten: Vec<u32> = (0..160).map(|write| write * 7 % 16).collect();
    let mut toy = Toy::filled(&[UNPROTECTED], &overwritten);
    let worn: Vec<u32> = toy.ssd.backend().ftl.blocks().erase_counts().collect();
    assert!(worn.iter().any(|erases| *erases > 2), "{worn:?}");
    let cut = toy.cut_power(1);
    assert_eq!(cut.scan.erased, []);
    assert_eq!(toy.ssd.backend().ftl.blocks().erase_counts().collect::<Vec<_>>(), worn);
}

#[test]
fn a_block_whose_erase_was_cut_off_is_erased_again_and_wears_by_one_erase() {
    // Four blocks are filled, and the pages of the first written twice more. The last write, which ends at
    // 211 us, calls for a collection: the first block, in which nothing is valid, is erased.
    let overwritten: Vec<u32> = (0..16).chain([0, 1, 2, 3, 0, 1, 2]).collect();
    let mut toy = Toy::filled(&[UNPROTECTED], &overwritten);
    toy.write(0, 1, 3);
    let cut = toy.cut_power(1_000_000);
    assert_eq!((cut.cut_erases, cut.scan.erased), (1, vec![BlockId(0)]));
    let worn: Vec<u32> = toy.ssd.backend().ftl.blocks().erase_counts().collect();
    assert_eq!(worn, [1, 0, 0, 0, 0, 0, 0, 0]);
}

/// How long a drive with so many chips on its channel, on which nothing is written, takes to recover.
fn scan(chips: &str) -> Duration {
    let chips = ("ssd.geometry.chips_per_channel", chips);
    let mut toy = Toy::new(&[UNPROTECTED, chips, ("ssd.power.metadata", "4KiB")]);
    toy.cut_power(1).time.time
}

#[test]
fn a_scan_takes_as_long_as_the_busiest_die_or_channel() {
    // The first page of each of eight blocks is read: 1 + 20 + 10 us, of which 11 on the channel.
    assert_eq!(scan("1"), Duration::from_us(8 * 31));
    assert_eq!(scan("4"), Duration::from_us(4 * 8 * 11));
}

/// Runs so many writes of two pages each, four of them at once, on a drive that loses its power at 100 us.
fn run(requests: &str, changes: &[(&str, &str)]) -> (RequestColumns, Value) {
    let workload = "{ type = 'synthetic', read_share = 0.0, sequential_share = 1.0, request_size = '8KiB', \
                    iodepth = 4 }";
    let cut = ("ssd.power.cuts", "{ type = 'at', times = ['100us'] }");
    let mut settings = vec![UNPROTECTED, cut, ("workload", workload), ("metrics.requests", "true")];
    settings.push(("workload.requests", requests));
    settings.extend(changes);
    let mut simulation = Simulation::new(&config(&settings), None).expect("a synthetic workload");
    while simulation.advance(1 << 20).expect("the audit finds nothing") == Status::Running {}
    (
        simulation.take_requests(),
        simulation.summary().expect("it has run").to_json()["power_loss"].take(),
    )
}

#[test]
fn commands_in_the_drive_are_handed_in_anew_in_their_order() {
    let (rows, loss) = run("4", &[]);
    assert_eq!(loss["interrupted_requests"], 4);
    assert_eq!(rows.offset, [0, 8192, 16384, 24576]);
}

/// A scan reads the torn page and the erased one behind it, and the first of seven other blocks, in 31 us each. Then the
/// block is erased that holds nothing but the torn page.
const RECOVERY_US: u64 = 9 * 31 + 1500;

/// Ends of requests, each of which writes two pages in 422 us, if the drive is back at `back_us`; and what was lost.
fn assert_ends_after(back_us: u64, cuts: &str) -> Value {
    let cuts = format!("{{ type = 'at', times = {cuts} }}");
    let (rows, loss) = run("4", &[("ssd.power.metadata", "4KiB"), ("ssd.power.cuts", &cuts)]);
    let ends: Vec<_> = rows.arrival_ns.iter().zip(&rows.response_ns).map(|(a, b)| a + b).collect();
    let expected: Vec<_> = (1..=4).map(|request| (back_us + request * 422) * 1_000).collect();
    assert_eq!(ends, expected, "{cuts}");
    loss
}

fn recovery_us(loss: &Value) -> u64 {
    let ms = loss["recovery_ms"]["total"].as_f64().expect("a drive came back");
    (ms * 1e3).round() as u64
}

#[test]
fn a_drive_is_back_when_the_scan_is_over_that_the_cut_called_for() {
    let loss = assert_ends_after(100 + RECOVERY_US, "['100us']");
    assert_eq!((loss["recoveries"].as_u64(), loss["pages_read"].as_u64()), (Some(1), Some(9)));
    assert_eq!(recovery_us(&loss), RECOVERY_US);
}

#[test]
fn a_cut_before_the_drive_is_back_begins_its_scan_anew() {
    let loss = assert_ends_after(200 + RECOVERY_US, "['100us', '200us']");
    assert_eq!((loss["cuts"].as_u64(), loss["cuts_in_recovery"].as_u64()), (Some(2), Some(1)));
    // Of recoveries that ended.
    assert_eq!(recovery_us(&loss), RECOVERY_US);
}

#[test]
fn only_what_the_host_was_told_of_counts_as_lost_with_a_write_buffer() {
    // With room for one page a write waits for its second, and nobody has been told of the first.
    for (pages, lost) in [("4KiB", 0), ("16KiB", 4)] {
        let (_, loss) = run("2", &[("ssd.buffer.capacity", pages)]);
        assert_eq!(loss["buffered_pages_lost"], lost, "{pages}");
    }
}

#[test]
fn a_block_that_the_host_fills_on_after_a_cut_is_its_own() {
    let mut toy = Toy::new(&[UNPROTECTED, ("ssd.ftl.placement", "\"one_class\"")]);
    toy.writes(0, &[(1, 5), (2, 6)]);
    toy.cut_power(1_000_000);
    let plane = &toy.ssd.backend().ftl.space()[PlaneId(0)];
    // Seven blocks are free: no collection can have opened the eighth because the host could not.
    assert_eq!((plane.free_blocks(), plane.lent), (7, false));
    assert_eq!(plane.frontiers().map(|open| open.next_page).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_run_does_not_wait_for_the_next_cut_though_pages_stay_in_the_buffer() {
    let cuts = ("ssd.power.cuts", "{ type = 'at', times = ['1h'] }");
    let (_, loss) = run("2", &[("ssd.buffer.capacity", "64KiB"), cuts]);
    assert_eq!(loss["cuts"], 0);
}

#[test]
fn what_is_logged_of_placement_handles_goes_on_behind_a_cut() {
    let changes = [
        ("ssd.geometry.blocks_per_plane", "16"),
        ("ssd.ftl.over_provisioning", "0.75"),
        ("ssd.buffer.capacity", "0B"),
        ("ssd.ftl.placement", "{ type = 'by_hint', handles = 2 }"),
        ("ssd.power.cuts", "{ type = 'at', times = ['5ms'] }"),
    ];
    for protection in ["none", "capacitors"] {
        let changes = [&changes[..], &[("ssd.power.protection", protection)]].concat();
        // Two pages before the cut, and three behind it.
        let log = &summary("0;0;16;W\n0.01;16;24;W\n", &changes)["placement"]["fdp"];
        assert_eq!(log["handle_host_bytes"], serde_json::json!([5 * 4096, 0]), "{protection}");
        assert_eq!(log["host_bytes_written"], 5 * 4096, "{protection}");
    }
}
