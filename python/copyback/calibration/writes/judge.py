"""Whether simulated rates of writes are those that were measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from copyback.calibration.writes.table import AT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from copyback.calibration.writes.table import Row
    from copyback.calibration.writes.twin import Ageing

#: How far off a rate may be: at the end, on the way there, and where it changes most.
STEADY, ON_THE_WAY, IN_TRANSITION = 0.10, 0.15, 0.30

#: A rate is in a transition if the next one differs by more than this.
TRANSITION = 0.15

#: Times its tolerance that a cell must be off for its scheme to be excluded.
EXCLUDES = 2.0


@dataclass(frozen=True)
class Timing:
    """Rate of writes at a write amplification.

    Attributes
    ----------
    empty
        Writes a second of the empty drive, which nothing but the drive bounds.
    move_cost
        Time of a page that is moved (read, and programmed) over that of one that is written.
    """

    empty: float
    move_cost: float

    def rate(self, write_amplification: float, bound: float) -> float:
        """Return writes a second, of which the host asks `bound` at most."""
        return min(bound, self.empty / (1.0 + self.move_cost * (write_amplification - 1.0)))

    def write_amplification(self, rate: float) -> float:
        """Return the write amplification at which the drive has this rate."""
        return 1.0 + (self.empty / rate - 1.0) / self.move_cost


@dataclass(frozen=True)
class Cell:
    """A measured rate, and the simulated one."""

    row: str
    column: str
    measured: float
    simulated: float
    tolerance: float
    is_fitted: bool

    @property
    def error(self) -> float:
        """The simulated rate over the measured one, less one."""
        return self.simulated / self.measured - 1.0

    @property
    def distance(self) -> float:
        """The error in tolerances: 1 is just allowed."""
        return abs(math.log(self.simulated / self.measured)) / math.log1p(self.tolerance)

    @property
    def is_right(self) -> bool:
        """Whether the simulated rate is that of the drive."""
        return self.distance <= 1.0

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Cell:
        """Return a cell from what is stored of it."""
        return cls(
            **{key: stored[key] for key in ("row", "column", "measured", "simulated", "tolerance")},
            is_fitted=stored["fitted"],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what is stored of it."""
        return {
            "row": self.row,
            "column": self.column,
            "measured": round(self.measured),
            "simulated": round(self.simulated),
            "tolerance": round(self.tolerance, 4),
            "fitted": self.is_fitted,
        }


def cells(
    row: Row,
    ageing: Ageing,
    timing: Timing,
    spreads: dict[tuple[str, str], float],
    *,
    is_fitted: bool,
) -> list[Cell]:
    """Judge a row.

    Parameters
    ----------
    spreads
        How far measured rates of one cell lie apart, by row and column.
    is_fitted
        Whether the steady rate was fitted.
    """
    found = []
    for column, measured in row.cells.items():
        amplification = ageing.at(AT[column]) if column in AT else ageing.late()
        tolerance = max(_stated(row, column), spreads.get((row.name, column), 0.0))
        simulated = timing.rate(amplification, row.first)
        fitted = is_fitted and column not in AT
        found.append(Cell(row.name, column, measured, simulated, tolerance, fitted))
    return found


def _stated(row: Row, column: str) -> float:
    if column not in AT:
        return STEADY
    followed = dict(pairwise(row.cells))
    after = row.cells[followed[column]] if column in followed else row.cells[column]
    changes = abs(math.log(after / row.cells[column])) > math.log1p(TRANSITION)
    return IN_TRANSITION if changes else ON_THE_WAY


def spreads(rows: Iterable[Row]) -> dict[tuple[str, str], float]:
    """Return how far rates lie apart that were measured more than once, or of specimens."""
    measured: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        for column, rate in row.cells.items():
            measured.setdefault((row.name, column), []).append(rate)
    return {cell: max(rates) / min(rates) - 1.0 for cell, rates in measured.items()}


def worst(found: Sequence[Cell], best: Sequence[Cell]) -> Cell | None:
    """Return the cell that excludes a scheme; None if there is none.

    It is the one farthest off of those that the best scheme has right.
    """
    pairs = zip(found, best, strict=True)
    against = [cell for cell, other in pairs if other.is_right and not cell.is_fitted]
    farthest = max(against, key=lambda cell: cell.distance, default=None)
    return farthest if farthest is not None and farthest.distance > EXCLUDES else None
