"""Findings of an experiment: its numbers, the answers, and the tables under its drawings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import polars as pl

from copyback.result import Result
from copyback.sweep.axes import LOAD, SCHEME, SEED
from copyback.sweep.dataset import RUN, dataset
from copyback.sweep.store import run_directory
from copyback.words import units
from copyback_papers import start
from copyback_papers.answers import Answer, answer, cells_of
from copyback_papers.measures import Cell, Measures
from copyback_papers.ranking import Ranked, ranked
from copyback_papers.regions import Mapped, mapped
from copyback_papers.start import Start

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from copyback.sweep.completion import Completed
    from copyback.sweep.store import Store
    from copyback_papers.experiment import Experiment, Load
    from copyback_papers.figures import Figure

#: Columns that say which run a row is of: its cell, its seed, and its name in the store.
KEYS = ("workload", "point", "variant", SEED, RUN)

#: Columns that say how far a run has left its start behind.
PER_PLANE, SETTLED = "start.collections_per_plane", "start.settled"

#: What the keys of the sweep are called here.
CALLED = {LOAD: "workload", SCHEME: "variant"}


@dataclass(frozen=True)
class Table:
    """Numbers as text: a header, and rows whose first cells are labels.

    Attributes
    ----------
    numbers
        How many of the last columns are numbers.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: int = 1


@dataclass(frozen=True)
class Found:
    """Findings of an experiment.

    Attributes
    ----------
    frame
        One row a simulation: the keys, then every number of its summary.
    runs
        Where the run of each cell with the first seed is kept.
    """

    experiment: Experiment
    scale: str
    frame: pl.DataFrame
    runs: Mapping[Cell, Path]
    measures: Measures
    answers: tuple[Answer, ...]

    @cached_property
    def transient(self) -> set[Cell]:
        """Cells of which a run is inside its start transient."""
        return {
            cell
            for cell, rows in self.measures.rows.items()
            if not all(start_of(row).is_past for row in rows)
        }

    def is_transient(self, answer: Answer) -> bool:
        """Return whether an answer rests on a run that is inside its start transient."""
        return not self.transient.isdisjoint(cells_of(answer.check, self.measures))

    @property
    def rankings(self) -> list[Ranked]:
        """Agreement of tables that are rankings with our order."""
        found = [ranked(one, self.answers) for one in self.experiment.rankings]
        return [one for one in found if one is not None]

    @cached_property
    def regions(self) -> list[Mapped]:
        """Regions in which claims appear."""
        points = [point.name for point in self.experiment.points]
        found = [mapped(one, self.measures, points) for one in self.experiment.regions]
        return [one for one in found if one is not None]

    @property
    def skipped(self) -> list[str]:
        """Workloads of the scale that were left out, and why."""
        there = set(self.frame["workload"])
        asked = self.experiment.scales[self.scale].workloads
        return [
            f"{load.name}: there was no trace {load.trace}"
            if load.trace
            else f"{load.name}: not run"
            for load in self.experiment.workloads
            if load.name not in there and (not asked or load.name in asked)
        ]

    @property
    def loads(self) -> list[Load]:
        """The workloads that were run."""
        there = set(self.frame["workload"])
        return [load for load in self.experiment.workloads if load.name in there]

    @property
    def points(self) -> list[str]:
        """The points that were run."""
        there = set(self.frame["point"])
        return [point.name for point in self.experiment.points if point.name in there]

    @property
    def variants(self) -> list[str]:
        """The variants that were run."""
        there = set(self.frame["variant"])
        return [variant.name for variant in self.experiment.variants if variant.name in there]

    def result(self, cell: Cell) -> Result:
        """Return the run of a cell with the first seed."""
        return Result.load(self.runs[cell])


def of_runs(experiment: Experiment, scale: str, done: Completed) -> Found:
    """Return what the runs of an experiment found."""
    frame = dataset(done.plan, done.store).to_polars().rename(CALLED)
    frame = pl.concat([frame, _starts(done.store, frame[RUN])], how="horizontal")
    if any(figure.table == "series" for figure in experiment.figures):
        least = pl.concat([_least(done.store.run(run)) for run in frame[RUN]])
        frame = pl.concat([frame, least], how="horizontal")
    return make(experiment, scale, frame.select(*KEYS, pl.exclude(KEYS)), done.store.directory)


