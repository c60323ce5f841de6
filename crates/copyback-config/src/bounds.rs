//! The bounds that the schema states, and whether a configuration keeps to them: one source for what is
//! refused, for the schema and for the reference page. A key states its own where its type is declared:
//!
//! ```text
//! #[schemars(range(min = 1, max = 65_535))]      a number, or each of a list with inner(range(...))
//! #[schemars(extend("exclusiveMinimum" = 0), range(max = 1e9))]
//! #[schemars(length(max = 4096))]                a list
//! #[schemars(extend("longest" = "1min"))]        a time, or each of a list of times; also "shortest"
//! ```

use std::fmt::Display;
use std::sync::OnceLock;

use serde_json::{Number, Value as Json};

use super::{Config, quantity::Time, schema, write};

/// Name of a time's lower bound in the schema, which JSON Schema has no words for.
pub(super) const SHORTEST: &str = "shortest";
pub(super) const LONGEST: &str = "longest";

/// Each key whose value is out of its bounds, and what is wrong with it.
pub(super) fn broken(config: &Config) -> Vec<(String, String)> {
    let mut check = Check { root: root(), broken: Vec::new() };
    check.value(&[root()], &write::to_json(config), "");
    check.broken
}

/// Range of whole numbers that `key` may have, in words; `None` where only the type of the number bounds it.
pub(super) fn of_whole_numbers(key: &str) -> Option<String> {
    let root = root();
    let step = |forms: Vec<&'static Json>, name: &str| -> Vec<&'static Json> {
        let inner = |form: &&'static Json| match name.parse::<usize>() {
            Ok(_) => form.get("items"),
            Err(_) => form["properties"].get(name),
        };
        let found: Vec<_> = forms.iter().filter_map(inner).collect();
        found.into_iter().flat_map(|form| forms_of(root, form)).collect()
    };
    let forms = key.split('.').fold(forms_of(root, root), step);
    let form = forms.into_iter().find(|form| is_of(form, "integer"))?;
    Range::of_number(form).in_words()
}

/// The schema of a configuration.
fn root() -> &'static Json {
    static SCHEMA: OnceLock<Json> = OnceLock::new();
    SCHEMA.get_or_init(schema::schema)
}

/// A schema and every alternative that it leaves.
fn forms_of<'a>(root: &'a Json, schema: &'a Json) -> Vec<&'a Json> {
    let mut forms = vec![schema];
    forms.extend(schema::resolve(root, schema).map(|to| forms_of(root, to)).into_iter().flatten());
    for alternatives in ["anyOf", "oneOf"] {
        let alternatives = schema[alternatives].as_array().into_iter().flatten();
        forms.extend(alternatives.flat_map(|form| forms_of(root, form)));
    }
    forms
}

/// Range that the schema allows for a number, or for the length of a list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Range {
    /// Exclusive lower bound.
    above: Option<f64>,
    least: Option<f64>,
    most: Option<f64>,
}

impl Range {
    /// Of the numbers that a schema describes.
    pub fn of_number(schema: &Json) -> Self {
        let bound = |name: &str| schema[name].as_f64();
        Self { above: bound("exclusiveMinimum"), least: bound("minimum"), most: bound("maximum") }
    }

    fn of_length(schema: &Json) -> Self {
        let bound = |name: &str| schema[name].as_f64();
        Self { above: None, least: bound("minItems"), most: bound("maxItems") }
    }

    fn contains(self, number: f64) -> bool {
        self.above.is_none_or(|above| number > above)
            && self.least.is_none_or(|least| number >= least)
            && self.most.is_none_or(|most| number <= most)
    }

    /// In words; `None` where only the type of the number bounds it.
    pub fn in_words(self) -> Option<String> {
        if let (Some(above), Some(most)) = (self.above, self.most) {
            return Some(format!("above {above}, at most {}", in_words(most)));
        }
        match (self.least, self.most) {
            (_, Some(most)) if most >= u64::MAX as f64 => None,
            (Some(least), Some(most)) => Some(format!("{least} to {}", in_words(most))),
            (None, Some(most)) => Some(format!("at most {}", in_words(most))),
            (Some(least), None) => Some(format!("{least} or more")),
            (None, None) => None,
        }
    }
}

/// A number without a row of zeros, which is hard to read.
fn in_words(number: f64) -> String {
    if number.abs() < 1e9 { number.to_string() } else { format!("{number:e}") }
}

