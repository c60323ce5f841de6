//! A saved state, damaged by someone who also mended its checksum: the first byte picks the device,
//! and every four bytes behind it change what was saved, a place (two bytes), a way and a value.

use std::sync::OnceLock;

use copyback::config::{Loader, Resolved};
use copyback::precondition::Preparation;
use copyback::{Error, Simulation, Status, state};
use xxhash_rust::xxh3::xxh3_128;

/// What stands before the compressed content: magic, version, checksum.
const MAGIC_AND_VERSION: usize = 15 + 4;
const HEADER: usize = MAGIC_AND_VERSION + 16;
/// The fingerprint of the configuration, with its length: damage there is refused at once.
const FINGERPRINT: usize = 1 + 32;

const DEVICE: &str = "
    seed = 5
    audit = true
    [ssd.geometry]
    channels = 2
    chips_per_channel = 1
    dies_per_chip = 1
    planes_per_die = 2
    blocks_per_plane = 12
    pages_per_block = 4
    [ssd.ftl]
    over_provisioning = 0.75
    [ssd.gc]
    soft_threshold = { blocks = 3 }
    hard_threshold = { blocks = 1 }
    [workload]
    type = 'synthetic'
    requests = 60
    request_size = '4KiB'
    [precondition]
    fill = 0.9
    overwrites = 2
";

/// Devices that differ in every table that is saved.
const DEVICES: [&[(&str, &str)]; 19] = [
    &[("ssd.gc.victim", "greedy"), ("ssd.ftl.allocation", "CWDP")],
    &[("ssd.gc.victim", "cost_benefit"), ("ssd.ftl.allocation", "dynamic")],
    &[("ssd.gc.victim", "fifo"), ("ssd.ftl.free_blocks", "least_worn")],
    &[("ssd.gc.victim", "{ type = 'cost_benefit', age = 'since_sealed' }")],
    &[("ssd.gc.victim", "cost_age_times"), ("ssd.ftl.placement", "host_and_gc_apart")],
    &[("ssd.gc.victim", "cost_hotness"), ("ssd.ftl.placement", "sfs")],
    &[("ssd.gc.victim", "{ type = 'windowed_greedy', window = 3 }")],
    &[("ssd.gc.victim", "{ type = 'rga', within = 'class' }")],
    &[
        ("ssd.gc.victim", "random+"),
        ("ssd.ftl.allocation.order", "CWDP"),
        ("ssd.ftl.allocation.plane", "most_free"),
    ],
    &[("ssd.gc.victim", "random"), ("ssd.wear.static_threshold", "2")],
    &[
        ("ssd.gc.victim", "greedy"),
        ("ssd.ftl.placement", "host_and_gc_apart"),
        ("ssd.ftl.summary_page", "{ type = 'last_page', transfer = '512B' }"),
    ],
    &[("ssd.gc.victim", "fifo"), ("ssd.ftl.mapping", "log_block")],
    &[
        ("ssd.gc.victim", "greedy"),
        ("ssd.ftl.mapping.type", "superblock"),
        ("ssd.ftl.mapping.update_blocks", "3"),
    ],
    &[
        ("ssd.gc.victim", "greedy"),
        ("ssd.ftl.mapping.type", "buffered_log_block"),
        ("ssd.ftl.mapping.buffer", "{ blocks = 2 }"),
    ],
    &[
        ("ssd.gc.victim", "greedy"),
        ("ssd.ftl.mapping.type", "demand_paged"),
        ("ssd.ftl.mapping.cache", "64B"),
        ("ssd.ftl.mapping.entry", "256B"),
    ],
    &[
        ("ssd.wear.static_threshold", "2"),
        ("ssd.faults.factory_bad_blocks", "0.03"),
        ("ssd.faults.program_failures", "0.004"),
    ],
    &[
        ("ssd.ftl.mapping.type", "superblock"),
        ("ssd.ftl.mapping.update_blocks", "3"),
        ("ssd.faults.erase_failures", "0.05"),
    ],
    &[
        ("ssd.gc.victim.type", "fifo"),
        ("ssd.gc.victim.ineligible", "drop"),
        ("ssd.wear.static_threshold", "2"),
        ("ssd.wear.compare", "block_numbers"),
    ],
    &[("ssd.gc.victim.type", "fifo"), ("ssd.gc.victim.queued_when", "opened")],
];

