"""What an experiment found: its numbers, the answers, and the tables under its drawings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from copyback import units
from copyback.papers.checks import Answer, answer
from copyback.papers.figures import OPERATIONS
from copyback.papers.measures import Cell, Measures

if TYPE_CHECKING:
    import polars as pl

    from copyback.papers.experiment import Experiment, Load, Scale
    from copyback.papers.figures import Figure
    from copyback.papers.plan import Plan
    from copyback.papers.runner import Outcome

#: Columns that say which run a row is of.
KEYS = ("workload", "point", "variant", "seed")


@dataclass(frozen=True)
class Table:
    """Numbers as text: a header, and rows whose first cells are labels."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Found:
    """What an experiment found.

    Attributes
    ----------
    frame
        One row a simulation: the keys, then every number of its summary.
    drawn
        The rows that distributions or series are drawn from, with the keys; None if none are.
    """

    experiment: Experiment
    scale: Scale
    frame: pl.DataFrame
    drawn: pl.DataFrame | None
    measures: Measures
    answers: tuple[Answer, ...]

    @property
    def skipped(self) -> list[str]:
        """Workloads of the scale that were left out, and why."""
        there = set(self.frame["workload"])
        return [
            f"{load.name}: there was no trace {load.trace}"
            for load in self.experiment.workloads
            if load.name not in there
            and (not self.scale.workloads or load.name in self.scale.workloads)
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
        """The variants."""
        return [variant.name for variant in self.experiment.variants]


def of_outcomes(plan: Plan, outcomes: list[Outcome]) -> Found:
    """Return what a plan's simulations found."""
    import polars as pl

    rows = [{**_keys(outcome), **outcome.measured.numbers} for outcome in outcomes]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    tables = [_with_keys(outcome) for outcome in outcomes if outcome.measured.table is not None]
    drawn = pl.concat(tables, how="diagonal_relaxed") if tables else None
    return make(plan.experiment, plan.scale, frame, drawn)


def make(
    experiment: Experiment,
    scale: Scale,
    frame: pl.DataFrame,
    drawn: pl.DataFrame | None,
) -> Found:
    """Return what the rows of an experiment's simulations say."""
    cells: dict[Cell, list[dict[str, Any]]] = {}
    for row in frame.iter_rows(named=True):
        cell = Cell(row["workload"], row["point"], row["variant"])
        cells.setdefault(cell, []).append(row)
    measures = Measures(cells)
    answers = [answer(check, measures) for check in experiment.checks]
    kept = tuple(given for given in answers if given is not None)
    return Found(experiment, scale, frame, drawn, measures, kept)


def _keys(outcome: Outcome) -> dict[str, Any]:
    cell = outcome.run.cell
    return {
        "workload": cell.workload,
        "point": cell.point,
        "variant": cell.variant,
        "seed": outcome.run.seed,
    }


def _with_keys(outcome: Outcome) -> pl.DataFrame:
    import polars as pl

    frame = pl.from_arrow(outcome.measured.table)
    assert isinstance(frame, pl.DataFrame)
    if "operation" in frame.columns:
        frame = frame.filter(pl.col("operation").is_in(OPERATIONS))
    return frame.select(
        [pl.lit(value).alias(key) for key, value in _keys(outcome).items()] + [pl.all()]
    )


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
    measures = figure.parts or (("", figure.measure),)
    labels = (*labels, "part") if figure.parts else labels or ("",)
    rows = []
    for (load, point), (part, measure) in product(product(loads, points), measures):
        cells = [Cell(load, point, variant) for variant in variants]
        head = [text for text, many in ((load, len(loads) > 1), (point, len(points) > 1)) if many]
        head += [part] if figure.parts else []
        numbers = [_text(value(found, figure, cell, measure)) for cell in cells]
        rows.append((*(head or [""]), *numbers))
    return Table(f"{figure.title}: {figure.axis}", (*labels, *variants), tuple(rows))


def _labels(found: Found, loads: list[str], points: list[str]) -> tuple[str, ...]:
    labels = [("workload", len(loads) > 1), (found.experiment.axis, len(points) > 1)]
    return tuple(label for label, many in labels if many)


def _text(number: float) -> str:
    return units.significant(number) if math.isfinite(number) else units.MISSING