/// Range that the schema allows for a time, in words.
pub(super) fn times_in_words(schema: &Json) -> Option<String> {
    match (schema[SHORTEST].as_str(), schema[LONGEST].as_str()) {
        (Some(shortest), Some(longest)) => Some(format!("{shortest} to {longest}")),
        (None, Some(longest)) => Some(format!("at most {longest}")),
        (Some(shortest), None) => Some(format!("{shortest} or more")),
        (None, None) => None,
    }
}

struct Check<'a> {
    root: &'a Json,
    broken: Vec<(String, String)>,
}

impl<'a> Check<'a> {
    /// Looks at what `key` holds, which may have any of these forms.
    fn value(&mut self, forms: &[&'a Json], value: &Json, key: &str) {
        let forms: Vec<_> = forms.iter().flat_map(|schema| forms_of(self.root, schema)).collect();
        match value {
            Json::Number(number) => {
                let is_number = |form: &Json| is_of(form, "integer") || is_of(form, "number");
                let ranges = forms.iter().filter(|form| is_number(form));
                let ranges: Vec<_> = ranges.map(|form| Range::of_number(form)).collect();
                self.number(&ranges, number, key);
            }
            Json::String(text) => self.time(&forms, text, key),
            Json::Array(items) => self.list(&forms, items, key),
            Json::Object(members) => {
                let is_chosen = |form: &&&Json| {
                    let kind = &form["properties"]["type"]["const"];
                    kind.is_null() || members.get("type") == Some(kind)
                };
                let tables: Vec<_> = forms.iter().filter(is_chosen).collect();
                for (name, value) in members {
                    let of_member = |form: &&&'a Json| form["properties"].get(name);
                    let forms: Vec<_> = tables.iter().filter_map(of_member).collect();
                    self.value(&forms, value, &schema::join(key, name));
                }
            }
            Json::Null | Json::Bool(_) => {}
        }
    }

    fn number(&mut self, ranges: &[Range], number: &Number, key: &str) {
        let value = number.as_f64().unwrap_or(f64::INFINITY);
        if ranges.is_empty() || ranges.iter().any(|range| range.contains(value)) {
            return;
        }
        let allowed: Vec<_> = ranges.iter().filter_map(|range| range.in_words()).collect();
        let found = if number.is_f64() { in_words(value) } else { number.to_string() };
        self.report(key, &found, &allowed.join(", "));
    }

    fn time(&mut self, forms: &[&Json], text: &str, key: &str) {
        let Ok(time) = text.parse::<Time>() else { return };
        for form in forms {
            let bound = |name: &str| form[name].as_str().and_then(|text| text.parse::<Time>().ok());
            let is_short = bound(SHORTEST).is_some_and(|shortest| time < shortest);
            let is_long = bound(LONGEST).is_some_and(|longest| time > longest);
            if let Some(allowed) = times_in_words(form).filter(|_| is_short || is_long) {
                return self.report(key, &time, &allowed);
            }
        }
    }

    fn list(&mut self, forms: &[&'a Json], items: &[Json], key: &str) {
        let lists: Vec<_> = forms.iter().filter(|form| is_of(form, "array")).collect();
        let range = lists.first().map(|form| Range::of_length(form));
        if let Some(range) = range.filter(|range| !range.contains(items.len() as f64)) {
            let allowed = range.in_words().unwrap_or_default();
            return self.report(key, &format!("a list of {}", items.len()), &allowed);
        }
        let mut inner: Vec<&Json> = lists.iter().map(|form| &form["items"]).collect();
        // What is said of times holds for each of a list of them.
        inner.extend(forms.iter().filter(|form| times_in_words(form).is_some()));
        for (index, item) in items.iter().enumerate() {
            self.value(&inner, item, &schema::join(key, &index.to_string()));
        }
    }

    fn report(&mut self, key: &str, found: &impl Display, allowed: &str) {
        self.broken.push((key.to_owned(), format!("found {found}; allowed: {allowed}")));
    }
}

/// Whether a schema describes a JSON type, perhaps beside others.
pub(super) fn is_of(schema: &Json, kind: &str) -> bool {
    match &schema["type"] {
        Json::String(name) => name == kind,
        Json::Array(names) => names.iter().any(|name| name == kind),
        _ => false,
    }
}
