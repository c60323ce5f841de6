//! `preset` in `[workload]` or in a flow: the workload starts from a named one.
//!
//! Layers are merged while a preset is only a name, so that a later layer may name another and keep
//! the overrides; then it is put beneath them.

use super::{
    fault::Fault,
    presets,
    read::suggestion,
    tree::{self, Node, Value},
};

const KEY: &str = "preset";

/// Puts beside each workload preset that `layer` names its `type`, as merging goes by that. A name
/// that is none, or not of the type that the layer states, is taken out and told.
pub(super) fn state_types(layer: &mut Node) -> Vec<Fault> {
    let Some(workload) = member(layer, "workload") else { return Vec::new() };
    let mut faults: Vec<_> = state_type(workload, "workload", false).into_iter().collect();
    for (key, flow) in flows(workload) {
        faults.extend(state_type(flow, &format!("workload.flows.{key}"), true));
    }
    faults
}

/// Puts the presets that a merged configuration names beneath its own keys.
pub(super) fn expand(root: &mut Node) {
    let Some(workload) = member(root, "workload") else { return };
    expand_one(workload);
    for (_, flow) in flows(workload) {
        expand_one(flow);
    }
}

fn state_type(workload: &mut Node, key: &str, is_flow: bool) -> Option<Fault> {
    let table = workload.table_mut()?;
    let name = table.get(KEY)?.clone();
    let stated = table.get("type").and_then(Node::text);
    let (kind, problem) = match (kind_of(&name, is_flow), stated) {
        (Ok(kind), Some(stated)) if stated != kind => {
            let found = &name.value;
            let problem = format!(
                "found {found}, which is of type {kind:?}; allowed: one of type {stated:?}, or no \
                 type beside it"
            );
            (kind, Some(problem))
        }
        (Ok(kind), _) => (kind, None),
        // Any type will do to read what stands beside the preset.
        (Err(problem), _) => ("synthetic".into(), Some(problem)),
    };
    if problem.is_some() {
        table.remove(KEY);
    }
    let place = name.place;
    table.entry("type".into()).or_insert(Node { place: place.clone(), value: Value::Text(kind) });
    problem.map(|problem| Fault::new(place, format!("{key}.{KEY}"), problem))
}

/// The type of the preset that `name` names.
fn kind_of(name: &Node, is_flow: bool) -> Result<String, String> {
    let found = &name.value;
    let Some(text) = name.text() else {
        return Err(format!("found {found}; allowed: the name of a workload preset"));
    };
    let Some(preset) = presets::workload(text) else {
        if presets::device(text).is_some() {
            return Err(format!("found {found}, a drive; allowed there: preset, at the top"));
        }
        let names: Vec<_> = presets::workloads().iter().map(|preset| preset.name).collect();
        return Err(format!("found {found}{}", suggestion(text, &names)));
    };
    let workload = expanded(preset);
    let kind = workload.get("type").and_then(Node::text).unwrap_or_default();
    if is_flow && kind == "flows" {
        return Err(format!("found {found}, which is of several flows; allowed: one of a single"));
    }
    Ok(kind.into())
}

fn expand_one(workload: &mut Node) {
    let Some(table) = workload.table_mut() else { return };
    let name = table.remove(KEY);
    let named = name.as_ref().and_then(Node::text).and_then(presets::workload);
    let Some(preset) = named else { return };
    let overrides = std::mem::replace(workload, expanded(preset));
    workload.merge(overrides);
}

/// The workload of a preset, which may itself start from another.
fn expanded(preset: &presets::Preset) -> Node {
    let mut root = tree::from_preset(preset);
    let faults = state_types(&mut root);
    debug_assert!(faults.is_empty(), "{}: {faults:?}", preset.name);
    expand(&mut root);
    let workload = member(&mut root, "workload");
    workload.expect("a workload preset has a table [workload]").clone()
}

fn member<'a>(node: &'a mut Node, key: &str) -> Option<&'a mut Node> {
    node.table_mut()?.get_mut(key)
}

/// The flows of a workload, a list or replacements of single items, with their keys.
fn flows(workload: &mut Node) -> Vec<(String, &mut Node)> {
    match member(workload, "flows").map(|flows| &mut flows.value) {
        Some(Value::List(flows)) => {
            flows.iter_mut().enumerate().map(|(index, flow)| (index.to_string(), flow)).collect()
        }
        Some(Value::Table(flows)) => {
            flows.iter_mut().map(|(index, flow)| (index.clone(), flow)).collect()
        }
        _ => Vec::new(),
    }
}
