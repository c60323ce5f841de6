//! Every key of the schema that holds a number, a time, a size, a rate or a share, and what else must be set for
//! it to be there.

use copyback::config::schema;
use serde_json::Value as Json;

/// A key and its value, as `--set` takes them.
pub type Setting = (String, String);

/// A key that holds a quantity.
#[derive(Debug, Clone)]
pub struct Key {
    pub path: String,
    /// What must be set beside it.
    beside: Vec<Setting>,
    /// Whether it holds a list of quantities.
    is_list: bool,
    quantity: Quantity,
}

#[derive(Debug, Clone)]
enum Quantity {
    Whole { least: Option<u64>, most: Option<u64> },
    Real { least: Option<f64>, most: Option<f64> },
    Time { shortest: Option<String>, longest: Option<String> },
    Size,
    Rate,
    Share,
}

impl Key {
    /// Whether its schema says nothing of how large its number may be.
    pub fn is_unbounded(&self) -> bool {
        match &self.quantity {
            Quantity::Whole { least, most } => least.is_none() || most.is_none(),
            Quantity::Real { least, most } => least.is_none() || most.is_none(),
            Quantity::Time { .. } | Quantity::Size | Quantity::Rate | Quantity::Share => false,
        }
    }

    /// The least and the largest values, those just beyond, and those that a machine's numbers end with.
    pub fn extremes(&self) -> Vec<String> {
        let quoted = |text: &str| format!("{text:?}");
        let mut values: Vec<String> = match &self.quantity {
            Quantity::Whole { least, most } => {
                let (least, most) = (least.unwrap_or(0), most.unwrap_or(u64::MAX));
                let ends = [0, 1, u32::MAX.into(), i64::MAX as u64];
                let own = [least, most, least.saturating_sub(1), most.saturating_add(1)];
                // TOML has no larger numbers.
                let all = own.into_iter().chain(ends).map(|number| number.min(i64::MAX as u64));
                all.map(|number| number.to_string()).collect()
            }
            Quantity::Real { least, most } => {
                let own = [least.unwrap_or(0.0), most.unwrap_or(1e300)];
                let ends = [-1.0, 0.0, 1e-300, 1e300, 1.5];
                own.into_iter().chain(ends).map(|number| format!("{number:e}")).collect()
            }
            Quantity::Time { shortest, longest } => {
                let own = [shortest, longest].into_iter().flatten().map(|text| quoted(text));
                own.chain(["0", "1ns", "1ms", "1h", "36500d"].map(quoted)).collect()
            }
            Quantity::Size => ["0", "1", "512", "4096", "65536", "1TiB", "18446744073709551615B"]
                .map(quoted)
                .to_vec(),
            Quantity::Rate => {
                ["none", "1B/s", "1MB/s", "18446744073GB/s", "18446744073709551615B/s"]
                    .map(quoted)
                    .to_vec()
            }
            Quantity::Share => {
                ["0", "1e-300", "0.5", "0.999999", "1", "1e300"].map(String::from).to_vec()
            }
        };
        values.sort();
        values.dedup();
        values
    }

    /// The settings that give it this value.
    pub fn set(&self, value: &str) -> Vec<Setting> {
        let value = if self.is_list { format!("[{value}]") } else { value.to_owned() };
        let mut settings = self.beside.clone();
        settings.push((self.path.clone(), value));
        settings
    }
}

/// All of them, in the order of the schema.
pub fn keys() -> Vec<Key> {
    let root: Json = serde_json::from_str(&schema::json_schema()).expect("the schema is JSON");
    let mut walk = Walk { root: &root, keys: Vec::new(), within: Vec::new() };
    walk.schema(&root, "", &[]);
    walk.keys
}

struct Walk<'a> {
    root: &'a Json,
    keys: Vec<Key>,
    /// The types that are being walked through: one that holds itself is so once.
    within: Vec<&'a str>,
}

