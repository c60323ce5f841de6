//! How much was going on in whole runs.

use std::fs;
use std::path::Path;

use crate::whole::Ran;

/// Runs by what was going on in them.
#[derive(Debug, Default)]
pub struct Counts {
    pub runs: u64,
    pub counted: u64,
    with_collections: u64,
    with_many_pages: u64,
    /// By how many features acted.
    by_features: Vec<u64>,
}

impl Counts {
    pub fn note(&mut self, ran: Ran) {
        let Ran { collections, host_pages, features } = ran;
        self.runs += 1;
        self.counted += u64::from(ran.counts());
        self.with_collections += u64::from(collections > 0);
        self.with_many_pages += u64::from(host_pages >= 1_000);
        if self.by_features.len() <= features {
            self.by_features.resize(features + 1, 0);
        }
        self.by_features[features] += 1;
    }

    /// Writes them into a folder, in a file of this process.
    pub fn write(&self, folder: &Path) {
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

impl FromIterator<Ran> for Counts {
    fn from_iter<I: IntoIterator<Item = Ran>>(runs: I) -> Self {
        let mut counts = Self::default();
        runs.into_iter().for_each(|ran| counts.note(ran));
        counts
    }
}
