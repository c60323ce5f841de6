//! Write amplification against the models and the Monte Carlo values of `write_amplification.csv`.
//!
//! Most rows run untimed: preparation goes through the same mapping, victim and collection code as
//! the timed run. Some rows run through all of the simulator, to show that it makes no difference.

use copyback::collector::job::{Tally, collect_untimed};
use copyback::config::{Config, Overwrites, SyntheticWorkload, Workload};
use copyback::ftl::Ftl;
use copyback::ids::{DieId, Lpn, PlaneId};
use copyback::placement::HostPage;
use copyback::workload::AddressSpace;
use copyback::workload::synthetic::Generator;

use super::formulas::{DieSize, fifo_hot_cold, greedy, groups};
use super::support::{config, number, run, untimed_amplification};
use super::table::{Report, Row, rows};

pub const TABLE: &str = include_str!("write_amplification.csv");

/// Pages of the host on a drive of which a few times its capacity say enough.
const LARGE: f64 = 100_000.0;

/// Writes in multiples of the logical capacity: before, and while, amplification is measured.
#[derive(Debug, Clone, Copy)]
struct Length {
    warm: u64,
    measured: u64,
}

impl Length {
    /// Long enough for a steady state: random victims and skewed traffic take longer. What is measured of a large
    /// drive varies less.
    fn for_steady_state(row: &Row) -> Self {
        let measured = if row.number("user_pages") < LARGE { 10 } else { 4 };
        match (row.text("traffic"), row.text("policy")) {
            ("hotcold-90/10", _) => Self { warm: 50, measured: 5 },
            ("rosenblum-80/20", _) => Self { warm: 15, measured: 5 },
            (_, "dchoices") if row.count("d") == 1 => Self { warm: 15, measured },
            _ => Self { warm: 5, measured },
        }
    }

    const fn total(self) -> u64 {
        self.warm + self.measured
    }
}

pub fn name(row: &Row) -> String {
    let text = |column| row.text(column);
    let (policy, d) = (text("policy"), text("d"));
    let shape = [text("dies"), text("blocks_per_die"), text("pages_per_block")].join("x");
    let (reserve, hysteresis) = (text("reserve"), text("hysteresis"));
    let (u, traffic) = (text("utilization"), text("traffic"));
    let frontiers = text("frontiers");
    format!("{policy}{d} u={u} {traffic} {frontiers} {shape} R={reserve}+{hysteresis}")
}

