"""Series on a comparison's page over time: bounded, however many schemes there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from copyback import data as names
from copyback.data.parquet import read_parquet
from copyback.report import heat
from copyback.report.plots import rounded
from copyback.sweep.store import run_directory

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from copyback.sweep.schemes import Scheme

    Column = NDArray[np.float64]

#: Points of all curves over time together, and of one.
ALL_POINTS = 40_000
LEAST_POINTS, MOST_POINTS = 24, 240

#: Cells of all heat maps together, columns of one, and its rows.
ALL_CELLS = 300_000
LEAST_COLUMNS, MOST_COLUMNS = 16, 160
HEAT_ROWS = 16


class OverTime:
    """Reads what runs did over time.

    Parameters
    ----------
    directory
        Of the sweep.
    schemes
        How many there are.
    ends
        For each load the seconds of simulated time of its longest run: the length of its axis.
    """

    def __init__(self, directory: Path, *, schemes: int, ends: Sequence[float]) -> None:
        self._directory = directory
        self._ends = ends
        self._points = _within(ALL_POINTS // schemes, LEAST_POINTS, MOST_POINTS)
        self._columns = _within(ALL_CELLS // (schemes * HEAT_ROWS), LEAST_COLUMNS, MOST_COLUMNS)

    @property
    def points(self) -> int:
        """Intervals of a curve: equal parts of its load's axis."""
        return self._points

    def of(self, load: int, scheme: Scheme) -> dict[str, Any]:
        """Return curves and map of a scheme's first run under a load."""
        home = run_directory(self._directory, next(iter(scheme.runs)))
        end = self._ends[load]
        found: dict[str, Any] = self._curves(home / names.SERIES, end)
        # Runs that an earlier version did have none, and those in which no time passed have no map.
        dies = home / names.DIES
        table = read_parquet(dies) if dies.exists() else None
        if table is not None and len(table) and table["end_s"].to_numpy().max() > 0:
            found["heat"] = heat.small_map(table, rows=HEAT_ROWS, columns=self._columns, end=end)
        return found

    def _curves(self, series: Path, whole: float) -> dict[str, list[float | None]]:
        columns = ["start_s", "end_s", "response_max_us", "collections"]
        table = read_parquet(series, columns)
        start, end, longest, collections = (
            np.asarray(table[name].to_numpy(), dtype=np.float64) for name in columns
        )
        place = np.minimum((start / whole * self._points).astype(int), self._points - 1)
        peaks = np.full(self._points, np.nan)
        np.fmax.at(peaks, place, longest)
        counts = np.full(self._points, np.nan)
        counts[np.arange(self._points) * whole / self._points < end.max(initial=0.0)] = 0.0
        np.add.at(counts, place, collections)
        return {"max": rounded(peaks, 3), "collections": rounded(counts, 3)}


def _within(value: int, least: int, most: int) -> int:
    return max(least, min(value, most))
