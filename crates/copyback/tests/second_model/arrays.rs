//! Random arrays: of each request the commands that the controller sends to the drives, beside what the text says.

use copyback::config::{Config, Loader};
use copyback::metrics::{CommandColumns, RequestColumns};
use copyback::{Simulation, Status};

use crate::draw::Draw;
use crate::plans::{Layouts, Plan, joined};

/// The configuration of this number: one request at a time, so that each command belongs to one.
pub fn case(number: u64) -> Config {
    let mut draw = Draw::new(number, "second-model/array");
    std::iter::repeat_with(|| try_case(&mut draw)).flatten().next().expect("some draw makes sense")
}

fn try_case(draw: &mut Draw) -> Option<Config> {
    let layout = draw
        .of(&["jbod", "raid0", "raid5", "raid5", "raid6", "raid6", "raid1", "raid10", "raid10"]);
    let drives = draw.within(2, 7);
    let most_lost = match layout {
        "raid5" => 1,
        "raid6" => 2,
        "raid1" | "raid10" => drives - 1,
        _ => 0,
    };
    let mut lost: Vec<u64> =
        (0..draw.within(0, most_lost)).map(|_| draw.within(0, drives - 1)).collect();
    lost.sort_unstable();
    lost.dedup();
    let stripe = draw.of(&["512B", "4096B", "10000B", "16KiB", "64KiB"]);
    let sizes = draw.of(&["512B", "4KiB", "24KiB", "100KiB", "400KiB"]);
    let size = format!("{{ type = \"exponential\", mean = \"{sizes}\" }}");
    let mut keys = vec![
        ("seed", draw.within(0, 1 << 40).to_string()),
        ("ssd.geometry.channels", "1".into()),
        ("ssd.geometry.chips_per_channel", "1".into()),
        ("ssd.geometry.planes_per_die", draw.of(&["1", "2"]).into()),
        ("ssd.geometry.blocks_per_plane", draw.within(20, 60).to_string()),
        ("ssd.geometry.pages_per_block", draw.within(7, 30).to_string()),
        ("host.command_overhead", "1us".into()),
        ("array.layout", layout.into()),
        ("array.devices", drives.to_string()),
        ("array.stripe", stripe.into()),
        ("array.failed", format!("{lost:?}")),
        ("metrics.commands", "true".into()),
        ("metrics.requests", "true".into()),
        ("workload.requests", draw.within(50, 250).to_string()),
        ("workload.iodepth", "1".into()),
        ("workload.read_share", draw.of(&["0.0", "0.4", "0.8"]).into()),
        ("workload.trim_share", draw.of(&["0.0", "0.15"]).into()),
        ("workload.flush_share", draw.of(&["0.0", "0.05"]).into()),
        ("workload.request_size", size),
        ("workload.alignment", draw.of(&["512B", "512B", "4KiB"]).into()),
    ];
    keys.extend(mirrors(draw, layout, drives));
    let loader = keys.iter().fold(Loader::new(), |loader, (key, value)| loader.set(key, value));
    loader.load().ok()
}

/// Keys that only mirrors have.
fn mirrors(draw: &mut Draw, layout: &str, drives: u64) -> Vec<(&'static str, String)> {
    let policies = ["first", "round_robin", "random", "shortest_queue", "around_collections"];
    let mut keys = Vec::new();
    if layout == "raid10" {
        keys.push(("array.copies", draw.within(2, drives.min(4)).to_string()));
        keys.push(("array.arrangement", draw.of(&["near", "far", "offset"]).into()));
    }
    if layout.starts_with("raid1") {
        keys.push(("array.mirror_reads", draw.of(&policies).into()));
    }
    keys
}

/// Runs an array beside the plans. Returns how many requests were compared, by their operation.
pub fn run_beside(config: &Config) -> Result<[u64; 4], String> {
    let mut simulation = Simulation::new(config, None).map_err(|error| error.to_string())?;
    while simulation.advance(1 << 20).map_err(|error| error.to_string())? == Status::Running {}
    compare(config, &simulation.take_requests(), &simulation.take_commands())
}

fn compare(
    config: &Config,
    requests: &RequestColumns,
    commands: &CommandColumns,
) -> Result<[u64; 4], String> {
    let layouts = Layouts::new(config);
    let mut compared = [0; 4];
    for row in 0..requests.arrival_ns.len() {
        let (from, operation) = (requests.offset[row], requests.operation[row]);
        let range = (from, from + requests.bytes[row]);
        let arrival = requests.arrival_ns[row];
        let time = arrival..arrival + requests.response_ns[row];
        let theirs =
            plan_of(commands, time).map_err(|problem| format!("request {row}: {problem}"))?;
        let ours = match operation {
            // Any copy may be read, of each byte one.
            0 if layouts.is_a_choice(range, &theirs.reads) => {
                compared[0] += 1;
                continue;
            }
            0 => layouts.read(range),
            1 => layouts.write(range),
            2 => layouts.trim(range),
            _ => layouts.flush(),
        };
        if theirs != ours {
            return Err(format!(
                "request {row}, operation {operation} of {range:?}: the simulator has {theirs:?}, the second \
                 model {ours:?}"
            ));
        }
        compared[usize::from(operation)] += 1;
    }
    Ok(compared)
}

/// What the commands that have begun in this time do, if all that reads has ended before anything writes.
fn plan_of(commands: &CommandColumns, time: std::ops::Range<u64>) -> Result<Plan, String> {
    let mut plan = Plan::default();
    let (mut last_read, mut first_write) = (0, u64::MAX);
    for row in 0..commands.device.len() {
        let arrival = commands.arrival_ns[row];
        if !time.contains(&arrival) {
            continue;
        }
        let (drive, from) = (u32::from(commands.device[row]), commands.offset[row]);
        let range = (from, from + commands.bytes[row]);
        match commands.operation[row] {
            0 => {
                plan.reads.entry(drive).or_default().push(range);
                last_read = last_read.max(arrival + commands.response_ns[row]);
            }
            1 => {
                plan.writes.entry(drive).or_default().push(range);
                first_write = first_write.min(arrival);
            }
            2 => plan.trims.entry(drive).or_default().push(range),
            _ => plan.flushes.push(drive),
        }
    }
    plan.flushes.sort_unstable();
    for bytes in [&mut plan.reads, &mut plan.writes, &mut plan.trims] {
        for ranges in bytes.values_mut() {
            *ranges = joined(std::mem::take(ranges));
        }
    }
    match last_read <= first_write {
        true => Ok(plan),
        false => {
            Err(format!("a write begins at {first_write} ns, before a read ends at {last_read}"))
        }
    }
}
