//! Which features meet. Most bugs that get past tests of each feature are meetings of two; here is told which two
//! no case of the swarm has together.

use copyback::config::quantity::Rate;
use copyback::config::{
    Allocation, AllocationChoice, Config, Coordination, FreeBlockOrder, GcStart, Layout, Mapping,
    Overwrites, PageLatency, Placement, Preemption, Protection, QueuedWhen, Rebuild, Register,
    Scheduling, SummaryPage, VictimPolicy, WearCompare, Width, Within, Workload,
};
use copyback::ssd::Part;

use crate::coverage::throttles;
use crate::draw::Case;
use crate::pool::{self, Failure};
use crate::run::{self, Outcome};

/// Whether a run has a feature: it is configured and, where that can be seen, at work.
type Has = fn(&Config, &Outcome) -> bool;

const FEATURES: &[(&str, Has)] = &[
    ("reads by page type", |config, _| by_type(&config.ssd.timing.read)),
    ("programs by page type", |config, _| by_type(&config.ssd.timing.program)),
    ("no bus", |config, _| config.ssd.timing.transfer_rate == Rate::None),
    ("two registers", |config, _| config.ssd.timing.register == Register::Double),
    ("summary pages", |config, _| config.ssd.ftl.summary_page != SummaryPage::None),
    ("one class", |config, _| config.ssd.ftl.placement == Placement::OneClass),
    ("least worn first", |config, _| config.ssd.ftl.free_blocks == FreeBlockOrder::LeastWorn),
    ("dynamic allocation", |config, _| {
        config.ssd.ftl.allocation == Allocation::Choice(AllocationChoice::Dynamic)
    }),
    ("allocation by die", |config, _| {
        matches!(config.ssd.ftl.allocation, Allocation::Mixed { .. })
    }),
    ("table in flash", |_, outcome| many(outcome, "/mapping/translation_writes")),
    ("log blocks", |config, outcome| merges(config, outcome, Mapping::LogBlock)),
    ("buffered log blocks", |_, outcome| many(outcome, "/mapping/nv_buffer/writes")),
    ("superblock mapping", |_, outcome| many(outcome, "/mapping/compactions")),
    ("striped planes", |config, _| config.ssd.gc.width == Width::Superblock),
    ("planes that join", |_, outcome| many(outcome, "/gc/joined")),
    ("pages moved together", |_, outcome| many(outcome, "/gc/moves/together")),
    ("surplus pages in DRAM", |_, outcome| many(outcome, "/gc/moves/cached")),
    ("moves by copyback", |config, outcome| {
        config.ssd.gc.copyback && many(outcome, "/gc/pages_moved")
    }),
    ("moves over the channel", |config, outcome| {
        !config.ssd.gc.copyback && many(outcome, "/gc/pages_moved")
    }),
    ("greedy", |config, outcome| chooses(config, outcome, &VictimPolicy::Greedy)),
    ("random", |config, outcome| chooses(config, outcome, &VictimPolicy::Random)),
    ("random+", |config, outcome| chooses(config, outcome, &VictimPolicy::RandomPlus)),
    ("fifo", |config, outcome| chooses(config, outcome, &VictimPolicy::FIFO)),
    ("fifo by opening", |config, outcome| {
        matches!(config.ssd.gc.victim, VictimPolicy::Fifo { queued_when: QueuedWhen::Opened, .. })
            && many(outcome, "/gc/collections")
    }),
    ("fifo that drops", |_, outcome| {
        outcome.summary["gc"]["lost_victims"].as_u64().is_some_and(|lost| lost > 0)
    }),
    ("wear by block numbers", |config, outcome| {
        config.ssd.wear.compare == WearCompare::BlockNumbers
            && many(outcome, "/wear/levelling_runs")
    }),
    ("cost-benefit", |config, outcome| chooses(config, outcome, &VictimPolicy::COST_BENEFIT)),
    ("age since sealed or opened", |config, outcome| {
        matches!(config.ssd.gc.victim, VictimPolicy::CostBenefit { age, .. } if age.is_of_life())
            && many(outcome, "/gc/collections")
    }),
    ("cost-age-times", |config, outcome| {
        matches!(config.ssd.gc.victim, VictimPolicy::CostAgeTimes { .. })
            && many(outcome, "/gc/collections")
    }),
    ("cost-hotness", |config, outcome| {
        matches!(config.ssd.gc.victim, VictimPolicy::CostHotness { .. })
            && many(outcome, "/gc/collections")
    }),
    ("foresight", |config, outcome| chooses(config, outcome, &VictimPolicy::Foresight)),
    ("windowed greedy", |config, outcome| {
        matches!(config.ssd.gc.victim, VictimPolicy::WindowedGreedy { .. })
            && many(outcome, "/gc/collections")
    }),
    ("d choices within a class", |config, outcome| {
        matches!(config.ssd.gc.victim, VictimPolicy::Rga { within: Within::Class, .. })
            && many(outcome, "/gc/collections")
    }),
    ("semi-preemptive, yielding", |config, outcome| {
        matches!(config.ssd.gc.preemption, Preemption::SemiPreemptive { .. })
            && many(outcome, "/gc/preemptions")
    }),
    ("partial, yielding", |config, outcome| {
        matches!(config.ssd.gc.preemption, Preemption::Partial { .. })
            && many(outcome, "/gc/preemptions")
    }),
    ("paced, with writes that wait", |_, outcome| throttles(outcome)),
    ("reads from a register", |_, outcome| many(outcome, "/gc/merged_reads")),
    ("collections over the host", |_, outcome| many(outcome, "/gc/pipelined")),
    ("suspended", |_, outcome| many(outcome, "/gc/suspends")),
    ("before an operation", |config, outcome| {
        config.ssd.gc.start == GcStart::BeforeOperation && many(outcome, "/gc/collections")
    }),
    ("hysteresis", |config, outcome| {
        config.ssd.gc.hysteresis_blocks > 0 && many(outcome, "/gc/collections")
    }),
    ("no cost", |config, outcome| config.ssd.gc.zero_cost && many(outcome, "/gc/collections")),
    ("in advance", |_, outcome| {
        many(outcome, "/gc/kinds/look_ahead") || many(outcome, "/gc/kinds/compaction")
    }),
    ("put off", |_, outcome| many(outcome, "/gc/kinds/put_off")),
    ("caught up", |_, outcome| many(outcome, "/gc/kinds/delayed")),
    ("wear levelled", |_, outcome| many(outcome, "/wear/levelling_runs")),
    ("write buffer", |config, outcome| {
        config.ssd.buffer.capacity.0 > 0 && waits(outcome, Part::Buffer)
    }),
    ("trims", |_, outcome| many(outcome, "/requests/trimmed_pages")),
    ("flushes", |_, outcome| many(outcome, "/requests/flushes")),
    ("unmapped reads", |_, outcome| many(outcome, "/requests/unmapped_page_reads")),
    (
        "several flows",
        |config, _| matches!(&config.workload, Workload::Flows(flows) if flows.flows.len() > 1),
    ),
    ("a trace", |config, _| matches!(config.workload, Workload::Trace(_))),
    ("a full device queue", |_, outcome| waits(outcome, Part::HostQueue)),
    ("in order", |config, _| config.host.scheduling == Scheduling::InOrder),
    ("a host link", |config, _| config.host.link_rate != Rate::None),
    ("prepared until steady", |config, _| {
        matches!(config.precondition.overwrites, Overwrites::UntilSteady { .. })
    }),
    ("RAID-0", |config, _| config.array.layout == Layout::Raid0),
    ("RAID-5", |config, _| config.array.layout == Layout::Raid5),
    ("RAID-6", |config, _| config.array.layout == Layout::Raid6),
    ("forced collections", |_, outcome| many(outcome, "/gc/forced")),
    ("windows", |config, outcome| {
        matches!(config.array.coordination, Coordination::Staggered { .. })
            && many(outcome, "/gc/forced")
    }),
    ("silent drives", |config, _| {
        config.array.devices > 1 && !config.array.protocol.silent.is_empty()
    }),
    ("lost drives", |config, _| !config.array.failed.is_empty()),
    ("rebuilt", |config, outcome| {
        config.array.rebuild != Rebuild::None && many(outcome, "/array/rebuilt_bytes")
    }),
    ("reads around collections", |_, outcome| many(outcome, "/array/reads_around_gc")),
    ("bad when new", |_, outcome| many(outcome, "/faults/factory_bad_blocks")),
    ("failed programs", |_, outcome| many(outcome, "/faults/program_failures")),
    ("failed erases", |_, outcome| many(outcome, "/faults/erase_failures")),
    ("retried reads", |_, outcome| {
        let retries = outcome.summary.pointer("/faults/read_retries");
        retries.and_then(|levels| levels.as_array()).is_some_and(|levels| !levels.is_empty())
    }),
    ("read-only", |_, outcome| {
        outcome.summary.pointer("/faults/read_only_since_s").is_some_and(|since| !since.is_null())
    }),
    ("cuts, capacitors", |config, outcome| {
        config.ssd.power.protection == Protection::Capacitors && many(outcome, "/power_loss/cuts")
    }),
    ("cuts, no protection", |config, outcome| {
        config.ssd.power.protection == Protection::None && many(outcome, "/power_loss/cuts")
    }),
    ("torn pages", |_, outcome| many(outcome, "/power_loss/torn_pages")),
    ("erases cut off", |_, outcome| many(outcome, "/power_loss/cut_erases")),
];

