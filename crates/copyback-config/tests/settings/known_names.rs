//! Names that the literature and other simulators have for our keys and values.

use std::collections::BTreeSet;

use copyback_config::Loader;
use copyback_config::known::names;

/// What a configuration says of `key = value`, on an array for what only arrays have.
fn faults(key: &str, value: &str) -> String {
    let loader = match key.starts_with("array.") {
        true => Loader::new().set("array.devices", "4").set("array.layout", "raid5"),
        false => Loader::new(),
    };
    let loader = match key == "preset" {
        true => loader.preset(Some(value.trim_matches('"'))),
        false => loader.set(key, value),
    };
    loader.load().err().map(|faults| faults.to_string()).unwrap_or_default()
}

#[test]
fn every_line_is_a_name() {
    let lines = include_str!("../../src/known_names.txt").lines();
    let lines = lines.filter(|line| !line.starts_with('#')).count();
    assert_eq!(names().count(), lines);
}

#[test]
fn each_name_is_there_once() {
    let mut seen = BTreeSet::new();
    for known in names() {
        let place = known.value.map_or("", |_| known.key);
        let counts = |c: &char| !matches!(c, ' ' | '-' | '_');
        let name: String = known.name.chars().filter(counts).collect();
        assert!(seen.insert((place, name.to_ascii_lowercase())), "{known:?} is there twice");
    }
}

#[test]
fn each_leads_to_a_key_that_there_is() {
    for known in names().filter(|known| known.value.is_none()) {
        // A parameter of a choice is there once the choice is made.
        let told = match known.key.strip_suffix(".cache") {
            Some(choice) => faults(choice, "{ type = \"demand_paged\", cache = \"1MiB\" }"),
            None => faults(known.key, "{ \"@\" = 1 }"),
        };
        assert!(!told.contains(&format!("{}: unknown key", known.key)), "{known:?}: {told}");
    }
}

#[test]
fn each_leads_to_a_value_that_is_taken() {
    for known in names() {
        if let Some(value) = known.value {
            assert_eq!(faults(known.key, value), "", "{known:?}");
        }
    }
}

#[test]
fn none_of_them_is_a_name_of_ours() {
    for known in names().filter(|known| known.value.is_some() && known.key != "preset") {
        assert_ne!(faults(known.key, known.name), "", "{known:?} is taken as it is");
    }
}

#[test]
fn spelling_does_not_count() {
    let ours = "; GC_Exec_Threshold (MQSim) is ssd.gc.soft_threshold here";
    for key in ["GC_Exec_Threshold", "gcexecthreshold", "ssd.gc.gc exec-threshold"] {
        assert!(faults(key, "1").contains(ours), "{}", faults(key, "1"));
    }
    let ours = "; d-choices (Van Houdt 2013) is ssd.gc.victim";
    assert!(faults("ssd.gc.victim", "D Choices").contains(ours));
}

#[test]
fn what_is_nobodys_name_or_that_of_another_key_s_value_is_told_as_such() {
    assert!(faults("gc_exec", "1").contains("gc_exec: unknown key (allowed: "));
    let nobodys = "ssd.gc.victim: found \"nobody's\" (allowed: ";
    assert!(faults("ssd.gc.victim", "nobody's").contains(nobodys));
    assert!(faults("ssd.gc.idle", "d-choices").contains("found \"d-choices\" (allowed: "));
}
