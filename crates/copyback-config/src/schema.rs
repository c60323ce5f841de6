//! The JSON schema of a configuration, and the reference page that is made from it.

use schemars::Schema;
use serde_json::{Value as Json, json};

use super::bounds::{Range, is_of, times_in_words};
use super::{Config, presets, write};

/// A choice that a policy key offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Dotted path of the key.
    pub key: String,
    /// Name of the policy in the configuration.
    pub name: String,
    /// One line about it.
    pub meaning: String,
}

/// The JSON schema of a configuration.
pub fn json_schema() -> String {
    let mut schema = schema();
    allow_workload_presets(&mut schema);
    let text = serde_json::to_string_pretty(&schema).expect("a schema is plain data");
    text + "\n"
}

/// Every named choice of every key, in the order of the keys.
pub fn policies() -> Vec<Policy> {
    let mut policies = Vec::new();
    let walk = Walk::new();
    walk.keys(&mut |key, property| {
        let named = walk.variants(property).into_iter();
        policies.extend(named.map(|(name, meaning)| Policy { key: key.into(), name, meaning }));
    });
    policies
}

/// The reference of all keys, as Markdown.
pub fn reference_markdown() -> String {
    let mut page = Page { text: INTRODUCTION.into(), section: String::new() };
    let walk = Walk::new();
    walk.keys(&mut |key, property| page.key(&walk, key, property));
    page.presets();
    page.text
}

const INTRODUCTION: &str = "\
# Configuration reference

Generated from the types of `copyback::config`; do not edit.

A file is TOML. `preset = \"NAME\"` at its top starts from a drive, and in `[workload]` from a workload (both
are listed at the end of this page); every other key overrides that. A choice with parameters is a string or a table with `type`: `\"greedy\"`,
`{ type = \"rga\", d = 10 }`.
";

/// The schema as it follows from the types.
pub(super) fn schema() -> Json {
    let mut schema: Schema = schemars::schema_for!(Config);
    let names: Vec<_> = presets::devices().iter().map(|preset| preset.name).collect();
    let preset = json!({ "description": "The preset to start from.", "enum": names });
    if let Some(Json::Object(keys)) = schema.get_mut("properties") {
        keys.insert("preset".into(), preset);
    }
    schema.to_value()
}

/// Lets a workload and a flow start from a preset in place of stating a type.
fn allow_workload_presets(schema: &mut Json) {
    let names: Vec<_> = presets::workloads().iter().map(|preset| preset.name).collect();
    let started = json!({
        "description": "Start from a preset; the other keys override it.",
        "type": "object",
        "properties": { "preset": { "enum": names } },
        "required": ["preset"]
    });
    for choice in ["Workload", "Flow"] {
        if let Json::Array(variants) = &mut schema["$defs"][choice]["oneOf"] {
            variants.push(started.clone());
        }
    }
}

/// A walk over the schema, with the resolved defaults at hand.
struct Walk {
    root: Json,
    defaults: Json,
}

impl Walk {
    fn new() -> Self {
        Self { root: schema(), defaults: write::to_json(&Config::default()) }
    }

    /// Visits every key with its property; the keys of a variant's table carry its name in
    /// brackets.
    fn keys(&self, visit: &mut impl FnMut(&str, &Json)) {
        self.table("", &self.root, visit);
    }

    fn table(&self, path: &str, table: &Json, visit: &mut impl FnMut(&str, &Json)) {
        let Some(properties) = table["properties"].as_object() else { return };
        let (plain, tables): (Vec<_>, Vec<_>) =
            properties.iter().partition(|(_, property)| !self.has_keys(property));
        for (name, property) in plain.into_iter().filter(|(name, _)| *name != "type") {
            visit(&join(path, name), property);
        }
        for (name, property) in tables {
            let path = join(path, name);
            let inner = self.resolve(property);
            self.table(&path, inner, visit);
            for variant in inner["oneOf"].as_array().into_iter().flatten() {
                let kind = variant["properties"]["type"]["const"].as_str().unwrap_or_default();
                self.table(&format!("{path}[{kind}]"), self.resolve(variant), visit);
            }
        }
    }

    /// Whether a property is a section of its own: a struct, or a choice between large tables.
    fn has_keys(&self, property: &Json) -> bool {
        let inner = self.resolve(property);
        let is_large =
            |variant: &Json| variant["properties"].as_object().is_some_and(|keys| keys.len() > 6);
        inner["properties"].is_object()
            || inner["oneOf"].as_array().is_some_and(|variants| variants.iter().any(is_large))
    }

    /// Follows a reference.
    fn resolve<'a>(&'a self, schema: &'a Json) -> &'a Json {
        resolve(&self.root, schema).unwrap_or(schema)
    }

    /// The named variants of a choice with their meanings.
    fn variants(&self, property: &Json) -> Vec<(String, String)> {
        let choice = self.resolve(property);
        let mut names = Vec::new();
        for part in choice["anyOf"].as_array().into_iter().flatten() {
            names.extend(self.variants(part));
        }
        if let (Some([first, .., last]), Json::String(_)) =
            (choice["enum"].as_array().map(Vec::as_slice), &choice["description"])
        {
            let text = |name: &Json| name.as_str().unwrap_or_default().to_owned();
            names.push((
                format!("{} ... {}", text(first), text(last)),
                one_line(&choice["description"]),
            ));
        }
        let variants = choice["oneOf"].as_array().into_iter().flatten();
        for variant in variants {
            let kind = &variant["properties"]["type"]["const"];
            let Some(name) = variant["const"].as_str().or(kind.as_str()) else { continue };
            let meaning = one_line(&variant["description"]) + &parameters(variant);
            match names.iter_mut().find(|(known, _)| known == name) {
                Some(known) => known.1 = meaning,
                None => names.push((name.to_owned(), meaning)),
            }
        }
        names
    }

