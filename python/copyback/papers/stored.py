"""Stored results: what pages are made of, as text that a reader can compare line by line.

A paper has two files: ``PAPER.csv``, one row a number, and ``PAPER-runs.csv``, one row a run, with
the digest of its configuration, the simulator that ran it, its scale, and what it cost. Only
measures that tables, verdicts and figures need are stored. Rows are sorted.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.outputs import replace_file
from copyback.papers import found as findings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from copyback.papers.catalogue import Paper
    from copyback.papers.experiment import Experiment
    from copyback.papers.found import Found

KEYS = ("experiment", "workload", "point", "variant", "seed")
VALUE_COLUMNS = ("paper", *KEYS, "measure", "value")
RUN_COLUMNS = ("paper", *KEYS, "scale", "config_digest", "version", "commit", "cpu_s")

Key = tuple[str, str, str, str, int]


@dataclass(frozen=True)
class Run:
    """Where the numbers of a run come from.

    Attributes
    ----------
    commit
        The simulator's; empty if it was no checkout.
    cpu_s
        What the run cost.
    """

    scale: str
    config_digest: str
    version: str
    commit: str
    cpu_s: str


@dataclass
class Stored:
    """The stored results of a paper."""

    values: dict[Key, dict[str, float]]
    runs: dict[Key, Run]

    def of(self, experiment: Experiment) -> Found | None:
        """Return what is stored of an experiment; None if nothing is."""
        import polars as pl

        keys = [key for key in self.runs if key[0] == experiment.name]
        if not keys:
            return None
        rows = [self.values.get(key, {}) for key in keys]
        frame = pl.DataFrame(
            {
                "workload": [key[1] for key in keys],
                "point": [key[2] for key in keys],
                "variant": [key[3] for key in keys],
                "seed": [key[4] for key in keys],
                "run": ["" for _ in keys],
                **{name: [row.get(name) for row in rows] for name in needed(experiment)},
            }
        )
        scale = self.runs[keys[0]].scale
        return findings.make(experiment, scale, frame, experiment.path.parent)

    def runs_of(self, names: Iterable[str]) -> list[Run]:
        """Return the runs of some experiments."""
        wanted = set(names)
        return [run for key, run in self.runs.items() if key[0] in wanted]


def needed(experiment: Experiment) -> list[str]:
    """Return the keys of a summary that verdicts, tables and prose may use."""
    measures: list[str] = []
    for check in experiment.checks:
        measures += [rule.measure for rule in check.rules] or [check.measure]
    for figure in experiment.figures:
        if figure.table is None:
            measures += figure.parts.values() or [figure.measure]
            measures += [findings.NORMAL] if figure.parts and figure.normalise else []
    return sorted({key for measure in measures for key in measure.split(" / ")})


def store(stored: Stored, found: Found) -> None:
    """Put what the runs of an experiment found in place of what is stored of it."""
    name = found.experiment.name
    for key in [key for key in stored.runs if key[0] == name]:
        stored.runs.pop(key)
        stored.values.pop(key, None)
    store_directory = next(iter(found.runs.values())).parent
    for row in found.frame.iter_rows(named=True):
        key = (name, row["workload"], row["point"], row["variant"], int(row["seed"]))
        stored.runs[key] = _run(found.scale, store_directory / row["run"])
        stored.values[key] = {
            measure: float(row[measure])
            for measure in needed(found.experiment)
            if row.get(measure) is not None
        }


def _run(scale: str, directory: Path) -> Run:
    summary = json.loads((directory / "summary.json").read_bytes())
    simulator = summary["simulator"]
    cost = f"{simulator['cpu_s']:.2f}"
    commit = simulator.get("commit") or ""
    return Run(scale, summary["config_digest"], summary["version"], commit, cost)


def load(directory: Path, paper: Paper) -> Stored:
    """Return what is stored of a paper; nothing if there is no file.

    Raises
    ------
    InputError
        If a file is no table of stored results.
    """
    stored = Stored({}, {})
    for row in _rows(_runs_file(directory, paper), RUN_COLUMNS):
        stored.runs[_key(row)] = Run(*row[6:])
    for row in _rows(_values_file(directory, paper), VALUE_COLUMNS):
        stored.values.setdefault(_key(row), {})[row[6]] = float(row[7])
    order = _order(paper)
    stored.runs = dict(sorted(stored.runs.items(), key=lambda item: order(item[0])))
    return stored


def _key(row: Sequence[str]) -> Key:
    return (row[1], row[2], row[3], row[4], int(row[5]))


def _order(paper: Paper):  # type: ignore[no-untyped-def]  # noqa: ANN202
    """Return a key that sorts runs as the experiments' files name them."""
    places = {}
    for experiment in paper.everything:
        for kind in ("workloads", "points", "variants"):
            for place, case in enumerate(getattr(experiment, kind)):
                places[experiment.name, kind, case.name] = place

    def order(key: Key) -> tuple[object, ...]:
        name, workload, point, variant, seed = key
        return (
            name,
            places.get((name, "workloads", workload), 0),
            places.get((name, "points", point), 0),
            places.get((name, "variants", variant), 0),
            seed,
        )

    return order


def _rows(path: Path, columns: tuple[str, ...]) -> list[list[str]]:
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    if tuple(header) != columns or any(len(row) != len(columns) for row in rows):
        raise InputError(f"{path}: not stored results; columns needed: {','.join(columns)}")
    return rows


def save(directory: Path, paper: Paper, stored: Stored) -> None:
    """Write what is stored of a paper."""
    values = [
        (paper.name, *key, measure, repr(value))
        for key, measures in sorted(stored.values.items())
        for measure, value in sorted(measures.items())
    ]
    runs = [
        (paper.name, *key, run.scale, run.config_digest, run.version, run.commit, run.cpu_s)
        for key, run in sorted(stored.runs.items())
    ]
    directory.mkdir(parents=True, exist_ok=True)
    replace_file(_values_file(directory, paper), _csv(VALUE_COLUMNS, values))
    replace_file(_runs_file(directory, paper), _csv(RUN_COLUMNS, runs))


def _csv(columns: tuple[str, ...], rows: Sequence[Sequence[object]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue().encode()


def _values_file(directory: Path, paper: Paper) -> Path:
    return directory / f"{paper.name}.csv"


def _runs_file(directory: Path, paper: Paper) -> Path:
    return directory / f"{paper.name}-runs.csv"
