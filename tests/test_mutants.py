"""The seeded bugs of ``tests/mutants``: each fits the code as it is today."""

from __future__ import annotations

from itertools import groupby

from mutants import run

SOURCE = run.ROOT / "crates" / "copyback" / "src"


def test_every_bug_has_its_place_in_the_code() -> None:
    bugs = sorted(run.read(), key=lambda bug: bug.file)
    assert len(bugs) > 100
    for name, here in groupby(bugs, key=lambda bug: bug.file):
        text = (SOURCE / name).read_text(encoding="utf-8")
        # It exits, and says which, where one has no place, or two have the same.
        assert run.with_switches(text, list(here)) != text
