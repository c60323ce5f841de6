"""Words that a run prints are in the glossary, and the report shows what they mean."""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

import copyback
import copyback.summary
from copyback import report
from copyback.data.section import Section
from copyback.words import console, describe, glossary, verdict, waits
from pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Runs that together print most of what can be printed, each a few seconds at most.
RUNS: list[tuple[str | dict[str, Any], dict[str, Any]]] = [
    ("mysql.toml", {"metrics__excess_bound": "1ms", "metrics__idle_time": True}),
    ("raid5.toml", {}),
    ("steady-state.toml", {}),
    ("end-of-life.toml", {}),
    (
        {"preset": "tlc-unbuffered-64gb"},
        {
            "ssd__power__protection": "none",
            "ssd__power__cuts": {"type": "random", "count": 4, "mean_interval": "30s"},
        },
    ),
    (
        "raid5.toml",
        {
            "array__failures": {
                "type": "at",
                "drives": [{"drive": 0, "at": "1ms"}, {"drive": 1, "at": "9ms"}],
            }
        },
    ),
]
#: Texts beside numbers that say themselves what they are, such as the number of a round.
PLAIN = re.compile(r"Rounds \d+ to \d+|Oracle, .*")


class Labels(HTMLParser):
    """Labels of a page: those of its lists and of its cards."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.reads = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.reads = tag == "dt" or (tag == "span" and ("class", "label") in attrs)

    def handle_data(self, data: str) -> None:
        if self.reads:
            self.found.append(data.strip())
            self.reads = False


@cache
def result(index: int) -> copyback.Result:
    config, settings = RUNS[index]
    known = ROOT / "examples" / config if isinstance(config, str) else config
    return copyback.run(known, **settings)


def on_the_page(found: copyback.Result) -> list[str]:
    page = Labels()
    page.feed(report.render(found))
    return page.found


def in_the_terminal(found: copyback.Result, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the labels of the lines, and the heads of the first columns of tables."""
    labels: list[str] = []
    grid, table = console.facts_grid, console.numbers_table

    def lines(rows: Sequence[tuple[str, str]]) -> Any:
        labels.extend(label for label, _ in rows if label)
        return grid(rows)

    def numbers(first: str, columns: Sequence[str]) -> Any:
        labels.append(first)
        return table(first, columns)

    monkeypatch.setattr(console, "facts_grid", lines)
    monkeypatch.setattr(console, "numbers_table", numbers)
    console.overview(found)
    return labels


def unknown(labels: Sequence[str]) -> set[str]:
    return {one for one in labels if not PLAIN.fullmatch(one) and glossary.meaning(one) is None}


@pytest.mark.parametrize("index", range(len(RUNS)))
def test_what_a_run_prints_is_in_the_glossary(index: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = result(index)
    terminal = in_the_terminal(found, monkeypatch)
    assert {"Device", "Collector", "Speed"} <= set(terminal)
    assert unknown(terminal) == set()
    page = on_the_page(found)
    assert {"Device", "Collector", "Peak memory", "Mean response"} <= set(page)
    assert unknown(page) == set()


def sections(of: type[Section]) -> Iterator[type[Section]]:
    for one in of.__subclasses__():
        yield one
        yield from sections(one)


def test_every_label_that_is_declared_is_in_the_glossary() -> None:
    """Verdicts, parts of response times, kinds of collections, rows of the page too."""
    labels = [label for label, _ in (*verdict.MEANINGS.values(), *describe.PARTS.values())]
    labels += [*waits.KINDS.values(), *waits.ACTIVITIES.values(), *waits.PERIODS.values()]
    of_runs = [one for one in sections(Section) if one.__module__ == copyback.summary.__name__]
    labels += [shown.label for one in of_runs for shown in one.SHOWN if shown.row]
    assert len(labels) > 80
    assert unknown(labels) == set()


def test_a_report_shows_its_words() -> None:
    """Behind a link at its head; words of the schedule where it is paced."""
    page = report.render(result(len(RUNS) - 1))
    assert '<a href="#words">' in page
    assert '<h2 id="words">' in page
    assert "<dt>Set point</dt><dd>of the schedule paced (set_point): the free space" in page
    assert "<dt>Set point</dt>" not in report.render(result(0))


def test_a_word_that_the_glossary_does_not_have_is_found() -> None:
    assert unknown(["Collections", "Gremlins", "Rounds 2 to 6"]) == {"Gremlins"}
    assert glossary.meaning("LBA") == glossary.meaning("LPN, LBA")
