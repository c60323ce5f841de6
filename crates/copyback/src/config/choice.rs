//! Choices with parameters: a string, or a table with `type`. [`read`](super::read) reads them.

use std::{fmt, marker::PhantomData};

use schemars::Schema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Value as Json, json};

/// Declares an enum that is written as a table with `type` and read by the convention of choices.
///
/// Serde's own reading of tagged enums loses the place of a fault; reading a plain enum does not,
/// so the macro derives that on a hidden twin.
macro_rules! choice {
    ($(#[$meta:meta])* pub enum $name:ident { $($body:tt)* }) => {
        $(#[$meta])*
        #[derive(Serialize, JsonSchema)]
        #[serde(tag = "type", rename_all = "snake_case")]
        #[schemars(transform = crate::config::choice::allow_bare_names)]
        // A configuration has few of any choice.
        #[allow(clippy::large_enum_variant)]
        pub enum $name { $($body)* }

        const _: () = {
            type Target = $name;

            #[derive(Deserialize)]
            #[allow(clippy::large_enum_variant)]
            #[serde(remote = "Target", rename_all = "snake_case", deny_unknown_fields)]
            enum Twin { $($body)* }

            impl<'de> Deserialize<'de> for $name {
                fn deserialize<D: serde::Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
                    Twin::deserialize(reader)
                }
            }
        };
    };
}
pub(super) use choice;

/// Adds to the schema of a choice that a variant without required parameters is also written as
/// its bare name.
pub(super) fn allow_bare_names(schema: &mut Schema) {
    let Some(Json::Array(variants)) = schema.get_mut("oneOf") else { return };
    let named = |variant: &Json| match &variant["required"] {
        Json::Array(keys) if keys.len() == 1 => Some(json!({
            "const": variant["properties"]["type"]["const"],
            "description": variant["description"],
        })),
        _ => None,
    };
    let names: Vec<_> = variants.iter().filter_map(named).collect();
    variants.splice(0..0, names);
}

/// Reads a quantity, or `{ type = "exponential", mean = ... }`.
pub(super) fn quantity_or_exponential<'de, D, Q, T>(
    reader: D,
    expecting: &'static str,
    fixed: fn(Q) -> T,
    exponential: fn(Q) -> T,
) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    Q: Deserialize<'de>,
{
    reader.deserialize_any(Distribution { expecting, fixed, exponential, quantity: PhantomData })
}

/// Writes `{ type = "exponential", mean = ... }`.
pub(super) fn write_exponential<S: Serializer, Q: Serialize>(
    mean: &Q,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Table<'a, Q> {
        r#type: &'static str,
        mean: &'a Q,
    }
    Table { r#type: "exponential", mean }.serialize(serializer)
}

struct Distribution<Q, T> {
    expecting: &'static str,
    fixed: fn(Q) -> T,
    exponential: fn(Q) -> T,
    quantity: PhantomData<Q>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters<Q> {
    r#type: Kind,
    mean: Q,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Exponential,
}

impl<'de, Q: Deserialize<'de>, T> de::Visitor<'de> for Distribution<Q, T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expecting)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        Q::deserialize(de::value::StrDeserializer::new(text)).map(self.fixed)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        Q::deserialize(de::value::U64Deserializer::new(number)).map(self.fixed)
    }

    fn visit_map<A: de::MapAccess<'de>>(self, table: A) -> Result<T, A::Error> {
        let parameters =
            Parameters::<Q>::deserialize(de::value::MapAccessDeserializer::new(table))?;
        let Kind::Exponential = parameters.r#type;
        Ok((self.exponential)(parameters.mean))
    }
}
