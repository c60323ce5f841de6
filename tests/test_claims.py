"""What pages say of their runs' outputs is generated, quoted or checked (tests/claims.py)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from claims import Holder, Mark, marks, notebook_marks, wrong_checks
from pages import ROOT
from test_pages import FIRST, FOLLOWED

if TYPE_CHECKING:
    from pathlib import Path

#: Sentences with a mark that no run of the page gives: part of the sentence, and why.
EXCEPTIONS = {
    "docs/guide/calibrate.md": {
        "10,000 requests of 4 KiB, or 2,000 large ones": "a rule; calibration/sheet/loads.py",
    },
    "docs/guide/compare.md": {
        "fewer than 10,000 requests": "a rule; tests/test_answer.py",
        "schemes that none beats in both": "what the page has",
    },
    "docs/guide/endurance.md": {"Vendors name 50,000": "of data sheets"},
    "docs/guide/long-runs.md": {"hardly any memory": "of the machine"},
    "docs/guide/policies-in-python.md": {"is made twice": "a rule; tests/test_policies.py"},
    "docs/guide/faults.md": {"The first keeps pages of collections in DRAM": "a list of three"},
    "docs/guide/figures.md": {
        "the half-width of the 95% interval": "a rule; tests/test_figures.py"
    },
    "docs/guide/postgresql.md": {
        "A request counts as waiting for collections": "a definition",
        "about two thirds of it": "how the experiment is set up",
    },
    "docs/guide/timeline.md": {
        "Waited 262 ms": "words of the picture; `make pictures`",
        "the collection had the die for 262 ms": "words of the picture; `make pictures`",
        "waited 11.5 s for its stripe": "an example of words",
        "twice the CPU time": "of the machine",
    },
    "docs/guide/traces.md": {
        "whose middle is 3 ms": "of published traces",
        "at most 0.1% low": "a rule; crates/copyback-workload/tests/convert.rs",
        "more than 4 GiB is refused": "a rule; tests/fuzz",
    },
    "docs/guide/your-own-drive.md": {
        "half as many as the drive keeps up with": "how the file is made; tests/test_init.py",
        "if you know better": "advice",
        "steady random writes within 5%": "tests/test_init.py",
        "begins half full here": "how the file is made",
    },
    "docs/drives/intel-660p.md": {"eight times as much to fold": "how the preset is made"},
    "docs/drives/rain.md": {"TTFLASH claims": "of the paper"},
    "docs/drives/samsung-970-evo-plus.md": {
        "at 80% there are hardly more": "in the picture, drawn from the stored result",
        "eight times as much to fold": "how the preset is made",
    },
    "docs/drives/samsung-eufs-3.md": {"since UFS 3.1": "a version"},
    "docs/gallery.md": {"the band is the 95% interval": "what the figure has"},
    "docs/performance.md": {
        "15% over-provisioned": "the device",
        "filled and overwritten by 0.3 of its size": "the device",
        "Requests of 4 KiB, 32 at a time": "the load",
        "2% more or less must be said": "a rule; benches/instructions.py",
        "DiskSim 4.0": "a version",
        "a drive of 512 MiB": "the drives, in benches/scaling.py",
        "reckons 128 MiB": "a rule; tests/test_sweep.py",
    },
    "docs/validation.md": {
        "tR 75 us": "the device; its configuration is below",
        "as shipped, with": "the configuration of MQSim",
        "250 us apart": "the trace; its source is below",
        "5 ms apart": "the load",
        "its random victims end": "over-provisioning, as in the table",
        "each half of the pages": "the load",
        "half of the logical capacity": "a rule of MQSim, and what fulfils it",
        "It is erased twice": "what its source does",
        "1 GiB is its validation's device": "the device",
        "On the device above (20%": "its configuration",
        "SimpleSSD (Standalone 2.0": "a version",
        "its caches off, threshold 0.04": "its configuration",
    },
    "docs/notebooks/design-a-drive.ipynb": {"no other design beats": "a definition"},
    "docs/notebooks/compare-schemes.ipynb": {
        "Where the interval holds 1": "a definition",
        "ten times rarer": "how the axis is drawn",
    },
}

#: Pages with a fence of text that no reader follows: what holds it.
UNFOLLOWED = {
    "docs/guide/add-a-trace-format.md": "a diagram",
    "docs/guide/fio.md": "tests/test_flush_response.py",
    "docs/guide/install.md": "tests/test_default_loads.py",
    "docs/guide/long-runs.md": "nothing: a form with its numbers left out",
    "docs/guide/other-simulators.md": "tests/test_import.py",
    "docs/guide/serve.md": "tests/test_serve_guide.py",
}

FOLDERS = (".", "guide", "concepts", "drives")
PAGES = [
    path.relative_to(ROOT).as_posix()
    for path in [
        ROOT / "README.md",
        *(page for folder in FOLDERS for page in sorted((ROOT / "docs" / folder).glob("*.md"))),
        *sorted((ROOT / "docs/notebooks").glob("*.ipynb")),
    ]
]


def all_marks(path: Path) -> list[Mark]:
    text = path.read_text(encoding="utf-8")
    return list(notebook_marks(json.loads(text)) if path.suffix == ".ipynb" else marks(text))


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_says_of_a_run_is_held(page: str) -> None:
    """A sentence with a number or a cause is generated, quoted, checked, or known here."""
    loose = [mark for mark in all_marks(ROOT / page) if mark.held_by is Holder.NOTHING]
    known = EXCEPTIONS.get(page, {})
    new = [str(mark) for mark in loose if not any(words in mark.sentence for words in known)]
    assert not new, "\n".join(["each needs a check below it (tests/claims.py):", *new])
    assert [w for w in known if not any(w in mark.sentence for mark in loose)] == []


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page not in {*FIRST, *FOLLOWED} and page.endswith("md")]
)
def test_the_checks_of_a_page_that_runs_nothing_hold(page: str) -> None:
    """They are about its generated tables; `test_pages.py` has those of the others."""
    assert wrong_checks((ROOT / page).read_text(encoding="utf-8"), None) == []


def test_outputs_are_compared() -> None:
    """Every page of commands is followed, but for those of which it is said what holds them."""
    assert {*EXCEPTIONS, *UNFOLLOWED} <= {*PAGES}
    pages = [page for page in PAGES if page.startswith(("README", "docs/guide"))]
    loose = {p for p in pages if "```text" in (ROOT / p).read_text("utf-8")}
    loose -= {*FIRST, *FOLLOWED}
    assert loose == {*UNFOLLOWED}


PAGE = """# A run

