//! The house, as docs/concepts/architecture.md draws it: who may use whom. `nand` knows no translation layer,
//! `ftl` no host, `collector` no scheduler, and none of them an array; `observer` and `metrics` listen, and
//! nothing that decides looks at them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Each module and the modules of the crate that it may name. `config` and `units` are of the crate
/// `copyback-config`, `workload` and `rng` of `copyback-workload`, which cannot name anything of this one.
const ALLOWED: [(&str, &[&str]); 46] = [
    (
        "array",
        &[
            "collector",
            "config",
            "drive",
            "engine",
            "executor",
            "idle",
            "ids",
            "layout",
            "nand",
            "one_of",
            "outcome",
            "outside",
            "precondition",
            "rng",
            "scheduler",
            "slots",
            "ssd",
            "units",
            "workload",
        ],
    ),
    (
        "backend",
        &[
            "config",
            "flash",
            "ftl",
            "ids",
            "nand",
            "observer",
            "purpose",
            "shortcut",
            "transaction",
            "units",
        ],
    ),
    ("checkpoint", &["config", "rng", "units", "workload"]),
    ("admission", &["config", "gate", "places", "units"]),
    ("buffer", &["config", "ids", "places", "roll", "ssd", "units", "workload"]),
    (
        "collector",
        &[
            "backend", "config", "event", "flash", "ftl", "idle", "ids", "nand", "observer",
            "purpose", "units",
        ],
    ),
    (
        "drive",
        &[
            "admission",
            "buffer",
            "collector",
            "config",
            "event",
            "gate",
            "ids",
            "less",
            "nand",
            "outcome",
            "precondition",
            "rng",
            "slots",
            "ssd",
            "units",
            "workload",
        ],
    ),
    ("engine", &["units"]),
    ("event", &["engine", "ids", "units"]),
    ("executor", &[]),
    ("flash", &["config", "engine", "event", "ids", "nand", "shortcut", "units"]),
    ("foresight", &["Error", "config", "host", "ids", "placement", "workload"]),
    (
        "ftl",
        &[
            "config",
            "ids",
            "lists",
            "nand",
            "one_of",
            "outside",
            "placement",
            "purpose",
            "rng",
            "told",
            "victim",
            "workload",
        ],
    ),
    (
        "host",
        &[
            "admission",
            "array",
            "config",
            "event",
            "gate",
            "ids",
            "outcome",
            "slots",
            "ssd",
            "units",
            "workload",
        ],
    ),
    ("gate", &["config"]),
    ("idle", &["units"]),
    ("ids", &[]),
    ("layout", &["config", "ids", "workload"]),
    ("less", &["units"]),
    ("lists", &[]),
    ("metrics", &["config", "drive", "host", "ids", "nand", "outcome", "ssd", "units", "workload"]),
    ("nand", &["config", "ids", "rng", "units"]),
    ("observer", &["config", "ftl", "ids", "nand", "purpose", "units"]),
    ("one_of", &[]),
    ("outcome", &["checkpoint"]),
    ("outlined", &[]),
    ("outside", &["ids", "rng"]),
    ("placement", &["config", "ids", "one_of", "outside", "rng", "workload"]),
    ("places", &["roll", "units"]),
    (
        "precondition",
        &[
            "collector",
            "config",
            "executor",
            "ftl",
            "ids",
            "layout",
            "outlined",
            "outside",
            "placement",
            "rng",
            "scheduler",
            "steady",
            "told",
            "workload",
        ],
    ),
    ("progress", &["units"]),
    ("purpose", &["ids"]),
    ("resume", &["Error", "checkpoint", "config", "host", "progress", "whole", "workload"]),
    ("roll", &[]),
    ("sanity", &[]),
    (
        "scheduler",
        &[
            "backend",
            "collector",
            "config",
            "event",
            "flash",
            "ftl",
            "ids",
            "nand",
            "observer",
            "one_of",
            "outcome",
            "outside",
            "placement",
            "purpose",
            "shortcut",
            "transaction",
            "units",
            "victim",
        ],
    ),
    (
        "ssd",
        &[
            "backend",
            "collector",
            "config",
            "event",
            "flash",
            "ftl",
            "ids",
            "nand",
            "observer",
            "outcome",
            "outside",
            "placement",
            "purpose",
            "rng",
            "scheduler",
            "shortcut",
            "told",
            "transaction",
            "units",
            "workload",
        ],
    ),
    ("shortcut", &["config"]),
    ("slots", &[]),
    ("state", &["Error", "config", "ftl", "ids", "precondition", "whole", "workload"]),
    ("steady", &[]),
    ("test_config", &["config"]),
    ("told", &["ids", "placement", "purpose", "workload"]),
    ("transaction", &["ids", "nand", "observer", "placement", "purpose", "units", "workload"]),
    ("victim", &["config", "ids", "lists", "one_of", "outside", "placement", "rng"]),
    ("whole", &[]),
];