impl<'a> Walk<'a> {
    fn schema(&mut self, schema: &'a Json, path: &str, beside: &[Setting]) {
        if let Some(quantity) = quantity(schema) {
            return self.add(path, beside, false, quantity);
        }
        if let Some(items) = schema["items"].as_object() {
            let items = Json::Object(items.clone());
            let is_time = schema.get("longest").is_some();
            // Flows are workloads, which have keys of their own.
            if let Some(quantity) = quantity(&items).filter(|_| !is_time) {
                self.add(path, beside, true, quantity);
            }
            return;
        }
        if let Some(target) = schema["$ref"].as_str().and_then(|path| path.strip_prefix('#'))
            && !self.within.contains(&target)
        {
            self.within.push(target);
            let schema = self.root.pointer(target).expect("what is referred to is there");
            self.schema(schema, path, beside);
            self.within.pop();
        }
        for form in ["anyOf", "oneOf"] {
            for form in schema[form].as_array().into_iter().flatten() {
                self.schema(form, path, beside);
            }
        }
        self.table(schema, path, beside);
    }

    fn table(&mut self, schema: &'a Json, path: &str, beside: &[Setting]) {
        let Some(properties) = schema["properties"].as_object() else { return };
        // A policy in Python has nobody here to supply it; a workload that starts from a preset has no keys of
        // its own.
        if properties.contains_key("policy") || schema["required"] == serde_json::json!(["preset"])
        {
            return;
        }
        let mut beside = beside.to_vec();
        if let Some(kind) = properties.get("type").and_then(|kind| kind["const"].as_str()) {
            beside.push((join(path, "type"), format!("{kind:?}")));
        }
        beside.extend(companions(path).into_iter().map(|(key, value)| (key.into(), value.into())));
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str);
        for name in required.filter(|name| *name != "type") {
            let key = join(path, name);
            let is_list =
                properties.get(name).is_some_and(|property| property["items"].is_object());
            if let Some(value) = sample(name, path, is_list) {
                beside.push((key, value));
            }
        }
        for (name, property) in properties.iter().filter(|(name, _)| *name != "type") {
            let key = join(path, name);
            self.schema(property, &key, &beside);
        }
    }

    fn add(&mut self, path: &str, beside: &[Setting], is_list: bool, quantity: Quantity) {
        let mut beside = beside.to_vec();
        beside.retain(|(key, _)| key != path);
        beside.extend(companions(path).into_iter().map(|(key, value)| (key.into(), value.into())));
        self.keys.push(Key { path: path.to_owned(), beside, is_list, quantity });
    }
}

/// The quantity that a schema describes, if it is one.
fn quantity(schema: &Json) -> Option<Quantity> {
    let has = |kind: &str| match &schema["type"] {
        Json::String(name) => name == kind,
        Json::Array(names) => names.iter().any(|name| name == kind),
        _ => false,
    };
    // An optional quantity is one of two forms, of which the other is null.
    let forms = schema["anyOf"].as_array().into_iter().flatten();
    let referred =
        schema["$ref"].as_str().or_else(|| forms.clone().find_map(|form| form["$ref"].as_str()));
    let bound = |name: &str| schema[name].as_str().map(String::from);
    let (shortest, longest) = (bound("shortest"), bound("longest"));
    match referred.and_then(|path| path.rsplit('/').next()) {
        Some("Time" | "PageLatency") => return Some(Quantity::Time { shortest, longest }),
        Some("Size") => return Some(Quantity::Size),
        Some("Rate") => return Some(Quantity::Rate),
        Some("Share") => return Some(Quantity::Share),
        _ => {}
    }
    if has("integer") && !has("string") {
        let bound = |name: &str| schema[name].as_u64();
        return Some(Quantity::Whole { least: bound("minimum"), most: bound("maximum") });
    }
    if has("number") {
        let bound = |name: &str| schema[name].as_f64();
        let least = bound("minimum").or_else(|| bound("exclusiveMinimum"));
        return Some(Quantity::Real { least, most: bound("maximum") });
    }
    None
}

