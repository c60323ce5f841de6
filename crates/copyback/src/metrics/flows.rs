//! Each flow's own results, where there are several.

use serde_json::{Map, Value, json};

use crate::ssd::Counters;

use super::Ledger;
use super::verdict::{self, Run};

/// The list `flows` of the summary.
pub(super) fn flows(
    flows: &[Ledger],
    names: &[String],
    counters: &Counters,
    run: Run<'_>,
) -> Value {
    let amplification = |flow| write_amplification(flow, flows, counters);
    let summaries = flows.iter().enumerate().map(|(index, flow)| {
        let mut summary = Map::new();
        summary.insert("flow".into(), json!(index));
        if let Some(name) = names.get(index) {
            summary.insert("name".into(), json!(name));
        }
        flow.put_into(&mut summary);
        if let Some(attributed) = amplification(flow) {
            summary.insert("write_amplification".into(), json!(attributed));
        }
        flow.put_breakdown_into(&mut summary);
        summary.insert("verdict".into(), verdict::summary(flow, run, None));
        Value::Object(summary)
    });
    summaries.collect()
}

/// The write amplification of a flow, where it is known: none of one that wrote nothing, that of the whole of one
/// that wrote alone. Of several writers each owns a part of what collections copy, and no part of the simulator
/// says which.
fn write_amplification(flow: &Ledger, all: &[Ledger], counters: &Counters) -> Option<Option<f64>> {
    let writes = |flow: &Ledger| flow.totals.write_pages > 0;
    let writers = all.iter().filter(|flow| writes(flow)).count();
    match (writes(flow), writers) {
        (false, _) => Some(None),
        (true, 1) => Some(counters.write_amplification()),
        (true, _) => None,
    }
}
