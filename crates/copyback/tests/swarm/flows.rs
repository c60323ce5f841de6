//! What each of several flows is told of, found again from the rows of its requests.

use copyback::config::{Config, Workload};
use copyback::ssd::Part;
use serde_json::Value;

use crate::check::{close, equal, holds};
use crate::run::Outcome;

/// The rows of a flow.
struct Rows<'a> {
    outcome: &'a Outcome,
    rows: Vec<usize>,
}

/// Checks the list `flows` of the summary, which only several flows have.
pub fn check(config: &Config, outcome: &Outcome) -> Result<(), String> {
    let Workload::Flows(several) = &config.workload else {
        return equal("flows", &outcome.summary["flows"], &Value::Null);
    };
    let found = outcome.summary["flows"].as_array().ok_or("no flows")?;
    equal("flows", &found.len(), &several.flows.len())?;
    for (index, (found, flow)) in found.iter().zip(&several.flows).enumerate() {
        equal("the flow's number", &found["flow"], &Value::from(index))?;
        let rows = Rows::of(outcome, index);
        rows.counts(config, found)?;
        for (class, of) in [("all", &[0, 1][..]), ("read", &[0]), ("write", &[1])] {
            rows.times(of, &found["response_us"][class])?;
            rows.curve(index, class, of)?;
        }
        rows.parts(&found["breakdown_us"])?;
        let told = !found["verdict"]["load"].is_null();
        holds("a closed loop has no load", !told || flow.iodepth().is_none())?;
    }
    amplification(outcome, found)
}

/// A flow's write amplification is told if it wrote nothing, or alone.
fn amplification(outcome: &Outcome, flows: &[Value]) -> Result<(), String> {
    let wrote = |flow: &Value| flow["requests"]["writes"].as_u64() > Some(0);
    let writers = flows.iter().filter(|flow| wrote(flow)).count();
    for flow in flows {
        let expected = match (wrote(flow), writers) {
            (false, _) => Some(&Value::Null),
            (true, 1) => Some(&outcome.summary["write_amplification"]),
            (true, _) => None,
        };
        equal("a flow's write amplification", &flow.get("write_amplification"), &expected)?;
    }
    Ok(())
}

impl<'a> Rows<'a> {
    fn of(outcome: &'a Outcome, flow: usize) -> Self {
        let flows = outcome.requests.flow.iter().enumerate();
        let rows = flows.filter(|(_, of)| usize::from(**of) == flow).map(|(row, _)| row).collect();
        Self { outcome, rows }
    }

    /// The rows of these operations.
    fn by(&self, of: &[u8]) -> impl Iterator<Item = usize> + Clone {
        let operations = &self.outcome.requests.operation;
        self.rows.iter().copied().filter(move |row| of.contains(&operations[*row]))
    }

    fn counts(&self, config: &Config, found: &Value) -> Result<(), String> {
        let requests = &self.outcome.requests;
        for (key, of) in [("reads", 0), ("writes", 1), ("trims", 2), ("flushes", 3)] {
            let expected = self.by(&[of]).count();
            equal(key, &found["requests"][key], &Value::from(expected))?;
        }
        for (key, of) in [("read_bytes", 0), ("write_bytes", 1)] {
            let expected: u64 = self.by(&[of]).map(|row| requests.bytes[row]).sum();
            equal(key, &found["requests"][key], &Value::from(expected))?;
        }
        let page = config.resolve().drive.pages.counted_size.0;
        let pages = |row: usize| {
            let (first, bytes) = (requests.offset[row], requests.bytes[row]);
            (first / page..(first + bytes).div_ceil(page)).count() as u64
        };
        let expected: u64 = self.by(&[1]).map(pages).sum();
        equal("pages", &found["requests"]["write_pages"], &Value::from(expected))?;
        let end = self.rows.iter().map(|row| self.end(*row)).max().unwrap_or(0);
        let told = found["throughput"]["simulated_s"].as_f64().unwrap_or(-1.0);
        close("a flow's last end", told, end as f64 / 1e9)
    }

    fn end(&self, row: usize) -> u64 {
        self.outcome.requests.arrival_ns[row] + self.outcome.requests.response_ns[row]
    }

    fn times(&self, of: &[u8], found: &Value) -> Result<(), String> {
        let times = self.by(of).map(|row| self.outcome.requests.response_ns[row]);
        let count = times.clone().count();
        equal("requests of a flow", &found["count"], &Value::from(count))?;
        let us = |ns: Option<u64>| ns.map(|ns| ns as f64 / 1e3);
        equal("the quickest", &found["min"].as_f64(), &us(times.clone().min()))?;
        equal("the slowest", &found["max"].as_f64(), &us(times.clone().max()))?;
        match count {
            0 => equal("no mean", &found["mean"], &Value::Null),
            _ => {
                let mean = times.sum::<u64>() as f64 / count as f64 / 1e3;
                close("a flow's mean", found["mean"].as_f64().unwrap_or(-1.0), mean)
            }
        }
    }

    /// The curve of a flow ends at its slowest request.
    fn curve(&self, flow: usize, class: &str, of: &[u8]) -> Result<(), String> {
        let name = format!("flow_{flow}_{class}");
        let curve = self.outcome.distributions.iter().find(|(found, _)| *found == name);
        let (_, points) = curve.ok_or(format!("no curve {name}"))?;
        let slowest = self.by(of).map(|row| self.outcome.requests.response_ns[row]).max();
        let found = points.last().map(|(us, _)| *us);
        equal("the end of a curve", &found, &slowest.map(|ns| ns as f64 / 1e3))
    }

    fn parts(&self, found: &Value) -> Result<(), String> {
        let count = self.by(&[0, 1]).count().max(1) as f64;
        for part in Part::ALL {
            let parts = &self.outcome.requests.parts_ns[part as usize];
            let expected: u64 = self.by(&[0, 1]).map(|row| parts[row]).sum();
            let told = found[part.name()].as_f64().unwrap_or(-1.0);
            close(part.name(), told, expected as f64 / count / 1e3)?;
        }
        Ok(())
    }
}
