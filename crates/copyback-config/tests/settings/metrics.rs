//! Keys of what a run records.

use crate::problem_of;

/// Rows of a nanosecond took 1.7 GB before the run was refused.
#[test]
fn a_row_of_the_series_is_no_shorter_than_a_microsecond() {
    for short in ["0s", "1ns", "999ns"] {
        let text = format!("'{short}'");
        let said = format!("--set metrics.interval: found {short}; allowed: at least 1us");
        assert_eq!(problem_of(&[("metrics.interval", &text)]), said);
    }
    assert_eq!(problem_of(&[("metrics.interval", "'1us'")]), "");
}