/// A device and its saved state, decompressed.
struct Saved {
    config: Resolved,
    start: Vec<u8>,
    content: Vec<u8>,
}

/// Loads the damaged state. If it passes for a state of the device, a run on it must be sound.
pub fn run(data: &[u8]) {
    let Some((device, changes)) = data.split_first() else { return };
    let saved = &saved()[usize::from(*device) % DEVICES.len()];
    let mut content = saved.content.clone();
    for change in changes.chunks_exact(4) {
        apply(&mut content, change);
    }
    survive(saved, &content);
}

fn apply(content: &mut Vec<u8>, change: &[u8]) {
    let place = usize::from(u16::from_le_bytes([change[0], change[1]]));
    let at = FINGERPRINT + place % (content.len() - FINGERPRINT).max(1);
    let value = change[3];
    match change[2] % 5 {
        0 => content[at] = value,
        1 => content[at] = content[at].wrapping_add(value),
        2 => content.insert(at, value),
        3 if content.len() > FINGERPRINT + 1 => drop(content.remove(at)),
        _ => {
            let other = FINGERPRINT + (place + usize::from(value)) % (content.len() - FINGERPRINT);
            content.swap(at, other);
        }
    }
}

fn survive(saved: &Saved, content: &[u8]) {
    match state::from_bytes(&saved.config, &sealed(saved, content)) {
        Ok(device) => finish(&saved.config, device),
        Err(problem) => assert!(!problem.is_empty() && !problem.contains('\n'), "{problem}"),
    }
}

fn finish(config: &Resolved, device: Preparation) {
    let mut simulation = Simulation::on(config, device).expect("a synthetic workload");
    for _ in 0..100 {
        match simulation.advance(1000) {
            Ok(Status::Done) => return,
            Ok(Status::Running) => {}
            Err(Error::Internal(problem)) => panic!("{problem}"),
            Err(error) => panic!("{error}"),
        }
    }
    panic!("the run does not end");
}

/// A file with this content and the checksum that belongs to it.
fn sealed(saved: &Saved, content: &[u8]) -> Vec<u8> {
    let body = zstd::encode_all(content, 1).expect("memory takes any bytes");
    let checksum = xxh3_128(&body).to_le_bytes();
    [&saved.start[..], &checksum, &body].concat()
}

fn saved() -> &'static [Saved] {
    static SAVED: OnceLock<Vec<Saved>> = OnceLock::new();
    SAVED.get_or_init(|| DEVICES.iter().map(|settings| prepared(settings)).collect())
}

fn prepared(settings: &[(&str, &str)]) -> Saved {
    let loader = Loader::new().toml(DEVICE, "device.toml", None);
    let loader = settings.iter().fold(loader, |loader, (key, value)| loader.set(key, value));
    let config = loader.load().unwrap_or_else(|faults| panic!("{faults}")).resolve();
    let mut device = Preparation::new(&config);
    device.advance(u64::MAX);
    assert_eq!(device.read_only(), None);
    let bad_blocks: u64 =
        device.devices().iter().map(|device| device.ftl.bad_blocks().count().0).sum();
    assert_eq!(bad_blocks > 0, !config.ssd.faults.are_none(), "{bad_blocks} bad blocks");
    let fingerprint = state::fingerprint(&config).expect("there is no trace");
    let file = state::to_bytes(&config, &fingerprint, &device).expect("memory takes any bytes");
    let content = zstd::decode_all(&file[HEADER..]).expect("a state is compressed");
    Saved { config, start: file[..MAGIC_AND_VERSION].to_vec(), content }
}

/// Changes each byte of each state by itself.
#[cfg(test)]
pub fn survive_each_byte_changed() {
    for saved in saved() {
        for at in FINGERPRINT..saved.content.len() {
            for value in [
                0,
                1,
                0x7f,
                0xff,
                saved.content[at].wrapping_add(1),
                saved.content[at].wrapping_sub(1),
            ] {
                let mut content = saved.content.clone();
                content[at] = value;
                survive(saved, &content);
            }
        }
    }
}
