//! The resolved configuration as text.

use serde_json::{Map, Value as Json};
use xxhash_rust::xxh3::xxh3_128;

use super::{
    Config,
    tree::{POLICIES, class_in_file},
};

impl Config {
    /// Every key with its resolved value, as TOML that loads back to this configuration.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        if let Json::Object(root) = to_json(self) {
            section(&mut text, "", &root);
        }
        text
    }

    /// The tables of [`to_toml`](Self::to_toml) as JSON, which takes a small part of the time to read.
    pub fn to_json(&self) -> String {
        let mut json = to_json(self);
        strip_absent(&mut json);
        json.to_string()
    }

    /// A hash of every resolved value. Of a trace and other files only the name counts, so that a
    /// configuration has one digest wherever its directory lies.
    pub fn digest(&self) -> String {
        let mut json = to_json(self);
        strip_directories(&mut json["workload"]);
        for key in POLICIES {
            if let Some(Json::String(policy)) = json.pointer_mut(&pointer_to(key))
                && class_in_file(policy).is_some()
            {
                *policy = name_of(policy);
            }
        }
        json.sort_all_objects();
        format!("{:032x}", xxh3_128(json.to_string().as_bytes()))
    }
}

fn pointer_to(key: &str) -> String {
    format!("/{}", key.replace('.', "/"))
}

/// Leaves out keys without a value, which TOML has none for.
fn strip_absent(json: &mut Json) {
    match json {
        Json::Array(items) => items.iter_mut().for_each(strip_absent),
        Json::Object(members) => {
            members.retain(|_, value| !value.is_null());
            members.values_mut().for_each(strip_absent);
        }
        _ => {}
    }
}

fn strip_directories(json: &mut Json) {
    match json {
        Json::Array(items) => items.iter_mut().for_each(strip_directories),
        Json::Object(members) => {
            for (key, value) in members {
                match value {
                    Json::String(path) if key == "path" => {
                        *path = name_of(path);
                    }
                    _ => strip_directories(value),
                }
            }
        }
        _ => {}
    }
}

fn name_of(path: &str) -> String {
    path.rsplit(['/', '\\']).next().unwrap_or_default().into()
}

/// A configuration as JSON, choices without parameters as bare strings.
pub(super) fn to_json(config: &Config) -> Json {
    let mut json = serde_json::to_value(config).expect("a configuration is plain data");
    simplify(&mut json);
    json
}

fn simplify(json: &mut Json) {
    match json {
        Json::Array(items) => items.iter_mut().for_each(simplify),
        Json::Object(members) => {
            members.values_mut().for_each(simplify);
            if let (1, Some(Json::String(name))) = (members.len(), members.get("type")) {
                *json = Json::String(name.clone());
            }
        }
        _ => {}
    }
}

/// Writes the plain keys of a table, then its sections.
fn section(text: &mut String, path: &str, table: &Map<String, Json>) {
    let depth = path.split('.').filter(|name| !name.is_empty()).count();
    let is_section = |value: &Json| {
        let members = value.as_object();
        members
            .is_some_and(|m| depth == 0 || depth == 1 && path == "ssd" && !m.contains_key("type"))
    };
    let plain: Vec<_> = type_first(table).filter(|(_, value)| !is_section(value)).collect();
    if !path.is_empty() && !plain.is_empty() {
        text.push_str(&format!("\n[{path}]\n"));
    }
    for (key, value) in plain {
        text.push_str(&format!("{key} = {}\n", inline(value)));
    }
    for (key, value) in table.iter().filter(|(_, value)| is_section(value)) {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        if let Json::Object(members) = value {
            section(text, &path, members);
        }
    }
}

/// A value on one line.
pub(super) fn inline(value: &Json) -> String {
    match value {
        Json::String(text) => toml::Value::from(text.as_str()).to_string(),
        Json::Array(items) => {
            format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", "))
        }
        Json::Object(members) => {
            let member = |(key, value): (&String, &Json)| format!("{key} = {}", inline(value));
            format!("{{ {} }}", type_first(members).map(member).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// The entries that have a value, `type` before all others.
fn type_first(table: &Map<String, Json>) -> impl Iterator<Item = (&String, &Json)> {
    let (first, rest): (Vec<_>, Vec<_>) =
        table.iter().filter(|(_, value)| !value.is_null()).partition(|(key, _)| *key == "type");
    first.into_iter().chain(rest)
}
