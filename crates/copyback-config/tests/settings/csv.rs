//! Columns of CSV files, and what is said of those that make no sense.

use copyback_config::{
    CsvColumn, CsvColumns, CsvFormat, CsvOperation, CsvSkip, CsvTime, ReadOrWrite,
};

const TIME: &str = "a column and a unit such as \"timestamp:us\" (s, ms, us, ns or 100ns)";
const BYTES: &str =
    "a column and a unit such as \"lba:sectors\" (bytes, sectors or a size such as 4KiB)";

fn format() -> CsvFormat {
    CsvFormat {
        time: "ts:us".into(),
        offset: "lba:sectors".into(),
        length: "3:4KiB".into(),
        operation: Some("op".into()),
        ..CsvFormat::EMPTY
    }
}

#[test]
fn columns_and_units() {
    let named = |name: &str| CsvColumn::Named(name.into());
    let expected = CsvColumns {
        columns: [
            Some(named("ts")),
            Some(named("lba")),
            Some(CsvColumn::Number(2)),
            Some(named("op")),
            None,
            None,
            None,
        ],
        time: CsvTime::Places(3),
        offset: 512,
        length: 4096,
        response: CsvTime::Places(3),
        operation: CsvOperation::Column,
        skip: None,
    };
    assert_eq!(format().columns(), Ok(expected.clone()));
    let [time, offset, length, operation, ..] = expected.columns;
    let more = CsvFormat {
        device: Some("disk".into()),
        response: Some("latency:ms".into()),
        handle: Some("ruh".into()),
        ..format()
    };
    let (device, response) = (Some(named("disk")), Some(named("latency")));
    let handle = Some(named("ruh"));
    let columns = [time, offset, length, operation, device, response, handle];
    let expected = CsvColumns { columns, response: CsvTime::Places(6), ..expected };
    assert_eq!(more.columns(), Ok(expected));
}

#[test]
fn says_which_key_makes_no_sense() {
    let fault = |format: CsvFormat| format.columns().unwrap_err();
    for time in ["ts", "ts:min", ":us", "0:us", ""] {
        let found = format!("{time:?}");
        assert_eq!(fault(CsvFormat { time: time.into(), ..format() }), ("time", found, TIME));
    }
    for offset in ["lba", "lba:0B", "lba:blocks", ":bytes"] {
        let found = format!("{offset:?}");
        let offset = CsvFormat { offset: offset.into(), ..format() };
        assert_eq!(fault(offset), ("offset", found, BYTES));
    }
    assert_eq!(fault(CsvFormat { operation: Some(String::new()), ..format() }).0, "operation");
    assert_eq!(fault(CsvFormat { operation: None, ..format() }).1, "nothing");
    let all = Some(ReadOrWrite::Read);
    assert_eq!(fault(CsvFormat { all, ..format() }).2, "one of them");
    for skip in ["op", ":R", ""] {
        assert_eq!(fault(CsvFormat { skip: Some(skip.into()), ..format() }).0, "skip");
    }
    assert_eq!(fault(CsvFormat { separator: '\u{e9}', ..format() }).0, "separator");
    assert_eq!(fault(CsvFormat { device: Some(String::new()), ..format() }).0, "device");
    assert_eq!(fault(CsvFormat { handle: Some(String::new()), ..format() }).0, "handle");
    assert_eq!(
        fault(CsvFormat { response: Some("rt".into()), ..format() }),
        ("response", "\"rt\"".into(), TIME)
    );
}

#[test]
fn rows_say_what_they_are_or_nothing_does() {
    let columns = |format: CsvFormat| format.columns().unwrap();
    let write = Some(ReadOrWrite::Write);
    let all = columns(CsvFormat { operation: None, all: write, ..format() });
    assert_eq!(all.operation, CsvOperation::All(ReadOrWrite::Write));
    assert_eq!(all.columns[3], None);
    let signed = columns(CsvFormat { operation: None, negative: write, ..format() });
    assert_eq!(signed.operation, CsvOperation::Negative(ReadOrWrite::Write));
    let skip = columns(CsvFormat { skip: Some("7:Q|C".into()), ..format() }).skip;
    let values = vec!["Q".to_owned(), "C".to_owned()];
    assert_eq!(skip, Some(CsvSkip { column: CsvColumn::Number(6), values }));
}