It had 9 ms before.

```text
Response  requests   mean     p99
─────────────────────────────────
read        20,000  40 µs  1.3 ms
```

{}
"""


@pytest.mark.parametrize(
    ("prose", "loose"),
    [
        ("The p99 is 1.3 ms.", []),
        ("The p99 is 1.4 ms.", ["1.4 ms"]),
        ("It is slow because of GC.", ["because"]),
        ("Half of it is `12 ms`.\n\nNobody waits.", ["Half"]),
        ("It takes half of that.", ["half"]),
        ('Half of it.\n\n<!-- check:\n"Half of" if cell("read", "mean") < 1\n-->', []),
        ('Half of it.\n\n<!-- check:\n"of it" if cell("read", "mean") < 1\n-->', ["Half"]),
        ("<!-- generated: begin -->\n\nIt was 5 ms.\n\n<!-- generated: end -->", []),
    ],
)
def test_a_sentence_that_nothing_holds_is_found(prose: str, loose: list[str]) -> None:
    """Numbers that no output has, and causes, behind an output."""
    found = marks(PAGE.format(prose))
    assert [mark.words for mark in found if mark.held_by is Holder.NOTHING] == loose


@pytest.mark.parametrize(
    ("check", "wrong"),
    [
        ('"a thirtieth" if 30 < cell("read", "p99") / cell("read", "mean") < 35', None),
        ('"a thirtieth" if cell("read", "p99") < 1e-3', "false"),
        ('"a third" if cell("read", "p99") > 1e-3', "these words are not"),
        ('"a thirtieth" if 1 < 2', "no comparison"),
        ('"a thirtieth" if cell("write", "p99") < 1', "LookupError"),
        ('"a thirtieth" if cells("read") < 1', "NameError"),
        ('"a thirtieth" if key("out", "gc.erases") > 1', "LookupError: no test follows"),
    ],
)
def test_a_check_that_does_not_hold_is_told(check: str, wrong: str | None) -> None:
    """Its line, and why."""
    found = wrong_checks(
        PAGE.format(f"The mean is a thirtieth.\n\n<!-- check:\n{check}\n-->"), None
    )
    assert [str(wrong) in line for line in found] == ([] if wrong is None else [True])


TABLES = """# Two tables

{}

<!-- rows: written by `make generated` -->

| row | before and now | theirs | ours |
| --- | ---: | ---: | ---: |
| `a` | 9 → 3 | 10 | 11 |
| `b` | 1 → 2 | 20 | 18 |

<!-- rows: end -->

They agree within a tenth, and `a` takes half as long again as `b`.

<!-- check:
{}
-->

## Another part

Here half of it is about nothing that is printed.
"""


def test_what_stands_behind_a_table_that_is_written_is_looked_at() -> None:
    """As far as its part of the page goes, and what stands before the table is not meant."""
    found = list(marks(TABLES.format("Half of it is what follows.", '"a tenth" if 1 < max(1)')))
    assert [(mark.words, mark.held_by) for mark in found] == [
        ("tenth", Holder.CHECKED),
        ("half", Holder.NOTHING),
    ]


@pytest.mark.parametrize(
    ("check", "holds"),
    [
        ('"half as long again" if cell("a", "before and now") / 1.5 == abs(2)', True),
        ('"half as long again" if cell("b", "before and now") == abs(1)', False),
        ('"a tenth" if max(quotients("ours", "theirs")) == 1.1', True),
        ('"a tenth" if min(quotients("ours", "theirs")) > 0.9', False),
        (
            '"a tenth" if stored_row("SSDsim: random writes, 1x1x1x1", "theirs.erases") == 2239',
            True,
        ),
        (
            '"a tenth" if stored_row("SSDsim: random writes, 1x1x1x1", "theirs.writes.count") == 1',
            False,
        ),
        ('"a tenth" if quotients("ours", "nobody\'s") == abs(1)', False),
        ('"a tenth" if stored_row("nobody", "theirs.erases") == abs(1)', False),
    ],
)
def test_a_check_reads_columns_what_is_now_and_what_others_gave(check: str, *, holds: bool) -> None:
    assert (wrong_checks(TABLES.format("", check), None) == []) == holds


def test_a_notebook_asserts_what_it_says() -> None:
    """The words of an assertion hold those of a cell of text."""
    said = {"cell_type": "markdown", "source": ["Reads win, and writes win, too."]}
    asserts = {"cell_type": "code", "source": ['assert 1 < x, "Reads win"'], "outputs": []}
    found = notebook_marks({"cells": [said, asserts]})
    assert [mark.held_by for mark in found] == [Holder.CHECKED, Holder.NOTHING]
