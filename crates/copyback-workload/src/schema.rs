//! The JSON schema of what is written as JSON.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::Value;

/// The schema of a type as text. A key that may be missing is never null.
pub fn of<T: JsonSchema>() -> String {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut generator = settings.with_transform(RecursiveTransform(NeverNull)).into_generator();
    let schema = generator.root_schema_for::<T>();
    serde_json::to_string_pretty(&schema).expect("a schema is plain data") + "\n"
}

/// Says of a key that may be missing that it is never null.
#[derive(Clone)]
struct NeverNull;

impl Transform for NeverNull {
    fn transform(&mut self, schema: &mut schemars::Schema) {
        let required =
            schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
        let missing = |key: &str| !required.iter().any(|required| required == key);
        for (_, property) in properties.iter_mut().filter(|(key, _)| missing(key)) {
            forbid_null(property);
        }
    }
}

fn forbid_null(property: &mut Value) {
    let Value::Object(keys) = property else { return };
    if let Some(Value::Array(kinds)) = keys.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_slice() {
            let only = only.clone();
            keys.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(mut choices)) = keys.remove("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(only)] = choices.as_mut_slice() {
            keys.append(only);
        }
    }
}
