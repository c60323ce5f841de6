"""Stored results: the numbers that pages are made of, and the runs that they come from.

Only measures that tables, verdicts and figures need are stored.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from copyback import data
from copyback._core import InputError
from copyback.sweep.store import run_directory
from copyback_papers import found as findings

if TYPE_CHECKING:
    from pathlib import Path

    from copyback_papers.experiment import Experiment
    from copyback_papers.found import Found
    from copyback_papers.start import Start


class Key(NamedTuple):
    """A run of an experiment."""

    experiment: str
    workload: str
    point: str
    variant: str
    seed: int


@dataclass(frozen=True)
class Run:
    """Origin of a run's numbers.

    Attributes
    ----------
    commit
        The simulator's; empty if it was no checkout.
    cpu_s
        What the run cost.
    """

    config_digest: str
    version: str
    commit: str
    cpu_s: float
    start: Start


@dataclass
class Stored:
    """The stored results of a paper at one scale.

    Attributes
    ----------
    path
        Where they are from.
    """

    path: Path
    scale: str
    values: dict[Key, dict[str, float]]
    runs: dict[Key, Run]

    def of(self, experiment: Experiment) -> Found | None:
        """Return what is stored of an experiment; None if nothing is.

        Raises
        ------
        InputError
            If a run is none of the experiment's.
        """
        keys = self._in_order(experiment)
        if not keys:
            return None
        starts = [self.runs[key].start for key in keys]
        frame = pl.DataFrame(
            {
                **{column: [getattr(key, column) for key in keys] for column in Key._fields[1:]},
                "run": ["" for _ in keys],
                findings.PER_PLANE: [one.collections_per_plane for one in starts],
                findings.SETTLED: [float(one.settled) for one in starts],
                **{
                    measure: [self.values.get(key, {}).get(measure) for key in keys]
                    for measure in needed(experiment)
                },
            }
        )
        return findings.make(experiment, self.scale, frame, experiment.path.parent)

    def _in_order(self, experiment: Experiment) -> list[Key]:
        """Return the runs of an experiment in the order in which its file names their parts."""
        parts = {
            "workload": [load.name for load in experiment.workloads],
            "point": [point.name for point in experiment.points],
            "variant": [variant.name for variant in experiment.variants],
        }
        keys = list(self.runs_of(experiment.name))
        for part, names in parts.items():
            for key in keys:
                if getattr(key, part) not in names:
                    raise InputError(
                        f"{self.path}: experiment {experiment.name} has no {part} "
                        f"{getattr(key, part)!r}: publish it again"
                    )
        return sorted(
            keys,
            key=lambda key: (
                *(names.index(getattr(key, part)) for part, names in parts.items()),
                key.seed,
            ),
        )

    def runs_of(self, name: str) -> dict[Key, Run]:
        """Return the runs of an experiment."""
        return {key: run for key, run in self.runs.items() if key.experiment == name}

    def replace(self, found: Found, *, keep: bool = False) -> None:
        """Put what the runs of an experiment found in place of what is stored of it.

        Parameters
        ----------
        keep
            Runs stay that were not made again: other seeds, points or workloads.
        """
        for key in self.runs_of(found.experiment.name) if not keep else ():
            del self.runs[key]
            self.values.pop(key, None)
        store = next(iter(found.runs.values())).parent.parent
        for row in found.frame.iter_rows(named=True):
            key = Key(found.experiment.name, *(row[column] for column in Key._fields[1:]))
            start = findings.start_of(row)
            self.runs[key] = _run(run_directory(store, row["run"]), start)
            self.values[key] = {
                measure: float(row[measure])
                for measure in needed(found.experiment)
                if row.get(measure) is not None
            }


def needed(experiment: Experiment) -> list[str]:
    """Return the keys of a summary that verdicts, tables and prose may use."""
    measures: list[str] = []
    for check in (*experiment.checks, *experiment.regions):
        measures += check.measures
    for figure in experiment.figures:
        if figure.table is None:
            measures += figure.parts.values() or [figure.measure]
            measures += [findings.NORMAL] if figure.parts and figure.normalise else []
    return sorted({key for measure in measures for key in measure.split(" / ")})


def _run(directory: Path, start: Start) -> Run:
    summary = json.loads((directory / data.SUMMARY).read_bytes())
    simulator = summary["simulator"]
    commit = simulator.get("commit") or ""
    cost = round(simulator["cpu_s"], 2)
    return Run(summary["config_digest"], summary["version"], commit, cost, start)
