//! Layers of configuration become one [`Config`], or a list of every fault in them.

use std::{fmt, fs, path::Path};

use super::{
    Config,
    check::{self, Scope},
    presets,
    read::{self, suggestion},
    tree::{self, Node, Place, Value},
    write,
};

/// The source of `KEY=VALUE` overrides.
const OVERRIDE: &str = "--set";

/// One fault of a configuration: where it is, which key, what was found and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    place: Place,
    column: Option<usize>,
    key: String,
    problem: String,
}

impl Fault {
    pub(super) const fn new(place: Place, key: String, problem: String) -> Self {
        Self { place, column: None, key, problem }
    }

    /// Whether it is about `key` or something inside it.
    fn lies_within(&self, key: &str) -> bool {
        self.key.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    pub(super) const fn at_column(mut self, column: usize) -> Self {
        self.column = Some(column);
        self
    }

    fn without_line(source: &str, key: &str, problem: String) -> Self {
        Self::new(Place { source: source.into(), line: 0 }, key.into(), problem)
    }

    /// The key's dotted path; empty for a fault of syntax.
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&*self.place.source, self.place.line, self.column) {
            ("", ..) => {}
            (OVERRIDE, ..) => write!(f, "{OVERRIDE} ")?,
            (source, 0, _) => write!(f, "{source}: ")?,
            (source, line, None) => write!(f, "{source}:{line}: ")?,
            (source, line, Some(column)) => write!(f, "{source}:{line}:{column}: ")?,
        }
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.problem)
    }
}

/// Every fault of a configuration, displayed one a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults(Vec<Fault>);

