//! The same orderings on real traces: one that comes with the project, and those in the folder that
//! `COPYBACK_TRACES` names.

use std::path::{Path, PathBuf};

use crate::{
    BLIND, CACHED, EVERY_SWITCH, NONE, SUSPEND, THRESHOLD, YIELDING, ZERO_COST, mean, run,
};

const SHIPPED: &str = "../../examples/linux-mysql.load.gz";
const OTHERS: [&str; 2] = ["pixel6a-telegram_exec.csv.gz", "hp-2003-hourly-77-disks.csv.gz"];

/// Traces that are there; says which are not.
fn traces() -> Vec<PathBuf> {
    let mut found = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(SHIPPED)];
    match std::env::var_os("COPYBACK_TRACES") {
        Some(folder) => found.extend(OTHERS.map(|name| Path::new(&folder).join(name))),
        None => println!("skipped: {OTHERS:?}, as COPYBACK_TRACES names no folder"),
    }
    found
}

/// The first requests of a trace, folded into the device and close together.
fn workload(trace: &Path) -> String {
    format!(
        "[workload]\ntype = \"trace\"\npath = {trace:?}\nlimit = 8_000\nbeyond_device = \"wrap\"\n\
         time_scale = 0.1\n"
    )
}

#[test]
fn on_real_traces_too() {
    for trace in traces() {
        let workload = workload(&trace);
        let bound = run(&workload, 1, ZERO_COST);
        let serial = run(&workload, 1, NONE);
        for scheme in [NONE, YIELDING, EVERY_SWITCH, BLIND, THRESHOLD, CACHED, SUSPEND] {
            let found = run(&workload, 1, scheme);
            let (least, mean_all) = (mean(&bound, "all"), mean(&found, "all"));
            assert!(least <= mean_all, "{trace:?}, {scheme:?}: {mean_all} us, bound {least} us");
        }
        for scheme in [YIELDING, EVERY_SWITCH, SUSPEND] {
            let (patient, found) =
                (mean(&serial, "read"), mean(&run(&workload, 1, scheme), "read"));
            assert!(found <= patient, "{trace:?}, {scheme:?}: {found} us instead of {patient} us");
        }
    }
}
