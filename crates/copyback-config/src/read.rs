//! From an untyped tree to the typed configuration, through serde's derived code.
//!
//! A choice (an enum) is a string, or a table whose `type` names the variant. All faults are
//! found: a faulty value is noted, left out, and the tree is read again.

use std::{collections::BTreeSet, fmt};

use serde::de::{
    self, DeserializeSeed, Error as _, IntoDeserializer, Visitor, value::StrDeserializer,
};

use super::{
    bounds,
    choice::QUANTITY_OR_TABLE,
    fault::{Fault, Place},
    known, other_type,
    tree::{Node, Value},
};

/// Reads a whole tree. Gives every fault and, if anything was readable, what the tree says with
/// faulty values left at their defaults.
pub(super) fn read<T: de::DeserializeOwned>(root: &Node) -> (Option<T>, Vec<Fault>) {
    let mut skip = BTreeSet::new();
    let mut faults = Vec::new();
    loop {
        let reader = Reader { node: root, path: String::new(), skip: &skip };
        match reader.locate(|reader| T::deserialize(reader)) {
            Ok(value) => return (Some(value), faults),
            Err(problem) => {
                let (path, place) =
                    problem.at.clone().unwrap_or((String::new(), root.place.clone()));
                if !problem.is_consequence(&path, &skip) {
                    faults.push(Fault::new(place, path.clone(), problem.to_string()));
                }
                if !skip.insert(path) {
                    return (None, faults);
                }
            }
        }
    }
}

/// Fault of a value, and its place once that is known.
#[derive(Debug)]
struct Problem {
    kind: Kind,
    found: String,
    at: Option<(String, Place)>,
}

#[derive(Debug)]
enum Kind {
    UnknownKey { key: String, allowed: &'static [&'static str] },
    UnknownChoice { found: String, allowed: &'static [&'static str] },
    Missing { key: &'static str, allowed: &'static [&'static str] },
    Type { allowed: String },
    Custom(String),
}

impl Problem {
    const fn new(kind: Kind) -> Self {
        Self { kind, found: String::new(), at: None }
    }

    /// The key that it is about, if that is known yet.
    fn path(&self) -> &str {
        self.at.as_ref().map_or("", |(path, _)| path)
    }

    /// Words for what is allowed, with the range of the key in the place of that of its type.
    fn in_range(&self, allowed: &str) -> String {
        let range = allowed.starts_with(OF_TYPE).then(|| bounds::of_whole_numbers(self.path()));
        range
            .flatten()
            .map_or_else(|| allowed.to_owned(), |range| format!("a whole number, {range}"))
    }

    /// Whether a required key is missing only because its own value was faulty.
    fn is_consequence(&self, path: &str, skip: &BTreeSet<String>) -> bool {
        matches!(self.kind, Kind::Missing { key, .. } if skip.contains(&join(path, key)))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = &self.found;
        match &self.kind {
            Kind::UnknownKey { key, allowed } => {
                if let Some((_, now)) = RENAMED.iter().find(|(old, _)| old == key) {
                    return write!(f, "found a key of earlier versions; allowed: {now}");
                }
                if let Some(kind) = other_type::of_key(self.path(), key) {
                    return write!(
                        f,
                        "found a key of type {kind:?}; allowed: type = {kind:?} beside it"
                    );
                }
                write!(f, "unknown key{}{}", known::of_key(self.path()), suggestion(key, allowed))
            }
            Kind::UnknownChoice { found, allowed } => {
                let known = known::of_value(self.path(), found);
                write!(f, "found {found:?}{known}{}", suggestion(found, allowed))
            }
            Kind::Missing { key, allowed: [] } => write!(f, "the key {key:?} is missing"),
            Kind::Missing { key, allowed } => {
                write!(f, "the key {key:?} is missing (allowed: {})", allowed.join(", "))
            }
            Kind::Type { allowed } => {
                write!(f, "found {found}; allowed: {}", self.in_range(allowed))
            }
            Kind::Custom(text) => write!(f, "found {found}; {text}"),
        }
    }
}

/// Keys of earlier versions, and what says the same now.
const RENAMED: [(&str, &str); 1] = [(
    "frontiers",
    "placement = \"one_class\" for what was \"shared\", \"host_and_gc_apart\" for \"separate\"",
)];

/// `; did you mean "x"? (allowed: x, y)`, the question only if something is close.
pub(super) fn suggestion(found: &str, allowed: &[&str]) -> String {
    let distance = |name: &&&str| strsim::damerau_levenshtein(found, name);
    let nearest = allowed.iter().min_by_key(distance);
    let limit = (found.len() / 3).max(1);
    let close = nearest.filter(|name| distance(name) <= limit);
    let question = close.map_or(String::new(), |name| format!("; did you mean {name:?}?"));
    let list = if allowed.is_empty() { "none".into() } else { allowed.join(", ") };
    format!("{question} (allowed: {list})")
}

impl std::error::Error for Problem {}

impl de::Error for Problem {
    fn custom<T: fmt::Display>(text: T) -> Self {
        Self::new(Kind::Custom(text.to_string()))
    }

    fn invalid_type(_: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::new(Kind::Type { allowed: in_words(&expected.to_string()) })
    }

    fn invalid_value(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn unknown_variant(found: &str, allowed: &'static [&'static str]) -> Self {
        Self::new(Kind::UnknownChoice { found: found.into(), allowed })
    }

    fn unknown_field(key: &str, allowed: &'static [&'static str]) -> Self {
        Self::new(Kind::UnknownKey { key: key.into(), allowed })
    }

    fn missing_field(key: &'static str) -> Self {
        Self::new(Kind::Missing { key, allowed: &[] })
    }
}