fn by_type(latency: &PageLatency) -> bool {
    matches!(latency, PageLatency::ByPageType(times) if times.len() > 1)
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

/// What the run of a case has; nothing, if its flash does not last until it begins.
fn features(case: &Case) -> Result<Vec<bool>, Failure> {
    case.write_traces();
    match pool::guarded(|| run::run(&case.config, None, 1 << 20)) {
        Ok(outcome) => Ok(FEATURES.iter().map(|(_, has)| has(&case.config, &outcome)).collect()),
        Err(problem) if crate::faults::is_dead_before_the_run(&problem) => {
            Ok(vec![false; FEATURES.len()])
        }
        Err(problem) => Err(case.failure(problem)),
    }
}

/// Cases of each kind that are enough to demand meetings of.
const ENOUGH: u64 = 1000;

/// Features whose meeting no other suite has, or only in one place.
const MUST_MEET: [(&str, &str); 14] = [
    ("reads by page type", "moves by copyback"),
    ("planes that join", "wear levelled"),
    ("planes that join", "surplus pages in DRAM"),
    ("bad when new", "wear levelled"),
    ("failed erases", "wear levelled"),
    ("bad when new", "in advance"),
    ("failed erases", "in advance"),
    ("bad when new", "caught up"),
    ("failed programs", "caught up"),
    ("read-only", "caught up"),
    ("retried reads", "reads around collections"),
    ("bad when new", "reads around collections"),
    ("read-only", "RAID-0"),
    ("torn pages", "table in flash"),
];

/// Prints which two features no case has, of as many of each kind as there are `numbers`.
pub fn check(numbers: std::ops::Range<u64>) {
    let cases = numbers.end - numbers.start;
    let draws = [Case::draw, Case::draw_array, Case::draw_faults, Case::draw_with_cuts];
    let runs: Vec<_> = draws
        .into_iter()
        .flat_map(|draw| pool::each(numbers.clone(), move |number| features(&draw(number))))
        .collect();
    let together = |a: usize, b: usize| runs.iter().filter(|has| has[a] && has[b]).count();
    let mut never = 0;
    for (a, (first, _)) in FEATURES.iter().enumerate() {
        let alone = together(a, a);
        let apart = (0..FEATURES.len()).filter(|b| *b != a && together(a, *b) == 0);
        let names: Vec<_> = apart.map(|b| FEATURES[b].0).collect();
        never += names.len();
        println!("{alone:6} {first}; never with: {}", names.join(", "));
    }
    let pairs = FEATURES.len() * (FEATURES.len() - 1) / 2;
    println!("{} of {pairs} pairs of {} features never meet", never / 2, FEATURES.len());
    let place = |name: &str| FEATURES.iter().position(|(other, _)| *other == name);
    for (first, second) in MUST_MEET {
        let (a, b) = place(first).zip(place(second)).expect("they are in the table");
        let meet = together(a, b);
        assert!(meet > 0 || cases < ENOUGH, "no case has {first} and {second}");
    }
}