def _starts(store: Store, runs: Iterable[str]) -> pl.DataFrame:
    """Return for each run how far it has left its start behind."""
    found = [start.of_run(store.run(run)) for run in runs]
    return pl.DataFrame(
        {
            PER_PLANE: [one.collections_per_plane for one in found],
            SETTLED: [float(one.settled) for one in found],
        },
        schema={PER_PLANE: pl.Float64, SETTLED: pl.Float64},
    )


def start_of(row: Mapping[str, Any]) -> Start:
    """Return how far the run of a row has left its start behind."""
    return Start(row[PER_PLANE], bool(row[SETTLED]))


def _least(run: Path) -> pl.DataFrame:
    """Return the least value of each column of the series, for rules about what never runs out."""
    least = Result.load(run).to_polars("series").min()
    return least.rename(lambda column: f"series.least.{column}")


def make(experiment: Experiment, scale: str, frame: pl.DataFrame, store: Path) -> Found:
    """Return what the rows of an experiment's simulations say, which are kept in a store."""
    cells: dict[Cell, list[dict[str, Any]]] = {}
    for row in frame.iter_rows(named=True):
        cell = Cell(row["workload"], row["point"], row["variant"])
        cells.setdefault(cell, []).append(row)
    runs = {cell: run_directory(store, rows[0][RUN]) for cell, rows in cells.items()}
    measures = Measures(cells)
    # Real traces are run where they are; what a check is about turns on that in a column of theirs.
    pieces = bool(experiment.column)
    loads = [load.name for load in experiment.workloads if pieces or load.trace is None]
    points = [point.name for point in experiment.points]
    answers = [answer(check, measures, loads=loads, points=points) for check in experiment.checks]
    kept = tuple(given for given in answers if given is not None)
    return Found(experiment, scale, frame, runs, measures, kept)


def chosen(found: Found, figure: Figure) -> tuple[list[str], list[str], list[str]]:
    """Return the workloads, points and variants that a figure shows."""
    loads = [load.name for load in found.loads]
    return (
        [name for name in loads if not figure.workloads or name in figure.workloads],
        [name for name in found.points if not figure.points or name in figure.points],
        [name for name in found.variants if not figure.variants or name in figure.variants],
    )


def value(found: Found, figure: Figure, cell: Cell, measure: str) -> float:
    """Return the number that a figure shows for a cell: scaled, or as a multiple."""
    number = found.measures.mean(cell, measure)
    if figure.normalise is None:
        return number * figure.scale
    one = Cell(cell.workload, cell.point, figure.normalise)
    base = found.measures.mean(one, figure.measure if not figure.parts else NORMAL)
    return number / base if base else math.nan


#: What the parts of a stack are multiples of: the mean response time of the variant that is one.
NORMAL = "response_us.all.mean"


def table_of(found: Found, figure: Figure) -> Table | None:
    """Return the numbers of a figure: a row a workload and point, a column a variant."""
    loads, points, variants = chosen(found, figure)
    if figure.table is not None:
        return None
    labels = _labels(found, loads, points)
    measures = (figure.parts or {"": figure.measure}).items()
    labels = (*labels, "part") if figure.parts else labels or ("",)
    rows = []
    for (load, point), (part, measure) in product(product(loads, points), measures):
        cells = [Cell(load, point, variant) for variant in variants]
        head = [text for text, many in ((load, len(loads) > 1), (point, len(points) > 1)) if many]
        head += [part] if figure.parts else []
        numbers = [_text(value(found, figure, cell, measure)) for cell in cells]
        rows.append((*(head or [""]), *numbers))
    title = f"{figure.title}: {figure.axis}"
    return Table(title, (*labels, *variants), tuple(rows), numbers=len(variants))


def _labels(found: Found, loads: list[str], points: list[str]) -> tuple[str, ...]:
    labels = [("workload", len(loads) > 1), (found.experiment.axis, len(points) > 1)]
    return tuple(label for label, many in labels if many)


def _text(number: float) -> str:
    return units.significant(number) if math.isfinite(number) else units.MISSING
