"""A reading of one's own in a terminal: which verdicts move, in tables that break no word."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from copyback_papers import terminal
from copyback_papers.book import open_book
from copyback_papers.catalogue import shipped
from copyback_papers.found import Table, table_of
from copyback_papers.render import answers_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import RunCli

DOCS = Path(__file__).parents[1] / "docs/reproduction"


def test_a_reading_of_ones_own_says_which_verdicts_move(
    cli: RunCli, tiny_paper: Path, tmp_path: Path
) -> None:
    # If collections are free under the baseline, too, nothing is gained.
    asked = ("paper", "run", tiny_paper, "1", "--out", "out", "--quiet", "--jobs", "1")
    done = cli(*asked, "--set", "ssd.gc.zero_cost=true")
    text = done.stdout[done.stdout.index("Verdicts that move") :]
    assert re.search(r"random: mean write\s+50.0 %\s+99", text)
    assert {"same", "sign,", "contradicted"} <= set(text.split())
    assert "Moved        2 of 2 verdicts\n" in done.stdout
    assert (tmp_path / "out/1@yours/results.csv").is_file()
    # The page of the paper stays that of its joint reading.
    assert "yours" not in (tmp_path / "out/report.md").read_text()


def test_settings_that_do_nothing_are_told(cli: RunCli, tiny_paper: Path) -> None:
    asked = ("paper", "run", tiny_paper, "1", "--out", "out", "--quiet", "--jobs", "1")
    done = cli(*asked, "--set", "ssd.gc.victim=greedy")
    assert "Verdicts that move" not in done.stdout
    assert "Moved        0 of 2 verdicts; no number moves: these settings do no" in done.stdout


@pytest.mark.parametrize(
    ("setting", "fault"),
    [
        ("ssd.gc.victim", "--set ssd.gc.victim: KEY=VALUE is needed"),
        ("ssd.gc.victims=fifo", 'unknown key; did you mean "victim"?'),
        ("precondition.fill=0.7", "no run would have it, as each has its own"),
    ],
)
def test_a_setting_that_is_none_is_refused_before_a_run(
    cli: RunCli, tiny_paper: Path, tmp_path: Path, setting: str, fault: str
) -> None:
    asked = ("paper", "run", tiny_paper, "1", "--out", "out", "--quiet")
    told = cli(*asked, "--set", setting, status=2).stderr
    assert fault in told
    assert told.count("\n") == 1
    assert not (tmp_path / "out").exists()


def shown(table: Table, labels: int, width: int = 80) -> str:
    console = Console(width=width, highlight=False)
    with console.capture() as capture:
        console.print(terminal.Fitted(table, labels))
    return capture.get()


def tables(name: str) -> Iterator[tuple[Table, int]]:
    """Yield every table that a run of a paper's experiments prints."""
    for found in open_book(DOCS, name).found.values():
        yield terminal.answers(answers_table([found])), 1
        for figure in found.experiment.figures:
            if (table := table_of(found, figure)) is not None:
                yield table, len(table.header) - table.numbers


@pytest.mark.parametrize("name", shipped())
def test_a_table_of_a_paper_breaks_no_word_at_80_columns(name: str) -> None:
    seen = 0
    for table, labels in tables(name):
        if not table.rows:
            continue
        text = shown(table, labels)
        words = set(text.split())
        for cell in [cell for row in (table.header, *table.rows) for cell in row]:
            assert set(cell.split()) <= words, cell
        assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
        seen += 1
    assert (seen > 0) is bool(open_book(DOCS, name).found)


def test_a_table_without_room_is_shown_in_parts_that_repeat_its_labels() -> None:
    header = ("load", "rate", "proactively-idle", "reactively-inclusive", "ideal")
    table = Table("Times", header, (("HPC", "238", "1.0", "2.0", "3.0"),), numbers=3)
    lines = [line.split() for line in shown(table, 2, width=40).splitlines() if line.strip()]
    heads = [line for line in lines if line[0] == "load"]
    assert heads == [
        ["load", "rate", "proactively-idle"],
        ["load", "rate", "reactively-inclusive", "ideal"],
    ]
    assert ["HPC", "238", "2.0", "3.0"] in lines


def test_a_number_stays_beside_its_unit() -> None:
    header = ("what", "paper")
    table = Table("", header, (("many words that want all the room there is", "29.4 %"),))
    assert any("29.4 %" in line for line in shown(table, 1, width=20).splitlines())
