//! Do the guides' examples work? Their code is put into a copy of the crate, just as each guide says,
//! and the tests are run there. A warning is an error.

#![allow(missing_docs)]

mod guide;
mod scratch;

use guide::{Change, Guide};
use scratch::Scratch;

#[test]
fn the_examples_of_the_guides_compile_and_pass_their_tests() {
    let mut scratch = Scratch::new();
    for name in ["add-a-trace-format.md", "add-a-policy.md"] {
        let guide = Guide::read(name);
        assert!(guide.changes.len() >= 4, "{name}: its changes are not found any more");
        for change in &guide.changes {
            match change {
                Change::NewFile { path, text } => scratch.create(path, text),
                Change::Insert { path, after, lines } => scratch.insert(path, after, lines),
            }
        }
    }
    scratch.write();
    let output = scratch.test(&[
        "trace::plain",
        "victim::first_below",
        "when::yield_to_reads",
        "mapping::patient",
        "devices",
        "translation_layer",
        "every_schedule_goes_on",
    ]);
    for test in [
        "plain::tests::says_what_is_wrong",
        "first_below::tests::takes",
        "yield_to_reads::tests::only_reads",
        "patient::tests::waits",
        "every_schedule_goes_on_from_a_checkpoint",
    ] {
        assert!(output.contains(test), "{output}");
    }
}
