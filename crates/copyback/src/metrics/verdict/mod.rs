//! Verdict on a run's numbers: whether the drive kept up, what its tail comes from, and whether the run was
//! long enough.
//!
//! Everything is computed from what was measured anyway, at the end of the run; a request costs a few
//! instructions.

mod amplification;
mod backlog;
mod heavy;
mod holds;
mod trend;
mod unreal;

use schemars::JsonSchema;
use serde::Serialize;

use crate::ssd::Counters;
use crate::units::Duration;

use super::dies::{Spell, SpellSummary};
use super::{LatencyStats, Ledger, Responses};

pub use amplification::{Amplification, SettlingSummary};
pub use backlog::{Backlog, Load, LoadSummary, State};
pub use holds::Holds;

use heavy::HeavyTail;

/// Finding that a reader of the numbers should know first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// Starved flow: no request of it was answered; each flow has at least one to make.
    Starved,
    /// More than one page in a hundred that were read held no data.
    UnmappedReads,
    /// Data were written, and no page of flash was programmed.
    NothingProgrammed,
    /// More was asked for than the drive could do.
    Overload,
    /// Possible overload; the run is too short to tell.
    PerhapsOverload,
    /// The tail comes from dies that collected and held their requests meanwhile.
    Stalls,
    /// The tail comes from more requests at a time than the drive could serve, which it served later.
    Bursts,
    /// Pages were programmed, and no block was collected.
    NothingCollected,
    /// Write amplification was another at the end than in the whole, or still changed.
    Unsettled,
}

/// Verdict on the numbers of a run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct VerdictSummary {
    /// The findings in words; the keys are keys of this.
    #[serde(flatten)]
    #[schemars(required)]
    pub words: Option<Words>,
    /// Findings to be known before the numbers are read.
    pub findings: Vec<Finding>,
    /// Whether the drives kept up; null if no request has a time of its own, or too few came.
    pub load: Option<LoadSummary>,
    /// Waits of requests for dies that collected.
    pub holds: RunHoldsSummary,
    /// Whether write amplification has settled; null if the host wrote nothing, or nothing was programmed.
    pub write_amplification: Option<SettlingSummary>,
}

/// The findings in words. Whoever writes `summary.json` adds them.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Words {
    /// A sentence for each finding.
    pub says: Vec<String>,
}

/// Verdict on the numbers of one flow.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FlowVerdictSummary {
    /// Findings to be known before the numbers are read.
    pub findings: Vec<Finding>,
    /// Whether the drives kept up; null if no request has a time of its own, or too few came.
    pub load: Option<LoadSummary>,
    /// Waits of requests for dies that collected.
    pub holds: HoldsSummary,
}

/// Waits of requests for dies that collected.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HoldsSummary {
    /// Requests that waited for any.
    pub requests: u64,
    /// The longest that one of them waited, in microseconds.
    pub longest_wait_us: f64,
}

/// Waits of requests for dies that collected, and the times for which these collected.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RunHoldsSummary {
    /// Waits; their keys are keys of this.
    #[serde(flatten)]
    pub holds: HoldsSummary,
    /// The longest time in which a die did nothing but collect; null if none was long enough to be seen.
    pub longest_spell: Option<SpellSummary>,
}

/// Facts about the run that requests were part of.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// The longest time in which a die did nothing but collect, if it was long enough to be seen.
    pub spell: Option<&'a Spell>,
    /// Whether a drive had no power for some time: what waits for that is served at the pace of collections, so
    /// that neither can be told from the other.
    pub was_off: bool,
}

/// Facts about drives as a whole: only a run as a whole has them.
#[derive(Debug)]
pub struct Drives<'a> {
    /// Counts of their work.
    pub counters: &'a Counters,
    /// Write amplification over the run.
    pub amplification: Option<Amplification>,
    /// Whether none of some flow's requests was answered.
    pub starve_a_flow: bool,
}

/// Of the whole run.
pub fn of_run(ledger: &Ledger, run: Run<'_>, drives: &Drives<'_>) -> VerdictSummary {
    let found = of(ledger, run, Some(drives));
    let holds = found.holds;
    VerdictSummary {
        words: None,
        findings: found.findings,
        load: found.load,
        holds: RunHoldsSummary { holds, longest_spell: run.spell.map(Spell::summary) },
        write_amplification: drives.amplification.as_ref().map(Amplification::summary),
    }
}

/// Of the requests of `ledger`, one flow of the run.
pub fn of_flow(ledger: &Ledger, run: Run<'_>) -> FlowVerdictSummary {
    of(ledger, run, None)
}

fn of(ledger: &Ledger, run: Run<'_>, drives: Option<&Drives<'_>>) -> FlowVerdictSummary {
    let memory = run.spell.map_or(Duration::ZERO, |spell| spell.length);
    let memory = memory.max(quickest(&ledger.responses));
    let load = ledger.backlog.as_ref().and_then(|backlog| backlog.load(memory));
    let state = load.as_ref().map(|load| load.state);
    let counters = drives.map(|drives| drives.counters);
    let tail = HeavyTail::of(ledger);
    let is_tail = |from: fn(&HeavyTail) -> bool| tail.as_ref().is_some_and(from);
    let nothing_programmed = counters.is_some_and(|it| unreal::programmed_nothing(it, ledger));
    let findings = [
        (drives.map_or_else(|| ledger.is_empty(), |it| it.starve_a_flow), Finding::Starved),
        (counters.is_some_and(unreal::reads_unmapped_pages), Finding::UnmappedReads),
        (nothing_programmed, Finding::NothingProgrammed),
        (state == Some(State::Overload), Finding::Overload),
        (state == Some(State::Undecided), Finding::PerhapsOverload),
        (
            state != Some(State::Overload) && !run.was_off && is_tail(HeavyTail::has_stalls),
            Finding::Stalls,
        ),
        (
            state.is_some_and(State::keeps_up) && !run.was_off && is_tail(HeavyTail::has_bursts),
            Finding::Bursts,
        ),
        (
            !nothing_programmed && drives.is_some_and(|drives| drives.collected_nothing(ledger)),
            Finding::NothingCollected,
        ),
        (drives.is_some_and(Drives::is_unsettled), Finding::Unsettled),
    ];
    let findings = findings.into_iter().filter(|(is_so, _)| *is_so).map(|(_, found)| found);
    FlowVerdictSummary {
        findings: findings.collect(),
        load: load.as_ref().map(Load::summary),
        holds: HoldsSummary {
            requests: ledger.holds.requests,
            longest_wait_us: ledger.holds.longest.as_us_f64(),
        },
    }
}

/// Response time of requests that wait for nothing: the quickest of the slower operation.
fn quickest(responses: &Responses) -> Duration {
    let of = |stats: &LatencyStats| stats.min().unwrap_or_default();
    of(&responses.reads).max(of(&responses.writes))
}

impl Drives<'_> {
    fn collected_nothing(&self, ledger: &Ledger) -> bool {
        let wrote = ledger.responses.writes.count() > 0;
        wrote && self.counters.erases == 0 && self.counters.pages_moved == 0
    }

    /// Whether write amplification has not settled, where there is any to speak of.
    fn is_unsettled(&self) -> bool {
        let settled = self.amplification.as_ref().and_then(|found| found.has_settled);
        settled == Some(false)
    }
}
