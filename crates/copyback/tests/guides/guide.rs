//! The changes that a guide tells its reader to make. Two forms are understood:
//!
//! - a block of code behind a line "`path`, whole:" is a new file;
//! - a block of `diff` adds its lines with `+` behind the line before them, which stands in the
//!   file that the text before the block names last. Blank lines separate places.

use std::fs;

use crate::scratch::repository;

/// A page and what it changes.
pub struct Guide {
    pub changes: Vec<Change>,
}

/// A change of the crate.
pub enum Change {
    /// A file with this text.
    NewFile { path: String, text: String },
    /// `lines` behind the only line that reads `after`.
    Insert { path: String, after: String, lines: Vec<String> },
}

impl Guide {
    /// Reads the changes of a page in `docs/guide`.
    pub fn read(name: &str) -> Self {
        let page = repository().join("docs/guide").join(name);
        let page = fs::read_to_string(&page).expect("the guide is there");
        let mut changes = Vec::new();
        let (mut path, mut last) = (String::new(), "");
        let mut lines = page.lines();
        while let Some(line) = lines.next() {
            if let Some(language) = line.strip_prefix("```") {
                let block: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
                match language {
                    "rust" if last.ends_with("`, whole:") => {
                        let text = block.join("\n") + "\n";
                        changes.push(Change::NewFile { path: path.clone(), text });
                    }
                    "diff" => changes.extend(inserts(&path, &block)),
                    _ => {}
                }
            } else if !line.is_empty() {
                path = named(line).unwrap_or(path);
                last = line;
            }
        }
        Self { changes }
    }
}

/// The source file that a line of text names last.
fn named(line: &str) -> Option<String> {
    let quoted = line.split('`').skip(1).step_by(2);
    let path = quoted.filter(|text| text.starts_with("crates/") && text.ends_with(".rs")).last();
    path.map(str::to_owned)
}

fn inserts(path: &str, block: &[&str]) -> Vec<Change> {
    let mut inserts = Vec::new();
    for place in block.split(|line| line.is_empty()) {
        let (after, lines) = place.split_first().expect("a place has a line to find it by");
        let after = after.strip_prefix(' ').expect("the line to find a place by has no sign");
        let added = |line: &&str| line.strip_prefix('+').expect("lines are added").to_owned();
        let lines = lines.iter().map(added).collect();
        inserts.push(Change::Insert { path: path.to_owned(), after: after.to_owned(), lines });
    }
    inserts
}
