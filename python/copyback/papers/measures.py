"""What an experiment measured: one row a simulation, and the means over its seeds."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: What a measure of a run that has no such number is.
NOTHING = math.nan


@dataclass(frozen=True, order=True)
class Cell:
    """One run but for its seed."""

    workload: str
    point: str
    variant: str


def flatten(summary: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float | None]]:
    """Yield every number of a summary under its dotted key.

    >>> dict(flatten({"gc": {"erases": 3, "idle": None}, "notes": []}))
    {'gc.erases': 3, 'gc.idle': None}
    """
    for key, value in summary.items():
        if isinstance(value, dict):
            yield from flatten(value, f"{prefix}{key}.")
        elif value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
            yield f"{prefix}{key}", value


def array_measures(summary: Mapping[str, Any]) -> dict[str, float | None]:
    """Return what is made from the lists that only the summary of an array has.

    Shares of time are with no drive collecting, some, and all; drives are how many collect together
    while some do.

    >>> array_measures({"collecting_together": [0.5, 0.3, 0.2]})["array.drives_together"]
    1.4
    """
    shares = summary.get("collecting_together")
    if shares is None:
        return {"array.devices": 1.0}
    some = math.fsum(shares[1:])
    together = math.fsum(count * share for count, share in enumerate(shares))
    return {
        "array.devices": float(len(shares) - 1),
        "array.collecting.none": shares[0],
        "array.collecting.some": some,
        "array.collecting.all": shares[-1],
        "array.drives_together": together / some if some else None,
    }


def collection_measures(summary: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the collections that were made in advance, in short gaps and in long idle periods.

    >>> collection_measures({"gc": {"kinds": {"look_ahead": 2, "compaction": 3}}})
    {'gc.in_advance': 5}
    """
    kinds = summary["gc"]["kinds"]
    return {"gc.in_advance": kinds["look_ahead"] + kinds["compaction"]}


def idle_measures(summary: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the share of long ones among the idle periods that are long enough to be used.

    >>> idle_measures({"idle_time": {"short": {"periods": 3}, "long": {"periods": 1}}})
    {'idle_time.long_share': 0.25}
    """
    found = summary.get("idle_time")
    if found is None:
        return {}
    long = found["long"]["periods"]
    usable = found["short"]["periods"] + long
    return {"idle_time.long_share": long / usable if usable else None}


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

    def by_seed(self, cell: Cell, measure: str) -> list[float]:
        """Return a measure of a cell for each of its seeds.

        Parameters
        ----------
        measure
            A dotted key of ``summary.json``, or two joined by `` / ``.
        """
        return [_value(row, measure) for row in self.rows[cell]]

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