impl Faults {
    /// The faults, in the order of the layers and their lines.
    pub fn iter(&self) -> impl Iterator<Item = &Fault> {
        self.0.iter()
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<_> = self.0.iter().map(Fault::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for Faults {}

/// Gathers layers, each laid over the ones before; [`load`](Self::load) resolves and checks them.
///
/// Beneath them all lie the defaults and then the preset that the topmost layer with a key
/// `preset` names.
#[derive(Debug, Default)]
pub struct Loader {
    layers: Vec<Node>,
    faults: Vec<Fault>,
}

impl Loader {
    /// No layers: loads the defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts from a preset, if one is given.
    pub fn preset(self, name: Option<&str>) -> Self {
        match name {
            Some(name) => self.layer(in_tables("preset", leaf(name), "preset")),
            None => self,
        }
    }

    /// Adds a TOML file.
    pub fn file(mut self, path: &Path) -> Self {
        let name = path.display().to_string();
        match fs::read_to_string(path) {
            Ok(text) => self.toml(&text, &name, path.parent()),
            Err(error) => {
                self.faults.push(Fault::without_line(&name, "", format!("cannot read: {error}")));
                self
            }
        }
    }

    /// Adds TOML text; `name` stands for it in messages. Relative trace paths in it are relative to
    /// `directory`, or to the working directory if there is none.
    pub fn toml(mut self, text: &str, name: &str, directory: Option<&Path>) -> Self {
        match tree::from_toml(text, name) {
            Ok(mut layer) => {
                let resolved = directory.map(|path| tree::resolve_paths(&mut layer, path));
                self.faults.extend(resolved.and_then(Result::err));
                self.layer(layer)
            }
            Err(faults) => {
                self.faults.extend(faults);
                self
            }
        }
    }

    /// Adds a configuration written as JSON, such as a Python dictionary. Relative trace paths are
    /// relative to the working directory.
    pub fn json(mut self, text: &str) -> Self {
        match serde_json::from_str(text) {
            Ok(json) => self.layer(tree::from_json(json, "config")),
            Err(error) => {
                self.faults.push(Fault::without_line("config", "", error.to_string()));
                self
            }
        }
    }

    /// Overrides one key, written as a dotted path. The value is TOML if it parses as that, else a
    /// bare string.
    pub fn set(mut self, key: &str, value: &str) -> Self {
        if key.split('.').any(str::is_empty) {
            let problem = "found an empty name; allowed: names joined by dots".into();
            self.faults.push(Fault::without_line(OVERRIDE, key, problem));
            return self;
        }
        self.layer(in_tables(key, parse_value(value), OVERRIDE))
    }

    /// Resolves and checks all layers.
    pub fn load(self) -> Result<Config, Faults> {
        if !self.faults.is_empty() {
            return Err(Faults(self.faults));
        }
        let sources: Vec<_> = self.layers.iter().map(|node| node.place.source.clone()).collect();
        resolve(self.layers).map_err(|mut faults| {
            let rank = |fault: &Fault| sources.iter().position(|s| *s == fault.place.source);
            faults.sort_by_key(|fault| (rank(fault), fault.place.line));
            faults.dedup();
            Faults(faults)
        })
    }

    fn layer(mut self, layer: Node) -> Self {
        self.layers.push(layer);
        self
    }
}

fn resolve(mut layers: Vec<Node>) -> Result<Config, Vec<Fault>> {
    let owner = layers.first().map(|layer| Place { line: 0, ..layer.place.clone() });
    let names: Vec<_> = layers.iter_mut().filter_map(take_preset).collect();
    let (mut root, unknown) = match names.last().map(preset) {
        None => (defaults(), None),
        Some(Ok(root)) => (root, None),
        Some(Err(fault)) => (defaults(), Some(fault)),
    };
    let mut faults: Vec<_> = unknown.into_iter().collect();
    for layer in layers {
        root.merge(layer);
    }
    let (config, unreadable) = read::read::<Config>(&root);
    faults.extend(unreadable);
    let Some(config) = config else { return Err(faults) };
    let scope = if faults.is_empty() { Scope::Whole } else { Scope::KeyByKey };
    let mut senseless = faults_of(&config, scope, &root, owner.as_ref());
    senseless.retain(|fault| !faults.iter().any(|told| told.lies_within(&fault.key)));
    faults.extend(senseless);
    if faults.is_empty() { Ok(config) } else { Err(faults) }
}

/// Checks a configuration; faults in defaults are shown at the file that left them alone.
fn faults_of(config: &Config, scope: Scope, root: &Node, owner: Option<&Place>) -> Vec<Fault> {
    let fault = |(key, problem): (String, String)| {
        let place = root.nearest(&key).place.clone();
        let place = if place.source.is_empty() { owner.cloned().unwrap_or(place) } else { place };
        Fault::new(place, key, problem)
    };
    check::check(config, scope).into_iter().map(fault).collect()
}

fn take_preset(layer: &mut Node) -> Option<Node> {
    layer.table_mut()?.remove("preset")
}

/// The defaults under the named preset, which may itself start from another.
fn preset(name: &Node) -> Result<Node, Fault> {
    let fault = |problem| Fault::new(name.place.clone(), "preset".into(), problem);
    let Some(text) = name.text() else {
        return Err(fault(format!("found {}; allowed: the name of a preset", name.value)));
    };
    let Some(preset) = presets::find(text) else {
        let names: Vec<_> = presets::all().iter().map(|preset| preset.name).collect();
        return Err(fault(format!("found {text:?}{}", suggestion(text, &names))));
    };
    let source = format!("preset {}", preset.name);
    let mut layer = tree::from_toml(preset.text, &source).map_err(|mut faults| faults.remove(0))?;
    let mut root = match take_preset(&mut layer) {
        Some(base) => self::preset(&base)?,
        None => defaults(),
    };
    root.merge(layer);
    Ok(root)
}

fn defaults() -> Node {
    tree::from_json(write::to_json(&Config::default()), "")
}

fn leaf(text: &str) -> Node {
    Node { value: Value::Text(text.into()), ..Node::empty(OVERRIDE) }
}

fn parse_value(text: &str) -> Node {
    let parsed = tree::from_toml(&format!("value = {text}"), OVERRIDE).ok();
    let value = parsed.filter(|node| node.table().is_some_and(|table| table.len() == 1));
    value.and_then(|node| node.get("value").cloned()).unwrap_or_else(|| leaf(text))
}

/// Wraps a value in a table for each name of a dotted key.
fn in_tables(key: &str, value: Node, source: &str) -> Node {
    key.rsplit('.').fold(value, |inner, name| {
        let mut outer = Node::empty(source);
        if let Some(table) = outer.table_mut() {
            table.insert(name.into(), inner);
        }
        outer
    })
}
