//! Cases on every processor, and the report of those that fail.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

/// Longer than any case may take, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(300);
/// Failures that are listed, and those of them that are shown whole.
const LISTED: usize = 20;
const SHOWN: usize = 2;

/// Examines a case. Says what is wrong with it, if something is.
type Examine = dyn Fn(u64) -> Option<Failure> + Send + Sync;

enum Report {
    Begun(u64),
    Ended(u64, Option<Failure>),
}

/// What went wrong, and all about it.
pub struct Failure {
    pub problem: String,
    pub description: String,
}

/// Examines every case of `numbers` and returns what they returned, in no particular order.
///
/// Panics with the descriptions of the cases that failed or do not end.
pub fn each<T: Send + 'static>(
    numbers: Range<u64>,
    examine: impl Fn(u64) -> Result<T, Failure> + Send + Sync + 'static,
) -> Vec<T> {
    let (results, failures) = those_that_hold(numbers, examine);
    assert!(failures.is_empty(), "{}", report(failures));
    results
}

/// Examines every case of `numbers`. Returns what those returned that hold, in no particular order, and the failures of the
/// others, by their numbers.
///
/// Panics with the numbers of cases that do not end.
pub fn those_that_hold<T: Send + 'static>(
    numbers: Range<u64>,
    examine: impl Fn(u64) -> Result<T, Failure> + Send + Sync + 'static,
) -> (Vec<T>, Vec<(u64, Failure)>) {
    let results = Arc::new(Mutex::new(Vec::new()));
    let held = results.clone();
    let examine: Arc<Examine> = Arc::new(move |number| match examine(number) {
        Ok(result) => {
            held.lock().expect("no case ends in a panic here").push(result);
            None
        }
        Err(failure) => Some(failure),
    });
    let failures = failures_of(numbers, &examine);
    let results = std::mem::take(&mut *results.lock().expect("no case ends in a panic here"));
    (results, failures)
}

/// Examines every case of `numbers` and returns the failures of those that have one, by their numbers.
// Behind a `dyn`: threads and channels are compiled once, and not for each suite.
fn failures_of(numbers: Range<u64>, examine: &Arc<Examine>) -> Vec<(u64, Failure)> {
    let (report, reports) = mpsc::channel();
    let next = Arc::new(AtomicU64::new(numbers.start));
    for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
        let (report, next, examine) = (report.clone(), next.clone(), examine.clone());
        std::thread::spawn(move || {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= numbers.end {
                    break;
                }
                // Nobody listens any more after a case that does not end.
                let _ = report.send(Report::Begun(number));
                let _ = report.send(Report::Ended(number, examine(number)));
            }
        });
    }
    drop(report);
    gather(&reports)
}

fn gather(reports: &mpsc::Receiver<Report>) -> Vec<(u64, Failure)> {
    let (mut under_way, mut failures) = (Vec::new(), Vec::new());
    loop {
        match reports.recv_timeout(PATIENCE) {
            Ok(Report::Begun(number)) => under_way.push(number),
            Ok(Report::Ended(number, failure)) => {
                under_way.retain(|other| *other != number);
                failures.extend(failure.map(|failure| (number, failure)));
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("cases {under_way:?} do not end"),
        }
    }
    failures
}

/// All about cases that failed.
pub fn report(mut failures: Vec<(u64, Failure)>) -> String {
    failures.sort_unstable_by_key(|(number, _)| *number);
    let mut text = format!("{} cases failed\n", failures.len());
    for (number, failure) in failures.iter().take(LISTED) {
        text += &format!("{number}: {}\n", failure.problem);
    }
    for (_, failure) in failures.iter().take(SHOWN) {
        text += &format!("\n{}", failure.description);
    }
    text
}

/// Turns a panic into a problem like any other.
pub fn guarded<T>(examine: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(examine)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        let text = text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(format!("panic: {}", text.unwrap_or_default()))
    })
}
