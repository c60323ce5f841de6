//! What many random runs return, as one digest each: a change that must alter no result is compared by them
//! with what was before.
//!
//! ```text
//! COPYBACK_DIGESTS=before.txt cargo test -p copyback --test swarm results_are_those -- --ignored
//! ```
//!
//! writes the file if it is absent; later, the same command compares with it.

use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_128;

use crate::draw::Case;
use crate::pool;
use crate::run::{self, Outcome};

/// A name, how a case is drawn from its number, and for how many drives there is one.
type Kind = (&'static str, fn(u64) -> Case, u64);

/// The kinds of cases.
const KINDS: [Kind; 4] = [
    ("drive", Case::draw, 1),
    ("array", Case::draw_array, 4),
    ("faults", Case::draw_faults, 4),
    ("power", Case::draw_with_cuts, 8),
];

/// Compares the digests of the cases of `numbers` with those in `file`, or writes them there.
pub fn check(numbers: &Range<u64>, file: &Path) {
    let now = digests(numbers);
    let Ok(before) = std::fs::read_to_string(file) else {
        std::fs::write(file, now).expect("the digests can be written");
        return;
    };
    let differ: Vec<_> =
        before.lines().zip(now.lines()).filter(|(before, now)| before != now).collect();
    assert_eq!(before.lines().count(), now.lines().count(), "as many cases as before");
    assert!(
        differ.is_empty(),
        "{} cases differ: {:?}",
        differ.len(),
        &differ[..differ.len().min(9)]
    );
}

/// A line for each case.
fn digests(numbers: &Range<u64>) -> String {
    let mut text = String::new();
    for (kind, draw, one_in) in KINDS {
        let count = (numbers.end - numbers.start).div_ceil(one_in);
        let mut lines = pool::each(numbers.start..numbers.start + count, move |number| {
            let case = draw(number);
            case.write_traces();
            let digest =
                pool::guarded(|| Ok(digest(&case))).map_err(|problem| case.failure(problem));
            digest.map(|digest| (number, digest))
        });
        lines.sort_unstable();
        for (number, digest) in lines {
            writeln!(text, "{kind} {number} {digest:032x}").expect("text takes text");
        }
    }
    text
}

/// Of everything that the run of `case` returns, or of what it is refused with.
fn digest(case: &Case) -> u128 {
    let text = run::run(&case.config, None, 1 << 20).map_or_else(|refusal| refusal, text_of);
    let folder = case.file("").display().to_string();
    xxh3_128(text.replace(&folder, "").as_bytes())
}

/// What the run returned, but for what the simulator says of itself.
fn text_of(mut outcome: Outcome) -> String {
    if let Value::Object(summary) = &mut outcome.summary {
        summary.remove("simulator");
        summary.remove("config_digest");
    }
    outcome.summary.sort_all_objects();
    let Outcome { summary, series, requests, commands, messages, distributions } = outcome;
    // A message and its content were called so when the first digests were made.
    let messages = format!("{messages:?}").replace("SentMessage", "Letter");
    let messages = messages.replace("content: ", "said: ");
    format!("{summary}{series:?}{requests:?}{commands:?}{messages}{distributions:?}")
}
