//! An untyped configuration whose every value remembers where it was written.

use std::{collections::BTreeMap, fmt, path::Path, sync::Arc};

use serde_json::Value as Json;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    fault::{Fault, Place},
    presets::Preset,
};

/// A value and its place.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub place: Place,
    pub value: Value,
}

#[derive(Debug, Clone)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Integer(i128),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Table(BTreeMap<String, Node>),
}

impl Node {
    pub fn empty(source: &str) -> Self {
        let place = Place { source: source.into(), line: 0 };
        Self { place, value: Value::Table(BTreeMap::new()) }
    }

    pub fn table(&self) -> Option<&BTreeMap<String, Self>> {
        if let Value::Table(table) = &self.value { Some(table) } else { None }
    }

    pub fn table_mut(&mut self) -> Option<&mut BTreeMap<String, Self>> {
        if let Value::Table(table) = &mut self.value { Some(table) } else { None }
    }

    pub fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    /// The member of a table or list that `key` names.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match &self.value {
            Value::Table(table) => table.get(key),
            Value::List(list) => list.get(key.parse::<usize>().ok()?),
            _ => None,
        }
    }

    fn inner_mut(&mut self, key: &str) -> Option<&mut Self> {
        key.split('.').try_fold(self, |node, name| node.table_mut()?.get_mut(name))
    }

    /// The node at a dotted path, or the nearest one above it that exists.
    pub fn nearest(&self, path: &str) -> &Self {
        let mut node = self;
        for key in path.split('.') {
            match node.get(key) {
                Some(inner) => node = inner,
                None => break,
            }
        }
        node
    }

    /// Lays `upper` over this: tables merge key by key, anything else is replaced. A table whose
    /// `type` differs is another choice, and replaces the whole; so does one that starts from a
    /// preset, unless the other does too.
    pub fn merge(&mut self, upper: Self) {
        if same_choice(self, &upper) {
            self.place = upper.place;
            let (Value::Table(below), Value::Table(above)) = (&mut self.value, upper.value) else {
                return;
            };
            give_way(below, &above);
            for (key, node) in above {
                match below.get_mut(&key) {
                    Some(old) => old.merge(node),
                    None => drop(below.insert(key, node)),
                }
            }
        } else if let Some(items) = items_of(self, &upper) {
            for (index, node) in items {
                self.item_mut(index).merge(node);
            }
        } else {
            *self = upper;
        }
    }

    fn item_mut(&mut self, index: usize) -> &mut Self {
        match &mut self.value {
            Value::List(list) => &mut list[index],
            _ => unreachable!("items_of found a list"),
        }
    }
}

/// Open and closed loop exclude each other: a layer that asks for one takes the other away.
const EXCLUSIVE: [(&str, &str); 3] =
    [("iodepth", "inter_arrival"), ("iodepth", "bursts"), ("inter_arrival", "iodepth")];

fn give_way(below: &mut BTreeMap<String, Node>, above: &BTreeMap<String, Node>) {
    for (given, other) in EXCLUSIVE {
        if above.contains_key(given) && !above.contains_key(other) {
            below.remove(other);
        }
    }
}

fn same_choice(below: &Node, above: &Node) -> bool {
    let (Some(below_keys), Some(above_keys)) = (below.table(), above.table()) else { return false };
    if above_keys.contains_key("preset") && !below_keys.contains_key("preset") {
        return false;
    }
    match above.get("type") {
        Some(kind) => below.get("type").and_then(Node::text) == kind.text(),
        None => true,
    }
}

/// `upper` as replacements of single items of the list `below`: `{ 0 = ..., 2 = ... }`.
fn items_of(below: &Node, upper: &Node) -> Option<Vec<(usize, Node)>> {
    let Value::List(list) = &below.value else { return None };
    let item = |(key, node): (&String, &Node)| {
        key.parse().ok().filter(|&index: &usize| index < list.len()).map(|i| (i, node.clone()))
    };
    upper.table()?.iter().map(item).collect()
}

/// Reads TOML. Every syntax error becomes a fault of its own.
pub(super) fn from_toml(text: &str, source: &str) -> Result<Node, Vec<Fault>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let mut faults: Vec<_> =
            errors.iter().map(|error| syntax_fault(error, text, source)).collect();
        // One slip leads to others behind it on its line, which would only hide it.
        faults.sort_by_key(|fault| fault.place.line);
        faults.dedup_by_key(|fault| fault.place.line);
        return Err(faults);
    }
    let line_ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    let line_ends = line_ends.map(|(offset, _)| offset).collect();
    let reader = TomlReader { source: source.into(), line_ends };
    Ok(Node { place: reader.place(0), value: reader.table(table.into_inner()) })
}

/// Reads a preset, whose syntax the tests have checked.
pub(super) fn from_preset(preset: &Preset) -> Node {
    let read = from_toml(preset.text, &format!("preset {}", preset.name));
    read.unwrap_or_else(|faults| panic!("the preset {} is no TOML: {}", preset.name, faults[0]))
}

fn syntax_fault(error: &toml::de::Error, text: &str, source: &str) -> Fault {
    let start = error.span().map_or(0, |span| span.start);
    let line_start = text[..start].rfind('\n').map_or(0, |end| end + 1);
    let column = text[line_start..start].chars().count() + 1;
    let line = line_of(text, start);
    let problem = unquoted(&text[start..])
        .unwrap_or_else(|| error.message().lines().collect::<Vec<_>>().join("; "));
    let place = Place { source: source.into(), line };
    Fault::new(place, String::new(), problem).at_column(column)
}

