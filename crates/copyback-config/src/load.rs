//! Layers of configuration become one [`Config`], or a list of every fault in them.

use std::{fs, path::Path};

use super::{
    Config,
    check::{self, Scope},
    fault::{Fault, Faults, OVERRIDE, Place},
    known, presets,
    read::{self, suggestion},
    tree::{self, Node, Value},
    workload_preset, write,
};

/// Gathers layers, each laid over the ones before; [`load`](Self::load) resolves and checks them.
///
/// Beneath them all lie the defaults and then the preset that the topmost layer with a key
/// `preset` names. `workload.preset` starts the workload afresh: keys of the layers below are gone,
/// those beside it and above it override the preset.
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
    for mut layer in layers {
        faults.extend(workload_preset::state_types(&mut layer));
        root.merge(layer);
    }
    workload_preset::expand(&mut root);
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
    let Some(preset) = presets::device(text) else {
        if presets::workload(text).is_some() {
            let problem = format!("found {text:?}, a workload; allowed there: workload.preset");
            return Err(fault(problem));
        }
        let names: Vec<_> = presets::devices().iter().map(|preset| preset.name).collect();
        let known = known::of_value("preset", text);
        return Err(fault(format!("found {text:?}{known}{}", suggestion(text, &names))));
    };
    let mut layer = tree::from_preset(preset);
    let mut root = match take_preset(&mut layer) {
        Some(base) => self::preset(&base)?,
        None => defaults(),
    };
    let faults = workload_preset::state_types(&mut layer);
    debug_assert!(faults.is_empty(), "{faults:?}");
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
