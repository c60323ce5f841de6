"""Files of stored results: text that a reader can compare line by line.

A paper has two files in the directory of a scale: ``PAPER.csv``, one row a number, and
``PAPER-runs.csv``, one row a run, with the digest of its configuration, the simulator that ran it,
what it cost, and how far it left its start behind. Rows are sorted.
"""

from __future__ import annotations

import csv
import io
import math
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.data.outputs import replace_file
from copyback_papers.start import Start
from copyback_papers.stored import Key, Run, Stored

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from copyback_papers.catalogue import Paper

VALUE_COLUMNS = ("paper", *Key._fields, "measure", "value")
RUN_COLUMNS = (
    "paper",
    *Key._fields,
    "config_digest",
    "version",
    "commit",
    "cpu_s",
    "collections_per_plane",
    "settled",
)


def load(directory: Path, paper: Paper, scale: str) -> Stored:
    """Return what is stored of a paper at a scale; nothing if there is no file.

    Parameters
    ----------
    directory
        Of the stored results of all papers and scales.

    Raises
    ------
    InputError
        If a file is no table of stored results, or tells of an experiment that there is not.
    """
    runs, values = (directory / scale / name for name in _names(paper))
    stored = Stored(runs, scale, {}, {})
    names = {experiment.name for experiment in paper.everything}
    for place, row in _rows(runs, RUN_COLUMNS):
        if row["experiment"] not in names:
            raise InputError(
                f"{place}: {paper.name} has no experiment {row['experiment']!r}: remove it"
            )
        stored.runs[_key(row, place)] = Run(
            config_digest=row["config_digest"],
            version=row["version"],
            commit=row["commit"],
            cpu_s=_number(row, "cpu_s", place),
            start=_start(row, place),
        )
    for place, row in _rows(values, VALUE_COLUMNS):
        key = _key(row, place)
        if key not in stored.runs:
            raise InputError(f"{place}: {runs.name} has no such run")
        stored.values.setdefault(key, {})[row["measure"]] = _number(row, "value", place)
    return stored


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each row with where it stands; none if there is no file."""
    if not path.is_file():
        return
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        if tuple(next(rows, ())) != columns:
            raise InputError(f"{path}: not stored results; columns needed: {','.join(columns)}")
        for row in rows:
            place = f"{path}:{rows.line_num}"
            if len(row) != len(columns):
                raise InputError(f"{place}: found {len(row)} columns; {len(columns)} are needed")
            yield place, dict(zip(columns, row, strict=True))


def _key(row: dict[str, str], place: str) -> Key:
    seed = row["seed"]
    if not seed.isdecimal():
        raise InputError(f"{place}: seed: found {seed!r}; a whole number from 0 is needed")
    return Key(row["experiment"], row["workload"], row["point"], row["variant"], seed=int(seed))


def _number(row: dict[str, str], column: str, place: str) -> float:
    try:
        number = float(row[column])
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{place}: {column}: found {row[column]!r}; a number is needed")
    return number


def _start(row: dict[str, str], place: str) -> Start:
    settled = row["settled"]
    if settled not in {"yes", "no"}:
        raise InputError(f"{place}: settled: found {settled!r}; allowed: yes, no")
    column = "collections_per_plane"
    collections = _number(row, column, place) if row[column] else None
    return Start(collections, settled == "yes")


def save(directory: Path, paper: Paper, stored: Stored) -> None:
    """Write what is stored of a paper."""
    values = [
        (paper.name, *key, measure, repr(value))
        for key, measures in sorted(stored.values.items())
        for measure, value in sorted(measures.items())
    ]
    runs = [(paper.name, *key, *_columns(run)) for key, run in sorted(stored.runs.items())]
    home = directory / stored.scale
    home.mkdir(parents=True, exist_ok=True)
    tables = (_csv(RUN_COLUMNS, runs), _csv(VALUE_COLUMNS, values))
    for name, table in zip(_names(paper), tables, strict=True):
        replace_file(home / name, table)


def _columns(run: Run) -> tuple[str, ...]:
    collections = run.start.collections_per_plane
    return (
        run.config_digest,
        run.version,
        run.commit,
        f"{run.cpu_s:.2f}",
        "" if collections is None else f"{collections:.3f}",
        "yes" if run.start.settled else "no",
    )


def _csv(columns: tuple[str, ...], rows: Sequence[Sequence[object]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue().encode()


def _names(paper: Paper) -> tuple[str, str]:
    """Return the names of the files of runs and of values."""
    return f"{paper.name}-runs.csv", f"{paper.name}.csv"