/// Beginning of what is said of whole numbers that only their type bounds.
const OF_TYPE: &str = "a whole number, 0 to ";

/// Serde names Rust types; users know numbers, tables and text.
fn in_words(expected: &str) -> String {
    let words = match expected {
        "u16" => "a whole number, 0 to 65535",
        "u32" => "a whole number, 0 to 4294967295",
        "u64" => "a whole number, 0 to 18446744073709551615",
        "f64" => "a number",
        "a boolean" => "true or false",
        "path string" | "a string" => "a text",
        "a sequence" => "a list",
        other if other.starts_with("struct ") => "a table",
        other => other,
    };
    words.into()
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.into() } else { format!("{path}.{key}") }
}

#[derive(Clone)]
struct Reader<'a> {
    node: &'a Node,
    path: String,
    skip: &'a BTreeSet<String>,
}

impl<'a> Reader<'a> {
    fn inner(&self, key: &str, node: &'a Node) -> Self {
        Self { node, path: join(&self.path, key), skip: self.skip }
    }

    /// Runs `read` and gives a failure that has no place yet this one.
    fn locate<T>(self, read: impl FnOnce(Self) -> Result<T, Problem>) -> Result<T, Problem> {
        let place = self.clone();
        match read(self) {
            Ok(value) => Ok(value),
            Err(problem) => Err(place.named_in(problem)),
        }
    }

    /// The failure with this place, if it has none yet. Apart from `locate`, which is built for each type that is read.
    fn named_in(self, mut problem: Problem) -> Problem {
        if problem.at.is_none() {
            problem.found = self.node.value.to_string();
            problem.at = Some((self.path, self.node.place.clone()));
        }
        problem
    }

    /// The items of a list, without those that are skipped.
    fn items(&self, list: &'a [Node]) -> Items<'a> {
        let items = list.iter().enumerate();
        let items = items.map(|(index, node)| self.inner(&index.to_string(), node));
        let mut rest: Vec<_> = items.filter(|item| !self.skip.contains(&item.path)).collect();
        rest.reverse();
        Items { rest }
    }

    /// The reader of the name of a choice: the string itself, or what is called `type` in the table.
    fn choice(self, variants: &'static [&'static str]) -> Result<Choice<'a>, Problem> {
        let name = match &self.node.value {
            Value::Text(_) => self.clone(),
            Value::Table(table) => match table.get("type") {
                Some(name) if !self.skip.contains(&join(&self.path, "type")) => {
                    self.inner("type", name)
                }
                _ => return Err(Problem::new(Kind::Missing { key: "type", allowed: variants })),
            },
            _ => {
                let allowed = variants.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>();
                return Err(Problem::new(Kind::Type { allowed: allowed.join(", ") }));
            }
        };
        Ok(Choice { name, body: self })
    }

    /// The entries of a table; `type` is left out where it has already been used.
    fn entries(self, without_type: bool) -> Entries<'a> {
        let mut rest = Vec::new();
        for (key, node) in self.node.table().into_iter().flatten() {
            let inner = self.inner(key, node);
            if !(self.skip.contains(&inner.path) || without_type && key == "type") {
                rest.push((key.as_str(), inner));
            }
        }
        rest.reverse();
        Entries { rest, next: None }
    }
}

