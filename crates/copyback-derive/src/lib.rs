//! `#[derive(Checkpointed)]`: a checkpoint keeps a type field by field, in their order. `#[derive(Less)]`: counts less a part of
//! them, field by field. And a derive that writes nothing.
//!
//! It is not serde's: a checkpoint needs neither names nor formats, so that all that is written for a type is a call
//! for each of its fields, which takes a fraction of the time to compile.

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Field, Fields, Index, Member, Path, parse_macro_input, parse_quote};

/// Knows the attributes of schemars, and writes nothing: for a type that is read as another is, whose schema is that of
/// the other.
#[proc_macro_derive(AttributesOfSchemars, attributes(schemars))]
pub fn derive_attributes_of_schemars(_: TokenStream) -> TokenStream {
    TokenStream::new()
}

/// Keeps each field; of an enum, which variant it is, too. A field with `#[checkpoint(skip)]` is not kept: it is as
/// by default when the checkpoint is read.
#[proc_macro_derive(Checkpointed, attributes(checkpoint))]
pub fn derive_checkpointed(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let variants: Vec<Variant<'_>> = match &input.data {
        Data::Struct(data) => vec![Variant::new(parse_quote!(Self), &data.fields)],
        Data::Enum(data) => {
            let variants = data.variants.iter();
            let named = variants.map(|variant| (&variant.ident, &variant.fields));
            named.map(|(name, fields)| Variant::new(parse_quote!(Self::#name), fields)).collect()
        }
        Data::Union(_) => panic!("a union does not say which of its fields it holds"),
    };
    let (keep, load) = match (&input.data, variants.as_slice()) {
        (Data::Struct(_), [only]) => of_struct(only),
        (_, variants) => of_enum(variants),
    };
    let name = &input.ident;
    let (generics, arguments, bounds) = input.generics.split_for_impl();
    let mut bounds = bounds.cloned();
    if input.generics.type_params().next().is_some() {
        // What a field asks of the parameters is for its own type to say.
        let clause = bounds.get_or_insert_with(|| parse_quote!(where));
        for field in variants.iter().flat_map(|variant| &variant.fields) {
            let kept = &field.ty;
            clause.predicates.push(parse_quote!(#kept: crate::checkpoint::Checkpointed));
        }
    }
    quote! {
        impl #generics crate::checkpoint::Checkpointed for #name #arguments #bounds {
            // Compiled fast: it is called a few times.
            #[cold]
            #[inline(never)]
            fn keep(&self, out: &mut crate::checkpoint::Writer<'_>) { #keep }
            #[cold]
            #[inline(never)]
            fn load(from: &mut crate::checkpoint::Reader<'_>) -> crate::checkpoint::Loaded<Self> {
                #load
            }
        }
    }
    .into()
}

/// Takes a part from each field.
#[proc_macro_derive(Less)]
pub fn derive_less(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let Data::Struct(data) = &input.data else { panic!("only the fields of a struct are counts") };
    let Variant { members, .. } = Variant::new(parse_quote!(Self), &data.fields);
    let name = &input.ident;
    quote! {
        impl crate::less::Less for #name {
            fn less(self, part: Self) -> Self {
                Self { #(#members: crate::less::Less::less(self.#members, part.#members),)* }
            }
        }
    }
    .into()
}

/// A struct, or a variant of an enum.
struct Variant<'a> {
    path: Path,
    /// The fields that are kept.
    fields: Vec<&'a Field>,
    members: Vec<Member>,
    /// Fields that are skipped.
    skipped: Vec<Member>,
}

impl<'a> Variant<'a> {
    fn new(path: Path, fields: &'a Fields) -> Self {
        let mut variant = Self { path, fields: vec![], members: vec![], skipped: vec![] };
        for (index, field) in fields.iter().enumerate() {
            let member = match &field.ident {
                Some(name) => Member::Named(name.clone()),
                None => Member::Unnamed(Index::from(index)),
            };
            match is_skipped(field) {
                true => variant.skipped.push(member),
                false => {
                    variant.members.push(member);
                    variant.fields.push(field);
                }
            }
        }
        variant
    }

    /// The value, each of its fields read in turn.
    fn load(&self) -> Tokens {
        let Self { path, members, skipped, .. } = self;
        quote!(#path {
            #(#members: crate::checkpoint::Checkpointed::load(from)?,)*
            #(#skipped: ::core::default::Default::default(),)*
        })
    }
}

fn is_skipped(field: &Field) -> bool {
    let mut ours = field.attrs.iter().filter(|attribute| attribute.path().is_ident("checkpoint"));
    ours.any(|attribute| {
        let argument: syn::Ident = attribute.parse_args().expect("#[checkpoint(skip)]");
        assert!(argument == "skip", "#[checkpoint(skip)] is all there is");
        true
    })
}

fn of_struct(only: &Variant<'_>) -> (Tokens, Tokens) {
    let (members, load) = (&only.members, only.load());
    let keep = quote!(#(crate::checkpoint::Checkpointed::keep(&self.#members, out);)*);
    (keep, quote!(Ok(#load)))
}

fn of_enum(variants: &[Variant<'_>]) -> (Tokens, Tokens) {
    let keeps = variants.iter().enumerate().map(|(number, variant)| {
        let (path, members, number) = (&variant.path, &variant.members, number as u8);
        let names: Vec<_> = (0..members.len()).map(|index| format_ident!("field{index}")).collect();
        quote!(#path { #(#members: #names,)* .. } => {
            out.variant(#number);
            #(crate::checkpoint::Checkpointed::keep(#names, out);)*
        })
    });
    let loads = variants.iter().enumerate().map(|(number, variant)| {
        let (load, number) = (variant.load(), number as u8);
        quote!(#number => Ok(#load),)
    });
    let keep = quote!(match self { #(#keeps)* });
    let load = quote!(match from.variant()? { #(#loads)* _ => Err(from.unknown_variant()) });
    (keep, load)
}
