//! Faults of a configuration, one line a fault.

use std::{fmt, fmt::Write, sync::Arc};

/// The source of `KEY=VALUE` overrides.
pub(super) const OVERRIDE: &str = "--set";

/// Place of a value in its source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// File name, preset or `--set`; empty for defaults.
    pub source: Arc<str>,
    /// Line of the file, from 1; 0 if it has none.
    pub line: u32,
}

/// One fault of a configuration: where it is, which key, what was found and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub(super) place: Place,
    column: Option<usize>,
    pub(super) key: String,
    problem: String,
}

impl Fault {
    pub(super) const fn new(place: Place, key: String, problem: String) -> Self {
        Self { place, column: None, key, problem }
    }

    /// Whether it is about `key` or something inside it.
    pub(super) fn lies_within(&self, key: &str) -> bool {
        self.key.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    pub(super) const fn at_column(mut self, column: usize) -> Self {
        self.column = Some(column);
        self
    }

    pub(super) fn without_line(source: &str, key: &str, problem: String) -> Self {
        Self::new(Place { source: source.into(), line: 0 }, key.into(), problem)
    }

    /// The key's dotted path; empty for a fault of syntax.
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A key may hold anything: a line stays one line, and a terminal gets no orders.
        for character in self.raw().chars() {
            match character.is_control() {
                true => write!(f, "{}", character.escape_debug())?,
                false => f.write_char(character)?,
            }
        }
        Ok(())
    }
}

impl Fault {
    fn raw(&self) -> String {
        let place = match (&*self.place.source, self.place.line, self.column) {
            ("", ..) => String::new(),
            (OVERRIDE, ..) => format!("{OVERRIDE} "),
            (source, 0, _) => format!("{source}: "),
            (source, line, None) => format!("{source}:{line}: "),
            (source, line, Some(column)) => format!("{source}:{line}:{column}: "),
        };
        let key = if self.key.is_empty() { String::new() } else { format!("{}: ", self.key) };
        format!("{place}{key}{}", self.problem)
    }
}

/// Every fault of a configuration, displayed one a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults(pub(super) Vec<Fault>);

impl Faults {
    /// The faults, in the order of the layers and their lines.
    pub fn iter(&self) -> impl Iterator<Item = &Fault> {
        self.0.iter()
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<_> = self.0.iter().map(Fault::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for Faults {}
