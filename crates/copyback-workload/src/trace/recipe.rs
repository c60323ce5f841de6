//! The format `csv` as a file of unknown columns could name them, for its message.

use super::detect::lines_of;

/// Least columns of a table of requests: time, offset and length.
const LEAST: usize = 3;
/// Most lines that are looked at.
const LINES: usize = 20;

/// Units of times that names end with.
const TIME_UNITS: [&str; 4] = [":ns", ":us", ":ms", ":s"];

/// Separators, and how a configuration writes them.
const SEPARATORS: [(char, &str); 3] =
    [(',', ""), (';', ", separator = \";\""), ('\t', ", separator = \"\\t\"")];

/// A role of a column: its key in the format, its unit, and pieces of names that tell it.
struct Role {
    key: &'static str,
    unit: &'static str,
    pieces: &'static [&'static str],
}

/// Roles, those with the surest names first.
const ROLES: [Role; 4] = [
    Role { key: "time", unit: ":us", pieces: &["time", "stamp", "date", "ts"] },
    Role {
        key: "operation",
        unit: "",
        pieces: &["op", "type", "rw", "kind", "cmd", "command", "direction", "action"],
    },
    Role {
        key: "offset",
        unit: ":sectors",
        pieces: &["lba", "offset", "addr", "sector", "block", "pos"],
    },
    Role { key: "length", unit: ":bytes", pieces: &["size", "len", "bytes", "count", "sectors"] },
];

/// Returns the format with the names in the file's first line, as a configuration has it; none if that has no names.
pub fn of(head: &[u8]) -> Option<String> {
    let (names, separator) = SEPARATORS
        .iter()
        .find_map(|(separator, key)| names(head, *separator).map(|names| (names, *key)))?;
    let keys: Vec<_> = keys_of(&names).into_iter().collect();
    Some(format!(
        "workload.format to name the columns, such as {{ type = \"csv\", {}{separator} }} with \
         the units of this file",
        keys.join(", ")
    ))
}

/// The names in the first line, if it has some and the lines behind it have as many columns.
fn names(head: &[u8], separator: char) -> Option<Vec<&str>> {
    let mut lines = lines_of(head).take(LINES).map(|line| std::str::from_utf8(line).ok());
    let names: Vec<_> = lines.next()??.split(separator).map(bare).collect();
    let are_names = names.len() >= LEAST && names.iter().all(|name| is_name(name));
    let mut lines = lines.peekable();
    lines.peek()?;
    let alike =
        lines.all(|line| line.is_some_and(|line| line.split(separator).count() == names.len()));
    (are_names && alike).then_some(names)
}

fn bare(name: &str) -> &str {
    name.trim().trim_matches('"')
}

fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\\') || c == ' ';
    name.contains(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_plain)
}

/// The keys of the format, each with the column whose name fits best.
fn keys_of(names: &[&str]) -> Vec<String> {
    let mut left = names.to_vec();
    let mut keys = Vec::new();
    for role in &ROLES {
        match take(&mut left, role) {
            Some(name) => keys.push(format!("{} = \"{name}{}\"", role.key, unit_of(name, role))),
            None if role.key == "operation" => keys.push("all = \"write\"".to_owned()),
            None => keys.push(format!("{} = \"COLUMN{}\"", role.key, role.unit)),
        }
    }
    keys
}

/// Words of a name such as `ts_us`.
fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_ascii_alphanumeric())
}

/// Unit of a column: for a time that which its name ends with, if it ends with one.
fn unit_of(name: &str, role: &Role) -> &'static str {
    let last = words(name).last().unwrap_or_default();
    let named = TIME_UNITS.iter().find(|unit| last.eq_ignore_ascii_case(&unit[1..]));
    named.filter(|_| role.key == "time").copied().unwrap_or(role.unit)
}

fn take<'a>(left: &mut Vec<&'a str>, role: &Role) -> Option<&'a str> {
    let is = |name: &str, piece: &str| name.eq_ignore_ascii_case(piece);
    let has = |name: &str, piece: &str| {
        words(name).any(|word| is(word, piece))
            || piece.len() > 2 && name.to_ascii_lowercase().contains(piece)
    };
    let place = |fits: &dyn Fn(&str, &str) -> bool| {
        role.pieces.iter().find_map(|piece| left.iter().position(|name| fits(name, piece)))
    };
    let place = place(&is).or_else(|| place(&has))?;
    Some(left.remove(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_names_are_in_it() {
        let hint = of(b"when_time,lba,nbytes,rw,host\n1,2,3,R,x\n").unwrap();
        let keys = "{ type = \"csv\", time = \"when_time:us\", operation = \"rw\", offset = \"lba:sectors\", \
                    length = \"nbytes:bytes\" }";
        assert!(hint.contains(keys), "{hint}");
        let hint = of(b"\"Timestamp\";\"Address\";\"Size\"\n1;2;3\n").unwrap();
        let keys = "time = \"Timestamp:us\", all = \"write\", offset = \"Address:sectors\", \
                    length = \"Size:bytes\", separator = \";\" }";
        assert!(hint.contains(keys), "{hint}");
        let hint = of(b"host,ts_ms,lba,len_b\nx,1,2,3\n").unwrap();
        assert!(
            hint.contains("time = \"ts_ms:ms\", all = \"write\", offset = \"lba:sectors\""),
            "{hint}"
        );
        assert!(of(b"a,b,c\n1,2,3\n").unwrap().contains("time = \"COLUMN:us\""));
    }

    #[test]
    fn none_for_what_is_no_table_with_names() {
        for head in ["", "this is, not, a trace\n", "1,2,3\n4,5,6\n", "a,b\n1,2\n", "a,b,c\n1,2\n"]
        {
            assert_eq!(of(head.as_bytes()), None, "{head}");
        }
    }
}
