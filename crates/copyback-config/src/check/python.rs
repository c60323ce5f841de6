//! Checks of the name and the arguments of a policy written in Python.

use serde_json::{Map, Value as Json};

use super::super::write::inline;
use super::Report;

const FORMS: &str = "\"file.py:Class\", \"package.module:Class\" or a registered name";

/// The faults of the policy that is configured under `key`.
pub(super) fn check(key: &str, policy: &str, parameters: &Map<String, Json>, faults: &mut Report) {
    if !names_a_class(policy) {
        faults.add(&format!("{key}.policy"), format!("found {policy:?}; allowed: {FORMS}"));
    }
    for (name, value) in parameters {
        let key = format!("{key}.parameters.{}", name.escape_debug());
        if !is_identifier(name) || name == "type" {
            faults.add(&key, "found a name that no parameter has; allowed: those of the class");
        } else if !is_plain(value) {
            let problem =
                format!("found {}; allowed: a number, a text, a switch, or a list", inline(value));
            faults.add(&key, problem);
        }
    }
}

fn names_a_class(policy: &str) -> bool {
    let (place, class) = policy.rsplit_once(':').map_or((policy, None), |(p, c)| (p, Some(c)));
    !place.is_empty()
        && !policy.contains(char::is_control)
        && class.map_or(!place.ends_with(".py"), is_identifier)
}

fn is_identifier(name: &str) -> bool {
    let mut rest = name.chars();
    let is_first = |c: char| c == '_' || c.is_ascii_alphabetic();
    rest.next().is_some_and(is_first) && rest.all(|c| is_first(c) || c.is_ascii_digit())
}

fn is_plain(value: &Json) -> bool {
    match value {
        Json::Bool(_) | Json::Number(_) | Json::String(_) => true,
        Json::Array(items) => items.iter().all(is_plain),
        Json::Null | Json::Object(_) => false,
    }
}