    /// Kind of values that may be written for a property, in a few words, and their bounds.
    fn kind(&self, property: &Json) -> String {
        let kind = self.unbounded_kind(property);
        let bounds = match is_of(property, "integer") || is_of(property, "number") {
            true => Range::of_number(property).in_words(),
            false => times_in_words(property),
        };
        bounds.map_or(kind.clone(), |bounds| format!("{kind}, {bounds}"))
    }

    fn unbounded_kind(&self, property: &Json) -> String {
        let own = property["$ref"].as_str().and_then(|path| path.rsplit('/').next());
        match own {
            Some(name @ ("Time" | "Size" | "Rate" | "Share")) => return name.to_lowercase(),
            Some("Flow") => return "flow".into(),
            _ => {}
        }
        let inner = self.resolve(property);
        if let Some(any) = inner["anyOf"].as_array() {
            let kinds = any.iter().map(|schema| self.kind(schema)).filter(|kind| kind != "null");
            return kinds.collect::<Vec<_>>().join(" or ");
        }
        if let Some(names) = inner["enum"].as_array() {
            return if names.len() > 9 { "text".into() } else { quoted(names) };
        }
        match &inner["type"] {
            Json::String(name) => self.basic(name, inner),
            Json::Array(names) => names[0].as_str().map_or(String::new(), |n| self.basic(n, inner)),
            _ => "choice".into(),
        }
    }

    fn basic(&self, name: &str, schema: &Json) -> String {
        match name {
            "integer" => "whole number".into(),
            "boolean" => "true or false".into(),
            "array" => {
                let most = schema["maxItems"].as_u64().map(|most| format!(", at most {most}"));
                format!("list of {}{}", self.kind(&schema["items"]), most.unwrap_or_default())
            }
            "object" => "table".into(),
            "string" => "text".into(),
            other => other.into(),
        }
    }

    /// The default of a key, as it would be written.
    fn default(&self, key: &str, property: &Json) -> String {
        let resolved = key.split('.').try_fold(&self.defaults, |json, name| json.get(name));
        match resolved.or(property.get("default")) {
            None | Some(Json::Null) => "-".into(),
            Some(value) => format!("`{}`", write::inline(value)),
        }
    }
}

/// The Markdown page as it grows.
struct Page {
    text: String,
    section: String,
}

impl Page {
    fn key(&mut self, walk: &Walk, key: &str, property: &Json) {
        let (section, name) = key.rsplit_once('.').unwrap_or(("", key));
        if section != self.section || !self.text.contains("| key |") {
            self.heading(section);
        }
        let default = walk.default(&key.replace("[synthetic]", ""), property);
        let mut meaning = one_line(&property["description"]);
        for (name, about) in walk.variants(property).into_iter().filter(|_| name != "preset") {
            meaning.push_str(&format!("<br>`{name}`: {about}"));
        }
        let kind = walk.kind(property);
        self.text.push_str(&format!("| `{name}` | {kind} | {default} | {meaning} |\n"));
    }

    fn heading(&mut self, section: &str) {
        self.section = section.into();
        let title = match section.split_once('[') {
            None if section.is_empty() => "Top level".into(),
            None => format!("`[{section}]`"),
            Some((path, kind)) => {
                format!("`[{path}]` with `type = \"{}\"`", kind.trim_end_matches(']'))
            }
        };
        let head = "| key | value | default | meaning |\n| --- | --- | --- | --- |\n";
        self.text.push_str(&format!("\n## {title}\n\n{head}"));
    }

    fn presets(&mut self) {
        self.presets_of("Drives", "`preset` at the top names one.", presets::devices());
        let about = "`preset` in `[workload]`, or in one of its flows, names one: `workload.preset`. What \
                     lies below it (a drive's own workload, the defaults) is gone; keys beside it and \
                     above it override it. Those that begin with `stand-in` are made from published \
                     statistics of traces that cannot be had.";
        self.presets_of("Workloads", about, presets::workloads());
    }

    fn presets_of(&mut self, title: &str, about: &str, presets: &[presets::Preset]) {
        let head = "| name | what it is |\n| --- | --- |\n";
        self.text.push_str(&format!("\n## {title}\n\n{about}\n\n{head}"));
        for preset in presets {
            self.text.push_str(&format!("| `{}` | {} |\n", preset.name, preset.summary));
        }
    }
}

/// Target of `schema`, if it is a reference.
pub(super) fn resolve<'a>(root: &'a Json, schema: &Json) -> Option<&'a Json> {
    schema["$ref"].as_str()?.strip_prefix('#').and_then(|path| root.pointer(path))
}

pub(super) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.into() } else { format!("{path}.{name}") }
}

fn quoted(names: &[Json]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Parameters that the table of a small choice may hold beside its type.
fn parameters(variant: &Json) -> String {
    let keys = variant["properties"].as_object().into_iter().flatten();
    let mut text = String::new();
    for (name, property) in keys.filter(|(name, _)| *name != "type") {
        let default = property.get("default").map(|value| format!(", default {value}"));
        let numbers = Range::of_number(property).in_words();
        let bounds = numbers.or_else(|| times_in_words(property)).map(|words| format!(", {words}"));
        let default = format!("{}{}", bounds.unwrap_or_default(), default.unwrap_or_default());
        let meaning = one_line(&property["description"]);
        let meaning = meaning.trim_end_matches('.');
        text.push_str(&format!(" `{name}`: {meaning}{default}."));
    }
    text
}

fn one_line(description: &Json) -> String {
    let text = description.as_str().unwrap_or_default();
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
