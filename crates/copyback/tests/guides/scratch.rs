//! A copy of the crate to be changed and built. It stays under `target`, and only what differs is
//! written, so that the next run builds nothing that it has built before.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What of the repository the copy needs.
const PARTS: [&str; 23] = [
    "docs/reference/summary.schema.json",
    "Cargo.toml",
    "Cargo.lock",
    "crates/copyback/Cargo.toml",
    "crates/copyback/build.rs",
    "crates/copyback/src",
    "crates/copyback/benches",
    "crates/copyback/tests/swarm",
    "crates/copyback/tests/checkpoints.rs",
    "crates/copyback-config/Cargo.toml",
    "crates/copyback-config/src",
    "crates/copyback-derive/Cargo.toml",
    "crates/copyback-derive/src",
    "crates/copyback-memory/Cargo.toml",
    "crates/copyback-memory/src",
    "crates/copyback-python/Cargo.toml",
    "crates/copyback-python/src",
    "crates/copyback-serve/Cargo.toml",
    "crates/copyback-serve/src",
    "crates/copyback-workload/Cargo.toml",
    "crates/copyback-workload/src",
    "crates/copyback-workload/benches",
    "README.md",
];

/// What a warning is, whichever it is; lints that are named after it keep their level.
const DENIED: &str = "warnings = { level = \"deny\", priority = -2 }\n";

/// Our crates, which are built quickly here, for a few tests.
const OURS: [&str; 6] = [
    "copyback",
    "copyback-config",
    "copyback-derive",
    "copyback-memory",
    "copyback-serve",
    "copyback-workload",
];

pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The copy: every file by its path from the root.
pub struct Scratch {
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Scratch {
    /// The crates as they are.
    pub fn new() -> Self {
        let mut scratch = Self { files: BTreeMap::new() };
        for part in PARTS {
            scratch.take(Path::new(part));
        }
        scratch.set_apart();
        scratch
    }

    /// Gives the copies of our crates a version of their own, without which cargo would take them for the crates
    /// themselves, settings that build them quickly, and no warnings. What they depend on is as in any test, so that it is not
    /// built again.
    fn set_apart(&mut self) {
        let settings = self.files.get_mut(Path::new("Cargo.toml")).expect("it was just taken");
        let text = String::from_utf8_lossy(settings);
        let text = text.replace("version = \"0.", "version = \"90.");
        let lints = "[workspace.lints.rust]\n";
        assert!(text.contains(lints), "the workspace says which lints there are");
        *settings = text.replace(lints, &format!("{lints}{DENIED}")).into_bytes();
        self.create(".cargo/config.toml", &OURS.map(quick_to_build).concat());
    }

    fn take(&mut self, path: &Path) {
        let source = repository().join(path);
        if source.is_dir() {
            for entry in fs::read_dir(source).expect("the folder can be read") {
                self.take(&path.join(entry.expect("the folder can be read").file_name()));
            }
        } else {
            let content = fs::read(source).expect("the file can be read");
            self.files.insert(path.to_owned(), content);
        }
    }

    /// Adds a file.
    pub fn create(&mut self, path: &str, text: &str) {
        let before = self.files.insert(path.into(), text.into());
        assert!(before.is_none(), "{path} is there already");
    }

    /// Adds `lines` behind the only line of `path` that reads `after`, blanks around it aside.
    pub fn insert(&mut self, path: &str, after: &str, lines: &[String]) {
        let file = self.files.get_mut(Path::new(path));
        let file = file.unwrap_or_else(|| panic!("{path} is not there"));
        let text = String::from_utf8_lossy(file).into_owned();
        let is_place = |line: &&str| line.trim() == after.trim();
        let places = text.lines().filter(is_place).count();
        assert_eq!(places, 1, "lines {after:?} in {path}");
        let mut changed = String::new();
        for line in text.lines() {
            changed += &format!("{line}\n");
            if is_place(&line) {
                lines.iter().for_each(|line| changed += &format!("{line}\n"));
            }
        }
        *file = changed.into_bytes();
    }

    /// Writes what differs, and removes what does not belong.
    pub fn write(&self) {
        self.remove_strangers(Path::new(""));
        for (path, content) in &self.files {
            let path = root().join(path);
            if fs::read(&path).is_ok_and(|there| there == *content) {
                continue;
            }
            let folder = path.parent().expect("a file lies in a folder");
            fs::create_dir_all(folder).expect("the target directory is writable");
            fs::write(&path, content).expect("the target directory is writable");
        }
    }

    fn remove_strangers(&self, folder: &Path) {
        let Ok(entries) = fs::read_dir(root().join(folder)) else { return };
        for entry in entries {
            let path = folder.join(entry.expect("the folder can be read").file_name());
            if root().join(&path).is_dir() {
                self.remove_strangers(&path);
            } else if !self.files.contains_key(&path) {
                fs::remove_file(root().join(&path)).expect("the copy is ours");
            }
        }
    }

    /// Runs the tests of the crates and of the swarm whose names hold one of `names`, and returns
    /// what is printed. All must pass.
    pub fn test(&self, names: &[&str]) -> String {
        let output = Command::new(env!("CARGO"))
            .args(["test", "--offline", "--profile", profile(), "--tests"])
            .args(["-p", "copyback", "-p", "copyback-workload"])
            // It has no tests: with it, what all depend on has the features that it has in any test.
            .args(["-p", "copyback-python", "--"])
            .args(names)
            .current_dir(root())
            .env("CARGO_TARGET_DIR", target())
            .env("COPYBACK_SWARM_RUNS", "40")
            .output()
            .expect("cargo runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}{errors}");
        text
    }
}

/// The profile that this very test was built in, where what the crate depends on is built already.
fn profile() -> &'static str {
    let program = std::env::current_exe().expect("a program has a path");
    // It lies in `deps` of the folder of a profile.
    let folder = program.ancestors().nth(2).expect("it lies in the target directory");
    if folder.ends_with("release") { "release" } else { "test" }
}

/// Settings of a crate: not optimised, with assertions.
fn quick_to_build(name: &str) -> String {
    format!(
        "[profile.{}.package.{name}]\n\
         opt-level = 0\n\
         debug = false\n\
         debug-assertions = true\n\
         overflow-checks = true\n\
         incremental = false\n",
        profile()
    )
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("guides")
}

/// The target directory of this very run: what the crate depends on is built there already.
fn target() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
    folder.expect("the folder for tests lies in the target directory").to_owned()
}
