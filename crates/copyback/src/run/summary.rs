//! The summary of a run, as it is written to `summary.json`.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::array::ArraySummary;
use crate::config::Resolved;
use crate::metrics::{
    DevicesSummary, DriveSummary, DriveWork, FlowSummary, LedgerSummary, PowerLossSummary,
    Recorder, RequestsSummary, VerdictSummary,
};
use crate::precondition::RoundsSummary;
use crate::workload::schema;

use super::stop::{SettledSummary, SteadyStateSummary};

/// The numbers of a run. Times are of the simulation, and in microseconds unless the key says otherwise.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Summary {
    /// Version of this form.
    pub schema: u32,
    /// Version of the simulator.
    pub version: &'static str,
    /// Digest of the resolved configuration.
    pub config_digest: String,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Number of requests, by kind.
    pub requests: RunRequestsSummary,
    /// Measurements of them; their keys are keys of this.
    #[serde(flatten)]
    pub ledger: LedgerSummary,
    /// Work of the drives; its keys are keys of this.
    #[serde(flatten)]
    pub drives: DriveSummary,
    /// Verdict on what these numbers can be taken for.
    pub verdict: VerdictSummary,
    /// The flows of the workload, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<Vec<FlowSummary>>,
    /// Work of an array beside serving requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<ArraySummary>,
    /// Drives of an array; its keys are keys of this.
    #[serde(flatten)]
    pub devices: Option<DevicesSummary>,
    /// The rounds of a run that ends when they are steady (`stop`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steady_state: Option<SteadyStateSummary>,
    /// The rounds of a run that ends when what it reports has settled (`workload.requests`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled: Option<SettledSummary>,
    /// Cuts of power, if there can be any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_loss: Option<PowerLossSummary>,
    /// Preparation of the devices, if in rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precondition: Option<PreconditionSummary>,
    /// Bound on how good the write amplification could get, if that was asked for. Whoever writes
    /// `summary.json` adds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<BoundSummary>,
    /// Cost of the run.
    pub simulator: SimulatorSummary,
    /// Notes for the user: on the input, and on what is not measured.
    pub notes: Vec<String>,
}

/// Number of requests, by kind.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RunRequestsSummary {
    /// Counts of any set of requests; its keys are keys of this.
    #[serde(flatten)]
    pub counts: RequestsSummary,
    /// Logical pages that drives were asked to read, each counted for every command.
    pub page_reads: u64,
    /// Pages of those that hold no data, as they were never written or were trimmed; they touch no flash.
    pub unmapped_page_reads: u64,
    /// Logical pages trimmed that held data.
    pub trimmed_pages: u64,
    /// Requests that had arrived and waited for a place in the queue when a rule ended the run (`stop`): they were not served,
    /// and are in no other count. Absent where no rule may end it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unserved: Option<u64>,
}

/// Preparation of the devices.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PreconditionSummary {
    /// The rounds of each device.
    pub devices: Vec<RoundsSummary>,
}

/// Bound: the same configuration under a placement that knows when each page dies.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BoundSummary {
    /// Runs, by their number of classes, and the best of these with victims that are foreseen; empty if it was
    /// refused.
    pub runs: Vec<BoundRunSummary>,
    /// Reasons why there are no runs, or no more of them, a sentence each.
    pub refused: Vec<String>,
}

/// A run of the placement that knows the future.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BoundRunSummary {
    /// Classes, each with an open block on every plane.
    pub classes: u32,
    /// Factor by which each class is wider than the one before.
    pub growth: f64,
    /// Whether victims were chosen by the future, too (`ssd.gc.victim = "foresight"`), and not as in the run.
    pub victims_foreseen: bool,
    /// Bytes programmed into flash for each that the host wrote; null if it wrote none.
    pub write_amplification: Option<f64>,
}

/// Cost of the run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SimulatorSummary {
    /// Events of the simulation.
    pub events: u64,
    /// Page operations in flash.
    pub page_operations: u64,
    /// Cost on the machine; its keys are keys of this.
    #[serde(flatten)]
    #[schemars(required)]
    pub machine: Option<MachineSummary>,
}

/// Cost of the run on the machine. Whoever writes `summary.json` adds it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MachineSummary {
    /// Time on the clock, in seconds.
    pub wall_s: f64,
    /// Time of the processor, in seconds.
    pub cpu_s: f64,
    /// Of that, for the preparation of the devices.
    pub precondition_cpu_s: f64,
    /// Page operations a second of the processor's time, preparation left out; null if none was taken.
    pub page_operations_per_cpu_s: Option<u64>,
    /// The most memory that the process has held, in MiB; null where nobody knows.
    pub peak_rss_mib: Option<f64>,
    /// Command that started the run.
    pub command: String,
    /// The commit of the checkout that it was run from, if it was, with `-dirty` if that was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

impl Summary {
    /// Creates the summary of what the requests and the flash decide; parts that only some runs have are left
    /// out.
    pub fn new(
        config: &Resolved,
        recorder: &Recorder,
        work: &DriveWork,
        dies_per_drive: usize,
    ) -> Self {
        let (verdict, flows) = recorder.judge(work, dies_per_drive);
        Self {
            schema: 2,
            version: env!("CARGO_PKG_VERSION"),
            config_digest: config.digest(),
            seed: config.seed,
            requests: RunRequestsSummary {
                counts: recorder.whole.requests(),
                page_reads: work.counters.page_reads,
                unmapped_page_reads: work.counters.unmapped_reads,
                trimmed_pages: work.counters.trimmed,
                unserved: None,
            },
            ledger: recorder.whole.summary(),
            drives: work.summary(),
            verdict,
            flows,
            array: None,
            devices: None,
            steady_state: None,
            settled: None,
            power_loss: None,
            precondition: None,
            bound: None,
            simulator: SimulatorSummary { events: 0, page_operations: 0, machine: None },
            notes: Vec::new(),
        }
    }

    /// The summary as JSON.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("a summary is plain data")
    }
}

/// The JSON schema of `summary.json`.
pub fn summary_schema() -> String {
    schema::of::<Summary>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_in_the_reference_is_fresh() {
        let kept = include_str!("../../../../docs/reference/summary.schema.json");
        assert!(kept == summary_schema(), "it is stale: run 'make generated'");
    }
}
