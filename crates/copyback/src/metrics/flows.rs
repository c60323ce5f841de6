//! Each flow's own results, where there are several.

use schemars::JsonSchema;
use serde::Serialize;

use super::ledger::{LedgerSummary, RequestsSummary};
use super::verdict::{self, FlowVerdictSummary, Run};
use super::{Ledger, Written};

/// The results of one of several flows.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FlowSummary {
    /// Number of the flow, from 0.
    pub flow: usize,
    /// Name of the flow, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Number of its requests, by kind.
    pub requests: RequestsSummary,
    /// Measurements of them; their keys are keys of this.
    #[serde(flatten)]
    pub ledger: LedgerSummary,
    /// Bytes programmed into flash for each that the flow wrote. Null if it wrote nothing; missing if others wrote, too:
    /// each then owns a part of what collections copy, and no part of the simulator says which.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_amplification: Option<FlowAmplification>,
    /// Verdict on what these numbers can be taken for.
    pub verdict: FlowVerdictSummary,
}

/// The write amplification of a flow; null if it wrote nothing.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct FlowAmplification(Option<f64>);

/// The list `flows` of the summary.
pub(super) fn flows(
    flows: &[Ledger],
    names: &[String],
    media_bytes: u64,
    run: Run<'_>,
) -> Vec<FlowSummary> {
    let of = |(index, flow): (usize, &Ledger)| FlowSummary {
        flow: index,
        name: names.get(index).cloned(),
        requests: flow.requests(),
        ledger: flow.summary(),
        write_amplification: write_amplification(flow, flows, media_bytes),
        verdict: verdict::of_flow(flow, run),
    };
    flows.iter().enumerate().map(of).collect()
}

/// The write amplification of a flow, where it is known: none of one that wrote nothing, that of the whole of one
/// that wrote alone.
fn write_amplification(flow: &Ledger, all: &[Ledger], media: u64) -> Option<FlowAmplification> {
    let writes = |flow: &Ledger| flow.totals.write_pages > 0;
    let writers = all.iter().filter(|flow| writes(flow)).count();
    match (writes(flow), writers) {
        (false, _) => Some(FlowAmplification(None)),
        (true, 1) => {
            let written = Written { host: flow.totals.write_bytes, media };
            Some(FlowAmplification(written.amplification()))
        }
        (true, _) => None,
    }
}
