//! Names that the literature and other simulators have for our keys and values.

use std::fmt::Write;

/// A line for each name; its first lines say how it is written.
const NAMES: &str = include_str!("known_names.txt");

/// Translation of another tool's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// The name, as they write it.
    pub name: &'static str,
    /// Tool that uses the name.
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

/// Hint at a key that is not ours but another tool's; empty if it is no tool's.
pub(super) fn of_key(path: &str) -> String {
    let name = path.rsplit('.').next().unwrap_or(path);
    let known = names().find(|known| known.value.is_none() && is_same(known.name, name));
    known.filter(|known| known.key != path).map_or_else(String::new, Known::told)
}

/// Hint at a value of a key that is not ours but another tool's.
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
