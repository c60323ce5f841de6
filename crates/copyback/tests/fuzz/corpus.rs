//! Saved inputs, and what to do with one that breaks something.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Names and contents of a target's saved inputs, in order of name.
pub fn inputs(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = repository().join("fuzz/corpus").join(target);
    let mut inputs = Vec::new();
    for entry in fs::read_dir(&folder).expect("the target has a corpus") {
        let path = entry.expect("the folder can be read").path();
        let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
        inputs.push((name, fs::read(&path).expect("the file can be read")));
    }
    inputs.sort();
    inputs
}

/// Runs a target; an input that breaks it is kept under `target/fuzz`, and its place printed.
pub fn on_failure(target: &str, name: &str, input: &[u8], run: fn(&[u8])) {
    let Err(panic) = catch_unwind(AssertUnwindSafe(|| run(input))) else { return };
    let folder = repository().join("target/fuzz").join(target);
    let path = folder.join(format!("from-{name}"));
    fs::create_dir_all(&folder).expect("the target directory is writable");
    fs::write(&path, input).expect("the target directory is writable");
    println!("this input breaks {target}: {}", path.display());
    resume_unwind(panic);
}