/// Returns the message for a value without quotes at the beginning of `rest`; none if something else is there.
fn unquoted(rest: &str) -> Option<String> {
    let is_of_word = |c: char| c.is_alphanumeric() || "_-.%+/:".contains(c);
    let word = &rest[..rest.find(|c| !is_of_word(c)).unwrap_or(rest.len())];
    let behind = rest[word.len()..].trim_start_matches([' ', '\t', '\r']);
    let is_value = matches!(behind.chars().next(), None | Some('\n' | '#' | ',' | ']' | '}'));
    if word.is_empty() || !is_value {
        return None;
    }
    Some(match word.to_ascii_lowercase().as_str() {
        flag @ ("true" | "false") => format!("found {word}; allowed: {flag}"),
        _ => format!("found {word} without quotes; allowed: \"{word}\""),
    })
}

fn line_of(text: &str, offset: usize) -> u32 {
    text[..offset].bytes().filter(|&byte| byte == b'\n').count() as u32 + 1
}

struct TomlReader {
    source: Arc<str>,
    /// In order, so that the line of each of many values is found fast.
    line_ends: Vec<usize>,
}

impl TomlReader {
    fn place(&self, offset: usize) -> Place {
        let line = self.line_ends.partition_point(|end| *end < offset) as u32 + 1;
        Place { source: self.source.clone(), line }
    }

    fn table(&self, table: DeTable<'_>) -> Value {
        let entry = |(key, value): (Spanned<std::borrow::Cow<'_, str>>, Spanned<DeValue<'_>>)| {
            let place = self.place(key.span().start);
            (key.into_inner().into_owned(), self.node(value.into_inner(), place))
        };
        Value::Table(table.into_iter().map(entry).collect())
    }

    fn node(&self, value: DeValue<'_>, place: Place) -> Node {
        let value = match value {
            DeValue::String(text) => Value::Text(text.into_owned()),
            DeValue::Integer(n) => match i128::from_str_radix(n.as_str(), n.radix()) {
                Ok(integer) => Value::Integer(integer),
                Err(_) => Value::Text(n.as_str().into()),
            },
            DeValue::Float(number) => match number.as_str().parse() {
                Ok(float) => Value::Float(float),
                Err(_) => Value::Text(number.as_str().into()),
            },
            DeValue::Boolean(value) => Value::Bool(value),
            DeValue::Datetime(date) => Value::Text(date.to_string()),
            DeValue::Array(items) => Value::List(
                items
                    .into_iter()
                    .map(|item| {
                        let place = self.place(item.span().start);
                        self.node(item.into_inner(), place)
                    })
                    .collect(),
            ),
            DeValue::Table(table) => self.table(table),
        };
        Node { place, value }
    }
}

/// Takes over JSON.
pub(super) fn from_json(json: Json, source: &str) -> Node {
    let place = Place { source: source.into(), line: 0 };
    let value = match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(value),
        Json::Number(number) => match number.as_i128() {
            Some(integer) => Value::Integer(integer),
            None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::Text(text),
        Json::Array(items) => {
            Value::List(items.into_iter().map(|item| from_json(item, source)).collect())
        }
        Json::Object(members) => Value::Table(
            members.into_iter().map(|(key, value)| (key, from_json(value, source))).collect(),
        ),
    };
    Node { place, value }
}

/// Makes the relative paths in a layer's workload, those of traces and of measured distributions,
/// relative to `directory`.
pub(super) fn resolve_paths(root: &mut Node, directory: &Path) -> Result<(), Fault> {
    if let Some(workload) = root.table_mut().and_then(|table| table.get_mut("workload")) {
        resolve_below(workload, "workload", directory)?;
    }
    POLICIES.iter().try_for_each(|key| match root.inner_mut(key) {
        Some(policy) => resolve_policy(policy, key, directory),
        None => Ok(()),
    })
}

/// Choices that may be a class in a file.
pub(super) const POLICIES: [&str; 4] = [
    "ssd.gc.victim.policy",
    "ssd.gc.preemption.policy",
    "ssd.ftl.placement.policy",
    "array.coordination.policy",
];

fn resolve_policy(node: &mut Node, key: &str, directory: &Path) -> Result<(), Fault> {
    let Value::Text(text) = &mut node.value else { return Ok(()) };
    if let Some((file, class)) = class_in_file(text) {
        let file = resolved(file, directory)
            .map_err(|problem| Fault::new(node.place.clone(), key.into(), problem))?;
        *text = format!("{file}:{class}");
    }
    Ok(())
}

/// The file and the class of `file.py:Class`.
pub(super) fn class_in_file(policy: &str) -> Option<(&str, &str)> {
    policy.rsplit_once(':').filter(|(file, _)| file.ends_with(".py"))
}

fn resolve_below(node: &mut Node, key: &str, directory: &Path) -> Result<(), Fault> {
    match &mut node.value {
        Value::Table(table) => table.iter_mut().try_for_each(|(name, node)| {
            let key = format!("{key}.{name}");
            match &mut node.value {
                Value::Text(text) if name == "path" => {
                    *text = resolved(text, directory)
                        .map_err(|problem| Fault::new(node.place.clone(), key, problem))?;
                    Ok(())
                }
                _ => resolve_below(node, &key, directory),
            }
        }),
        Value::List(list) => list.iter_mut().enumerate().try_for_each(|(index, node)| {
            resolve_below(node, &format!("{key}.{index}"), directory)
        }),
        _ => Ok(()),
    }
}

fn resolved(text: &str, directory: &Path) -> Result<String, String> {
    let joined = directory.join(text).into_os_string().into_string();
    joined.map_err(|joined| format!("the path {} is not UTF-8", joined.to_string_lossy()))
}

/// The value as a fault message quotes it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("nothing"),
            Self::Bool(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::List(_) => f.write_str("a list"),
            Self::Table(_) => f.write_str("a table"),
        }
    }
}
