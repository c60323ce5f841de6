//! The sizes of the rooms: fields and methods of a type, functions of a trait, circles of files in `ftl`. A room that is larger
//! than the bounds is listed with its size, which it may not grow beyond.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::{
    Field, FnArg, ImplItem, Item, ItemTrait, Signature, TraitItem, Type, TypeParamBound, UseTree,
    Visibility,
};

const MOST_FIELDS: usize = 12;
const MOST_METHODS: usize = 80;
const MOST_IN_TRAIT: usize = 15;
const MOST_IN_CIRCLE: usize = 3;

/// Types with more fields.
const FIELDS: [(&str, usize); 0] = [];

/// Tables, which are no rooms: all their fields are public, as these are what a summary tells or is made of. Readers go by
/// the fields, so that parts would be one name more in front of each.
const TABLES: [&str; 10] = [
    "backend::counters::Counters",
    "drive::power::PowerLoss",
    "metrics::drive_work::DriveSummary",
    "metrics::drive_work::DriveWork",
    "metrics::endurance::EnduranceSummary",
    "metrics::faults::FaultsSummary",
    "metrics::gc::GcSummary",
    "metrics::power_loss::PowerLossSummary",
    "run::stop::steady::SteadyWindow",
    "run::summary::Summary",
];

/// Types with more methods, functions that take `&mut` to them included.
const METHODS: [(&str, usize); 0] = [];

/// Traits with more functions, those of the traits that they build on included.
const TRAITS: [(&str, usize); 0] = [];

/// Counts of fields, methods and functions, by the path of a type or trait.
#[derive(Default)]
struct Sizes {
    fields: BTreeMap<String, usize>,
    methods: BTreeMap<String, usize>,
    /// Fields that are not public, of all types.
    hidden: BTreeMap<String, usize>,
    traits: BTreeMap<String, usize>,
}

/// Traits of the simulator by their names.
#[derive(Default)]
struct Traits<'a> {
    items: BTreeMap<String, &'a ItemTrait>,
    /// Traits that are implemented once for all types of another one, with nothing of their own: nobody else can, so that
    /// no author sees them together with what they build on.
    extensions: BTreeSet<String>,
}

/// A file of the simulator without its tests: its path as a module, and its items.
struct Module {
    path: Vec<String>,
    items: Vec<Item>,
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("it is a folder");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn module(path: &Path) -> Module {
    let text = fs::read_to_string(path).expect("it can be read");
    let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let inside = path.strip_prefix(source()).expect("it is inside").with_extension("");
    let mut names: Vec<_> = inside.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    if names.last().is_some_and(|name| name == "mod" || name == "lib") {
        names.pop();
    }
    Module { path: names, items: file.items }
}

/// The paths that a `use` names, one for each of its leaves.
fn leaves(tree: &UseTree, before: &[String]) -> Vec<Vec<String>> {
    let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
    match tree {
        UseTree::Path(path) => leaves(&path.tree, &with(&path.ident)),
        UseTree::Group(group) => group.items.iter().flat_map(|tree| leaves(tree, before)).collect(),
        UseTree::Name(name) => vec![with(&name.ident)],
        UseTree::Rename(rename) => vec![with(&rename.ident)],
        UseTree::Glob(_) => vec![before.to_vec()],
    }
}

/// A path of a `use` in `module`, from the root of the crate; `None` if it is of another crate.
fn from_root(path: &[String], module: &Module, known: &BTreeSet<String>) -> Option<Vec<String>> {
    let up = path.iter().take_while(|name| *name == "super").count();
    let local = [&module.path[..], &path[..1]].concat().join("::");
    match path[0].as_str() {
        "crate" => Some(path[1..].to_vec()),
        "self" => Some([&module.path[..], &path[1..]].concat()),
        "super" => Some([&module.path[..module.path.len().checked_sub(up)?], &path[up..]].concat()),
        _ if known.contains(&local) => Some([&module.path[..], path].concat()),
        _ => None,
    }
}

/// Modules of the crate: what each holds, and the names that it hands on from others.
struct Imports {
    known: BTreeSet<String>,
    handed_on: BTreeMap<(String, String), String>,
}

impl Imports {
    fn of(modules: &[Module]) -> Self {
        let known = modules.iter().map(|module| module.path.join("::")).collect();
        let mut imports = Self { known, handed_on: BTreeMap::new() };
        for module in modules {
            let handed_on = imports.named(module, true);
            let here = module.path.join("::");
            let entries = handed_on.into_iter().map(|(place, item)| ((here.clone(), item), place));
            imports.handed_on.extend(entries);
        }
        imports
    }

