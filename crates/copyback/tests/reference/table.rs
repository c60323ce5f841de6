//! Reference tables, and reports that set what was found beside them.

use std::collections::BTreeMap;
use std::fmt::Write;

/// One row of a table, by column.
pub struct Row(BTreeMap<&'static str, &'static str>);

impl Row {
    #[track_caller]
    pub fn text(&self, column: &str) -> &'static str {
        self.0.get(column).unwrap_or_else(|| panic!("the table has no column {column}"))
    }

    #[track_caller]
    pub fn number(&self, column: &str) -> f64 {
        let text = self.text(column);
        text.parse().unwrap_or_else(|_| panic!("{column} is {text:?}, not a number"))
    }

    /// A number, or `None` where the table is empty.
    pub fn optional(&self, column: &str) -> Option<f64> {
        (!self.text(column).is_empty()).then(|| self.number(column))
    }

    #[track_caller]
    pub fn count(&self, column: &str) -> u32 {
        self.number(column) as u32
    }

    /// The same row with another value in a column.
    pub fn with(mut self, column: &'static str, value: &'static str) -> Self {
        self.0.insert(column, value);
        self
    }

    pub fn is(&self, column: &str, text: &str) -> bool {
        self.text(column) == text
    }
}

/// The rows of a comma-separated table: comments, a line of column names, rows.
pub fn rows(table: &'static str) -> Vec<Row> {
    let mut lines = table.lines().filter(|line| !line.starts_with('#'));
    let columns: Vec<_> = lines.next().expect("a line of column names").split(',').collect();
    let row = |line: &'static str| Row(columns.iter().copied().zip(line.split(',')).collect());
    lines.map(row).collect()
}

/// What was found, beside what was expected.
pub struct Report {
    lines: String,
    rows: usize,
    failures: usize,
    worst: f64,
}

impl Report {
    pub fn new() -> Self {
        let header = format!(
            "{:<58} {:>12} {:>12} {:>8} {:>8}",
            "row", "expected", "found", "error", "limit"
        );
        Self { lines: header, rows: 0, failures: 0, worst: 0.0 }
    }

    /// Adds a row; `tolerance` is relative.
    pub fn compare(&mut self, row: &str, expected: f64, found: f64, tolerance: f64) {
        let error = found / expected - 1.0;
        let fails = error.is_nan() || error.abs() > tolerance;
        let (percent, limit) = (100.0 * error, 100.0 * tolerance);
        let mark = if fails { "  <-- differs" } else { "" };
        write!(
            self.lines,
            "\n{row:<58} {expected:>12.6} {found:>12.6} {percent:>+7.3}% {limit:>7.2}%{mark}"
        )
        .expect("text grows");
        self.rows += 1;
        self.failures += usize::from(fails);
        self.worst = self.worst.max(error.abs());
    }

    /// Prints the table, which the test runner shows if a row fails.
    #[track_caller]
    pub fn finish(self) {
        let Self { lines, rows, failures, worst } = self;
        println!("{lines}\n{rows} rows, worst {:.3}%", 100.0 * worst);
        assert!(rows > 0, "no row of the table was compared");
        assert!(failures == 0, "{failures} of {rows} rows differ");
    }
}
