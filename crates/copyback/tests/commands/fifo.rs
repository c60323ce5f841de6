//! FIFO victims as MQSim's source has them: queued when they are opened, and dropped when they are refused.

use copyback::config::{Config, Ineligible, Loader, QueuedWhen, VictimPolicy};
use copyback::ids::{BlockId, PlaneId};
use copyback::precondition::Preparation;
use copyback::rng::stream;
use copyback::victim::{BlockView, Shape, VictimSelector, Victims};
use copyback::{Error, Simulation, Status, state};

use crate::toy::Toy;

const PLANE: PlaneId = PlaneId(0);
const PAGES: u16 = 4;
const SHAPE: Shape = Shape { planes: 2, blocks: 16, pages_per_block: PAGES };

/// Valid pages of the first blocks; all pages of the others are valid.
struct Valid(&'static [u16]);

impl BlockView for Valid {
    fn valid_pages(&self, block: BlockId) -> u16 {
        self.0.get(block.index()).copied().unwrap_or(PAGES)
    }

    fn erase_count(&self, _: BlockId) -> u32 {
        0
    }

    fn class(&self, _: BlockId) -> Option<usize> {
        None
    }

    fn opened_at(&self, _: BlockId) -> u64 {
        0
    }

    fn sealed_at(&self, _: BlockId) -> u64 {
        0
    }

    fn hotness(&self, _: BlockId) -> Option<f64> {
        None
    }

    fn now(&self) -> u64 {
        0
    }
}

/// Blocks at which FIFO does not look.
const NONE: Valid = Valid(&[]);

fn fifo(queued_when: QueuedWhen, ineligible: Ineligible) -> VictimSelector {
    let policy = VictimPolicy::Fifo { queued_when, ineligible };
    VictimSelector::new(&policy, SHAPE, stream(1, "victims"))
}

/// Two blocks are open at a time: 1 is opened behind 0 and filled before it, then 2.
fn interleaved(mut fifo: VictimSelector) -> VictimSelector {
    for block in [0, 1, 2] {
        fifo.opened(PLANE, BlockId(block));
    }
    fifo.closed(PLANE, BlockId(1), PAGES, &NONE);
    fifo
}

/// The choices of plane 0, until there is none; each is collected.
fn choices(fifo: &mut VictimSelector, valid: &Valid) -> Vec<u32> {
    let mut chosen = Vec::new();
    while let Some(block) = fifo.choose(PLANE, valid) {
        fifo.removed(PLANE, block, valid.valid_pages(block));
        chosen.push(block.0);
    }
    chosen
}

#[test]
fn it_takes_them_in_the_order_of_filling_or_of_opening() {
    for (queued_when, expected) in
        [(QueuedWhen::Filled, [1, 0, 2]), (QueuedWhen::Opened, [0, 1, 2])]
    {
        let mut fifo = interleaved(fifo(queued_when, Ineligible::Collect));
        fifo.closed(PLANE, BlockId(0), PAGES, &NONE);
        fifo.closed(PLANE, BlockId(2), PAGES, &NONE);
        assert_eq!(choices(&mut fifo, &Valid(&[])), expected, "all valid: collected all the same");
    }
}

#[test]
fn a_block_that_is_not_full_is_passed_over_and_keeps_its_place() {
    let mut fifo = interleaved(fifo(QueuedWhen::Opened, Ineligible::Collect));
    assert_eq!(fifo.choose(PLANE, &Valid(&[])), Some(BlockId(1)));
    fifo.closed(PLANE, BlockId(0), PAGES, &NONE);
    assert_eq!(choices(&mut fifo, &Valid(&[])), [0, 1]);
}

#[test]
fn a_refused_head_is_dropped_and_the_next_one_waits_for_the_next_block_to_be_opened() {
    let valid = Valid(&[4, 1, 2]);
    let mut fifo = interleaved(fifo(QueuedWhen::Opened, Ineligible::Drop));
    assert_eq!(fifo.choose(PLANE, &valid), None, "0 is not full");
    assert_eq!(fifo.choose(PLANE, &valid), None, "that was all");
    fifo.opened(PLANE, BlockId(3));
    assert_eq!(fifo.choose(PLANE, &valid), Some(BlockId(1)));
    assert_eq!(fifo.choose(PLANE, &valid), Some(BlockId(1)), "it has not been taken");
    fifo.removed(PLANE, BlockId(1), 1);
    fifo.closed(PLANE, BlockId(2), 2, &NONE);
    assert_eq!(fifo.choose(PLANE, &valid), Some(BlockId(2)), "after an erase there is a look");
    fifo.removed(PLANE, BlockId(2), 2);
    fifo.closed(PLANE, BlockId(0), 4, &NONE);
    fifo.closed(PLANE, BlockId(3), 4, &NONE);
    assert_eq!(fifo.choose(PLANE, &valid), None, "3 has no invalid page");
    assert!(fifo.look_again(PLANE), "it has refused one");
    assert_eq!(fifo.choose(PLANE, &valid), None, "nothing is queued");
    assert!(!fifo.look_again(PLANE), "and has refused none");
    assert_eq!(fifo.lost(PLANE), Some(2), "0 and 3");
    assert_eq!(fifo.lost(PlaneId(1)), Some(0));
}

#[test]
fn a_block_that_something_else_empties_comes_back() {
    let valid = Valid(&[4, 0]);
    let mut fifo = interleaved(fifo(QueuedWhen::Filled, Ineligible::Drop));
    fifo.closed(PLANE, BlockId(0), 4, &NONE);
    // Wear levelling empties block 1, whose entry stays at the head but for this.
    fifo.removed(PLANE, BlockId(1), 0);
    assert_eq!(fifo.choose(PLANE, &valid), None, "0 is refused");
    fifo.opened(PLANE, BlockId(1));
    fifo.closed(PLANE, BlockId(1), 0, &NONE);
    assert_eq!(choices(&mut fifo, &valid), [1]);
    assert_eq!(fifo.lost(PLANE), Some(1));
}

#[test]
fn policies_that_drop_nothing_have_lost_none() {
    for queued_when in [QueuedWhen::Filled, QueuedWhen::Opened] {
        assert_eq!(fifo(queued_when, Ineligible::Collect).lost(PLANE), None);
    }
}

const DROPS: (&str, &str) = ("ssd.gc.victim", "{ type = \"fifo\", ineligible = \"drop\" }");

/// Blocks 0 and 1 hold what lies still; 2 to 5 are overwritten in turn, which leaves 6 open and 7 free.
#[test]
fn a_drive_passes_over_what_lies_still_only_once() {
    let pages: Vec<u32> = (0..16).chain(8..16).collect();
    for (victim, moved) in [(("ssd.gc.victim", "\"fifo\""), 8), (DROPS, 0)] {
        let mut toy = Toy::filled(&[victim], &pages);
        for request in 0..16 {
            toy.write(u64::from(request) * 10_000_000, request, 8 + request % 8);
        }
        toy.run();
        let counters = toy.ssd.counters();
        assert_eq!(counters.pages_moved, moved, "{victim:?} {:?}", toy.log);
        let lost = toy.ssd.backend().ftl.refused().blocks();
        assert_eq!(lost, (victim == DROPS).then_some(2), "{:?}", toy.log);
    }
}

/// A drive that is filled in order and overwritten at random. The fewer pages a block has, the more blocks stay as they
/// were until their turn comes.
fn drive(pages_per_block: u32, fill: &str, over_provisioning: &str) -> Config {
    let text = format!(
        "[ssd.geometry]
        channels = 1
        chips_per_channel = 1
        dies_per_chip = 1
        planes_per_die = 1
        blocks_per_plane = 64
        pages_per_block = {pages_per_block}
        page_size = '4KiB'
        [ssd.ftl]
        over_provisioning = {over_provisioning}
        [ssd.gc]
        soft_threshold = {{ blocks = 4 }}
        victim = {{ type = 'fifo', ineligible = 'drop' }}
        [workload]
        type = 'synthetic'
        requests = 20000
        read_share = 0.0
        sequential_share = 0.0
        request_size = '4KiB'
        [precondition]
        fill = {fill}
        overwrites = 0.0"
    );
    Loader::new().toml(&text, "drive.toml", None).set("audit", "true").load().expect("sound")
}

fn run(simulation: Result<Simulation, Error>) -> Result<serde_json::Value, Error> {
    let mut simulation = simulation?;
    while simulation.advance(1 << 16)? == Status::Running {}
    Ok(simulation.summary().expect("it has run").to_json())
}

#[test]
fn a_drive_without_victims_says_so_in_one_line() {
    let refused = run(Simulation::new(&drive(4, "1.0", "0.1"), None));
    let Err(Error::Input(problem)) = refused else { panic!("{refused:?}") };
    assert!(problem.starts_with("ssd.gc.victim: \"fifo\" with ineligible = \"drop\" has lost "));
    assert!(problem.contains("full blocks of plane 0 of drive 0"), "{problem}");
    assert_eq!(problem.lines().count(), 1);
}

#[test]
fn an_array_whose_windows_go_on_says_so_as_well() {
    let mut config = drive(4, "0.7", "0.2");
    for (key, value) in [
        ("array.layout", "raid0"),
        ("array.devices", "2"),
        ("array.coordination", "{ type = 'staggered', window = '1ms' }"),
    ] {
        let text = config.to_toml();
        let loader = Loader::new().toml(&text, "drive.toml", None).set(key, value);
        config = loader.load().expect("sound");
    }
    let refused = run(Ok(Simulation::new(&config, None).expect("it can be prepared")));
    let Err(Error::Input(problem)) = refused else { panic!("{refused:?}") };
    assert!(problem.contains("has lost "), "{problem}");
}

#[test]
fn a_drive_with_room_enough_tells_how_many_it_has_lost() {
    let summary = run(Simulation::new(&drive(32, "0.9", "0.3"), None)).expect("it has room");
    let lost = summary["gc"]["lost_victims"].as_u64().expect("it drops");
    let notes = summary["notes"].to_string();
    assert_eq!(lost > 0, notes.contains(&format!("{lost} full blocks have left the queue")));
    assert!(summary["gc"]["collections"].as_u64() > Some(100));
}

#[test]
fn a_saved_drive_remembers_its_queue() {
    for queued_when in ["filled", "opened"] {
        for ineligible in ["collect", "drop"] {
            let mut config = drive(32, "0.9", "0.3");
            let policy = format!(
                "{{ type = \"fifo\", queued_when = \"{queued_when}\", ineligible = \"{ineligible}\" }}"
            );
            let text = config.to_toml();
            config = Loader::new()
                .toml(&text, "drive.toml", None)
                .set("ssd.gc.victim", &policy)
                .set("precondition.overwrites", "1.5")
                .load()
                .expect("sound");
            let folder = tempfile::tempdir().expect("there is room for files");
            let path = folder.path().join("state");
            let mut device = Preparation::new(&config.resolve());
            while !device.is_done() {
                device.advance(1000);
            }
            state::save(&config.resolve(), &device, &path).expect("it can be saved");
            let fresh = run(Simulation::new(&config, None)).expect("it has room");
            let loaded = run(Simulation::new(&config, Some(&path))).expect("it has room");
            assert_eq!(fresh, loaded, "{policy}");
        }
    }
}
