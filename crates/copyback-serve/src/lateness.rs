//! Lateness of answers: says whether a run is to be believed.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde_json::{Value, json};

/// Percentiles that are told.
const PERCENTILES: [(&str, f64); 4] =
    [("p50", 50.0), ("p90", 90.0), ("p99", 99.0), ("p99_9", 99.9)];

/// Largest share of the median response that the median lateness may be in a run that is to be believed.
const BELIEVED: f64 = 0.1;

/// Longer times count as this one: an hour.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Times of the host, of all answers.
#[derive(Debug)]
pub struct Lateness {
    /// Lateness of each answer, in nanoseconds of the host.
    late: Histogram<u64>,
    /// Intended response time of each request, in nanoseconds of the host.
    meant: Histogram<u64>,
}

impl Default for Lateness {
    fn default() -> Self {
        let histogram = || Histogram::new_with_max(LONGEST_NS, 3).expect("an hour in three digits");
        Self { late: histogram(), meant: histogram() }
    }
}

impl Lateness {
    /// An answer that was meant to come `meant` after its request came `late` later.
    pub fn note(&mut self, meant: Duration, late: Duration) {
        self.late.saturating_record(late.as_nanos() as u64);
        self.meant.saturating_record(meant.as_nanos() as u64);
    }

    /// Whether lateness is small beside responses, or nothing was answered.
    pub fn is_believable(&self) -> bool {
        let [late, meant] = [&self.late, &self.meant].map(|times| times.value_at_quantile(0.5));
        late as f64 <= BELIEVED * meant as f64
    }

    /// All of it, in microseconds of the host.
    pub fn summary(&self) -> Value {
        json!({
            "answers": self.late.len(),
            "late_us": percentiles(&self.late),
            "meant_us": percentiles(&self.meant),
            "believable": self.is_believable(),
        })
    }
}

fn percentiles(times: &Histogram<u64>) -> Value {
    let percentile = |share| times.value_at_percentile(share) as f64 / 1e3;
    let mut all: serde_json::Map<_, _> = PERCENTILES
        .into_iter()
        .map(|(name, share)| (name.to_owned(), json!(percentile(share))))
        .collect();
    all.insert("max".to_owned(), json!(times.max() as f64 / 1e3));
    all.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_of_the_median_response_is_believed_and_more_is_not() {
        let of = |late| {
            let mut lateness = Lateness::default();
            for _ in 0..9 {
                lateness.note(Duration::from_micros(100), Duration::from_micros(late));
            }
            lateness.note(Duration::from_micros(100), Duration::from_millis(50));
            lateness
        };
        assert!(of(9).is_believable());
        assert!(!of(12).is_believable());
        assert!(Lateness::default().is_believable(), "nothing was late");
        assert_eq!(of(9).summary()["answers"], 10);
    }
}
