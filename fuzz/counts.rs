//! How much was going on in the runs of a target, written down as it goes: the fuzzer ends by leaving.

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

use crate::whole::Ran;

/// Runs after which what is known is written down.
const EVERY: u64 = 64;

/// Runs by what was going on in them.
#[derive(Debug, Default)]
struct Counts {
    runs: u64,
    counted: u64,
    with_collections: u64,
    with_many_pages: u64,
    /// By how many features acted.
    by_features: Vec<u64>,
}

static COUNTS: Mutex<Option<Counts>> = Mutex::new(None);

/// Notes a run.
pub fn note(ran: Ran) {
    let Ran { collections, host_pages, features } = ran;
    let mut all = COUNTS.lock().expect("one thread");
    let all = all.get_or_insert_default();
    all.runs += 1;
    all.counted += u64::from(ran.counts());
    all.with_collections += u64::from(collections > 0);
    all.with_many_pages += u64::from(host_pages >= 1_000);
    if all.by_features.len() <= features {
        all.by_features.resize(features + 1, 0);
    }
    all.by_features[features] += 1;
    if all.runs.is_multiple_of(EVERY)
        && let Some(folder) = std::env::var_os("COPYBACK_FUZZ_COUNTS")
    {
        all.write(&PathBuf::from(folder));
    }
}

impl Counts {
    fn write(&self, folder: &PathBuf) {
        let text = serde_json::json!({
            "runs": self.runs,
            "counted": self.counted,
            "with_collections": self.with_collections,
            "with_many_pages": self.with_many_pages,
            "by_features": self.by_features,
        });
        let file = folder.join(format!("{}.json", std::process::id()));
        fs::write(file, text.to_string()).expect("the folder of counts can be written to");
    }
}
