//! Choices with parameters: a string, or a table with `type`. [`read`](super::read) reads them.

use std::marker::PhantomData;

use schemars::{Schema, json_schema};
use serde::de::{
    self, Deserializer as _, IntoDeserializer,
    value::{MapDeserializer, StrDeserializer},
};
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
        #[schemars(transform = crate::choice::allow_bare_names)]
        // A configuration has few of any choice.
        #[allow(clippy::large_enum_variant)]
        pub enum $name { $($body)* }

        const _: () = {
            type Target = $name;

            #[derive(Deserialize, copyback_derive::AttributesOfSchemars)]
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

/// Orders the schema of a quantity that may be drawn from a distribution: the quantity, or one of the
/// tables.
pub(super) fn quantity_or_tables(schema: &mut Schema) {
    let Some(Json::Array(mut forms)) = schema.remove("anyOf") else { return };
    let quantity = forms.pop();
    let mut tables = json_schema!({ "oneOf": forms });
    allow_bare_names(&mut tables);
    schema.insert("anyOf".into(), json!([quantity, tables]));
}

/// Reads a variant that is written as its bare name: all its keys are at their defaults.
pub(super) struct Bare<'a, E> {
    name: &'a str,
    fault: PhantomData<E>,
}

impl<'a, E> Bare<'a, E> {
    /// The variant called `name`.
    pub fn new(name: &'a str) -> Self {
        Self { name, fault: PhantomData }
    }
}

impl<'de, E: de::Error> de::Deserializer<'de> for Bare<'_, E> {
    type Error = E;

    fn deserialize_any<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        let no_keys = std::iter::empty::<(&str, &str)>();
        visitor.visit_map(MapDeserializer::<_, E>::new(no_keys))
    }

    fn deserialize_enum<V: de::Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, E> {
        visitor.visit_enum(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

impl<'de, E: de::Error> de::EnumAccess<'de> for Bare<'_, E> {
    type Error = E;
    type Variant = Self;

    fn variant_seed<S: de::DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), E> {
        let name: StrDeserializer<'_, E> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de, E: de::Error> de::VariantAccess<'de> for Bare<'_, E> {
    type Error = E;

    fn unit_variant(self) -> Result<(), E> {
        Ok(())
    }

    fn newtype_variant_seed<S: de::DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, E> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: de::Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, E> {
        self.deserialize_any(visitor)
    }

    fn struct_variant<V: de::Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, E> {
        self.deserialize_any(visitor)
    }
}

/// Expectation of [`read`](super::read) where a bare quantity may stand for a table.
pub(super) const QUANTITY_OR_TABLE: &str = "quantity or table";

/// Declares a choice whose last variant, `Fixed`, is written as a bare quantity. A variant whose keys all
/// have defaults is also written as its bare name.
///
/// ```text
/// pub enum Name or Fixed(Quantity), "what is expected" { OtherVariant { ... }, ... }
/// ```
macro_rules! quantity_or_choice {
    (
        $(#[$meta:meta])*
        pub enum $name:ident or $(#[$about:meta])* Fixed($(#[$bounds:meta])* $quantity:ty), $expecting:literal
        { $($body:tt)* }
    ) => {
        $(#[$meta])*
        #[derive(Serialize, JsonSchema)]
        #[serde(tag = "type", rename_all = "snake_case")]
        #[schemars(transform = crate::choice::quantity_or_tables)]
        pub enum $name {
            $($body)*
            $(#[$about])*
            #[serde(untagged)]
            Fixed($(#[$bounds])* $quantity),
        }

        const _: () = {
            type Target = $name;

            #[derive(Deserialize, copyback_derive::AttributesOfSchemars)]
            #[serde(remote = "Target", rename_all = "snake_case", deny_unknown_fields)]
            enum Twin { $($body)* }

            struct Visitor;

            impl<'de> serde::de::Visitor<'de> for Visitor {
                type Value = $name;

                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str($expecting)
                }

                fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                    // A name that is none leads to the fault of a quantity, which is more often meant.
                    Twin::deserialize(crate::choice::Bare::<E>::new(text)).or_else(|_| {
                        let reader = serde::de::value::StrDeserializer::new(text);
                        <$quantity>::deserialize(reader).map($name::Fixed)
                    })
                }

                fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<$name, E> {
                    let reader = serde::de::value::U64Deserializer::new(number);
                    <$quantity>::deserialize(reader).map($name::Fixed)
                }

                fn visit_bool<E: serde::de::Error>(self, flag: bool) -> Result<$name, E> {
                    let reader = serde::de::value::BoolDeserializer::new(flag);
                    <$quantity>::deserialize(reader).map($name::Fixed).map_err(|_: E| {
                        E::invalid_type(serde::de::Unexpected::Bool(flag), &self)
                    })
                }

                fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<$name, E> {
                    let reader = serde::de::value::F64Deserializer::new(number);
                    <$quantity>::deserialize(reader).map($name::Fixed)
                }

                fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<$name, E> {
                    let reader = serde::de::value::I64Deserializer::new(number);
                    <$quantity>::deserialize(reader).map($name::Fixed)
                }

                fn visit_newtype_struct<D: serde::Deserializer<'de>>(
                    self,
                    table: D,
                ) -> Result<$name, D::Error> {
                    Twin::deserialize(table)
                }
            }

            impl<'de> Deserialize<'de> for $name {
                fn deserialize<D: serde::Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
                    let expected = crate::choice::QUANTITY_OR_TABLE;
                    reader.deserialize_newtype_struct(expected, Visitor)
                }
            }
        };
    };
}
pub(super) use quantity_or_choice;