    /// The modules that the `use`s of a module name, all or those that it hands on, and of each the item.
    fn named(&self, module: &Module, only_handed_on: bool) -> Vec<(String, String)> {
        let mut named = Vec::new();
        for item in &module.items {
            let Item::Use(item) = item else { continue };
            if only_handed_on && matches!(item.vis, Visibility::Inherited) {
                continue;
            }
            for leaf in leaves(&item.tree, &[]) {
                let Some(path) = from_root(&leaf, module, &self.known) else { continue };
                let places = (0..=path.len()).rev().map(|length| path[..length].join("::"));
                if let Some(place) = places.into_iter().find(|place| self.known.contains(place)) {
                    named.push((place, path.last().cloned().unwrap_or_default()));
                }
            }
        }
        named
    }

    /// The modules that hold what `module` names, its own parts aside, as it hands them on.
    fn used_by(&self, module: &Module) -> BTreeSet<String> {
        let here = module.path.join("::");
        let mut used = BTreeSet::new();
        for (mut place, item) in self.named(module, false) {
            while let Some(holder) = self.handed_on.get(&(place.clone(), item.clone())) {
                place.clone_from(holder);
            }
            if place != here && !place.starts_with(&format!("{here}::")) {
                used.insert(place);
            }
        }
        used
    }
}

/// The modules that `from` reaches through `uses`.
fn reached<'a>(from: &'a str, uses: &'a BTreeMap<String, BTreeSet<String>>) -> BTreeSet<&'a str> {
    let (mut found, mut left) = (BTreeSet::new(), vec![from]);
    while let Some(next) = left.pop() {
        for used in uses.get(next).into_iter().flatten() {
            if found.insert(used.as_str()) {
                left.push(used);
            }
        }
    }
    found
}

fn modules() -> Vec<Module> {
    files(&source()).iter().map(|path| module(path)).collect()
}

/// The name that a type ends with, if it is a path.
fn name_of(of: &Type) -> Option<String> {
    match of {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    }
}

/// The types that a function takes `&mut` to, itself aside.
fn changed_by(signature: &Signature) -> BTreeSet<String> {
    let changed = |argument: &FnArg| match argument {
        FnArg::Typed(typed) => match typed.ty.as_ref() {
            Type::Reference(reference) if reference.mutability.is_some() => {
                name_of(&reference.elem)
            }
            _ => None,
        },
        FnArg::Receiver(_) => None,
    };
    signature.inputs.iter().filter_map(changed).collect()
}

impl<'a> Traits<'a> {
    fn of(modules: &'a [Module]) -> Self {
        let mut traits = Self::default();
        for item in modules.iter().flat_map(|module| &module.items) {
            match item {
                Item::Trait(item) => _ = traits.items.insert(item.ident.to_string(), item),
                Item::Impl(item) if item.items.is_empty() => {
                    let is_generic = item
                        .generics
                        .type_params()
                        .any(|of| Some(of.ident.to_string()) == name_of(&item.self_ty));
                    let name = item.trait_.as_ref().and_then(|(path, _)| path.segments.last());
                    traits
                        .extensions
                        .extend(name.filter(|_| is_generic).map(|name| name.ident.to_string()));
                }
                _ => {}
            }
        }
        traits
    }

    /// Functions that an author of the trait sees: its own, and those of the traits that it builds on.
    fn functions(&self, of: &ItemTrait) -> usize {
        let own = of.items.iter().filter(|item| matches!(item, TraitItem::Fn(_))).count();
        if self.extensions.contains(&of.ident.to_string()) {
            return own;
        }
        let below = of.supertraits.iter().filter_map(|bound| match bound {
            TypeParamBound::Trait(bound) => {
                self.items.get(&bound.path.segments.last()?.ident.to_string())
            }
            _ => None,
        });
        own + below.map(|below| self.functions(below)).sum::<usize>()
    }
}

/// Where each type that is declared once lies, by its name.
fn places(modules: &[Module]) -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for module in modules {
        for item in &module.items {
            let name = match item {
                Item::Struct(item) => item.ident.to_string(),
                Item::Enum(item) => item.ident.to_string(),
                _ => continue,
            };
            all.entry(name).or_default().push(module.path.join("::"));
        }
    }
    let once = all.into_iter().filter(|(_, places)| places.len() == 1);
    once.map(|(name, places)| (name, places.concat())).collect()
}

