"""Finished runs side by side: what ``copyback compare RUN RUN`` prints."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rich.text import Text

from copyback import data as files
from copyback._core import InputError
from copyback.data.summary_numbers import numbers_of
from copyback.frame import Frame
from copyback.result import Result
from copyback.sweep.answer import answer, warnings
from copyback.sweep.axes import SCHEME, SEED
from copyback.sweep.contest_table import ContestTable
from copyback.sweep.dataset import RUN
from copyback.sweep.labels import Names
from copyback.sweep.schemes import contests
from copyback.sweep.tables import finding_labels, legend, remarks
from copyback.sweep.tails import tail_rows
from copyback.words.console import facts_grid, show
from copyback.words.describe import value_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from copyback.sweep.schemes import Contest

#: Keys that differ that are named.
MOST_NAMED = 8


def compare_and_show(directories: Sequence[Path], width_in_files: int) -> None:
    """Print finished runs side by side, and what differs in their configurations.

    Raises
    ------
    InputError
        If a directory is no run, or is given twice.
    """
    for directory in directories:
        if directories.count(directory) > 1:
            raise InputError(f"{directory}: is given twice; allowed: different runs")
    results = {directory: _result(directory) for directory in directories}
    contest = _contest(directories)
    names = Names([contest])
    rows = [
        *tail_rows([contest], names),
        ("Answer", answer([contest], names)),
        *_differences({str(path): result.config for path, result in results.items()}),
        *warnings([contest], names),
        *remarks([contest]),
    ]
    table = ContestTable(contest, "", names, finding_labels)
    below = Text(f"\n{legend([contest])}")
    show(facts_grid(rows), Text(""), table, below, width_in_files=width_in_files)


def _result(directory: Path) -> Result:
    if not directory.is_dir():
        raise InputError(
            f"{directory}: found no directory; allowed: directories of finished runs "
            "(`copyback run --out DIR`), two or more, or one configuration"
        )
    return Result.load(directory)


def _contest(directories: Sequence[Path]) -> Contest:
    """Return the runs as schemes that the first is the baseline of."""
    summaries = [(path / files.SUMMARY).read_text(encoding="utf-8") for path in directories]
    names: list[str] = [str(path) for path in directories]
    # A run is a scheme of its own, whatever its seed is.
    head: dict[str, list[Any]] = {RUN: names, SCHEME: names, SEED: [0] * len(names)}
    numbers = Frame.of_rows([numbers_of(json.loads(text)) for text in summaries])
    others: dict[str, Any] = {name: column for name, column in numbers.items() if name not in head}
    (contest,) = contests(Frame({**others, **head}), [SCHEME])
    return contest


def _differences(configs: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return a label and what each run has of each key in which they differ."""
    flat = [dict(_leaves("", config)) for config in configs.values()]
    keys = sorted({key for own in flat for key in own})
    found = [key for key in keys if len({repr(own.get(key)) for own in flat}) > 1]
    if not found:
        return [("Differ in", "nothing that a configuration says")]
    told = [f"{key} ({', '.join(_text(own.get(key)) for own in flat)})" for key in found]
    more = f"; and {len(told) - MOST_NAMED} more keys" if len(told) > MOST_NAMED else ""
    return [("Differ in", "; ".join(told[:MOST_NAMED]) + more)]


def _text(value: Any) -> str:
    return "not there" if value is None else value_text(value)


def _leaves(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict):
        yield key, value
        return
    for name, inner in value.items():
        yield from _leaves(f"{key}.{name}" if key else name, inner)
