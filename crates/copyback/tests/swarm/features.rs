//! What features a run can have, and which keys of a configuration bring them.

use copyback::config::quantity::Rate;
use copyback::config::{
    AddressDistribution, Allocation, AllocationChoice, Config, Coordination, Flow, FreeBlockOrder,
    GcEnd, GcStart, Layout, Mapping, MoveOrder, Overwrites, Overwritten, PageLatency, Placement,
    Preemption, Protection, QueuedWhen, Rebuild, Register, Scheduling, SummaryPage,
    SyntheticWorkload, ThresholdScope, ThresholdUnit, ValidPages, VictimPolicy, WearCompare, Width,
    Within, Workload,
};
use copyback::ssd::Part;

use crate::coverage::throttles;
use crate::run::Outcome;

/// Whether a run has a feature: it is configured and, where that can be seen, at work.
type Has = fn(&Config, &Outcome) -> bool;

/// Features of a run, the keys that bring each, and whether it acted: numbers are in bins of none and some, shares of time
/// and sizes in none.
pub const FEATURES: &[(&str, &[&str], Has)] = &[
    ("reads by page type", &["ssd.timing.read"], |config, _| by_type(&config.ssd.timing.read)),
    ("programs by page type", &["ssd.timing.program"], |config, _| {
        by_type(&config.ssd.timing.program)
    }),
    ("no bus", &["ssd.timing.transfer_rate"], |config, _| {
        config.ssd.timing.transfer_rate == Rate::None
    }),
    ("two registers", &["ssd.timing.register"], |config, _| {
        config.ssd.timing.register == Register::Double
    }),
    ("summary pages", &["ssd.ftl.summary_page"], |config, _| {
        config.ssd.ftl.summary_page != SummaryPage::None
    }),
    ("one class", &["ssd.ftl.placement"], |config, _| {
        config.ssd.ftl.placement == Placement::OneClass
    }),
    ("least worn first", &["ssd.ftl.free_blocks"], |config, _| {
        config.ssd.ftl.free_blocks == FreeBlockOrder::LeastWorn
    }),
    ("dynamic allocation", &["ssd.ftl.allocation"], |config, _| {
        config.ssd.ftl.allocation == Allocation::Choice(AllocationChoice::Dynamic)
    }),
    ("allocation by die", &["ssd.ftl.allocation"], |config, _| {
        matches!(config.ssd.ftl.allocation, Allocation::Mixed { .. })
    }),
    ("table in flash", &["ssd.ftl.mapping"], |_, outcome| {
        many(outcome, "/mapping/translation_writes")
    }),
    ("log blocks", &["ssd.ftl.mapping"], |config, outcome| {
        merges(config, outcome, Mapping::LogBlock)
    }),
    ("buffered log blocks", &["ssd.ftl.mapping"], |_, outcome| {
        many(outcome, "/mapping/nv_buffer/writes")
    }),
    ("superblock mapping", &["ssd.ftl.mapping"], |_, outcome| {
        many(outcome, "/mapping/compactions")
    }),
    (
        "striped planes",
        &["ssd.gc.width", "ssd.commands", "ssd.geometry.planes_per_die"],
        |config, _| config.ssd.gc.width == Width::Superblock,
    ),
    (
        "planes that join",
        &["ssd.gc.width", "ssd.commands", "ssd.geometry.planes_per_die"],
        |_, outcome| many(outcome, "/gc/joined"),
    ),
    (
        "pages moved together",
        &["ssd.gc.width", "ssd.commands", "ssd.geometry.planes_per_die"],
        |_, outcome| many(outcome, "/gc/moves/together"),
    ),
    (
        "surplus pages in DRAM",
        &["ssd.gc.width", "ssd.commands", "ssd.geometry.planes_per_die"],
        |_, outcome| many(outcome, "/gc/moves/cached"),
    ),
    ("moves by copyback", &["ssd.gc.copyback"], |config, outcome| {
        config.ssd.gc.copyback && many(outcome, "/gc/pages_moved")
    }),
    ("moves over the channel", &["ssd.gc.copyback"], |config, outcome| {
        !config.ssd.gc.copyback && many(outcome, "/gc/pages_moved")
    }),
    ("greedy", &["ssd.gc.victim"], |config, outcome| {
        chooses(config, outcome, &VictimPolicy::Greedy)
    }),
    ("random", &["ssd.gc.victim"], |config, outcome| {
        chooses(config, outcome, &VictimPolicy::Random)
    }),
    ("random+", &["ssd.gc.victim"], |config, outcome| {
        chooses(config, outcome, &VictimPolicy::RandomPlus)
    }),
    ("fifo", &["ssd.gc.victim"], |config, outcome| chooses(config, outcome, &VictimPolicy::FIFO)),
    ("fifo by opening", &["ssd.gc.victim"], |config, outcome| {
        matches!(config.ssd.gc.victim, VictimPolicy::Fifo { queued_when: QueuedWhen::Opened, .. })
            && many(outcome, "/gc/collections")
    }),
    ("fifo that drops", &["ssd.gc.victim"], |_, outcome| {
        outcome.summary["gc"]["lost_victims"].as_u64().is_some_and(|lost| lost > 0)
    }),
    ("wear by block numbers", &["ssd.wear"], |config, outcome| {
        config.ssd.wear.compare == WearCompare::BlockNumbers
            && many(outcome, "/wear/levelling_runs")
    }),
    ("cost-benefit", &["ssd.gc.victim"], |config, outcome| {
        chooses(config, outcome, &VictimPolicy::COST_BENEFIT)
    }),
    ("age since sealed or opened", &["ssd.gc.victim"], |config, outcome| {
        matches!(config.ssd.gc.victim, VictimPolicy::CostBenefit { age, .. } if age.is_of_life())
            && many(outcome, "/gc/collections")
    }),
    ("cost-age-times", &["ssd.gc.victim"], |config, outcome| {
        matches!(config.ssd.gc.victim, VictimPolicy::CostAgeTimes { .. })
            && many(outcome, "/gc/collections")
    }),
    ("cost-hotness", &["ssd.gc.victim", "ssd.ftl.placement"], |config, outcome| {
        matches!(config.ssd.gc.victim, VictimPolicy::CostHotness { .. })
            && many(outcome, "/gc/collections")
    }),
    ("foresight", &["ssd.gc.victim", "ssd.ftl.placement"], |config, outcome| {
        chooses(config, outcome, &VictimPolicy::Foresight)
    }),
    ("windowed greedy", &["ssd.gc.victim"], |config, outcome| {
        matches!(config.ssd.gc.victim, VictimPolicy::WindowedGreedy { .. })
            && many(outcome, "/gc/collections")
    }),
    ("d choices within a class", &["ssd.gc.victim"], |config, outcome| {
        matches!(config.ssd.gc.victim, VictimPolicy::Rga { within: Within::Class, .. })
            && many(outcome, "/gc/collections")
    }),
    ("semi-preemptive, yielding", &["ssd.gc.preemption"], |config, outcome| {
        matches!(config.ssd.gc.preemption, Preemption::SemiPreemptive { .. })
            && many(outcome, "/gc/preemptions")
    }),
    ("partial, yielding", &["ssd.gc.preemption"], |config, outcome| {
        matches!(config.ssd.gc.preemption, Preemption::Partial { .. })
            && many(outcome, "/gc/preemptions")
    }),
    ("paced, with writes that wait", &["ssd.gc.preemption"], |_, outcome| throttles(outcome)),
    ("reads from a register", &["ssd.gc.preemption"], |_, outcome| {
        many(outcome, "/gc/merged_reads")
    }),
    ("collections over the host", &["ssd.gc.preemption"], |_, outcome| {
        many(outcome, "/gc/pipelined")
    }),
    ("suspended", &["ssd.commands.suspend"], |_, outcome| many(outcome, "/gc/suspends")),
    ("before an operation", &["ssd.gc.start"], |config, outcome| {
        config.ssd.gc.start == GcStart::BeforeOperation && many(outcome, "/gc/collections")
    }),
    ("hysteresis", &["ssd.gc.hysteresis_blocks"], |config, outcome| {
        config.ssd.gc.hysteresis_blocks > 0 && many(outcome, "/gc/collections")
    }),
    ("no cost", &["ssd.gc.zero_cost"], |config, outcome| {
        config.ssd.gc.zero_cost && many(outcome, "/gc/collections")
    }),
    ("in advance", &["ssd.gc.idle"], |_, outcome| {
        many(outcome, "/gc/kinds/look_ahead") || many(outcome, "/gc/kinds/compaction")
    }),
    ("put off", &["ssd.gc.idle"], |_, outcome| many(outcome, "/gc/kinds/put_off")),
    ("caught up", &["ssd.gc.idle"], |_, outcome| many(outcome, "/gc/kinds/delayed")),
    ("wear levelled", &["ssd.wear"], |_, outcome| many(outcome, "/wear/levelling_runs")),
    ("write buffer", &["ssd.buffer"], |config, outcome| {
        config.ssd.buffer.capacity.0 > 0 && waits(outcome, Part::Buffer)
    }),
    ("trims", &[], |_, outcome| many(outcome, "/requests/trimmed_pages")),
    ("flushes", &[], |_, outcome| many(outcome, "/requests/flushes")),
    ("unmapped reads", &["precondition"], |_, outcome| {
        many(outcome, "/requests/unmapped_page_reads")
    }),
    (
        "several flows",
        &[],
        |config, _| matches!(&config.workload, Workload::Flows(flows) if flows.flows.len() > 1),
    ),
    ("each block once a pass", &["workload.address"], |config, _| {
        any_synthetic(config, |flow| matches!(flow.address, AddressDistribution::RandomMap { .. }))
    }),
    ("pauses", &["workload.thinktime"], |config, _| {
        any_synthetic(config, |flow| !flow.thinktime.is_none())
    }),
    ("a trace", &[], |config, _| matches!(config.workload, Workload::Trace(_))),
    ("a full device queue", &["host"], |_, outcome| waits(outcome, Part::HostQueue)),
    ("in order", &["host.scheduling"], |config, _| config.host.scheduling == Scheduling::InOrder),
    ("a host link", &["host.link_rate"], |config, _| config.host.link_rate != Rate::None),
    ("prepared until steady", &["precondition"], |config, _| {
        matches!(config.precondition.overwrites, Overwrites::UntilSteady { .. })
    }),
    ("prepared as the workload writes", &["precondition"], |config, _| {
        config.precondition.addresses == Overwritten::Workload
    }),
    ("prepared by a formula", &["precondition"], |config, _| {
        config.precondition.valid_pages != ValidPages::AsWritten
    }),
    ("RAID-0", &["array"], |config, _| config.array.layout == Layout::Raid0),
    ("RAID-1", &["array"], |config, _| config.array.layout == Layout::Raid1),
    ("RAID-10", &["array"], |config, _| config.array.layout == Layout::Raid10),
    ("RAID-5", &["array"], |config, _| config.array.layout == Layout::Raid5),
    ("RAID-6", &["array"], |config, _| config.array.layout == Layout::Raid6),
    ("forced collections", &["array"], |_, outcome| many(outcome, "/gc/forced")),
    ("windows", &["array"], |config, outcome| {
        matches!(config.array.coordination, Coordination::Staggered { .. })
            && many(outcome, "/gc/forced")
    }),
    ("silent drives", &["array"], |config, _| {
        config.array.devices > 1 && !config.array.protocol.silent.is_empty()
    }),
    ("lost drives", &["array"], |config, _| !config.array.failed.is_empty()),
    ("rebuilt", &["array"], |config, outcome| {
        config.array.rebuild != Rebuild::None && many(outcome, "/array/rebuilt_bytes")
    }),
    ("drives repaired by others", &["array", "ssd.faults"], |_, outcome| {
        many(outcome, "/array/repairs/made_up")
    }),
    ("reads around collections", &["array"], |_, outcome| many(outcome, "/array/reads_around_gc")),
    ("bad when new", &["ssd.faults", "ssd.endurance"], |_, outcome| {
        many(outcome, "/faults/factory_bad_blocks")
    }),
    ("failed programs", &["ssd.faults", "ssd.endurance"], |_, outcome| {
        many(outcome, "/faults/program_failures")
    }),
    ("failed erases", &["ssd.faults", "ssd.endurance"], |_, outcome| {
        many(outcome, "/faults/erase_failures")
    }),
    ("retried reads", &["ssd.faults", "ssd.endurance"], |_, outcome| {
        let retries = outcome.summary.pointer("/faults/read_retries");
        retries.and_then(|levels| levels.as_array()).is_some_and(|levels| !levels.is_empty())
    }),
    ("read-only", &["ssd.faults", "ssd.endurance"], |_, outcome| {
        outcome.summary.pointer("/faults/read_only_since_s").is_some_and(|since| !since.is_null())
    }),
    ("cuts, capacitors", &["ssd.power"], |config, outcome| {
        config.ssd.power.protection == Protection::Capacitors && many(outcome, "/power_loss/cuts")
    }),
    ("cuts, no protection", &["ssd.power"], |config, outcome| {
        config.ssd.power.protection == Protection::None && many(outcome, "/power_loss/cuts")
    }),
    ("torn pages", &["ssd.power"], |_, outcome| many(outcome, "/power_loss/torn_pages")),
    ("pages torn with others", &["ssd.power"], |_, outcome| {
        many(outcome, "/power_loss/paired_pages_torn")
    }),
    ("erases cut off", &["ssd.power"], |_, outcome| many(outcome, "/power_loss/cut_erases")),
    ("lines", &["ssd.gc.unit"], |_, outcome| many(outcome, "/lines/collected")),
    ("parity of lines", &["ssd.gc.unit", "ssd.ftl.rain"], |_, outcome| {
        many(outcome, "/lines/parity/programs")
    }),
    ("a lost die", &["ssd.gc.unit", "ssd.ftl.rain", "ssd.faults"], |_, outcome| {
        many(outcome, "/lost_die/pages_rebuilt")
    }),
    ("SLC cache, folding", &["ssd.slc_cache"], |_, outcome| {
        many(outcome, "/slc_cache/folded_bytes")
    }),
    ("reclaim units of several blocks", &["ssd.ftl.placement"], |config, outcome| {
        config.resolve().drive.unit.together > 1
            && many(outcome, "/placement/fdp/events/media_reallocated")
    }),
    ("placement handles", &["ssd.ftl.placement"], |config, outcome| {
        matches!(config.ssd.ftl.placement, Placement::ByHint { .. })
            && many(outcome, "/gc/pages_moved")
    }),
    ("placement that learns", &["ssd.ftl.placement"], |config, outcome| {
        !matches!(
            config.ssd.ftl.placement,
            Placement::OneClass | Placement::HostAndGcApart | Placement::ByHint { .. }
        ) && many(outcome, "/gc/pages_moved")
    }),
    ("placement with a say in victims", &["ssd.ftl.placement"], |config, outcome| {
        config.ssd.ftl.placement.chooses_victims() && many(outcome, "/gc/collections")
    }),
    ("units below a page", &["ssd.ftl.mapping_unit"], |config, outcome| {
        config.ssd.ftl.mapping_unit.is_some() && many(outcome, "/gc/collections")
    }),
    ("pages filled up", &["ssd.ftl.mapping_unit", "ssd.power"], |_, outcome| {
        many(outcome, "/flash/padding")
    }),
    ("free blocks of a die", &["ssd.gc.threshold_scope"], |config, outcome| {
        config.ssd.gc.threshold_scope == ThresholdScope::Die && many(outcome, "/gc/on_demand")
    }),
    ("free blocks of the drive", &["ssd.gc.threshold_scope"], |config, outcome| {
        config.ssd.gc.threshold_scope == ThresholdScope::Drive && many(outcome, "/gc/on_demand")
    }),
    ("free pages", &["ssd.gc.threshold_unit"], |config, outcome| {
        config.ssd.gc.threshold_unit == ThresholdUnit::FreePages && many(outcome, "/gc/on_demand")
    }),
    ("one victim at a time", &["ssd.gc.end"], |config, outcome| {
        config.ssd.gc.end == GcEnd::OneVictim && many(outcome, "/gc/collections")
    }),
    ("victims that are refused", &["ssd.gc.least_invalid"], |config, outcome| {
        config.ssd.gc.least_invalid.0 > 0.0 && many(outcome, "/gc/collections")
    }),
    ("moves LUN by LUN", &["ssd.gc.move_order"], |config, outcome| {
        config.ssd.gc.move_order != MoveOrder::AsWritten && many(outcome, "/gc/collections")
    }),
    ("a share of garbage", &["ssd.gc.invalid_threshold"], |config, outcome| {
        config.ssd.gc.invalid_threshold.is_some() && many(outcome, "/gc/collections")
    }),
    ("blocks refreshed", &["ssd.refresh"], |_, outcome| {
        many(outcome, "/gc/refresh/refreshes") || many(outcome, "/gc/refresh/read_reclaims")
    }),
    ("delays by size", &["ssd.controller"], |config, _| !config.ssd.controller.is_default()),
];

fn by_type(latency: &PageLatency) -> bool {
    matches!(latency, PageLatency::ByPageType(times) if times.len() > 1)
}

fn any_synthetic(config: &Config, has: impl Fn(&SyntheticWorkload) -> bool) -> bool {
    let flows = config.workload.flows();
    flows.iter().any(|flow| matches!(flow, Flow::Synthetic(synthetic) if has(synthetic)))
}

fn many(outcome: &Outcome, pointer: &str) -> bool {
    outcome.summary.pointer(pointer).and_then(|number| number.as_u64()) > Some(0)
}

fn waits(outcome: &Outcome, part: Part) -> bool {
    outcome.requests.parts_ns[part as usize].iter().any(|ns| *ns > 0)
}

fn merges(config: &Config, outcome: &Outcome, mapping: Mapping) -> bool {
    config.ssd.ftl.mapping == mapping && many(outcome, "/gc/collections")
}

fn chooses(config: &Config, outcome: &Outcome, victim: &VictimPolicy) -> bool {
    config.ssd.gc.victim == *victim && many(outcome, "/gc/collections")
}
