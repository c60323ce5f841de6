"""Measurements of an experiment: one row a simulation, and the means over its seeds."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: What a measure of a run that has no such number is.
NOTHING = math.nan


@dataclass(frozen=True, order=True)
class Cell:
    """One run but for its seed."""

    workload: str
    point: str
    variant: str


class Measures:
    """The numbers of all runs of an experiment.

    Parameters
    ----------
    rows
        For each cell the flat summaries of its seeds, in the order of the seeds.
    """

    def __init__(self, rows: Mapping[Cell, Sequence[Mapping[str, float | None]]]) -> None:
        self.rows = dict(rows)

    def __contains__(self, cell: Cell) -> bool:
        return cell in self.rows

    def paired(self, *cells: Cell) -> Measures:
        """Return the cells with the runs of those seeds alone that all of them have.

        A variant that came later may have been run with fewer seeds than the others.
        """
        runs = {
            cell: {row.get("seed", place): row for place, row in enumerate(self.rows[cell])}
            for cell in cells
        }
        common = set.intersection(*(set(by_seed) for by_seed in runs.values()))
        return Measures(
            {
                cell: [row for seed, row in by_seed.items() if seed in common]
                for cell, by_seed in runs.items()
            }
        )

    def by_seed(self, cell: Cell, measure: str) -> list[float]:
        """Return a measure of a cell for each of its seeds.

        Parameters
        ----------
        measure
            A dotted key of ``summary.json``, or two joined by `` / ``.
        """
        return [_value(row, measure) for row in self.rows[cell]]

    def of(self, cell: Cell, measures: Sequence[str]) -> list[list[float]]:
        """Return several measures of a cell, each for each of its seeds."""
        return [self.by_seed(cell, measure) for measure in measures]

    def mean(self, cell: Cell, measure: str) -> float:
        """Return the mean of a measure over the seeds; NaN where there is none."""
        if cell not in self.rows:
            return NOTHING
        return statistics.fmean(self.by_seed(cell, measure))


def _value(row: Mapping[str, float | None], measure: str) -> float:
    above, _, below = measure.partition(" / ")
    value = _number(row, above)
    if not below:
        return value
    divisor = _number(row, below)
    return value / divisor if divisor else NOTHING


def _number(row: Mapping[str, float | None], key: str) -> float:
    value = row.get(key)
    return NOTHING if value is None else float(value)