impl<'de> de::Deserializer<'de> for Reader<'de> {
    type Error = Problem;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match &self.node.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Integer(value) => match (u64::try_from(*value), i64::try_from(*value)) {
                (Ok(value), _) => visitor.visit_u64(value),
                (_, Ok(value)) => visitor.visit_i64(value),
                _ => Err(Problem::invalid_type(de::Unexpected::Other("integer"), &visitor)),
            },
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Text(text) => visitor.visit_borrowed_str(text),
            Value::List(list) => visitor.visit_seq(self.items(list)),
            Value::Table(_) => visitor.visit_map(self.entries(false)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match self.node.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        match self.node.value {
            Value::Table(_) => visitor.visit_newtype_struct(self),
            _ if name == QUANTITY_OR_TABLE => self.deserialize_any(visitor),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        match self.node.value {
            Value::Table(_) => visitor.visit_map(self.entries(false)),
            _ => Err(Problem::new(Kind::Type { allowed: "a table".into() })),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        visitor.visit_enum(self.choice(variants)?)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

/// The entries of a table, last first.
struct Entries<'a> {
    rest: Vec<(&'a str, Reader<'a>)>,
    next: Option<Reader<'a>>,
}

impl<'a> Entries<'a> {
    /// The next key, and the reader of its value, which is asked for next.
    fn step(&mut self) -> Option<(&'a str, Reader<'a>)> {
        let (key, reader) = self.rest.pop()?;
        self.next = Some(reader.clone());
        Some((key, reader))
    }
}

impl<'a> de::MapAccess<'a> for Entries<'a> {
    type Error = Problem;

    fn next_key_seed<K: DeserializeSeed<'a>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Problem> {
        let Some((key, reader)) = self.step() else { return Ok(None) };
        let key: StrDeserializer<'_, Problem> = key.into_deserializer();
        reader.locate(|_| seed.deserialize(key)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'a>>(&mut self, seed: S) -> Result<S::Value, Problem> {
        match self.next.take() {
            Some(reader) => reader.locate(|reader| seed.deserialize(reader)),
            None => Err(Problem::custom("a value was asked for before its key")),
        }
    }
}

/// The items of a list, last first.
struct Items<'a> {
    rest: Vec<Reader<'a>>,
}

impl<'a> de::SeqAccess<'a> for Items<'a> {
    type Error = Problem;

    fn next_element_seed<S: DeserializeSeed<'a>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Problem> {
        let Some(reader) = self.rest.pop() else { return Ok(None) };
        reader.locate(|reader| seed.deserialize(reader)).map(Some)
    }
}

/// A choice: the reader of its name, and the reader of the string or table that holds it.
struct Choice<'a> {
    name: Reader<'a>,
    body: Reader<'a>,
}

impl<'a> Choice<'a> {
    fn text(&self) -> Result<&'a str, Problem> {
        self.name.node.text().ok_or_else(|| {
            self.name.clone().named_in(Problem::new(Kind::Type { allowed: "a text".into() }))
        })
    }
}

impl<'a> de::EnumAccess<'a> for Choice<'a> {
    type Error = Problem;
    type Variant = Reader<'a>;

    fn variant_seed<S: DeserializeSeed<'a>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Reader<'a>), Problem> {
        let text: StrDeserializer<'_, Problem> = self.text()?.into_deserializer();
        let value = self.name.locate(|_| seed.deserialize(text))?;
        Ok((value, self.body))
    }
}

impl<'a> de::VariantAccess<'a> for Reader<'a> {
    type Error = Problem;

    fn unit_variant(self) -> Result<(), Problem> {
        match self.entries(true).rest.pop() {
            Some((key, reader)) => reader.locate(|_| Err(Problem::unknown_field(key, &[]))),
            None => Ok(()),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'a>>(self, seed: S) -> Result<S::Value, Problem> {
        seed.deserialize(de::value::MapAccessDeserializer::new(self.entries(true)))
    }

    fn tuple_variant<V: Visitor<'a>>(self, _: usize, _: V) -> Result<V::Value, Problem> {
        Err(Problem::custom("this choice cannot be written in a configuration"))
    }

    fn struct_variant<V: Visitor<'a>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        visitor.visit_map(self.entries(true))
    }
}
