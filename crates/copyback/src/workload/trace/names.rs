//! The line of column names that some formats start with.

use std::mem;

/// Whether that line may still come: only a file's first line can be one.
#[derive(Debug, Default)]
pub struct Names {
    behind: bool,
}

impl Names {
    /// Whether `line` is a line of column names and may be; `first` is the first of them.
    pub fn are(&mut self, line: &[u8], first: &str) -> bool {
        !mem::replace(&mut self.behind, true) && is_named(line, first)
    }
}

/// Whether `line` starts with the name `first`, in either case.
pub fn is_named(line: &[u8], first: &str) -> bool {
    let line = line.trim_ascii_start();
    line.get(..first.len()).is_some_and(|name| name.eq_ignore_ascii_case(first.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn are_the_first_line_or_none() {
        let mut names = Names::default();
        assert!(names.are(b"Time,Offset", "time"));
        assert!(!names.are(b"Time,Offset", "time"));
        assert!(!Names::default().are(b"1,2", "time"));
        assert!(!Names::default().are(b"", "time"));
    }
}
