//! Checks that hold of every summary, whatever was run. An audited run makes them as it ends.
//!
//! - [`ranges`]: each number by itself and beside its neighbours, found by its key in a walk over all of them: no share is above one,
//!   no count is near 2^64, percentiles rise;
//! - [`sums`]: parts that add up to a whole, by name: operations, classes, idle periods;
//! - [`parts`]: flows and drives that add up to the run.

mod parts;
mod ranges;
mod sums;

use serde_json::Value;

/// A check: as an error, the place in the summary and what is wrong there.
type Checked = Result<(), String>;

/// Checks a summary.
///
/// # Errors
/// Names the first number that cannot be, as a JSON pointer, and says why.
pub fn check(summary: &Value) -> Checked {
    let found = ranges::check("", summary).and_then(|()| sums::check("", summary));
    found.and_then(|()| parts::check(summary)).map_err(|problem| format!("the summary: {problem}"))
}

/// The number at a pointer, if there is one; null is none.
fn number(of: &Value, pointer: &str) -> Option<f64> {
    of.pointer(pointer)?.as_f64()
}

fn holds(condition: bool, problem: impl FnOnce() -> String) -> Checked {
    if condition { Ok(()) } else { Err(problem()) }
}

/// Whether two numbers are the same but for how floats are rounded.
fn are_close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs()).max(1.0)
}

fn equal(path: &str, found: f64, what: &str, expected: f64) -> Checked {
    holds(are_close(found, expected), || format!("{path}: {found}, but {what} is {expected}"))
}