impl Sizes {
    fn of(modules: &[Module]) -> Self {
        let places = places(modules);
        let traits = Traits::of(modules);
        let mut sizes = Self::default();
        for module in modules {
            module.items.iter().for_each(|item| sizes.add(module, item, &places, &traits));
        }
        sizes
    }

    fn add(
        &mut self,
        module: &Module,
        item: &Item,
        places: &BTreeMap<String, String>,
        traits: &Traits<'_>,
    ) {
        let here = |name: &str| format!("{}::{name}", module.path.join("::"));
        match item {
            Item::Struct(item) => {
                let name = here(&item.ident.to_string());
                let is_hidden = |field: &&Field| !matches!(field.vis, Visibility::Public(_));
                self.hidden.insert(name.clone(), item.fields.iter().filter(is_hidden).count());
                self.fields.insert(name, item.fields.len());
            }
            Item::Trait(item) => {
                self.traits.insert(here(&item.ident.to_string()), traits.functions(item));
            }
            Item::Fn(item) => self.changes(&item.sig, places),
            Item::Impl(item) => {
                let is_ours = item.trait_.as_ref().is_none_or(|(path, _)| {
                    path.segments
                        .last()
                        .is_some_and(|last| traits.items.contains_key(&last.ident.to_string()))
                });
                let place = name_of(&item.self_ty)
                    .and_then(|name| places.get(&name).map(|place| format!("{place}::{name}")));
                for item in &item.items {
                    let ImplItem::Fn(function) = item else { continue };
                    self.changes(&function.sig, places);
                    if let Some(place) = place.clone().filter(|_| is_ours) {
                        *self.methods.entry(place).or_default() += 1;
                    }
                }
            }
            _ => {}
        }
    }

    fn changes(&mut self, signature: &Signature, places: &BTreeMap<String, String>) {
        for name in changed_by(signature) {
            if let Some(place) = places.get(&name) {
                *self.methods.entry(format!("{place}::{name}")).or_default() += 1;
            }
        }
    }
}

/// Checks that sizes keep to the bound, and that what is listed as larger is just so large.
fn check(what: &str, sizes: &BTreeMap<String, usize>, most: usize, larger: &[(&str, usize)]) {
    let larger: BTreeMap<&str, usize> = larger.iter().copied().collect();
    let wrong: Vec<_> = sizes
        .iter()
        .filter(|(name, size)| **size > larger.get(name.as_str()).copied().unwrap_or(most))
        .map(|(name, size)| format!("(\"{name}\", {size}),"))
        .collect();
    assert!(wrong.is_empty(), "more than {most} {what}:\n{}", wrong.join("\n"));
    for (name, listed) in larger {
        let size = sizes.get(name).copied();
        assert!(size == Some(listed), "{name} is listed with {listed} {what}, but has {size:?}");
    }
}

#[test]
fn types_have_few_fields_and_methods_and_traits_few_functions() {
    let mut sizes = Sizes::of(&modules());
    sizes.fields.retain(|name, _| !TABLES.contains(&name.as_str()));
    check("fields", &sizes.fields, MOST_FIELDS, &FIELDS);
    check("methods", &sizes.methods, MOST_METHODS, &METHODS);
    check("functions", &sizes.traits, MOST_IN_TRAIT, &TRAITS);
}

#[test]
fn tables_hide_nothing_and_are_larger_than_a_room() {
    let sizes = Sizes::of(&modules());
    for table in TABLES {
        assert_eq!(sizes.hidden.get(table), Some(&0), "{table} hides fields: it is a room");
        assert!(sizes.fields[table] > MOST_FIELDS, "{table} is no larger than a room");
    }
}

#[test]
fn no_more_than_three_files_of_the_translation_layer_use_one_another_in_a_circle() {
    let modules = modules();
    let imports = Imports::of(&modules);
    let is_inside = |path: &str| path.starts_with("ftl::");
    let uses: BTreeMap<String, BTreeSet<String>> = modules
        .iter()
        .map(|module| (module.path.join("::"), imports.used_by(module)))
        .filter(|(path, _)| is_inside(path))
        .map(|(path, used)| (path, used.into_iter().filter(|used| is_inside(used)).collect()))
        .collect();
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        uses.keys().map(|path| (path.as_str(), reached(path, &uses))).collect();
    for (path, others) in &reach {
        let circle: Vec<_> = others.iter().filter(|other| reach[*other].contains(path)).collect();
        assert!(circle.len() <= MOST_IN_CIRCLE, "{circle:?} use one another in a circle");
    }
}
