"""Seeded bugs and mutants by machine: they fit the code, and their pages say what is stored."""

from __future__ import annotations

import json
from itertools import groupby

import pytest

from mutants import by_hand, by_machine_page, tree
from mutants.doubled import blocks, doubled
from mutants.listed import Change
from mutants.stored import Store
from mutants.suites import Outcome

#: Of the drawn mutants, so many have to have been run.
FEWEST_RUN = 150


def test_every_bug_has_its_place_in_the_code() -> None:
    bugs = sorted(by_hand.read(), key=lambda bug: bug.file)
    assert len(bugs) > 100
    for name, here in groupby(bugs, key=lambda bug: bug.file):
        text = tree.source(name)
        # It exits, and says which, where one has no place, or two have the same.
        assert by_hand.with_switches(text, list(here)) != text


def test_the_page_of_seeded_bugs_says_what_is_stored() -> None:
    page = (tree.ROOT / by_hand.PAGE).read_text(encoding="utf-8")
    assert page == by_hand.written(by_hand.read(), Store(by_hand.STORED)), (
        "run `make mutants-pages`"
    )


def test_the_page_of_mutants_by_machine_says_what_is_stored() -> None:
    page = (tree.ROOT / by_machine_page.PAGE).read_text(encoding="utf-8")
    rows = list(Store(by_machine_page.STORED).rows.values())
    assert page == by_machine_page.written(rows, by_machine_page.notes()), (
        "run `make mutants-pages`"
    )


def test_notes_are_on_mutants_that_are_what_they_say() -> None:
    notes, rows = by_machine_page.notes(), Store(by_machine_page.STORED).rows
    for bug in notes.equivalent:
        assert bug not in rows or rows[bug].outcome in {Outcome.SURVIVED, Outcome.OPEN}, bug
    for bug in notes.led_to:
        assert bug not in rows or rows[bug].outcome in {Outcome.KILLED, Outcome.OPEN}, bug


def test_enough_mutants_are_killed_and_few_called_equivalent() -> None:
    rows = list(Store(by_machine_page.STORED).rows.values())
    lists = json.loads(by_machine_page.LIST.read_text(encoding="utf-8"))
    drawn, equivalent = sum(lists["drawn"].values()), by_machine_page.notes().equivalent
    count = by_machine_page.Count.of(rows, equivalent)
    if len(rows) < drawn or count.open > 0:
        pytest.skip("not all of the sample have been run: `make mutants-machine` goes on")
    assert count.run >= FEWEST_RUN
    assert count.equivalent <= 0.07 * count.run
    assert count.killed >= 0.95 * (count.killed + count.survived)


SOURCE = """\
impl Dies {
    /// A brace in a comment: }.
    fn busy(&self, at: [u8; 2]) -> usize {
        let open = '{';
        if at[0] < 3 { 1 } else { 2 }
    }
}
"""


def test_a_mutated_body_stands_beside_the_original_one() -> None:
    span = {"start": {"line": 5, "column": 18}, "end": {"line": 5, "column": 19}}
    function = {"span": {"start": {"line": 2, "column": 5}, "end": {"line": 6, "column": 6}}}
    change = Change("name", "dies.rs", 5, function, span, "-> usize", "<=")
    text = doubled(SOURCE, {7: change})
    assert text.count("let open = '{';") == 2
    mutated, original = text.split("//mutant 7 ends\nelse")
    assert "at[0] <= 3" in mutated
    assert "at[0] < 3" in original
    lines = text.split("\n")
    assert [lines[line - 1] for line in blocks(text)[7]] == [
        "    fn busy(&self, at: [u8; 2]) -> usize { if crate::mutant::is(7) //mutant 7 begins",
        "{",
        "        let open = '{';",
        "        if at[0] <= 3 { 1 } else { 2 }",
        "    } //mutant 7 ends",
    ]
