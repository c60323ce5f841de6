//! Drives that lose their power at random instants: nothing durable is lost, and the run goes on to its
//! end as any other.

use copyback::config::quantity::Size;
use copyback::config::{Config, Cuts, Flush, Loader, Power, Protection};

use crate::check;
use crate::draw::{Case, Draw};
use crate::examine::{INTERRUPT_EVERY, LOOK_EVERY};
use crate::observed::to_look_changes_nothing;
use crate::resumed::interruptions_change_nothing;
use crate::run::{self, Outcome};

/// What cases have met, added up.
#[derive(Debug, Default, Clone, Copy)]
pub struct Met {
    pub cuts: u64,
    pub in_recovery: u64,
    pub torn_pages: u64,
    pub paired_pages_torn: u64,
    pub paired_pages_lost: u64,
    pub cut_erases: u64,
    pub interrupted: u64,
    pub buffered_pages_lost: u64,
    pub blocks_erased: u64,
    pub filled_up: u64,
}

/// Random cuts for a drive that is otherwise `config`.
pub fn draw(draw: &mut Draw, mut config: Config) -> Config {
    let metadata = Size(draw.within(1, config.ssd.geometry.page_size.0.min(64)));
    config.ssd.power = Power {
        protection: draw.of(&[Protection::None, Protection::None, Protection::Capacitors]),
        erase_barrier: true,
        metadata,
        flush: Flush::Honoured,
        cuts: Cuts::Random {
            count: draw.small_within(1, 30) as u32,
            mean_interval: draw.time(10_000, 50_000_000),
        },
        paired_pages: 1,
    };
    config
}

/// Everything that is demanded of one case. Returns what it has met.
pub fn examine(case: &Case) -> Result<Met, String> {
    let first = run::run(&case.config, None, 1 << 20)?;
    check::check_array(case, &first)?;
    check::equal("durable pages lost", &count(&first, "durable_pages_lost"), &0)?;
    if case.config.ssd.power.flush == Flush::Honoured {
        check::equal("flushed pages lost", &count(&first, "flushed_pages_lost"), &0)?;
    }
    if case.config.ssd.power.paired_pages == 1 {
        check::equal("pages torn with others", &count(&first, "paired_pages_torn"), &0)?;
    }
    if case.number.is_multiple_of(5) {
        run::again_is_the_same(case, &first)?;
    }
    if case.number.is_multiple_of(LOOK_EVERY) {
        to_look_changes_nothing(case, &first)?;
    }
    if case.number.is_multiple_of(INTERRUPT_EVERY) {
        interruptions_change_nothing(case, &first)?;
    }
    Ok(Met {
        cuts: count(&first, "cuts"),
        in_recovery: count(&first, "cuts_in_recovery"),
        torn_pages: count(&first, "torn_pages"),
        paired_pages_torn: count(&first, "paired_pages_torn"),
        paired_pages_lost: count(&first, "paired_pages_lost"),
        cut_erases: count(&first, "cut_erases"),
        interrupted: count(&first, "interrupted_requests"),
        buffered_pages_lost: count(&first, "buffered_pages_lost"),
        blocks_erased: count(&first, "blocks_erased"),
        filled_up: first.summary["flash"]["padding"].as_u64().unwrap_or(0),
    })
}

pub fn count(outcome: &Outcome, name: &str) -> u64 {
    outcome.number(&format!("/power_loss/{name}"))
}

/// Prints what all cases have met together.
pub fn print(met: &[Met]) {
    let sum = |of: fn(&Met) -> u64| met.iter().map(of).sum::<u64>();
    println!(
        "{} cuts of power, {} of them in a recovery; {} torn pages, with {} that were whole, so that {} durable ones \
         were lost; {} cut erases, {} blocks erased by recoveries; {} commands handed in anew, {} pages of write buffers lost",
        sum(|met| met.cuts),
        sum(|met| met.in_recovery),
        sum(|met| met.torn_pages),
        sum(|met| met.paired_pages_torn),
        sum(|met| met.paired_pages_lost),
        sum(|met| met.cut_erases),
        sum(|met| met.blocks_erased),
        sum(|met| met.interrupted),
        sum(|met| met.buffered_pages_lost),
    );
}

/// Checks that the cases have met what a cut can meet.
pub fn check_coverage(met: &[Met]) {
    let any = |of: fn(&Met) -> u64| met.iter().any(|met| of(met) > 0);
    assert!(any(|met| met.in_recovery), "no cut came during a recovery");
    assert!(any(|met| met.torn_pages), "no page was torn");
    assert!(any(|met| met.paired_pages_torn), "no page was torn with another");
    assert!(any(|met| met.paired_pages_lost), "no durable page was lost with a torn one");
    assert!(any(|met| met.cut_erases), "no erase was cut off");
    assert!(any(|met| met.filled_up), "no page was filled up");
    assert!(any(|met| met.interrupted), "no command was handed in anew");
    assert!(any(|met| met.buffered_pages_lost), "no write buffer was lost");
    assert!(any(|met| met.blocks_erased), "no recovery erased a block");
}

/// Durable pages that a drive loses which writes the same few pages to all of its dies, so that one die
/// erases blocks whose pages are just being written anew on others.
pub fn lost_without_waiting(erase_barrier: bool) -> u64 {
    let geometry = "{ channels = 2, chips_per_channel = 2, dies_per_chip = 1, planes_per_die = 1, \
                    blocks_per_plane = 16, pages_per_block = 4, page_size = \"4KiB\" }";
    let loader = Loader::new()
        .set("ssd.geometry", geometry)
        .set("ssd.timing", "{ program = \"1ms\", erase = \"10us\", transfer_rate = \"none\" }")
        .set("ssd.ftl.allocation", "dynamic")
        .set("ssd.ftl.over_provisioning", "0.5")
        .set("ssd.power.protection", "none")
        .set("ssd.power.erase_barrier", if erase_barrier { "true" } else { "false" })
        .set("ssd.power.cuts", "{ type = \"random\", count = 1000, mean_interval = \"20ms\" }")
        .set(
            "workload",
            "{ type = \"synthetic\", requests = 40000, read_share = 0.0, request_size = \"4KiB\", \
             iodepth = 8, footprint = 0.1 }",
        );
    let config = loader.load().unwrap_or_else(|faults| panic!("{faults}"));
    let outcome = run::run(&config, None, 1 << 20).unwrap_or_else(|problem| panic!("{problem}"));
    count(&outcome, "durable_pages_lost")
}
