//! What was going on in the runs of a target, written down as it goes: the fuzzer ends by leaving.

use std::path::Path;
use std::sync::Mutex;

use crate::counts::Counts;
use crate::whole::Ran;

/// Runs after which what is known is written down.
const EVERY: u64 = 64;

static COUNTS: Mutex<Option<Counts>> = Mutex::new(None);

/// Notes a run.
pub fn note(ran: Ran) {
    let mut all = COUNTS.lock().expect("one thread");
    let all = all.get_or_insert_default();
    all.note(ran);
    if all.runs.is_multiple_of(EVERY)
        && let Some(folder) = std::env::var_os("COPYBACK_FUZZ_COUNTS")
    {
        all.write(Path::new(&folder));
    }
}
