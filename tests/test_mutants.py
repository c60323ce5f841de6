"""The seeded bugs: each fits the code as it is today, and their page says what is stored."""

from __future__ import annotations

from itertools import groupby

from mutants import by_hand, tree
from mutants.stored import Store


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
