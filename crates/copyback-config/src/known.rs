//! Names that the literature and other simulators have for our keys and values.

use std::fmt::Write;

/// A line for each name; its first lines say how it is written.
const NAMES: &str = include_str!("known_names.txt");

/// What a name of somebody else's is here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// The name, as they write it.
    pub name: &'static str,
    /// Who calls it that.
    pub whose: &'static str,
    /// Our key, dotted.
    pub key: &'static str,
    /// Our value of that key, as TOML; none if the name is that of the key.
    pub value: Option<&'static str>,
}

impl Known {
    /// `; d-choices (Van Houdt 2013) is ssd.gc.victim = "rga" here`.
    fn told(self) -> String {
        let Self { name, whose, key, value } = self;
        let mut text = format!("; {name} ({whose}) is {key}");
        if let Some(value) = value {
            let _ = write!(text, " = {value}");
        }
        text + " here"
    }
}

/// All of them.
pub fn names() -> impl Iterator<Item = Known> {
    let lines = NAMES.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| {
        let mut parts = line.split('|').map(str::trim);
        let (name, whose, key) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Known { name, whose, key, value: parts.next().filter(|value| !value.is_empty()) })
    })
}

/// What to say of a key that is not ours but somebody's: nothing if it is nobody's.
pub(super) fn of_key(path: &str) -> String {
    let name = path.rsplit('.').next().unwrap_or(path);
    let known = names().find(|known| known.value.is_none() && is_same(known.name, name));
    known.filter(|known| known.key != path).map_or_else(String::new, Known::told)
}

/// What to say of a value of a key that is not ours but somebody's.
pub(super) fn of_value(path: &str, text: &str) -> String {
    let key = path.strip_suffix(".type").unwrap_or(path);
    let key = if key.starts_with("workload.flows.") { in_flow(key) } else { key.to_owned() };
    let known = names()
        .find(|known| known.value.is_some() && known.key == key && is_same(known.name, text));
    known.map_or_else(String::new, Known::told)
}

/// The key of a flow as that of the only one: `workload.flows.3.address` is `workload.address`.
fn in_flow(key: &str) -> String {
    let last = key.splitn(4, '.').nth(3).unwrap_or_default();
    format!("workload.{last}")
}

fn is_same(known: &str, found: &str) -> bool {
    letters(known).eq(letters(found))
}

fn letters(name: &str) -> impl Iterator<Item = char> + '_ {
    let counts = |c: &char| !matches!(c, ' ' | '-' | '_');
    name.chars().filter(counts).map(|c| c.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Loader;

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
        let lines = NAMES.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(names().count(), lines);
    }

    #[test]
    fn each_name_is_there_once() {
        let mut seen = BTreeSet::new();
        for known in names() {
            let place = known.value.map_or("", |_| known.key);
            let name: String = letters(known.name).collect();
            assert!(seen.insert((place, name)), "{known:?} is there twice");
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
        assert_eq!(of_key("GC_Exec_Threshold"), of_key("ssd.gc.gc exec-threshold"));
        assert!(of_key("gcexecthreshold").contains("is ssd.gc.soft_threshold here"));
        assert_eq!(of_key("gc_exec"), "");
        assert_eq!(of_value("ssd.gc.victim", "nobody's"), "");
        assert_eq!(of_value("ssd.gc.idle", "d-choices"), "", "a name is one of its own key");
    }
}