/// The victim policy of a row, as a configuration has it.
fn victim(row: &Row) -> String {
    let sealed = r#"type = "cost_benefit", age = "since_sealed""#;
    match row.text("policy") {
        "dchoices" if row.count("d") == 1 => r#""random""#.into(),
        "dchoices" => format!(r#"{{ type = "rga", d = {} }}"#, row.count("d")),
        "dchoices_class" => {
            format!(r#"{{ type = "rga", d = {}, within = "class" }}"#, row.count("d"))
        }
        "windowed" => format!(r#"{{ type = "windowed_greedy", window = {} }}"#, row.count("d")),
        "sealed" => format!("{{ {sealed} }}"),
        "sealed_sqrt" => format!(r#"{{ {sealed}, weight = "sqrt" }}"#),
        "sealed_whole" => format!(r#"{{ {sealed}, cost = "whole_block" }}"#),
        policy => format!("{policy:?}"),
    }
}

/// The device of a row. Shapes of several dies have one a channel; nothing takes long.
fn device(row: &Row, length: Length) -> Config {
    let victim = victim(row);
    let blocks = row.count("blocks_per_die");
    let physical = f64::from(row.count("dies") * blocks * row.count("pages_per_block"));
    let text = format!(
        r#"
        seed = 1
        [ssd.geometry]
        channels = {dies}
        chips_per_channel = 1
        planes_per_die = 1
        blocks_per_plane = {blocks}
        pages_per_block = {pages}
        [ssd.timing]
        transfer_rate = "none"
        [ssd.ftl]
        over_provisioning = {over_provisioning}
        placement = "{placement}"
        allocation = "{allocation}"
        [ssd.gc]
        victim = {victim}
        soft_threshold = {{ blocks = {reserve} }}
        hysteresis_blocks = {hysteresis}
        [precondition]
        fill = 1.0
        overwrites = {overwrites}
        "#,
        dies = row.count("dies"),
        pages = row.count("pages_per_block"),
        over_provisioning = 1.0 - row.number("user_pages") / physical,
        placement = if row.is("frontiers", "separate") { "host_and_gc_apart" } else { "one_class" },
        allocation = if row.is("allocation", "dynamic-rr") { "dynamic" } else { "CWDP" },
        reserve = row.count("reserve"),
        hysteresis = row.count("hysteresis"),
        overwrites = length.total(),
    );
    let config = config(&text);
    // Every die has equally many logical pages, so that a few may be lost.
    let lost = row.number("user_pages") as u64 - config.resolve().drive.capacity.logical_pages;
    assert!(lost < u64::from(row.count("dies")), "{} has other logical pages", name(row));
    config
}

/// Amplification of uniform writes, untimed.
fn uniform_untimed(row: &Row, length: Length) -> f64 {
    untimed_amplification(&device(row, length), length.warm, length.measured)
}

/// Single-page writes in the order of a row's traffic, one at a time.
fn workload(row: &Row, requests: u64) -> SyntheticWorkload {
    let address = match groups(row.text("traffic"))[..] {
        [(requests, pages), _] => {
            format!(r#"{{ type = "hot_cold", requests = {requests}, pages = {pages} }}"#)
        }
        _ => r#""uniform""#.into(),
    };
    let config = config(&format!(
        r#"
        [workload]
        type = "synthetic"
        requests = {requests}
        request_size = "4KiB"
        read_share = 0.0
        sequential_share = 0.0
        iodepth = 1
        address = {address}
        "#
    ));
    match config.workload {
        Workload::Synthetic(synthetic) => synthetic,
        _ => unreachable!("the workload is synthetic"),
    }
}

/// Amplification of a row's traffic on one die, untimed: the requests of the generator go straight
/// to the translation layer.
fn untimed(row: &Row, length: Length) -> f64 {
    let config = device(row, length).resolve();
    let pages = config.drive.capacity.logical_pages;
    let workload = workload(row, pages * length.total());
    let mut requests =
        Generator::new(&workload, AddressSpace::of(&config), config.seed, "workload/0", "workload")
            .expect("the footprint is the whole device");
    let mut ftl = Ftl::new(&config, "ssd/0");
    let mut tally = Tally::default();
    let mut write = |lpn: Lpn, order: u64| {
        ftl.write(PlaneId(0), HostPage::without_hint(lpn), order);
        if ftl.planes_to_collect(DieId(0)) != 0 {
            tally += collect_untimed(&mut ftl, DieId(0));
        }
        tally.pages_moved
    };
    for order in 0..pages {
        write(Lpn(order as u32), order);
    }
    let mut moved_at = |writes: u64| {
        (0..writes).fold(0, |_, _| {
            let request = requests
                .next_request()
                .expect("they arrive")
                .expect("there are as many as asked for");
            write(Lpn((request.offset / 4096) as u32), pages)
        })
    };
    let moved = moved_at(pages * length.warm);
    let moved = moved_at(pages * length.measured) - moved;
    1.0 + moved as f64 / (pages * length.measured) as f64
}

/// Amplification of a row's traffic in a timed closed loop on a device that is only filled before:
/// the warm-up runs timed, too, and is cut off the time series.
fn timed(row: &Row, length: Length) -> f64 {
    let mut config = device(row, length);
    let pages = config.resolve().drive.capacity.logical_pages;
    config.precondition.overwrites = Overwrites::Fixed(0.0);
    config.workload = Workload::Synthetic(workload(row, pages * length.total()));
    let series = run(&config).series();
    let column = |name: &str| {
        let (_, values) = series.iter().find(|(column, _)| *column == name).expect("a column");
        values
    };
    let mut seen = 0.0;
    let (mut host, mut moved) = (0.0, 0.0);
    for (programs, moves) in column("host_programs").iter().zip(column("gc_programs")) {
        if seen >= (pages * length.warm) as f64 {
            host += programs;
            moved += moves;
        }
        seen += programs;
    }
    assert_eq!(seen, (pages * length.total()) as f64);
    1.0 + moved / host
}

/// Amplification of uniform writes in a timed closed loop on a device that was warmed up untimed,
/// as the summary has it.
fn timed_after_untimed(row: &Row, length: Length) -> f64 {
    let mut config = device(row, length);
    config.precondition.overwrites = Overwrites::Fixed(length.warm as f64);
    let requests = config.resolve().drive.capacity.logical_pages * length.measured;
    config.workload = Workload::Synthetic(workload(row, requests));
    number(&run(&config).summary().expect("it has run").to_json(), "/page_write_amplification")
}

/// Compares what `measure` finds with the Monte Carlo value of every row that `chosen` picks.
#[track_caller]
fn compare(
    chosen: impl Fn(&Row) -> bool,
    measure: impl Fn(&Row, Length) -> f64,
    tolerance: impl Fn(&Row) -> f64,
) {
    let mut report = Report::new();
    for row in rows(TABLE).into_iter().filter(chosen) {
        let found = measure(&row, Length::for_steady_state(&row));
        report.compare(&name(&row), row.number("monte_carlo"), found, tolerance(&row));
    }
    report.finish();
}

fn is_main(row: &Row, traffic: &str) -> bool {
    row.is("group", "main") && row.is("traffic", traffic)
}

fn is_one_of(row: &Row, column: &str, texts: &[&str]) -> bool {
    texts.iter().any(|text| row.is(column, text))
}

/// The rows of one policy at one number of pages a block and some utilisations, under uniform
/// traffic.
#[track_caller]
fn uniform(policy: &str, pages_per_block: &str, utilizations: &[&str]) {
    let chosen = |row: &Row| {
        is_main(row, "uniform")
            && row.is("policy", policy)
            && row.is("pages_per_block", pages_per_block)
            && is_one_of(row, "utilization", utilizations)
    };
    compare(chosen, uniform_untimed, |_| 0.005);
}

const ALL: [&str; 4] = ["0.70", "0.85", "0.90", "0.93"];
/// Where much is to spare, and little is moved.
const MUCH_TO_SPARE: [&str; 1] = ["0.70"];
const LESS_TO_SPARE: [&str; 3] = ["0.85", "0.90", "0.93"];

#[test]
fn fifo_64_pages() {
    uniform("fifo", "64", &ALL);
}

#[test]
fn greedy_64_pages() {
    uniform("greedy", "64", &ALL);
}

#[test]
fn d_choices_64_pages() {
    uniform("dchoices", "64", &MUCH_TO_SPARE);
}

#[test]
#[ignore = "long"]
fn d_choices_64_pages_with_less_to_spare() {
    uniform("dchoices", "64", &LESS_TO_SPARE);
}

#[test]
#[ignore = "long"]
fn fifo_128_pages() {
    uniform("fifo", "128", &ALL);
}

#[test]
#[ignore = "long"]
fn greedy_128_pages() {
    uniform("greedy", "128", &ALL);
}

#[test]
#[ignore = "long"]
fn d_choices_128_pages() {
    uniform("dchoices", "128", &["0.70", "0.90"]);
}

#[test]
#[ignore = "long"]
fn all_policies_256_pages() {
    let chosen = |row: &Row| {
        is_main(row, "uniform") && row.is("pages_per_block", "256") && row.is("utilization", "0.85")
    };
    compare(chosen, uniform_untimed, |_| 0.005);
}

/// Four fifths of the writes to a fifth of the pages, at some utilisations.
#[track_caller]
fn hot_and_cold(utilizations: &[&str]) {
    let chosen = |row: &Row| {
        is_main(row, "rosenblum-80/20")
            && row.is("pages_per_block", "64")
            && is_one_of(row, "utilization", utilizations)
    };
    compare(chosen, untimed, |_| 0.01);
}

#[test]
fn hot_and_cold_80_20() {
    hot_and_cold(&MUCH_TO_SPARE);
}

#[test]
#[ignore = "long"]
fn hot_and_cold_80_20_with_less_to_spare() {
    hot_and_cold(&LESS_TO_SPARE);
}

#[test]
#[ignore = "long"]
fn hot_and_cold_90_10() {
    let chosen = |row: &Row| {
        is_main(row, "hotcold-90/10") && is_one_of(row, "utilization", &["0.70", "0.90"])
    };
    compare(chosen, untimed, |_| 0.01);
}

/// Which of several emptiest blocks greedy takes matters little. Here it is the one that has been so
/// empty longest; the oldest of the table is the one that was filled first.
#[test]
fn greedy_ties() {
    compare(|row| row.is("group", "tie"), untimed, |_| 0.005);
}

/// Policies that have no formula: a window, ages, and classes.
#[test]
fn by_age_window_and_class() {
    compare(|row| row.is("group", "victim"), untimed, |_| 0.01);
}

#[test]
fn small_devices() {
    let tolerance = |row: &Row| if row.is("utilization", "0.93") { 0.02 } else { 0.01 };
    compare(|row| row.is("group", "finite"), uniform_untimed, tolerance);
}

#[test]
fn hysteresis() {
    compare(|row| row.is("group", "hysteresis"), uniform_untimed, |_| 0.02);
}

#[test]
fn several_dies() {
    compare(|row| row.is("group", "multidie"), uniform_untimed, |_| 0.02);
}

/// The whole simulator, timed, warm-up included.
#[test]
fn timed_uniform() {
    let chosen = |row: &Row| {
        is_main(row, "uniform")
            && row.is("pages_per_block", "64")
            && row.is("utilization", "0.85")
            && (row.is("frontiers", "separate") || !row.is("policy", "dchoices"))
    };
    compare(chosen, timed_after_untimed, |_| 0.005);
}

#[test]
#[ignore = "long"]
fn timed_small_devices() {
    let tolerance = |row: &Row| if row.is("utilization", "0.93") { 0.02 } else { 0.01 };
    let chosen = |row: &Row| !row.is("group", "main") && row.is("blocks_per_die", "256");
    compare(chosen, timed, tolerance);
}

#[test]
#[ignore = "long"]
fn timed_hot_and_cold() {
    let chosen = |row: &Row| {
        is_main(row, "rosenblum-80/20")
            && row.is("pages_per_block", "64")
            && row.is("utilization", "0.85")
            && row.is("policy", "greedy")
    };
    compare(chosen, timed, |_| 0.01);
}

/// Hot and cold data on devices that are in no table, by formula.
#[test]
fn timed_hot_and_cold_by_formula() {
    let mut report = Report::new();
    for traffic in ["rosenblum-80/20", "hotcold-90/10"] {
        let like = |row: &Row| {
            is_main(row, traffic) && row.is("policy", "fifo") && row.is("utilization", "0.85")
        };
        let row = rows(TABLE).into_iter().find(like).expect("the table has such a row");
        let row = row.with("blocks_per_die", "1024").with("user_pages", "55705");
        let model = |rho| fifo_hot_cold(rho, &groups(traffic));
        let expected = DieSize::from(&row).amplification(model);
        report.compare(&name(&row), expected, timed(&row, Length::for_steady_state(&row)), 0.01);
    }
    report.finish();
}

/// Other pages a block and utilisations than the table has, by formula.
#[test]
fn greedy_by_formula() {
    let mut report = Report::new();
    for (pages, user_pages) in [("16", "104857"), ("32", "209715")] {
        let like = |row: &Row| is_main(row, "uniform") && row.is("policy", "greedy");
        let row = rows(TABLE).into_iter().find(like).expect("the table has such a row");
        let row = row.with("pages_per_block", pages).with("user_pages", user_pages);
        let row = row.with("utilization", "0.80");
        let size = DieSize::from(&row);
        let expected = size.amplification(|rho| greedy(rho, size.pages_per_block));
        report.compare(
            &name(&row),
            expected,
            uniform_untimed(&row, Length { warm: 4, measured: 5 }),
            0.005,
        );
    }
    report.finish();
}