/// What a required key of a choice holds while its neighbours are looked at.
fn sample(name: &str, path: &str, is_list: bool) -> Option<String> {
    let text = match (name, path) {
        ("path", "workload") => "TRACE".to_owned(),
        ("path", _) => return None,
        ("requests" | "pages", "workload.address") if is_list => "[1]".to_owned(),
        ("requests" | "pages", "workload.address") => "0.2".to_owned(),
        ("mean" | "transfer", key) if key.contains("size") || key.contains("summary") => {
            "\"4KiB\"".into()
        }
        ("mean" | "on" | "off" | "mean_interval", _) => "\"1ms\"".into(),
        ("shape", _) => "2.5".into(),
        ("times", key) if key.contains("cuts") => "[\"1ms\"]".into(),
        ("times", _) => "[\"1ms\", \"2ms\"]".into(),
        ("sizes", _) => "[\"4KiB\", \"8KiB\"]".into(),
        ("weights", _) => "[1, 2]".into(),
        ("read" | "write", key) if key.contains("size") => "\"4KiB\"".into(),
        ("count", _) => "2".into(),
        ("rate", _) => "\"100MB/s\"".into(),
        ("blocks", _) => "2".into(),
        ("after" | "time", "ssd.controller.wake_up") | ("time", "workload.thinktime") => {
            "\"1ms\"".into()
        }
        ("order", _) => "\"CWDP\"".into(),
        ("plane", _) => "\"most_free\"".into(),
        _ => return None,
    };
    Some(text)
}

/// What a key needs elsewhere to be of effect.
fn companions(path: &str) -> Vec<(&'static str, &'static str)> {
    // A die is lost of a drive with parity in lines.
    let lines = [
        ("ssd.gc.unit", "line"),
        ("ssd.ftl.rain", "true"),
        ("ssd.ftl.allocation", "dynamic"),
        ("ssd.ftl.over_provisioning", "0.7"),
        ("ssd.geometry.channels", "8"),
        ("ssd.geometry.blocks_per_plane", "64"),
    ];
    let raid = [("array.layout", "raid5"), ("array.devices", "4"), ("array.stripe", "4KiB")];
    match path {
        "array" | "array.protocol" => raid.to_vec(),
        "array.devices" => vec![("array.layout", "raid0")],
        "array.copies" => vec![("array.layout", "raid10")],
        "precondition.overwrites.most_rounds" => vec![("precondition.overwrites.window", "2")],
        "ssd.geometry.blocks_per_plane" => vec![("precondition.fill", "0")],
        // Each handle has a block open.
        "ssd.ftl.placement.reclaim_unit" => vec![("ssd.ftl.placement.handles", "1")],
        "ssd.ftl.mapping_unit" => vec![("ssd.gc.copyback", "false")],
        key if key.starts_with("ssd.buffer.throttle") => vec![("ssd.buffer.capacity", "1MiB")],
        "array.failures" => raid.to_vec(),
        "array.failures.shape" => [&raid[..], &[("array.failures.life", "1s")]].concat(),
        "array.spares" => [
            &raid[..],
            &[
                ("array.failures", "{ type = \"random\", life = \"1s\" }"),
                ("array.rebuild", "throttled"),
            ],
        ]
        .concat(),
        "array.scrub" | "array.slow" | "array.consistency_policy" => raid.to_vec(),
        key if key.starts_with("array.slow[") => raid.to_vec(),
        "array.failed" | "array.rebuild" => [&raid[..], &[("array.failed", "[1]")]].concat(),
        "ssd.faults" | "ssd.endurance" => vec![("ssd.endurance.rated_cycles", "3000")],
        "ssd.faults.disturbed_read_errors.share" => {
            vec![("ssd.faults.disturbed_read_errors.reads", "100")]
        }
        "ssd.faults.disturbed_read_errors.reads" => {
            vec![("ssd.faults.disturbed_read_errors.share", "0.1")]
        }
        "ssd.faults.aged_read_errors.share" => vec![("ssd.faults.aged_read_errors.age", "1s")],
        "ssd.faults.aged_read_errors.age" => vec![("ssd.faults.aged_read_errors.share", "0.1")],
        "ssd.faults.lost_die.die" => [&lines[..], &[("ssd.faults.lost_die.at", "1ms")]].concat(),
        "ssd.faults.lost_die.at" => [&lines[..], &[("ssd.faults.lost_die.die", "1")]].concat(),
        key if key.starts_with("ssd.faults.lost_die.") => {
            let lost = [("ssd.faults.lost_die.die", "1"), ("ssd.faults.lost_die.at", "1ms")];
            [&lines[..], &lost].concat()
        }
        "workload.inter_arrival" | "workload.bursts" => vec![("workload.inter_arrival", "1ms")],
        key if key.starts_with("workload.thinktime.") => vec![("workload.iodepth", "4")],
        _ => Vec::new(),
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.into() } else { format!("{path}.{name}") }
}
