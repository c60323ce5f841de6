//! Keys of a workload that only one type of workload has, for who leaves its `type` out.

/// A type, and keys that no other type has.
const TYPES: [(&str, &[&str]); 2] = [
    (
        "trace",
        &[
            "path",
            "format",
            "devices",
            "device_layout",
            "from",
            "until",
            "limit",
            "clock_jumps",
            "beyond_device",
            "lenient",
        ],
    ),
    ("flows", &["flows"]),
];

/// The type of workload that has the key at `path`, which ends in `key`; none if several or none have it.
pub(super) fn of_key(path: &str, key: &str) -> Option<&'static str> {
    let table = path.strip_suffix(key)?.strip_suffix('.')?;
    let is_flow =
        table.strip_prefix("workload.flows.").is_some_and(|flow| flow.parse::<u16>().is_ok());
    let (kind, _) = TYPES.iter().find(|(_, keys)| keys.contains(&key))?;
    (table == "workload" || is_flow && *kind != "flows").then_some(*kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Loader, Workload};
    use serde_json::Value as Json;

    /// The keys of each type, as the schema has them.
    fn keys() -> Vec<(String, Vec<String>)> {
        let schema = schemars::schema_for!(Workload).to_value();
        let variants = schema["oneOf"].as_array().unwrap();
        let of = |variant: &Json| {
            let name = variant["$ref"].as_str().and_then(|path| path.rsplit('/').next());
            let referred = name.map_or(&Json::Null, |name| &schema["$defs"][name]);
            let tables = [&variant["properties"], &referred["properties"]];
            let keys = tables
                .into_iter()
                .filter_map(Json::as_object)
                .flat_map(|table| table.keys().cloned());
            let kind = variant["properties"]["type"]["const"].as_str().unwrap_or_default();
            (kind.to_owned(), keys.collect())
        };
        variants.iter().map(of).collect()
    }

    #[test]
    fn exactly_one_type_has_each_key() {
        let all = keys();
        for (kind, listed) in TYPES {
            for key in listed {
                let have = |(_, keys): &&(String, Vec<String>)| keys.iter().any(|own| own == key);
                let names: Vec<_> =
                    all.iter().filter(have).map(|(kind, _)| kind.as_str()).collect();
                assert_eq!(names, [kind], "{key}");
            }
        }
    }

    #[test]
    fn a_workload_without_its_type_is_told_it() {
        let told = Loader::new().set("workload.path", "a.csv").load().unwrap_err().to_string();
        assert_eq!(
            told,
            "--set workload.path: found a key of type \"trace\"; allowed: type = \"trace\" beside it"
        );
        let told = Loader::new().set("workload.pathh", "a.csv").load().unwrap_err().to_string();
        assert!(told.starts_with("--set workload.pathh: unknown key"), "{told}");
    }
}