/// Modules that every other may use: how a checkpoint keeps its types, subtractions of counts, and, in its unit tests, configurations.
const EVERYBODY: [&str; 3] = ["checkpoint", "less", "test_config"];

/// These put the parts together and may use all of them.
const TOP: [&str; 4] = ["embedded", "lib", "run", "simulation"];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("the crate has its sources") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// The first folder or file under `src` that `path` belongs to.
fn module(path: &Path, root: &Path) -> String {
    let inside = path.strip_prefix(root).expect("a source file lies under src");
    let first = inside.components().next().expect("it has a name");
    first.as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned()
}

/// The modules that a source text names as `crate::NAME`, comments and documentation left out.
fn named(text: &str) -> BTreeSet<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(|line| line.split("crate::").skip(1))
        .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
        .collect()
}

#[test]
fn modules_use_only_what_they_may() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.into_iter().collect();
    let mut offences = Vec::new();
    for path in sources(&root) {
        let module = module(&path, &root);
        if TOP.contains(&module.as_str()) {
            continue;
        }
        let Some(may) = allowed.get(module.as_str()) else {
            offences.push(format!("{module} is not in the table: say what it may use"));
            continue;
        };
        let text = fs::read_to_string(&path).expect("a source file is text");
        let uses = named(&text).into_iter().filter(|name| *name != module);
        offences.extend(
            uses.filter(|name| !EVERYBODY.contains(&name.as_str()))
                .filter(|name| !may.contains(&name.as_str()))
                .map(|name| format!("{} uses {name}", path.display())),
        );
    }
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

#[test]
fn no_modules_use_one_another_in_a_circle() {
    let mut left: BTreeMap<&str, &[&str]> = ALLOWED.into_iter().collect();
    loop {
        let is_free = |uses: &[&str]| !uses.iter().any(|used| left.contains_key(used));
        let free: Vec<_> =
            left.iter().filter(|(_, uses)| is_free(uses)).map(|(module, _)| *module).collect();
        if free.is_empty() {
            break;
        }
        left.retain(|module, _| !free.contains(module));
    }
    assert!(left.is_empty(), "in a circle, or above one: {:?}", left.keys());
}

/// Folders that every run of a suite sees, this one and those beside it.
const SHARED_FOLDERS: [&str; 2] = ["CARGO_TARGET_TMPDIR", "temp_dir()"];

/// Suites that use them all the same, and why they may.
const MAY_SHARE: [(&str, &str); 4] = [
    ("guides/scratch.rs", "a copy of the crate that stays, the same for whoever writes it"),
    ("trace_readers/support.rs", "the process and a count are in the names of files"),
    ("trace_readers/files.rs", "writes nothing there"),
    ("import_directions.rs", "only names them"),
];

/// Two runs of a suite at once must not write the files of each other: files are `tempfile`'s, not of a fixed
/// name in a folder that all share.
#[test]
fn suites_may_run_beside_themselves() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut offences = Vec::new();
    for root in ["copyback/tests", "copyback-workload/tests"].map(|root| crates.join(root)) {
        for path in sources(&root) {
            let file = path.strip_prefix(&root).expect("a suite lies under tests");
            let may = MAY_SHARE.iter().any(|(name, _)| file == Path::new(name));
            let text = fs::read_to_string(&path).expect("a source file is text");
            let shared = SHARED_FOLDERS.iter().filter(|folder| !may && text.contains(**folder));
            offences.extend(shared.map(|folder| format!("{} uses {folder}", file.display())));
        }
    }
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}
